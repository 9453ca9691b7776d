"""`analyze machine`: a machine as TOML, or as a Dimemas .cfg."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analyzer.atomic_file import cannot_write, whole_file
from analyzer.commands.command import Refuses, Result, command
from analyzer.commands.shared.machine_option import machine_argument
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.machine.read_cfg import MachineConfiguration


class _Ranks(click.ParamType):
    """Numbers of ranks, one for each application."""

    name = "ranks"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        words = str(value).split(",")
        if not all(word.isdecimal() and 0 < int(word) <= 1 << 20 for word in words):
            self.fail(f"{value!r} is not a number of ranks such as 64, or 64,16 for two runs", param, ctx)
        return tuple(map(int, words))


@command(
    "Show a machine; turn a Dimemas .cfg into TOML and back.",
    place=Refuses("a machine has no places"),
    output="Write the machine into this .toml or Dimemas .cfg file.",
    json=1,
)
@machine_argument
@click.option(
    "--ranks",
    type=_Ranks(),
    metavar="N,...",
    help="Number of ranks of the run, or of each run; a .cfg then names the node of each rank.",
)
def machine_command(
    session: Session,
    configuration: MachineConfiguration,
    ranks: tuple[int, ...] | None,
    output: str | None,
    force: bool,
) -> Result:
    """Read a machine (.toml, a Dimemas .cfg, or "ideal") and change it as the options say. Print it as TOML, or write
    it as TOML or as a Dimemas .cfg.

    Nothing is replayed. An error in the machine is reported with its line or key.
    """
    from analyzer.results.machine import MachineResult

    result = MachineResult(configuration)
    if output is None:
        return result
    return replace(result, _written=_write(configuration, result.text, ranks, Path(output), force, session))


def _write(
    configuration: MachineConfiguration,
    text: str,
    ranks: tuple[int, ...] | None,
    path: Path,
    force: bool,
    session: Session,
) -> list[Path]:
    """Write the machine, by one process alone, which returns the files."""
    from analyzer.machine.write_cfg import cfg_text
    from analyzer.results.machine import eager_limit

    if not session.speaks:
        return []

    files = {path: text}
    if path.suffix == ".cfg":
        beside = path.with_suffix(".collectives.cfg")
        machine = configuration.machine
        if eager_limit(machine) is not None:
            machine = replace(machine, eager_limit=None)
        cfg, collectives = cfg_text(machine, ranks, configuration.modules, beside.name)
        files = {beside: collectives, path: cfg} if collectives else {path: cfg}
    elif path.suffix != ".toml":
        raise TracelibError(f"{path}: neither .toml nor .cfg", "give a name that ends in one of them")
    for one in files:
        if one.exists() and not force:
            raise TracelibError(f"{one} exists", "name another output, or use --force")
        if one.is_dir() or not one.parent.is_dir():
            raise TracelibError(
                f"cannot write {one}: its folder does not exist, or it is a folder itself", "name a file with -o"
            )
    for one, content in files.items():
        try:
            with whole_file(one) as file:
                file.write(content.encode())
        except OSError as error:
            raise cannot_write(one, error) from error
    return list(reversed(files))
