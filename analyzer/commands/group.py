"""The command line: picks the subcommand, and turns every error into one line and an exit code."""

from __future__ import annotations

import os
import sys
import time
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from socket import gethostname

import click

from analyzer import ending
from analyzer.cli import COMMANDS
from analyzer.commands.common import Session
from analyzer.errors import TracelibError
from analyzer.memory import fix_thresholds
from analyzer.parallel import Team, team

GRACE_S = 1.0
"""How long the other processes of a team leave it to the first to report an error that all have met."""
STAGGER_S = 0.1
"""How much longer each of them leaves it to the one before."""


def _version() -> str:
    try:
        return version("tracelib")
    except PackageNotFoundError:  # run from its sources
        return "(not installed)"


class AnalyzeGroup(click.Group):
    """Commands that are imported when they are asked for: all of them together take a second.

    The first argument may be a file: then it is that of `look`, or of `loggp` if it is of a network.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, name = COMMANDS[cmd_name][0].split(":")
        return getattr(import_module(f"analyzer.commands.{module}"), name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items() if line])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = {option for parameter in self.get_params(ctx) for option in parameter.opts}
        if args and args[0] not in COMMANDS and args[0] not in own:
            self._check_name(args[0])
            args = [self._command_for(args), *args]
        return super().parse_args(ctx, args)

    def _command_for(self, args: list[str]) -> str:
        from analyzer.sources.opening import is_network

        file = next((word for word in args if not word.startswith("-") and Path(word).exists()), "")
        return "loggp" if is_network(file) else "look"

    def _check_name(self, name: str) -> None:
        """A mistyped command is not a missing file."""
        close = get_close_matches(name, COMMANDS, n=1)
        if close and not Path(name).exists():
            raise TracelibError(f"{name}: no such file or command", f"did you mean `analyze {close[0]}`?")


@click.group(cls=AnalyzeGroup, context_settings={"help_option_names": ["-h", "--help"], "terminal_width": 80})
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


def run(arguments: list[str] | None) -> int:
    """What `analyzer.cli.main` does, but for being ended from outside."""
    fix_thresholds()
    members = team()
    if members.size > 1:
        ending.watch()
    try:
        return analyze.main(arguments, "analyze", standalone_mode=False, obj=Session(members)) or 0
    except click.ClickException as error:
        if members.rank == 0:
            _show(error)
        return error.exit_code
    except TracelibError as error:
        text = f"Error: {error}" + (f" ({error.hint})" if error.hint else "")
        _fail(members, text)
        return error.exit_code
    except MemoryError:
        _fail(members, "Error: not enough memory for this trace")
        return 1
    except (AttributeError, ImportError) as error:
        if not _is_of_kernels(error):
            raise
        text = "the compiled part of analyze is not there, or older than the rest"
        _fail(members, f"Error: {text} (run `make build`, or install tracelib again)")
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        _fail(members, f"Error: {error.strerror or error}" + (f": {error.filename}" if error.filename else ""))
        return 1
    except ending.Ended as end:
        if members.size > 1:  # the launcher says so
            ending.die(end.number)
        raise


def _is_of_kernels(error: AttributeError | ImportError) -> bool:
    """Whether it says that a module of cffi is not there, or has not what is asked of it."""
    if isinstance(error, ImportError):
        return error.name in ("analyzer._kernels", "analyzer._replay")
    return str(error).startswith("cffi library ")


def _show(error: click.ClickException) -> None:
    """In one line; without any argument, the help."""
    context = getattr(error, "ctx", None)
    if context is None or isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return
    text = error.format_message().rstrip(".")
    click.echo(f"Error: {text} (see `{context.command_path} --help`)", err=True)


def _fail(members: Team, text: str) -> None:
    """One process speaks for all; then those that wait for this one are ended too."""
    if members.rank:  # it still lives after that: the first has not met this, and another may be on its node, too
        time.sleep(GRACE_S + min(members.rank * STAGGER_S, GRACE_S))
        text += f", on process {members.rank} of {members.size}, {gethostname()}"
    click.echo(text, err=True)
    ending.discard_all()
    members.abort()
