"""Opens a run, or some of its iterations as a run of their own, and makes remarks about its problems."""

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
"""Name of the region whose visits are iterations."""

_cut_by: WeakKeyDictionary[Trace, Iterations] = WeakKeyDictionary()
"""For each run that was cut out of another run: the iterations that it holds."""


@dataclass(frozen=True)
class IterationChoice:
    """Iterations that a user chose: a loop, some of its iterations, or all of them as visits of a region."""

    loop: int = 0
    """Number of the loop, from 1; 0: none was named, and the main loop is meant."""
    first: int = 0
    """First iteration, from 1; 0: all of the loop, or of the run if no loop was named."""
    last: int = 0
    """Last iteration, from 1."""
    as_region: bool = False
    """Whether iterations are to be visits of the region "iteration"."""

    @property
    def is_part(self) -> bool:
        """True if a part of the run was chosen, that is, a loop or some iterations."""
        return self.loop > 0 or self.first > 0

    def numbers(self, count: int) -> tuple[int, int]:
        """Return the first chosen iteration, from 0, and the number of chosen iterations.

        Args:
            count: Number of iterations of the loop.
        """
        return (self.first - 1, self.last - self.first + 1) if self.first else (0, count)

    def text(self, count: int) -> str:
        """Return the choice in words: "iteration 113 of 200", "iterations 10 to 20 of 200" or "loop 2, 60 iterations".

        The first two end with "of loop 2" if the loop was named.

        Args:
            count: Number of iterations of the loop.
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
    """Program that opens runs: the session of a command, or Python code.

    Attributes:
        team: Processes that share the work.
        wanted: Iterations that the user chose. None: the whole run.
    """

    team: Team
    wanted: IterationChoice | None

    def step(self, label: str) -> AbstractContextManager[Callable[[str], None]]:
        """Show `label` while the context is open. The context yields a function that shows the progress."""

    def mention(self, lines: Iterable[str]) -> None:
        """Show remarks to the user, one a line. All processes call this; one of them shows the lines."""

    def mention_problems(self, trace: Trace) -> None:
        """Show the lines of `remarks(trace)` to the user."""

    def note_buffers(self, trace: Trace) -> None:
        """Remember a run if buffers on this node still hold a part of it."""

    def call_on_close(self, clean_up: Callable[[], None]) -> None:
        """Call `clean_up` when no opened run is needed any more."""


def remarks(trace: Trace) -> list[str]:
    """List what a user should know about a trace before reading its figures, one line for each remark.

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
    """Open a run, or the iterations of it that `host.wanted` names. The times of such a part begin at 0.

    Args:
        host: The program that opens the run.
        file: Path of the run.
        region: Region that the caller analyzes. If it is ITERATION_REGION, or if `host.wanted.as_region`, and the
            program
            has no such region, iterations become visits of it. None: no region.
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
    """Return the iterations in a run that `open_part` opened.

    If the run was cut out by iterations, these are returned. Otherwise, the main loop is searched.

    Raises:
        TracelibError: There are no iterations.
    """
    return _cut_by[trace] if trace in _cut_by else iterations_of(trace, host)


def chosen_windows(host: RunOpener, trace: Trace, more: str = "") -> np.ndarray | None:
    """Find when each rank begins and ends the iterations that `host.wanted` names. Collective over the team.

    Args:
        host: The program that opened the run.
        trace: The whole run.
        more: Text after the remark that only these iterations are analyzed.

    Returns:
        Begin and end by rank, int64 (ranks, 2), ns; -1 where they are not known. None: no iterations are named.

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
    """Find the loop that a user chose, with all of its iterations.

    Raises:
        TracelibError: There is no such loop, or it has too few iterations.
    """
    found = iterations_of(trace, host)
    if wanted.last > found.count:
        there = f"there are {found.count}" if found.count > 1 else "there is one"
        of = f" of loop {wanted.loop}" if wanted.loop else ""
        raise TracelibError(f"{trace.path} has no {ITERATION_REGION} {wanted.last}{of}", there)
    return found


def iterations_of(trace: Trace, host: RunOpener) -> Iterations:
    """Find the iterations of the loop that `host.wanted` names. If it names none, find the main loop's.

    Raises:
        TracelibError: There is no such loop, or the trace is a Dimemas trace.
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
    """Write the chosen iterations as a run, and open that run. Its file is removed when the host closes."""
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
