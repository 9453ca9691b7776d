"""`analyze pack`: a small copy of a run to keep or to send."""

from __future__ import annotations

from pathlib import Path

import click

from analyzer.commands.command import Alone, Refuses, command
from analyzer.commands.shared.options import LazyChoice
from analyzer.commands.shared.outputs import stem
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError
from analyzer.report.words.units import plural, size


@command(
    "Compress a run into one file, to keep or to send.",
    ranks=Refuses("a packed run has all of its ranks"),
    place=Refuses("a packed run has all of its calls"),
    output="Name of the packed run.  [default: NAME-packed.h5]",
    json=1,
    alone=Alone("one process writes the file"),
)
@click.argument("file", type=click.Path())
@click.option(
    "--codec",
    type=LazyChoice("analyzer.writers.hdf5_groups", "CODECS"),
    default="gzip",
    show_default=True,
    help="Compression of the rows.",
)
def pack(session: Session, file: str, codec: str, output: str | None, force: bool) -> None:
    """Write the run FILE into one compressed HDF5 file.

    It holds the same tables with the same values, opens in plain h5py, and every command of analyze reads it
    as it reads run.h5. The original is left as it is.
    """
    from analyzer.opening import foreign_trace
    from analyzer.writers.packed import pack_run

    path = Path(output) if output else Path(file).parent / f"{stem(Path(file))}-packed.h5"
    if path.is_dir():
        path /= f"{stem(Path(file))}-packed.h5"
    if session.speaks:
        if path.exists() and not force:
            raise TracelibError(f"{path} exists", "name another output with -o, or use --force")
        if path.exists() and path.samefile(file):
            raise TracelibError(f"{path} is the run that is read", "name another output with -o NAME")
        if said := foreign_trace(file):
            raise TracelibError(
                f"{file}: traces of {said} are not packed, only runs of tracelib", "compress it with gzip or tar"
            )
        with session.step(f"Writing {path}"):
            packed = pack_run(file, path, codec)
        if session.as_json:
            session.print_json(
                {
                    "path": str(path),
                    "ranks": packed.ranks,
                    "calls": packed.calls,
                    "bytes": packed.size_bytes,
                    "bytes_before": packed.before_bytes,
                    "bytes_per_call": packed.bytes_a_call,
                }
            )
        else:
            before, after = size(packed.before_bytes), size(packed.size_bytes)
            calls = f"{plural(packed.calls, 'call')} in {after}, {packed.bytes_a_call:.1f} bytes a call"
            session.say(f"{path}: {calls} ({before} before)")
    session.team.barrier()
