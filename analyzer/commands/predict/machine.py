"""`analyze machine`: a machine as TOML, or as a Dimemas .cfg."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analyzer.atomic_file import cannot_write, whole_file
from analyzer.commands.command import Refuses, command
from analyzer.commands.shared.machine_option import machine_argument
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.machine.cfg import MachineConfiguration
    from analyzer.machine.description import Machine


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
) -> None:
    """Read a machine (.toml, a Dimemas .cfg, or "ideal") and change it as the options say. Print it as TOML, or write
    it as TOML or as a Dimemas .cfg.

    Nothing is replayed. An error in the machine is reported with its line or key.
    """
    from analyzer.machine.options import modules_text
    from analyzer.machine.toml_text import machine_text

    text = machine_text(configuration.machine) + modules_text(configuration.modules)
    written = _write(configuration, text, ranks, Path(output), force) if output and session.speaks else []
    unsaid = _said_by_options(configuration.machine) if output and output.endswith(".cfg") else ""
    if session.as_json:
        names = [str(path) for path in written]
        session.print_json({"machine": tomllib.loads(text), "written": names, "said_elsewhere": unsaid})
    elif written:
        session.say(f"Written: {', '.join(map(str, written))}")
        if unsaid:
            session.say(f"A .cfg cannot hold this, so give it where the machine is used: {unsaid}")
        if crashes := _crashes(written):
            session.say(f"Dimemas 5.5.0 crashes on {crashes}, which this machine needs")
    elif not output:
        session.say(text.rstrip("\n"))


def _said_by_options(machine: Machine) -> str:
    """Return the options that a .cfg cannot hold; "": none."""
    limit = _eager_limit(machine)
    return f"--eager-limit {limit} (Dimemas: -S {limit})" if limit is not None else ""


def _eager_limit(machine: Machine) -> int | None:
    """Return the eager limit if an option can give it, else None."""
    from analyzer.machine.description import AS_CALLS

    limit = machine.eager_limit
    return limit if isinstance(limit, int) and limit != AS_CALLS else None


def _crashes(written: list[Path]) -> str:
    from analyzer.machine.cfg_text import crashes_dimemas

    return crashes_dimemas(written[0].read_text()) if written[0].suffix == ".cfg" else ""


def _write(
    configuration: MachineConfiguration, text: str, ranks: tuple[int, ...] | None, path: Path, force: bool
) -> list[Path]:
    from analyzer.machine.cfg_text import cfg_text

    files = {path: text}
    if path.suffix == ".cfg":
        beside = path.with_suffix(".collectives.cfg")
        machine = configuration.machine
        if _eager_limit(machine) is not None:
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
