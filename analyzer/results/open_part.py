"""Opens a run, or some of its iterations as a run of their own, and says what is wrong with it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakKeyDictionary

from analyzer.errors import TracelibError
from analyzer.parallel import Team

if TYPE_CHECKING:  # the options of commands need these names only: `analyze --help` does not wait for numpy
    import numpy as np

    from analyzer.structure.iterations import Iterations
    from analyzer.trace import Trace

ITERATION_REGION = "iteration"
"""The region that iterations are visits of."""

_cut_by: WeakKeyDictionary[Trace, Iterations] = WeakKeyDictionary()
"""The iterations by which each run that is a part of another was cut out."""


@dataclass(frozen=True)
class IterationChoice:
    """Iterations that a user chose: a loop, some of its iterations, or all as visits of a region."""

    loop: int = 0
    """Number of the loop, from 1; 0: none was named, and the main loop is meant."""
    first: int = 0
    """First iteration, from 1; 0: all of the loop, or of the run if no loop was named."""
    last: int = 0
    as_region: bool = False

    @property
    def is_part(self) -> bool:
        """Whether a part of the run was chosen."""
        return self.loop > 0 or self.first > 0

    def numbers(self, count: int) -> tuple[int, int]:
        """Return the first iteration, from 0, and the number of iterations, of a loop that has `count`."""
        return (self.first - 1, self.last - self.first + 1) if self.first else (0, count)

    def text(self, count: int) -> str:
        """Name the choice: "iteration 113 of 200", "iterations 10 to 20 of 200", "loop 2, 60 iterations".

        The first two end with "of loop 2" if the loop was named.
        """
        if not self.first:
            return f"loop {self.loop}, {count} {ITERATION_REGION}s"
        said = (
            f"{ITERATION_REGION} {self.first}"
            if self.first == self.last
            else f"{ITERATION_REGION}s {self.first} to {self.last}"
        )
        return f"{said} of {count}" + (f" of loop {self.loop}" if self.loop else "")


class RunOpener(Protocol):
    """The program that opens runs: a command (its session) or Python."""

    team: Team
    wanted: IterationChoice | None

    def step(self, label: str) -> AbstractContextManager[Callable[[str], None]]:
        """Show what is being done; the function that it yields shows how far it is."""

    def mention(self, lines: Iterable[str]) -> None:
        """Take remarks for the user, a line each. All processes call it; one of them shows the lines."""

    def mention_problems(self, trace: Trace) -> None:
        """Mention `remarks(trace)`."""

    def note_buffers(self, trace: Trace) -> None:
        """Take note of a run of which buffers of this node hold a part."""

    def call_on_close(self, clean_up: Callable[[], None]) -> None:
        """Call `clean_up` when no opened run is needed any more."""


def remarks(trace: Trace) -> list[str]:
    """List what a user should know of a trace before its figures, a line each.

    A Dimemas trace has no times: its only possible problem is a replay that never ends, and the replay reports that.
    """
    if not trace.has_call_times:
        return []
    from analyzer.trace import Losses
    from analyzer.trace.chosen import choice_named

    wrong = [problem.line for problem in trace.problems if not problem.note]
    more = f" (and {len(wrong) - 1} more: analyze check)" if wrong[1:] else ""
    said = [choice_named(trace), f"{wrong[0]}{more}" if wrong else "", trace.extra(Losses).left_out]
    return [f"{Path(trace.path).name}: {line}" for line in said if line]


def open_part(host: RunOpener, file: str, *, region: str | None = None, **opening: Any) -> Trace:
    """Open a run, or the iterations of it that `host.wanted` names, as a run whose times begin with them.

    Args:
        host: The program that opens the run.
        file: Path of the run.
        region: A region that the caller looks at. If it is ITERATION_REGION, and the program has no such region, or if
            `host.wanted` says so, iterations are visits of it.
        opening: Further arguments of `analyzer.opening.open_trace`.

    Raises:
        TracelibError: There are no iterations, or too few.
    """
    from analyzer.opening import open_trace

    trace = open_trace(file, host.team, **opening)
    host.note_buffers(trace)
    wanted = host.wanted or IterationChoice()
    try:
        from analyzer.trace import Regions

        named = ITERATION_REGION in (region, wanted.as_region and ITERATION_REGION)
        as_region = named and ITERATION_REGION not in trace.extra(Regions).names
        if not wanted.is_part and not as_region:
            return trace
        found = chosen_loop(trace, host, wanted)
        if wanted.is_part:
            host.mention_problems(trace)
        if as_region:
            from analyzer.structure.regions import WithRegion

            trace = WithRegion(trace, found)
        return _cut(trace, found, wanted, host, opening) if wanted.is_part else trace
    except BaseException:
        trace.close()
        raise


def iterations_in(trace: Trace, host: RunOpener) -> Iterations:
    """Find the iterations in a run that `open_part` opened.

    If the run was cut out by iterations, these are returned; else the iterations of the main loop.

    Raises:
        TracelibError: There are none.
    """
    return _cut_by[trace] if trace in _cut_by else iterations_of(trace, host)


def chosen_windows(host: RunOpener, trace: Trace, more: str = "") -> np.ndarray | None:
    """Find when each rank begins and ends the iterations that `host.wanted` names, in a run that is opened as a whole.

    Collective over the team.

    Args:
        host: The program that opened the run.
        trace: The run.
        more: Text behind the remark that only these iterations are looked at.

    Returns:
        int64 (ranks, 2), ns; -1 where it is not known. None: no iterations are named.

    Raises:
        TracelibError: There are no iterations, or too few.
    """
    wanted = host.wanted
    if not wanted or not wanted.is_part:
        return None
    from analyzer.structure.cut.chosen_iterations import span_of

    found = chosen_loop(trace, host, wanted)
    windows = _windows(found, wanted)
    _mention(host, trace, found, wanted, span_of(windows), more)
    return windows


def chosen_loop(trace: Trace, host: RunOpener, wanted: IterationChoice) -> Iterations:
    """Find the loop that is chosen. Raises TracelibError where there is none, or too few iterations."""
    found = iterations_of(trace, host)
    if wanted.last > found.count:
        there = f"there are {found.count}" if found.count > 1 else "there is one"
        of = f" of loop {wanted.loop}" if wanted.loop else ""
        raise TracelibError(f"{trace.path} has no {ITERATION_REGION} {wanted.last}{of}", there)
    return found


def iterations_of(trace: Trace, host: RunOpener) -> Iterations:
    """Find the iterations of the loop that is chosen, else of the main loop.

    Raises:
        TracelibError: There is no such loop.
    """
    from analyzer.structure.levels.run_structure import iterations, numbered_loops

    if not trace.has_call_times:
        raise TracelibError(f"{trace.path}: a Dimemas trace has no times", "name the run that it was made of")
    number = host.wanted.loop if host.wanted else 0
    with host.step("Looking for iterations"):
        if number > 1:
            loops = numbered_loops(trace, host.team)
        else:
            main = iterations(trace, host.team, by_signals=True)
            loops = [main] if main else []
    if not loops:
        raise TracelibError(f"{trace.path}: no iterations were found", "analyze structure says what it is made of")
    if number > len(loops):
        there = f"there are {len(loops)}" if len(loops) > 1 else "there is one"
        raise TracelibError(f"{trace.path} has no loop {number}", f"{there}; analyze structure numbers them")
    return loops[max(number, 1) - 1]


def _windows(found: Iterations, wanted: IterationChoice) -> np.ndarray:
    from analyzer.structure.cut.chosen_iterations import window

    return window(found, *wanted.numbers(found.count))


def _mention(
    host: RunOpener, trace: Trace, found: Iterations, wanted: IterationChoice, span: tuple[int, int], more: str
) -> None:
    length, at = (span[1] - span[0]) / 1e6, span[0] / 1e9
    said = f"only {wanted.text(found.count)}, {length:.6g} ms from {at:.6g} s on{more}"
    host.mention([f"{Path(trace.path).name}: {said}"])


def _cut(trace: Trace, found: Iterations, wanted: IterationChoice, host: RunOpener, opening: dict[str, Any]) -> Trace:
    """Write the chosen iterations as a run, into a file that goes when the host closes, and open it."""
    from analyzer.opening import open_trace
    from analyzer.signal_handling import discard, temporary
    from analyzer.structure.cut.chosen_iterations import span_of
    from analyzer.structure.cut.cut_run import write_cut

    choice, team = opening.get("choice"), host.team
    if choice and choice.cluster:
        raise TracelibError(f"{ITERATION_REGION} and cluster cannot be used together", "leave one of them out")
    part = temporary(Path(team.bcast(_place(Path(trace.path), alone=team.size == 1))))
    if team.rank == 0:
        host.call_on_close(lambda: discard(part))
    windows = _windows(found, wanted)
    with host.step(f"Cutting out {wanted.text(found.count)}"):
        write_cut(trace, team, windows, part)
    team.barrier()
    small = open_trace(part, team, choice=choice, matched=opening.get("matched", True))
    small.path = trace.path
    _cut_by[small] = found.part(*wanted.numbers(found.count))
    trace.close()
    _mention(host, small, found, wanted, span_of(windows), "; times begin there")
    return small


def _place(path: Path, *, alone: bool) -> str:
    """Choose a path that all processes can read when one of them has written it."""
    from analyzer.temporary_files import place_of_temporaries

    folder = place_of_temporaries() if alone else path.parent
    return os.fspath(folder / f".{path.name}.{os.getpid()}.{ITERATION_REGION}.h5")
