"""The command `analyze`: picks the subcommand, and turns every error into one line and an exit code."""

from __future__ import annotations

import os
import sys
import time
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click

from analyzer.commands.check import check
from analyzer.commands.common import Session
from analyzer.commands.critical_path import critical_path_command
from analyzer.commands.dim import dim
from analyzer.commands.efficiency import efficiency_command
from analyzer.commands.fit_machine import fit_machine
from analyzer.commands.info import info
from analyzer.commands.limits import limits_command
from analyzer.commands.loggp import loggp
from analyzer.commands.look import look
from analyzer.commands.monte_carlo import monte_carlo
from analyzer.commands.pack import pack
from analyzer.commands.prv import prv
from analyzer.commands.replay import replay_command
from analyzer.commands.ring import ring
from analyzer.commands.sensitivity import sensitivity_command
from analyzer.commands.validate import validate_command
from analyzer.commands.waits import waits_command
from analyzer.commands.what_if import what_if_command
from analyzer.errors import TracelibError
from analyzer.memory import fix_threshold
from analyzer.parallel import Team, team
from analyzer.sources.opening import is_network

GRACE_S = 1.0
"""How long the other processes of a team leave it to the first to report an error that all have met."""


def _version() -> str:
    try:
        return version("tracelib")
    except PackageNotFoundError:  # run from its sources
        return "(not installed)"


class FileOrCommand(click.Group):
    """A group whose first argument may be a file: then it is that of `look`, or of `loggp` if it is of a network."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = {option for parameter in self.get_params(ctx) for option in parameter.opts}
        if args and args[0] not in self.commands and args[0] not in own:
            self._check_name(args[0])
            file = next((word for word in args if not word.startswith("-") and Path(word).exists()), "")
            args = ["loggp" if is_network(file) else "look", *args]
        return super().parse_args(ctx, args)

    def _check_name(self, name: str) -> None:
        """A mistyped command is not a missing file."""
        close = get_close_matches(name, self.commands, n=1)
        if close and not Path(name).exists():
            raise TracelibError(f"{name}: no such file or command", f"did you mean `analyze {close[0]}`?")


@click.group(cls=FileOrCommand, context_settings={"help_option_names": ["-h", "--help"], "terminal_width": 80})
@click.version_option(_version(), prog_name="analyze")
def analyze() -> None:
    """Say where the time of an MPI program went.

    \b
    analyze FILE             print a first look, write .prv, .pcf, .row and .dim
    analyze ngmpi.h5         the network's model, of `python -m tracelib.ngmpi`
    analyze COMMAND FILE     one thing only

    FILE is run.h5, a folder run.ranks, a Paraver trace (.prv, .prv.gz) or a
    Dimemas trace (.dim).
    `mpirun -n N analyze FILE` shares the work among N processes.
    """


for _command in (
    look,
    info,
    check,
    efficiency_command,
    loggp,
    waits_command,
    critical_path_command,
    what_if_command,
    replay_command,
    sensitivity_command,
    limits_command,
    fit_machine,
    monte_carlo,
    ring,
    validate_command,
    prv,
    dim,
    pack,
):
    analyze.add_command(_command)
look.hidden = True


def main(arguments: list[str] | None = None) -> int:
    """Run `analyze` with these arguments (default: the command line's); returns the exit code."""
    fix_threshold()
    members = team()
    try:
        return analyze.main(arguments, "analyze", standalone_mode=False, obj=Session(members)) or 0
    except click.ClickException as error:
        if members.rank == 0:
            error.show()
        return error.exit_code
    except TracelibError as error:
        text = f"Error: {error}" + (f" ({error.hint})" if error.hint else "")
        _fail(members, text)
        return error.exit_code
    except MemoryError:
        _fail(members, "Error: not enough memory for this trace")
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return 130


def _fail(members: Team, text: str) -> None:
    """One process speaks for all; then those that wait for this one are ended too."""
    if members.rank:
        time.sleep(GRACE_S)
    else:
        click.echo(text, err=True)
    members.abort()


if __name__ == "__main__":
    sys.exit(main())
