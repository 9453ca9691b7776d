"""`analyze machine`: a machine in the other of its two forms."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from analyzer.commands.common import Session, common_options
from analyzer.commands.machine_option import machine_argument
from analyzer.errors import TracelibError
from analyzer.replay.cfg_text import cfg_text
from analyzer.replay.machine import AS_CALLS, Machine
from analyzer.replay.machine_cfg import Configuration
from analyzer.replay.machine_text import machine_text
from analyzer.replay.module_toml import modules_text
from analyzer.writers.whole import cannot_write, whole_file


class _Ranks(click.ParamType):
    """Numbers of ranks, one for each application."""

    name = "ranks"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        words = str(value).split(",")
        if not all(word.isdecimal() and 0 < int(word) <= 1 << 20 for word in words):
            self.fail(f"{value!r} is not such as 64, or 64,16 of two runs", param, ctx)
        return tuple(map(int, words))


@click.command("machine")
@machine_argument
@click.option("--ranks", type=_Ranks(), metavar="N,...", help="Of the run, or of each: a .cfg then names their nodes.")
@common_options(as_json=True, output="NAME.toml, or NAME.cfg with NAME.collectives.cfg.")
@click.pass_obj
def machine_command(
    session: Session,
    configuration: Configuration,
    ranks: tuple[int, ...] | None,
    output: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Read a machine (.toml, a Dimemas .cfg, or "ideal"), change it as the options say, and print it as TOML; or write
    it as TOML or as a Dimemas .cfg.

    Nothing is replayed. What is wrong with the machine is said with the line, or the key.
    """
    session.quiet = quiet
    text = machine_text(configuration.machine) + modules_text(configuration.modules)
    written = _write(configuration, text, ranks, Path(output), force) if output and session.speaks else []
    unsaid = _said_by_options(configuration.machine) if output and output.endswith(".cfg") else ""
    if as_json:
        names = [str(path) for path in written]
        session.print_json({"machine": tomllib.loads(text), "written": names, "said_elsewhere": unsaid})
    elif written:
        session.say(f"Written: {', '.join(map(str, written))}")
        if unsaid:
            session.say(f"A .cfg does not say, so say it where it is used: {unsaid}")
    elif not output:
        session.say(text.rstrip("\n"))


def _said_by_options(machine: Machine) -> str:
    """What a .cfg leaves to the command line; "": nothing."""
    limit = machine.eager_limit
    return f"--eager {limit} (Dimemas: -S {limit})" if isinstance(limit, int) and limit != AS_CALLS else ""


def _write(
    configuration: Configuration, text: str, ranks: tuple[int, ...] | None, path: Path, force: bool
) -> list[Path]:
    files = {path: text}
    if path.suffix == ".cfg":
        beside = path.with_suffix(".collectives.cfg")
        machine = configuration.machine
        if isinstance(machine.eager_limit, int):
            machine = replace(machine, eager_limit=AS_CALLS)
        cfg, collectives = cfg_text(machine, ranks, configuration.modules, beside.name)
        files = {beside: collectives, path: cfg}
    elif path.suffix != ".toml":
        raise TracelibError(f"{path}: neither .toml nor .cfg", "name one of them")
    for one in files:
        if one.exists() and not force:
            raise TracelibError(f"{one} exists", "name another output, or use --force")
        if one.is_dir() or not one.parent.is_dir():
            raise TracelibError(f"cannot write {one}: no such folder, or one itself", "name a file with -o")
    for one, content in files.items():
        try:
            with whole_file(one) as file:
                file.write(content.encode())
        except OSError as error:
            raise cannot_write(one, error) from error
    return list(reversed(files))
