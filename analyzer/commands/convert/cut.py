"""`analyze cut`: a small run of some iterations."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from analyzer.commands.shared.options import all_calls_needed, all_ranks_needed, common_options, file_argument
from analyzer.commands.shared.outputs import check_writable, output_base, stem
from analyzer.commands.shared.session import Session
from analyzer.commands.shared.write import write_paraver
from analyzer.errors import TracelibError
from analyzer.opening import open_trace
from analyzer.report.words import units
from analyzer.report.words.left_out import applications_joined, arrows_left_out
from analyzer.signals import discard
from analyzer.structure.cut.choose import FEWEST, fixed_window, typical_stretch, window
from analyzer.structure.cut.cut import Cut, write_cut
from analyzer.structure.iterations import Iterations
from analyzer.structure.levels.find import iterations
from analyzer.trace import Trace
from analyzer.whole import temporary_name

FAR = 0.02
"""Efficiencies that differ by more than this are said to."""


@click.command("cut")
@file_argument
@click.option(
    "--iterations",
    "count",
    type=click.IntRange(min=1),
    help="Iterations that are kept (default: 2, or more until their efficiencies are those of the whole loop).",
)
@click.option("--first", type=click.IntRange(min=1), help="The first of them, from 1 (default: the most typical ones).")
@click.option(
    "--level", type=click.IntRange(1, 4), default=1, show_default=True, help="Of which loop: 1 is the main one."
)
@click.option(
    "--from", "begin_s", type=click.FloatRange(min=0), metavar="S", help="Cut here (in s), not by iterations."
)
@click.option("--to", "end_s", type=click.FloatRange(min=0), metavar="S", help="To here.")
@all_ranks_needed("a cut has all ranks, because they wait for each other")
@all_calls_needed("a cut has all calls of its time, because ranks wait for each other in them")
@common_options(as_json=True, output="Name of the cut run: .h5, .prv or .dim (default: NAME-cut.h5 beside it).")
@click.pass_obj
def cut(
    session: Session, file: str, count: int | None, first: int | None, level: int, begin_s: float | None,
    end_s: float | None, as_json: bool, output: str | None, force: bool, quiet: bool,
) -> None:  # fmt: skip
    """Write some iterations of FILE as a small run of their own, which every command reads.

    Without --first they are those whose efficiencies and length are nearest to those of the whole loop.
    """
    session.quiet = quiet
    trace = open_trace(file, session.team)
    session.mention_problems(trace)
    session.mention([*arrows_left_out(trace), *applications_joined(trace)])
    try:
        if not trace.has_call_times:
            raise TracelibError(f"{trace.path}: a Dimemas trace has no times", "cut the run that it was made of")
        windows, said, number = _windows(trace, session, count, first, level, begin_s, end_s)
        paths, done = _write(trace, windows, output, session, force=force)
        before, after = _bytes(Path(trace.path)), sum(path.stat().st_size for path in paths if path.exists())
    finally:
        trace.close()
    if as_json:
        session.print_json(_json(done, paths, before, after, number))
        return
    shorter = f"{units.size(after)}, {units.size(before)} before"
    session.say(
        f"{paths[0]}: {said}, {units.time(done.end_ns - done.begin_ns)} from {done.begin_ns / 1e9:.6g} s on; {shorter}"
    )
    crossed = done.messages_in + done.messages_out
    if crossed or done.collectives:
        lack = units.verb(crossed, "lacks its", "lack their")
        session.say(
            f"At the edges {units.plural(crossed, 'message')} of {done.messages + crossed} {lack} other side, and "
            f"{units.plural(done.collectives, 'call')} of collectives other members: they keep their time only"
        )


def _windows(
    trace: Trace, session: Session, count: int | None, first: int | None, level: int, begin_s: float | None,
    end_s: float | None,
) -> tuple[np.ndarray, str, int | None]:  # fmt: skip
    """The window of each rank, what it holds in words, the number of the first iteration."""
    if begin_s is not None or end_s is not None:
        begin = round((begin_s or 0) * 1e9)
        end = trace.duration_ns if end_s is None else round(end_s * 1e9)
        if not begin < min(end, trace.duration_ns):
            raise TracelibError(
                f"{trace.path}: nothing lies between --from and --to", f"it lasts {trace.duration_ns / 1e9:.6g} s"
            )
        return fixed_window(trace, begin, min(end, trace.duration_ns)), "a stretch", None
    with session.step("Looking for iterations"):
        found = iterations(trace, session.team, level, by_signals=True)
    if found is None:
        raise TracelibError(
            f"{trace.path}: no iterations of level {level} were found", "name a time with --from and --to"
        )
    at, count = _chosen(trace, session, found, count, first)
    which = f"iteration {at + 1}" if count == 1 else f"iterations {at + 1} to {at + count}"
    return window(found, at, count), f"{which} of {found.count}", at + 1


def _chosen(trace: Trace, session: Session, found: Iterations, count: int | None, first: int | None) -> tuple[int, int]:
    """The first iteration, from 0, and how many. Raises TracelibError where there are fewer."""
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


def _write(
    trace: Trace, windows: np.ndarray, output: str | None, session: Session, *, force: bool
) -> tuple[list[Path], Cut]:
    """Write the run; as .prv or .dim by way of a temporary one."""
    name = output or f"{stem(Path(trace.path))}-cut.h5"
    path = output_base(Path(trace.path), output, ()) if output else Path(trace.path).with_name(name)
    if path.suffix not in (".prv", ".dim"):
        path = path if path.suffix == ".h5" else path.with_name(f"{path.name}.h5")
        check_writable(path, trace, force)
        with session.step(f"Writing {path}"):
            return [path], write_cut(trace, session.team, windows, path)
    check_writable(path, trace, force)
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


def _bytes(path: Path) -> int:
    """What a run takes: a file, with its ranks' files or the labels of a Paraver trace beside it."""
    text = path.with_name(path.name.removesuffix(".gz"))
    ranks = path.with_suffix(".ranks") if path.suffix == ".h5" else path
    files = [path] if path.is_file() else []
    if text.suffix == ".prv":
        files += [label for ending in (".pcf", ".row") if (label := text.with_suffix(ending)).is_file()]
    files += list(ranks.glob("*.h5")) if ranks.is_dir() else []
    return sum(one.stat().st_size for one in files)


def _json(done: Cut, paths: list[Path], before: int, after: int, number: int | None) -> dict:
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
