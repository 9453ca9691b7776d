"""`analyze cut --all`: a cut of every loop of a run, and how much smaller these are; with `--follow` of a run that is
still being written.

Source: Casas 2009, section 3.7.3, table 3.8 and figure 3.10.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.commands.shared.following import sentence, watch
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError
from analyzer.report.words import units

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from rich.console import Console

    from analyzer.results.cut import CutResult
    from analyzer.structure.iterations import Iterations
    from analyzer.structure.live import LiveIterations
    from analyzer.trace import Trace


@dataclass(frozen=True)
class _Small:
    """The cut of one loop."""

    number: int  # of the loop, from 1
    loop: Iterations
    first: int  # of the iterations that it holds, from 0
    count: int
    result: CutResult


def cut_all(
    trace: Trace, session: Session, count: int | None, output: str | None, *, force: bool, as_json: bool
) -> None:
    """Cut every loop, and print what each cut holds. count: iterations of each, or of a loop with fewer all; None: as
    many as are typical. Raises TracelibError where there are no loops. Collective."""
    from analyzer.results.cut import bytes_of, choose_iterations
    from analyzer.structure.levels.run_structure import numbered_loops

    with session.step("Looking for loops"):
        loops = numbered_loops(trace, session.team)
    if not loops:
        raise TracelibError(f"{trace.path}: no iterations were found", "name a time with --from and --to")
    small = []
    for number, loop in enumerate(loops, 1):
        first, kept = choose_iterations(trace, session, loop, count and min(count, loop.count), None)
        small.append(_cut(trace, session, number, loop, first, kept, output, force=force))
    before = bytes_of(Path(trace.path))
    if as_json:
        session.print_json(_json(str(trace.path), small, before))
    elif not session.quiet:
        session.print(lambda console: _print(small, before, console))


def cut_followed(
    session: Session, file: str, count: int | None, output: str | None, *, force: bool, as_json: bool
) -> None:
    """Cut every loop that a run repeats, while it is being written, as soon as all ranks have written some iterations
    of it. Numbers are in the order of time. Raises TracelibError where none is found, UsageError if several processes
    follow."""
    from analyzer.opening import open_trace
    from analyzer.results.cut import bytes_of, choose_iterations
    from analyzer.structure.live import last_iterations, place_of

    small: list[_Small] = []

    def take(number: int, now: LiveIterations) -> bool:
        with closing(open_trace(place_of(Path(file)), session.team)) as trace:
            loop = last_iterations(trace, now, session.team)
            if loop is None:
                return False
            first, kept = choose_iterations(trace, session, loop, count and min(count, loop.count), None)
            small.append(_cut(trace, session, number, loop, first, kept, output, force=force))
            if not as_json:
                cut = small[-1]
                size = units.size(cut.result.bytes_after)
                session.say(f"{sentence(number, now)}\n{cut.result.path}: {units.plural(kept, 'iteration')}, {size}")
        return True

    watch(session, file, None, take)
    if not small:
        raise TracelibError(f"{file}: no iterations were found", "name a time with --from and --to")
    if as_json:
        session.print_json(_json(file, small, bytes_of(place_of(Path(file)))))


def _cut(
    trace: Trace, session: Session, number: int, loop: Iterations, first: int, count: int, output: str | None, *,
    force: bool,
) -> _Small:  # fmt: skip
    """Write some iterations of a loop, `first` from 0 on."""
    from analyzer.results.cut import path_of_cut, write_part
    from analyzer.structure.cut.chosen_iterations import window

    path = path_of_cut(trace, output, number)
    result = write_part(trace, window(loop, first, count), path, session, first=first + 1, force=force)
    return _Small(number, loop, first, count, result)


def _levels(small: list[_Small]) -> list[tuple[int, int, float]]:
    """Count the cuts of each level, with their mean size in bytes."""
    by_level = groupby(small, key=lambda one: one.loop.level)
    sizes = [(level, [one.result.bytes_after for one in some]) for level, some in by_level]
    return [(level, len(some), sum(some) / len(some)) for level, some in sizes]


def _json(file: str, small: list[_Small], before: int) -> dict[str, Any]:
    return {
        "file": file,
        "bytes": before,
        "cuts": [
            {
                "loop": one.number,
                "level": one.loop.level,
                "iterations": one.count,
                "of_iterations": one.loop.count,
                **one.result.to_dict(),
            }
            for one in small
        ],
        "levels": [
            {"level": level, "cuts": cuts, "mean_bytes": mean, "times_smaller": before / mean if mean else None}
            for level, cuts, mean in _levels(small)
        ],
    }


def _print(small: list[_Small], before: int, console: Console) -> None:
    from analyzer.report.words.table import plain_table
    from analyzer.results.cut import edges_text

    table = plain_table("loop", "level", "iterations", "from", "span", "size", "file")
    for one in small:
        last = one.first + one.count
        which = f"{one.first + 1}" if one.count == 1 else f"{one.first + 1}-{last}"
        table.add_row(
            str(one.number),
            str(one.loop.level),
            f"{which} of {one.loop.count}",
            units.time(one.result._edges.begin_ns),
            units.time(one.result._edges.end_ns - one.result._edges.begin_ns),
            units.size(one.result.bytes_after),
            one.result.path.name,
        )
    console.print(table)
    for level, cuts, mean in _levels(small):
        shorter = f"{before / mean:.3g} times smaller than {units.size(before)}"
        console.print(f"Level {level}: {units.plural(cuts, 'cut')}, {units.size(round(mean))} on average, {shorter}")
    for one in small:
        if edges := edges_text(one.result._edges):
            console.print(f"Loop {one.number}: {edges[0].lower()}{edges[1:]}", markup=False)
