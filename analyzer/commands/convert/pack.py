"""`analyze pack`: a small copy of a run to keep or to send."""

from __future__ import annotations

import click

from analyzer.commands.command import Alone, Refuses, Result, command
from analyzer.commands.shared.options import LazyChoice
from analyzer.commands.shared.session import Session


@command(
    "Compress a run into one file, to keep or to send.",
    ranks=Refuses("a packed run has all of its ranks"),
    place=Refuses("a packed run has all of its calls"),
    output="Name of the packed run.  [default: NAME-packed.h5]",
    json=1,
    alone=Alone("one process writes the file", all_work=True),
)
@click.argument("file", type=click.Path())
@click.option(
    "--codec",
    type=LazyChoice("analyzer.writers.hdf5_groups", "CODECS"),
    default="gzip",
    show_default=True,
    help="Compression of the rows.",
)
def pack(session: Session, file: str, codec: str, output: str | None, force: bool) -> Result:
    """Write the run FILE into one compressed HDF5 file.

    It holds the same tables with the same values, opens in plain h5py, and every command of analyze reads it
    as it reads run.h5. The original is left as it is.
    """
    from analyzer.results.pack import compute

    return compute(file, session, output=output, codec=codec, force=force)
