"""Choosing iterations of a loop, and writing them as a small run: what `analyze cut` does with each loop."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.atomic_file import temporary_name
from analyzer.commands.shared.outputs import check_writable, output_base, stem
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError
from analyzer.report.words import units
from analyzer.signal_handling import discard

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    import numpy as np

    from analyzer.structure.cut.cut_run import Cut
    from analyzer.structure.iterations import Iterations
    from analyzer.trace import Trace

FAR = 0.02
"""Efficiencies that differ by more than this are said to."""
KINDS = (".h5", ".prv", ".dim")
"""Endings of the names of cut runs."""


def choose(trace: Trace, session: Session, found: Iterations, count: int | None, first: int | None) -> tuple[int, int]:
    """Return the first iteration, from 0, and how many. Raises TracelibError where there are fewer."""
    from analyzer.structure.cut.chosen_iterations import FEWEST, typical_stretch

    least = FEWEST if first else 1
    if (first or 1) + (count or least) - 1 > found.count:
        raise TracelibError(f"{trace.path}: there are {found.count} iterations of level {found.level}", "ask for fewer")
    if first:
        return first - 1, count or FEWEST
    stretch = typical_stretch(trace, session.team, found, count)
    if stretch.off > FAR and session.speaks and not session.quiet:
        off = f"by up to {100 * stretch.off:.2g} percentage points"
        click.echo(f"These iterations differ {off} from the efficiencies of the whole loop: keep more", err=True)
    return stretch.first, stretch.count


def path_of(trace: Trace, output: str | None, number: int | None = None) -> Path:
    """Where a cut of a run is written: NAME-cut.h5 beside it, or as `output` says; with the number of a loop
    NAME-cut-2.h5."""
    path = Path(trace.path).with_name(f"{stem(Path(trace.path))}-cut.h5")
    if output:
        path = output_base(Path(trace.path), output, ())
    path = path if path.suffix in KINDS else path.with_name(f"{path.name}.h5")
    return path if number is None else path.with_name(f"{path.stem}-{number}{path.suffix}")


def write_small(
    trace: Trace, windows: np.ndarray, path: Path, session: Session, *, force: bool
) -> tuple[list[Path], Cut]:
    """Write what ranks do in their windows as the run `path`; as .prv or .dim by way of a temporary one. Collective."""
    from analyzer.commands.shared.write import write_paraver
    from analyzer.opening import open_trace
    from analyzer.structure.cut.cut_run import write_cut

    check_writable(path, trace, force)
    if path.suffix == ".h5":
        with session.step(f"Writing {path}"):
            return [path], write_cut(trace, session.team, windows, path)
    part = session.team.bcast(temporary_name(path.with_suffix(".h5"), "cut"))
    try:
        done = write_cut(trace, session.team, windows, part, called=path)
        session.team.barrier()
        run = open_trace(part, session.team)
        try:
            base = path.with_suffix("")
            if path.suffix == ".prv":
                return write_paraver(run, base, session, force), done
            from analyzer.commands.shared.write import write_dimemas

            return [write_dimemas(run, base, session, force).path], done
        finally:
            run.close()
    finally:
        session.team.barrier()
        if session.speaks:
            discard(part)


def bytes_of(path: Path) -> int:
    """Add up the bytes of a run: its file, and the files of its ranks or the labels of a Paraver trace beside it."""
    text = path.with_name(path.name.removesuffix(".gz"))
    ranks = path.with_suffix(".ranks") if path.suffix == ".h5" else path
    files = [path] if path.is_file() else []
    if text.suffix == ".prv":
        files += [label for ending in (".pcf", ".row") if (label := text.with_suffix(ending)).is_file()]
    files += list(ranks.glob("*.h5")) if ranks.is_dir() else []
    return sum(one.stat().st_size for one in files)


def edges_text(done: Cut) -> str | None:
    """Say how many messages and collectives the cut parts from their other side; None: none."""
    crossed = done.messages_in + done.messages_out
    if not crossed and not done.collectives:
        return None
    lack = units.verb(crossed, "lacks its", "lack their")
    return (
        f"At the edges {units.plural(crossed, 'message')} of {done.messages + crossed} {lack} other side, and "
        f"{units.plural(done.collectives, 'call')} of collectives other members: they keep their time only"
    )


def cut_json(done: Cut, paths: list[Path], before: int, after: int, number: int | None) -> dict:
    return {
        "files": [str(path) for path in paths],
        "first_iteration": number,
        "begin_s": done.begin_ns / 1e9,
        "end_s": done.end_ns / 1e9,
        "bytes": after,
        "bytes_before": before,
        "messages": done.messages,
        "messages_sent_before": done.messages_in,
        "messages_received_later": done.messages_out,
        "collective_calls_left_out": done.collectives,
    }
