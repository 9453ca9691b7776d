"""`analyze cut --all`: a cut of each loop of a run; with `--follow`, of a run that is still being written."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.commands.shared.following import sentence, watch
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.results.cut import LoopCut, LoopCutsResult
    from analyzer.structure.iterations import Iterations
    from analyzer.structure.live import LiveIterations
    from analyzer.trace import Trace


def cut_all(trace: Trace, session: Session, count: int | None, output: str | None, *, force: bool) -> LoopCutsResult:
    """Cut every loop. Collective over the team.

    Args:
        trace: The run.
        session: The command's.
        count: Iterations of each cut; a loop with fewer is kept whole. None: as many as are typical.
        output: Name of the cuts. None: beside the run.
        force: Whether existing files are replaced.

    Raises:
        TracelibError: There are no loops.
    """
    from analyzer.results.cut import LoopCutsResult, bytes_of
    from analyzer.structure.levels.run_structure import numbered_loops

    with session.step("Looking for loops"):
        loops = numbered_loops(trace, session.team)
    if not loops:
        raise TracelibError(f"{trace.path}: no iterations were found", "name a time with --from and --to")
    cuts = [
        _cut(trace, session, number, loop, count and min(count, loop.count), output, force=force)
        for number, loop in enumerate(loops, 1)
    ]
    return LoopCutsResult(str(trace.path), cuts, bytes_of(Path(trace.path)))


def cut_followed(
    session: Session, file: str, count: int | None, output: str | None, *, force: bool
) -> LoopCutsResult | None:
    """Cut every loop of a run that is being written, as soon as all ranks have written some iterations of it.

    Loops are numbered in the order of time. Each is reported at once; only --json reports them at the end.

    Raises:
        TracelibError: No loop is found.
        UsageError: Several processes follow.
    """
    from analyzer.opening import open_trace
    from analyzer.results.cut import LoopCutsResult, bytes_of
    from analyzer.structure.live import last_iterations, place_of

    cuts: list[LoopCut] = []

    def take(number: int, now: LiveIterations) -> bool:
        with closing(open_trace(place_of(Path(file)), session.team)) as trace:
            loop = last_iterations(trace, now, session.team)
            if loop is None:
                return False
            kept = count and min(count, loop.count)
            cuts.append(_cut(trace, session, number, loop, kept, output, force=force))
            session.report(f"{sentence(number, now)}\n{cuts[-1].line}")
        return True

    watch(session, file, None, take)
    if not cuts:
        raise TracelibError(f"{file}: no iterations were found", "name a time with --from and --to")
    return LoopCutsResult(file, cuts, bytes_of(place_of(Path(file)))) if session.as_json else None


def _cut(
    trace: Trace, session: Session, number: int, loop: Iterations, count: int | None, output: str | None, *,
    force: bool,
) -> LoopCut:  # fmt: skip
    """Choose iterations of a loop, and write them."""
    from analyzer.results.cut import LoopCut, choose_iterations, path_of_cut, write_part
    from analyzer.structure.cut.chosen_iterations import window

    first, kept = choose_iterations(trace, session, loop, count, None)
    path = path_of_cut(trace, output, number)
    result = write_part(trace, window(loop, first, kept), path, session, first=first + 1, force=force)
    return LoopCut(number, loop, first, kept, result)
