"""In a sentence what a run is made of."""

from __future__ import annotations

import math

from analyzer.report.words import units
from analyzer.structure.levels.parts import Part, Structure

NOTHING = "No iterations were found: nothing repeats that takes a notable share of the time"


def sentence(structure: Structure) -> str:
    """ "200 iterations of 8.3 ms from 0.28 to 1.93 s, each: 3 exchanges, 1 reduction; 95.7 % efficient; iteration 113
    takes 4x"."""
    main = structure.main
    if main is None:
        return NOTHING
    others = [part for part in structure.parts if part.iterations and part is not main]
    said = _loop(main)
    if others:
        also = ", ".join(
            f"{units.plural(one.count, 'iteration')} of {units.time(_period(one))} (loop {structure.number(one)})"
            for one in others
        )
        said += f". Beside these, {also}"
    return said


def _loop(part: Part) -> str:
    iterations = part.iterations
    assert iterations is not None
    begin, end = part.begin_ns / 1e9, part.end_ns / 1e9
    digits = _digits(end - begin)
    text = [
        f"{units.plural(part.count, 'iteration')} of {units.time(_period(part))} from {begin:.{digits}f} to "
        f"{end:.{digits}f} s, each: {iterations.body}"
    ]
    if part.tasks:
        tasks = part.tasks
        text.append(f"{units.plural(tasks.total, 'task')} in all, {tasks.fewest} to {tasks.most} a rank")
    if part.every:
        text.append(f"every {' and every '.join(map(ordinal, sorted(set(part.every))))} does more")
    text += inner(part)
    if part.cost.efficiency is not None:
        text.append(f"{units.percent(part.cost.efficiency)} efficient")
    if part.slow:
        number, times = part.slow[0]
        text.append(f"iteration {number} takes {times:.1f}x")
    return "; ".join(text)


def _digits(span_s: float) -> int:
    """Behind the point, so that begin and end of a span differ in two digits at least."""
    return 2 if span_s >= 1 else min(max(3, 1 - math.floor(math.log10(max(span_s, 1e-9)))), 9)


def inner(part: Part) -> list[str]:
    """The loops inside a typical iteration: "25 passes inside (4 to 22)"."""
    found = []
    for one in part.inside:
        if one.iterations:
            varies = f" ({one.fewest} to {one.most})" if one.fewest != one.most else ""
            found.append(f"inside it {one.count}{varies} passes of {units.time(_period(one))}")
    return found


def ordinal(number: int) -> str:
    """ "10th", "2nd", "23rd"."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _period(part: Part) -> int:
    return part.iterations.period_ns if part.iterations else part.span_ns
