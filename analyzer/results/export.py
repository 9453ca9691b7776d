"""Files of a run for the tools of others, as `analyze export` writes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from analyzer.frames.tables import TABLES, Tables
from analyzer.report.words.left_out import arrows_left_out, tracer_left_out
from analyzer.report.words.units import plural
from analyzer.results.open_part import RunOpener
from analyzer.results.output_files import check_writable
from analyzer.structure.iterations import Iterations
from analyzer.trace import Trace
from analyzer.writers.otf2 import ANCHOR, write_otf2
from analyzer.writers.state_slices import with_slices
from analyzer.writers.timeline import TimelineFormat, write_timeline

ENDINGS = {"perfetto": ".pftrace", "chrome": ".json", "parquet": ".parquet", "otf2": ".otf2"}
"""Ending of the files of each format."""

Written = Iterator[tuple[Path, str]]
"""Each file that is written, and what it holds."""


def export(
    trace: Trace, base: Path, form: str, host: RunOpener, *, tables: Sequence[str] = (), in_iterations: bool = False,
    iterations: Iterations | None = None, force: bool = False,
) -> Written:  # fmt: skip
    """Write a run as files that other tools read. One process does it.

    Args:
        trace: An opened run.
        base: Path of the files, without ending.
        form: A name of `ENDINGS`.
        host: The program that opened the run.
        tables: Tables of Parquet. Empty: all; "iterations" only with `in_iterations`.
        in_iterations: Whether tables of Parquet have a column of iterations.
        iterations: Iterations of another loop than the main one. None: the main loop's.
        force: Whether existing files are replaced that are none of this kind.

    Yields:
        Each file when it is written, and what it holds.

    Raises:
        TracelibError: A file cannot be written.
    """
    shown = _shown(trace, host)
    if form == "parquet":
        names = tables or [name for name in TABLES if in_iterations or name != "iterations"]
        columns = Tables(shown, in_iterations=in_iterations, iterations=iterations)
        yield from _write_tables(shown, columns, base, names, host, force)
    elif form == "otf2":
        yield _write_archive(shown, base.with_name(f"{base.name}-otf2"), host)
    else:
        yield _write_timeline(shown, base.with_name(base.name + ENDINGS[form]), form, host, force)


def _shown(trace: Trace, host: RunOpener) -> Trace:
    """Choose the trace that is exported; report what stands for something else, and what is left out."""
    name, shown = Path(trace.path).name, with_slices(trace)
    if shown is not trace:
        host.mention([f"{name}: no MPI calls, so its states and events are written as regions"])
    host.mention(arrows_left_out(trace))
    return shown


def _write_timeline(trace: Trace, path: Path, form: str, host: RunOpener, force: bool) -> tuple[Path, str]:
    check_writable(path, trace, force)
    with host.step(f"Writing {path}"):
        written = write_timeline(trace, path, TimelineFormat[form.upper()])
    counts = [plural(written.calls, "call"), plural(written.messages, "message")]
    counts += [plural(written.regions, "visit of a region", "visits of regions")] if written.regions else []
    counts += [plural(written.events, "event of the program", "events of the program")] if written.events else []
    counts += [plural(written.values, "reading of a counter", "readings of counters")] if written.values else []
    counts += [plural(written.samples, "sample of a node", "samples of nodes")] if written.samples else []
    return path, ", ".join(counts)


def _write_tables(
    trace: Trace, tables: Tables, base: Path, names: Sequence[str], host: RunOpener, force: bool
) -> Written:
    paths = {name: base.with_name(f"{base.name}.{name}.parquet") for name in names}
    for path in paths.values():
        check_writable(path, trace, force)
    for name, path in paths.items():
        with host.step(f"Writing {path}"):
            rows = getattr(tables, name).to_parquet(path)
        yield path, f"{rows} rows"


def _write_archive(trace: Trace, folder: Path, host: RunOpener) -> tuple[Path, str]:
    with host.step(f"Writing {folder}"):
        events = write_otf2(trace, folder)
    host.mention(tracer_left_out(trace))
    return folder / f"{ANCHOR}.otf2", f"{events} events"
