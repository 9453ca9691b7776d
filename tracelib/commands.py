"""The commands of `tracelib`: run a program traced, find the library, find out why there is no result."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from typing import Any

import click

from tracelib import counters as counting
from tracelib import doctor as doctors
from tracelib import launchers, recovery, run_command, settings
from tracelib.command_line import Option, TracelibCommand
from tracelib.errors import TracelibError, drop_output
from tracelib.left_buffers import remove_unowned
from tracelib.period import period_ns

COMMAND_SETTINGS = {"ignore_unknown_options": True, "allow_interspersed_args": False}


VARIABLES = {
    "buffer": "TRACELIB_BUFFER",
    "limit": "TRACELIB_LIMIT",
    "policy": "TRACELIB_LIMIT_POLICY",
    "calls": "TRACELIB_CALLS",
    "bursts": "TRACELIB_BURSTS",
    "delay": "TRACELIB_DELAY",
    "duration": "TRACELIB_DURATION",
    "regions": "TRACELIB_REGIONS",
    "compress": "TRACELIB_COMPRESS",
    "sample": "TRACELIB_SAMPLE",
}
"""For each option of `tracelib run` that the library reads unchanged: the environment variable."""


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(package_name="tracelib", prog_name="tracelib")
@click.pass_context
def commands(context: click.Context) -> None:
    """Record what an MPI program does. `analyze` reads the result."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@commands.command(cls=TracelibCommand)
@click.option("--include", is_flag=True, help="Print the folder of tracelib.h and tracelib.f90 instead.")
def lib(include: bool) -> None:
    """Print the path of libtrace.so.

    \b
    LD_PRELOAD=$(tracelib lib) mpirun -n 4 ./app
    mpicc -I $(tracelib lib --include) app.c
    """
    if include:
        click.echo(launchers.INCLUDE)
        return
    path = launchers.library()
    click.echo(path)
    if sys.stderr.isatty() and sys.stdout.isatty():
        click.echo(
            f"\nTrace with:  LD_PRELOAD=$(tracelib lib) mpirun ./app\n"
            f"or, to write LD_PRELOAD=libtrace.so alone:  export LD_LIBRARY_PATH={path.parent}:$LD_LIBRARY_PATH",
            err=True,
        )


@commands.command(cls=TracelibCommand, context_settings=COMMAND_SETTINGS)
@click.option("-o", "--output", default="run.h5", show_default=True, metavar="PATH", help="Name of the result.")
@click.option("-f", "--force", is_flag=True, help="Replace an existing result.")
@click.option(
    "--buffer", metavar="SIZE", show_default="1M", help="Size of the buffer of each thread, such as 64K, 4M or 1G."
)
@click.option(
    "--system",
    metavar="TIME",
    help="Sample load, memory, network and disk of each node at this interval, such as 500ms.",
)
@click.option(
    "--sample",
    metavar="PERIOD",
    help="Sample the computation at this interval, such as 10ms or perf::INSTRUCTIONS:1000000.",
)
@click.option(
    "--limit", metavar="SIZE", show_default="no limit", help="Size that each rank may write, such as 200M or 4G."
)
@click.option(
    "--policy",
    type=click.Choice(["stop", "ring", "thin"]),
    cls=Option,
    rare=True,
    show_default="stop",
    help="Action at the limit.",
)
@click.option(
    "--delay",
    metavar="TIME",
    cls=Option,
    rare=True,
    help="Begin to record this long after MPI_Init, such as 10s or 500ms.",
)
@click.option("--duration", metavar="TIME", cls=Option, rare=True, help="Record for this long, such as 10s or 500ms.")
@click.option("--calls", metavar="KINDS", help="Record only these classes of calls one by one, or (-p2p) all others.")
@click.option(
    "--bursts",
    metavar="TIME",
    cls=Option,
    rare=True,
    help="Record bursts longer than this one by one, the others as sums.",
)
@click.option("--regions", metavar="NAME,...", help="Record only inside these regions of the program.")
@click.option(
    "--compress",
    type=click.IntRange(1, 9),
    metavar="LEVEL",
    cls=Option,
    rare=True,
    help="Compress the files, from 1 (fast) to 9 (small).",
)
@click.option("-q", "--quiet", is_flag=True, help="Print only errors.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run(
    output: str, force: bool, system: str | None, quiet: bool, command: tuple[str, ...], **options: str | int | None
) -> int:
    """Run COMMAND with the library loaded into its ranks.

    \b
    tracelib run -o first.h5 -- mpirun -n 4 ./app

    The library is loaded into the ranks that mpirun, mpiexec or srun starts on all nodes, but not into the launcher.
    The exit code is that of COMMAND.
    """
    settings.check_options(options, os.environ)
    path = run_command.output_path(output)
    preload = launchers.preloads(command)
    run_command.make_room(path, force)
    environment = dict(os.environ) | {"TRACELIB_OUTPUT": str(path)}
    environment |= {VARIABLES[name]: str(value) for name, value in options.items() if value}
    if system:
        period_ns(system)
        environment["TRACELIB_SYSTEM"] = system
    environment.setdefault("TRACELIB_PYTHON", sys.executable)
    if quiet:
        environment["TRACELIB_QUIET"] = "1"
    launcher = launchers.detect(command[0])
    if environment.get("TRACELIB_SAMPLE") and launcher is launchers.Launcher.UNKNOWN:
        environment["TRACELIB_ALONE"] = str(os.getpid())
    remove_unowned()
    words, environment = launchers.traced(command, launcher, preload, environment)
    code = run_command.execute(words, environment)
    if code == 0 and not path.exists():
        click.echo("tracelib: nothing was recorded; `tracelib doctor -- COMMAND` finds out why", err=True)
    return code


@commands.command(cls=TracelibCommand, context_settings=COMMAND_SETTINGS)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def doctor(as_json: bool, command: tuple[str, ...]) -> int:
    """Find out why there is no output.

    \b
    tracelib doctor -- mpirun -n 4 ./app

    Without COMMAND this examines the machine. With COMMAND it also examines the program, and runs it traced without
    keeping the result. The exit code is 1 if something is wrong.
    """
    findings = doctors.examine(list(command))
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], indent=1))
    else:
        for finding in findings:
            click.echo(
                f"{click.style(f'{finding.verdict:8}', fg=COLOURS[finding.verdict])}{finding.topic}: {finding.text}"
            )
            if finding.hint:
                click.echo(f"{'':8}  -> {finding.hint}")
    return 1 if any(finding.verdict == "problem" for finding in findings) else 0


@commands.command(cls=TracelibCommand)
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Print only errors.")
@click.argument("run", required=False)
def recover(as_json: bool, quiet: bool, run: str | None) -> int:
    """Complete the files of a run whose ranks were killed.

    \b
    tracelib recover run.h5
    tracelib recover

    RUN is run.h5 (even if rank 0 never wrote it), the folder run.ranks, or one rank file. The last calls of killed
    ranks are still in buffers on the nodes where the ranks ran: run this command on each of these nodes. It puts the
    calls into the files, writes run.h5 if it is missing, and removes the buffers. The exit code is 1 if calls are
    still missing. Without RUN this does so for all your runs that left buffers on this node, and removes the buffers
    of runs that you have removed.
    """
    if run is None:
        return _recover_all(as_json, quiet)
    done = recovery.recover(run)
    if as_json:
        click.echo(json.dumps(_as_json(done), indent=1))
        return int(done.incomplete)
    for outcome in done.outcomes:
        if outcome.missing or (not quiet and outcome.fate != recovery.RecoveryState.WHOLE):
            click.echo(outcome.line)
    if not quiet:
        click.echo(done.line)
    return int(done.incomplete)


def _as_json(done: recovery.RunRecovery) -> dict[str, Any]:
    return {"ranks": [asdict(o) for o in done.outcomes], "run": done.run and str(done.run)}


def _recover_all(as_json: bool, quiet: bool) -> int:
    done = recovery.recover_all()
    if as_json:
        runs = [{"given": one.given} | _as_json(one) for one in done.runs]
        kept = [str(one.prefix) for one in done.kept]
        click.echo(json.dumps({"runs": runs, "failed": done.failed, "removed": done.removed, "kept": kept}, indent=1))
    else:
        for line in done.failed if quiet else done.lines:
            click.echo(line)
    return int(done.incomplete)


@commands.command(cls=TracelibCommand)
@click.option("--json", "as_json", is_flag=True, help="Print the counters as JSON.")
@click.argument("names", nargs=-1)
def counters(as_json: bool, names: tuple[str, ...]) -> int:
    """List the counters of this node and what they cost.

    \b
    tracelib counters
    tracelib counters 'PAPI_L1*' perf::page-faults

    Each counter is opened and read as in a traced program. NAMES are names of counters, or patterns with * and ?. The
    exit code is 1 if none of these counters counts here, 2 if no counter has such a name.
    """
    found, missing = counting.look(names)
    if as_json:
        rows = [asdict(c) | {"call_ns": c.call_ns, "core_share_at_1khz": c.share(1000)} for c in found]
        click.echo(json.dumps({"counters": rows, "missing": missing}, indent=1))
    else:
        for line in counting.lines(found, missing):
            click.echo(line)
    return 0 if any(counter.counts for counter in found) else 1


@commands.command(cls=TracelibCommand)
@click.option(
    "-o", "--output", metavar="PATH", show_default="SRC.cll.c", help="Name of the translation; its header is beside it."
)
@click.option("-f", "--force", is_flag=True, help="Replace existing files that tracelib did not write.")
@click.option("-q", "--quiet", is_flag=True, help="Print only errors.")
@click.argument("src")
def call(output: str | None, force: bool, quiet: bool, src: str) -> None:
    """Translate C, C++ or Fortran with CALL's pragmas.

    \b
    tracelib call app.c
    mpicc -I $(tracelib lib --include) app.cll.c -o app
    tracelib call app.f90
    mpifort $(tracelib lib --include)/tracelib.f90 app.cll.f90 -o app

    Each `#pragma cll`, in Fortran `!$cll`, becomes calls of the API, so that a traced run records the experiments as
    regions with their variables. An ordinary compiler ignores the pragmas.
    """
    from tracelib.call.files import translate_file

    done = translate_file(src, output, force)
    if not quiet:
        click.echo(f"{done.path}: experiments {', '.join(done.experiments) or '(none)'}")
        for name, value in done.environment.items():
            click.echo(f"run it with {name}={value}")
        for line in done.advice:
            click.echo(line)


@commands.command("drivers", cls=TracelibCommand)
@click.argument("words", nargs=-1, metavar="[NAME MOMENT EXPERIMENT]")
def drivers_command(words: tuple[str, ...]) -> None:
    """List the drivers, or ask one.

    \b
    tracelib drivers
    tracelib drivers Ganglia end exchange

    Asked at the begin or the end of an experiment, a driver prints a line "name value" for each number.
    """
    from tracelib.drivers import driver_named, drivers
    from tracelib.drivers.asking import ask
    from tracelib.drivers.driver import MOMENTS

    if not words:
        for driver in drivers():
            click.echo(f"{driver.name:12}{', '.join(driver.observables)}")
        return
    if len(words) != 3 or words[1] not in MOMENTS:
        raise click.UsageError(f"expected NAME, one of {', '.join(MOMENTS)}, EXPERIMENT")
    try:
        asked = driver_named(words[0])
    except LookupError as error:
        raise TracelibError(str(error)) from error
    for name, value in ask(asked, words[1], words[2]).items():
        click.echo(f"{name} {value!r}")


COLOURS = {"ok": "green", "note": "yellow", "problem": "red"}
"""Colour of each verdict of `tracelib doctor`."""


def run_commands() -> int:
    """Run the command line. A mistake of the user gives one line and an exit code, never a traceback."""
    try:
        return commands.main(prog_name="tracelib", standalone_mode=False) or 0
    except click.ClickException as error:
        return _fail(f"{error.format_message().rstrip('.')}; see `tracelib --help`", error.exit_code)
    except click.Abort as error:
        raise KeyboardInterrupt from error
    except TracelibError as error:
        return _fail(error.line, error.exit_code)
    except OSError as error:
        drop_output()
        return _fail(f"{error.strerror or error}" + (f": {error.filename}" if error.filename else ""), 1)


def _fail(line: str, code: int) -> int:
    click.echo(f"tracelib: {line}", err=True)
    return code
