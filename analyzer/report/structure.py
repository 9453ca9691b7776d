"""The structure of a run (its iterations and other parts): as a sentence, as a table, and for JSON."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from analyzer.report.words import units
from analyzer.report.words.table import plain_table
from analyzer.structure.levels.parts import PartKind, RunPart, Structure, agreement, off_by, ranked
from analyzer.structure.signals import NAMES

NOTHING = "No iterations were found: nothing repeats that takes a notable share of the time"


def structure_sentence(structure: Structure) -> str:
    """Describe in a sentence what a run consists of.

    For example "200 iterations of 8.3 ms from 0.28 to 1.93 s, each: 3 exchanges, 1 reduction; 95.7 % efficient;
    iteration 113 takes 4.0x".
    """
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


def _loop(part: RunPart) -> str:
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
    """Return the number of decimals of times in s, so that begin and end of a span differ in at least two digits."""
    return 2 if span_s >= 1 else min(max(3, 1 - math.floor(math.log10(max(span_s, 1e-9)))), 9)


def inner(part: RunPart) -> list[str]:
    """Name the loops inside a typical iteration, such as "inside it 25 (4 to 22) passes of 1.20 ms"."""
    found = []
    for one in part.inside:
        if one.iterations:
            varies = f" ({one.fewest} to {one.most})" if one.fewest != one.most else ""
            found.append(f"inside it {one.count}{varies} passes of {units.time(_period(one))}")
    return found


def ordinal(number: int) -> str:
    """Return an ordinal number, such as "10th", "2nd", "23rd"."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _period(part: RunPart) -> int:
    return part.iterations.period_ns if part.iterations else part.span_ns


def print_structure(structure: Structure, console: Console) -> None:
    """Print the sentence, the tables, and remarks."""
    console.print(
        f"{Path(structure.file).name}: {units.plural(structure.ranks, 'rank')}, {units.time(structure.duration_ns)}",
        markup=False,
    )
    console.print(f"{structure_sentence(structure)}.", markup=False)
    console.print()
    console.print(_table(structure))
    if structure.metrics:
        console.print()
        console.print(_metrics(structure))
        console.print(_agreement(structure), markup=False)
    for one in structure.perturbed:
        span = units.time(one.end_ns - one.begin_ns)
        console.print(f"Perturbed: {one.cause.value} at {units.time(one.begin_ns)} for {span}", markup=False)


def _metrics(structure: Structure) -> Table:
    """Make a table of the period that each signal shows, the best agreement with the main loop first.

    "-": no period.
    """
    main = structure.main
    table = plain_table("signal", "period", "#", "off")
    for metric in ranked(structure):
        off = off_by(metric, main)
        said = [NAMES.get(metric.name, metric.name)]
        if metric.period_ns is None:
            table.add_row(*said, "-", "", "")
        else:
            table.add_row(*said, units.time(metric.period_ns), str(metric.iterations), _percent(off))
    return table


def _agreement(structure: Structure) -> str:
    """Say how many signals have a period, how far these are off, and how densely signals were sampled."""
    signal, agree = structure.signals[0], agreement(structure)
    said = f"{len(signal.values)} samples, {units.time(signal.width_ns)} each"
    if agree is None:
        return f"None has a period that can be compared. {said}."
    return (
        f"{agree.found} of {agree.of} have a period, off by {_percent(agree.median)} in the median and "
        f"{_percent(agree.most)} at most. {said}."
    )


def _table(structure: Structure) -> Table:
    numbered = ["loop"] if len(structure.loops) > 1 else []
    table = plain_table("part", *numbered, "from", "span", "#", "period", "in MPI", "efficient", "flushing")
    for top in structure.parts:
        for part in top.walk():
            name, *cells = _row(part)
            number = str(structure.number(part) or "")
            table.add_row(name, *([number] if numbered else []), *cells)
    return table


def _row(part: RunPart) -> list[str]:
    """Return the cells of a part's row, without the number of its loop.

    `span/#/period` as in Casas 2009, tables 3.1 to 3.5. Period "-": the part has no iterations.
    """
    name = f"{'  ' * (part.level - 1)}{part.level} {part.kind.value if part.kind is not PartKind.LOOP else _body(part)}"
    period = units.time(part.iterations.period_ns) if part.iterations else "-"
    cost = part.cost
    return [
        name,
        units.time(part.begin_ns),
        units.time(part.span_ns),
        str(part.count),
        period,
        _percent(cost.mpi),
        _percent(cost.efficiency),
        units.time(cost.flushed_ns) if cost.flushed_ns else "",
    ]


def _body(part: RunPart) -> str:
    return part.iterations.body if part.iterations else ""


def _percent(share: float | None) -> str:
    return "" if share is None else units.percent(share)


def structure_json(structure: Structure) -> dict[str, Any]:
    """Return the structure as `analyze structure --json` prints it. Times are in s.

    `levels` has all loops in the order of Structure.loops.
    """
    main = structure.main
    alpha = {signal.name: signal.alpha_hz for signal in structure.signals}
    return {
        "file": structure.file,
        "ranks": structure.ranks,
        "runtime_s": structure.duration_ns / 1e9,
        "sentence": structure_sentence(structure),
        "iterations": main.count if main else None,
        "period_s": _seconds(main.iterations.period_ns) if main and main.iterations else None,
        "agreement": structure.agreement,
        "signals_agree": asdict(agree) if (agree := agreement(structure)) else None,
        "levels": [_loop_json(part, number) for number, part in enumerate(structure.loops, 1)],
        "parts": [_part_json(part, structure) for part in structure.parts],
        "signals": [
            {
                "name": metric.name,
                "period_s": None if metric.period_ns is None else metric.period_ns / 1e9,
                "iterations": metric.iterations,
                "correlation": metric.correlation,
                "off": off_by(metric, main),
                "samples_per_s": alpha.get(metric.name),
            }
            for metric in ranked(structure)
        ],
        "perturbed": [
            {"cause": one.cause.value, "begin_s": _seconds(one.begin_ns), "end_s": _seconds(one.end_ns)}
            for one in structure.perturbed
        ],
    }


def _loop_json(part: RunPart, number: int) -> dict[str, Any]:
    iterations = part.iterations
    assert iterations is not None
    begin, end = iterations.span_of(part.representative)
    return {
        "loop": number,
        "level": part.level,
        "begin_s": _seconds(iterations.begin_ns),
        "end_s": _seconds(iterations.end_ns),
        "period_s": _seconds(iterations.period_ns),
        "iterations": part.count,
        "body": iterations.body,
        "found_by": iterations.source.value,
        "every": sorted(set(part.every)),
        "fewest": part.fewest or part.count,
        "most": part.most or part.count,
        "total": part.total or part.count,
        "tasks": asdict(part.tasks) if part.tasks else None,
        "efficiency": part.cost.efficiency,
        "mpi": part.cost.mpi,
        "representative": {"iteration": part.representative + 1, "begin_s": _seconds(begin), "end_s": _seconds(end)},
        "slow": [{"iteration": number, "times": times} for number, times in part.slow],
    }


def _part_json(part: RunPart, of: Structure) -> dict[str, Any]:
    iterations = part.iterations
    return {
        "kind": part.kind.value,
        "loop": of.number(part),
        "level": part.level,
        "begin_s": _seconds(part.begin_ns),
        "end_s": _seconds(part.end_ns),
        "iterations": part.count,
        "period_s": _seconds(iterations.period_ns) if iterations else None,
        "mpi": part.cost.mpi,
        "efficiency": part.cost.efficiency,
        "flushing_s": _seconds(part.cost.flushed_ns),
        "parts": [_part_json(one, of) for one in part.inside],
    }


def _seconds(ns: int) -> float:
    return ns / 1e9
