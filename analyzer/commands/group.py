"""The command line of `analyze`: finds the subcommand, and turns every error into one line and an exit code."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click

from analyzer import signal_handling
from analyzer.commands import registry
from analyzer.commands.command import Command, NamesFormats
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError
from analyzer.parallel import Team, team
from analyzer.process_memory import fix_thresholds, search_little_for_cycles
from tracelib.errors import drop_output

_SILENT = frozenset({"-q", "--quiet", "-h", "--help"})

GRACE_S = 1.0
"""Time in s that other processes of a team wait for the first one to report an error that all may have."""
STAGGER_S = 0.1
"""Time in s that each process waits longer than the process before it."""


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Print the version. It is looked up only here: reading the package's metadata takes as long as importing click."""
    if not wanted or ctx.resilient_parsing:
        return
    from importlib.metadata import PackageNotFoundError, version

    try:
        found = version("tracelib")
    except PackageNotFoundError:  # run from its sources
        found = "(not installed)"
    click.echo(f"analyze, version {found}")
    ctx.exit()


class AnalyzeGroup(NamesFormats, click.Group):
    """Group of the commands of `analyze`, which are imported only when needed: all together take a second.

    The first argument may be a file. The command is then `look`, or `loggp` for the file of a network.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return registry.names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return registry.find(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command. Under mpirun, first remark if more processes were started than the command can use."""
        name, command, rest = super().resolve_command(ctx, args)
        session = ctx.obj
        if name and isinstance(command, Command) and session and session.speaks and _SILENT.isdisjoint(rest):
            said = command.spec.remark(session.team.size)
            if said:
                click.echo(f"analyze{'' if name == 'look' else f' {name}'}: {said}", err=True)
        return name, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections, wrong = registry.summaries()
        width = max(len(name) for section in sections.values() for name in section)  # the same in all groups
        for title, section in sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), summary) for name, summary in section.items()])
        for error in wrong:
            click.echo(f"Error: {error} ({error.hint})", err=True)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = {option for parameter in self.get_params(ctx) for option in parameter.opts}
        if args and args[0] in registry.RENAMED:
            if ctx.obj and ctx.obj.speaks:
                click.echo(f"analyze {args[0]} is now analyze {_today(args[0])}", err=True)
            args = [*registry.RENAMED[args[0]], *args[1:]]
        if args and args[0] not in own and not registry.is_known(args[0]):
            self._check_names(args)
            args = [self._command_for(args), *args]
        return super().parse_args(ctx, args)

    def _command_for(self, args: list[str]) -> str:
        from analyzer.opening import is_network

        file = next((word for word in args if not word.startswith("-") and Path(word).exists()), "")
        return "loggp" if is_network(file) else "look"

    def _check_names(self, args: list[str]) -> None:
        """Raise TracelibError for a mistyped command, and for a command that comes after its file."""
        name, *others = args
        if name.startswith("-"):
            return
        there = Path(name).exists()
        known = [*registry.names(), *registry.RENAMED]
        if there and others and others[0] in known and not Path(others[0]).exists():
            raise TracelibError(
                f"the command comes before the file: {others[0]}", f"analyze {_today(others[0])} {name}"
            )
        if there:
            return
        from difflib import get_close_matches

        close = get_close_matches(name, known, n=1)
        if close and not Path(name).suffix:
            raise TracelibError(f"{name}: no such file or command", f"did you mean `analyze {_today(close[0])}`?")
        if not Path(name).suffix and others and Path(others[0]).exists():
            raise TracelibError(f"{name}: no such command", "`analyze --help` lists them")


def _today(name: str) -> str:
    """Return the present words for a command, which may have been renamed."""
    return " ".join(registry.RENAMED.get(name, (name,)))


@click.group(cls=AnalyzeGroup, context_settings={"help_option_names": ["-h", "--help"], "terminal_width": 80})
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_show_version,
    help="Show the version and exit.",
)  # fmt: skip
def analyze() -> None:
    """Say where the time of an MPI program went.

    \b
    analyze FILE             print a first look, write .prv, .pcf, .row and .dim
    analyze ngmpi.h5         model of the network, from `python -m tracelib.ngmpi`
    analyze COMMAND FILE     one analysis only

    FILE is {formats}.

    `mpirun -n N analyze FILE` shares the work among N processes.
    """


def _complete(runs: Sequence[str]) -> None:
    """Run `tracelib recover` for runs of which only buffers of this node held a part.

    Their rows go into the files, and the memory is released. If the files cannot be written, the buffers stay, so that
    nothing is lost and no message is needed.
    """
    if not runs:
        return
    import subprocess

    for file in dict.fromkeys(runs):
        with suppress(OSError):
            words = [sys.executable, "-m", "tracelib", "recover", "--quiet", file]
            subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)


def run(arguments: list[str] | None) -> int:
    """Run the command line, and return its exit code. `analyzer.cli.main` adds the handling of signals.

    Args:
        arguments: Words of the command line. None: the arguments of this process.
    """
    fix_thresholds()
    search_little_for_cycles()
    if isinstance(sys.stdout, io.TextIOWrapper):  # names of files need not be text: as on stderr
        sys.stdout.reconfigure(errors="backslashreplace")
    members = team()
    if members.size > 1:
        signal_handling.watch()
    session = Session(members)
    try:
        code = analyze.main(arguments, "analyze", standalone_mode=False, obj=session) or 0
        _complete(session.in_buffers)
        return code
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
        text = "the compiled part of analyze is missing, or older than the rest"
        _fail(members, f"Error: {text} (run `make build`, or install tracelib again)")
        return 1
    except BrokenPipeError:
        drop_output()
        return 0
    except OSError as error:
        _fail(members, f"Error: {error.strerror or error}" + (f": {error.filename}" if error.filename else ""))
        drop_output()
        return 1
    except signal_handling.EndRequested as end:
        if members.size > 1:  # the launcher says so
            signal_handling.die(end.number)
        raise


def _is_of_kernels(error: AttributeError | ImportError) -> bool:
    """Return True if a cffi module is missing, or lacks a function that is called."""
    if isinstance(error, ImportError):
        return error.name in ("analyzer._kernels", "analyzer._replay")
    return str(error).startswith("cffi library ")


def _show(error: click.ClickException) -> None:
    """Show an error in one line. If there were no arguments, show the help."""
    context = getattr(error, "ctx", None)
    if context is None or isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return
    text = error.format_message().rstrip(".")
    command = context.command_path.removesuffix(" look")  # which nobody types
    click.echo(f"Error: {text} (see `{command} --help`)", err=True)


def _fail(members: Team, text: str) -> None:
    """Report the error by one process; then end the processes that wait for this one."""
    if members.rank:  # still alive after this time: the first process has not had this error
        time.sleep(GRACE_S + min(members.rank * STAGGER_S, GRACE_S))
        from socket import gethostname

        text += f", on process {members.rank} of {members.size}, {gethostname()}"
    click.echo(text, err=True)
    signal_handling.discard_all()
    members.abort()
