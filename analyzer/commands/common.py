"""What all subcommands share: options, printing by one process only, progress, names of output files."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from analyzer.errors import TracelibError
from analyzer.parallel import Team
from analyzer.writers.whole import cannot_write

if TYPE_CHECKING:
    from analyzer.trace import Trace

PIPE_WIDTH = 80
WIDEST = 100


@dataclass
class Session:
    """One invocation: its processes, and whether it should be silent."""

    team: Team
    quiet: bool = False

    @property
    def speaks(self) -> bool:
        """Only one process prints."""
        return self.team.rank == 0

    @property
    def alone(self) -> bool:
        """Under mpirun what looks like a terminal may be the launcher's own, which passes everything on to a file."""
        return self.team.size == 1

    def print(self, render: Callable[[Console], None]) -> None:
        """Rich output: colours and the terminal's width on a terminal, plain text of 80 columns in a pipe."""
        if not self.speaks:
            return
        if sys.stdout.isatty() and self.alone:
            render(Console(width=min(Console().width, WIDEST), highlight=False))
            return
        text = io.StringIO()
        render(Console(file=text, width=PIPE_WIDTH, highlight=False, no_color=True, force_terminal=False))
        _write("\n".join(line.rstrip() for line in text.getvalue().splitlines()))

    def print_json(self, data: Any) -> None:
        """One JSON document on standard output."""
        if self.speaks:
            _write(json.dumps(data, indent=2))

    def say(self, text: str) -> None:
        """A line on standard output, unless the user asked for silence."""
        if self.speaks and not self.quiet:
            _write(text)

    def mention_problems(self, trace: Trace) -> None:
        """A line on standard error if something is wrong with the trace that the figures are of. Of operations without
        times nothing can be but that their replay comes to no end, which that says itself."""
        if trace.program:
            return
        wrong = [problem.line for problem in trace.problems if not problem.note]
        if wrong and self.speaks and not self.quiet:
            more = f" (and {len(wrong) - 1} more: analyze check)" if wrong[1:] else ""
            click.echo(f"{Path(trace.path).name}: {wrong[0]}{more}", err=True)

    @contextmanager
    def step(self, label: str) -> Iterator[Callable[[str], None]]:
        """Show what is being done, on a terminal only; what is yielded says how far it is."""
        console = Console(stderr=True)
        if self.alone and not self.quiet and console.is_terminal:
            with console.status(label) as status:
                yield lambda text: status.update(f"{label}: {text}")
        else:
            yield lambda text: None


def _write(text: str) -> None:
    """A line or more on standard output. A reader that has gone away (`| head`) is no error: the files are written."""
    try:
        click.echo(text)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def common_options(*, as_json: bool = False, output: str = "") -> Callable:
    """--json, -o/--output with its help text, -f/--force, -q/--quiet; a command takes those it can serve."""

    def decorate(command: Callable) -> Callable:
        command = click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")(command)
        if output:
            command = click.option(
                "-f", "--force", is_flag=True, help="Replace an existing file even if it is no trace."
            )(command)
            command = click.option("-o", "--output", type=click.Path(), help=output)(command)
        if as_json:
            command = click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")(command)
        return command

    return decorate


file_argument = click.argument("file", type=click.Path())

jobs_option = click.option(
    "--jobs", type=click.IntRange(1), metavar="N", help="Replays at once; one for each CPU if not given."
)


class FiniteRange(click.FloatRange):
    """A number from a range, that is one: no nan or inf."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found = super().convert(value, param, ctx)
        if not isfinite(found):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        return found


_UNITS_NS = {"": 1, "ns": 1, "us": 1000, "ms": 10**6}


class Latency(click.ParamType):
    """A time such as 0, 500ns, 2us as nanoseconds."""

    name = "latency"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = re.fullmatch(r"(\d{1,9}(?:\.\d+)?)\s*(ns|us|ms|)", str(value))
        if not found or (not found[2] and float(found[1])):
            self.fail(f"{value!r} is no time such as 0, 500ns or 2us", param, ctx)
        return round(float(found[1]) * _UNITS_NS[found[2]])


class Size(click.ParamType):
    """A number of bytes such as 100, 32K, 1M as an integer."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = re.fullmatch(r"(\d{1,12})([KMG]?)", str(value), re.IGNORECASE)
        if not found:
            self.fail(f"{value!r} is no size such as 100, 32K or 1M", param, ctx)
        return int(found[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[found[2].upper()]


repair_option = click.option(
    "--repair-clocks",
    "repair_ns",
    type=Latency(),
    metavar="LATENCY",
    help="Move times so that no message takes less than this (0, 500ns, 2us).",
)


def stem(path: Path) -> str:
    """The name of a trace without its endings: run.h5, run.ranks, run.prv.gz are all "run"."""
    name = path.resolve().name if path.name in ("", ".", "..") else path.name
    name = name.removesuffix(".gz")
    for ending in (".h5", ".prv", ".ranks", ".dim"):
        name = name.removesuffix(ending)
    return name


def output_base(trace_path: Path, output: str | None, endings: tuple[str, ...] = ()) -> Path:
    """Path without ending for the derived files: beside the trace, or as -o says (a folder, or a name)."""
    if not output:
        return trace_path.parent / stem(trace_path)
    chosen = Path(output)
    if chosen.is_dir():
        return chosen / stem(trace_path)
    for ending in endings:
        if chosen.name.endswith(ending) and chosen.name != ending:
            return chosen.with_name(chosen.name.removesuffix(ending))
    return chosen


def is_imported(trace: Trace) -> bool:
    """Whether the trace is no run of our own: made by another tool, or a program that has no times."""
    return trace.flush_mode == "keep" or trace.program is not None


def check_writable(path: Path, trace: Trace, force: bool) -> None:
    """Raise TracelibError if writing `path` would destroy what was read, or a file that is none of ours."""
    check_replaceable(path, files_read(trace), force)


def check_replaceable(path: Path, sources: list[Path], force: bool) -> None:
    """The same where `sources` were read."""
    if any(_same(path, read) for read in sources):
        raise TracelibError(f"{path} is part of the trace that is read", "name another output with -o NAME")
    if path.is_dir():
        raise TracelibError(f"{path} is a folder", "name another output with -o NAME")
    try:
        os.stat(f"{path.parent}/.")  # noqa: PTH116, of a folder: a Path drops the dot
    except OSError as error:
        raise cannot_write(path, error) from error
    if not force and path.is_file() and not _is_derived(path):
        raise TracelibError(f"{path} exists and is not a {path.suffix} file", "name another output, or use --force")


def files_read(trace: Trace) -> list[Path]:
    """The files behind a trace that stand beside it."""
    path = Path(trace.path)
    if trace.flush_mode != "keep":
        return [path]
    base = path.parent / stem(path)
    return [path, base.with_name(base.name + ".pcf"), base.with_name(base.name + ".row")]


def _same(path: Path, other: Path) -> bool:
    return path.exists() and other.exists() and path.samefile(other)


_BEGINNINGS = {
    ".prv": (b"#Paraver",),
    ".dim": (b"#DIMEMAS",),
    ".pcf": (b"DEFAULT_OPTIONS", b"#"),
    ".row": (b"LEVEL",),
    ".cfg": (b"#ParaverCFG",),
    ".json": (b'{\n  "format": "tracelib-',),
    ".png": (b"\x89PNG",),
    ".csv": (b"begin_ns,",),
    ".toml": (b"# Fitted by analyze fit-machine",),
}


def _is_derived(path: Path) -> bool:
    """An empty file, or one that begins as files of its kind do."""
    try:
        with path.open("rb") as file:
            begin = file.read(32).lstrip()
    except OSError as error:
        raise TracelibError(f"cannot read {path}: {error.strerror}", "name another output with -o NAME") from error
    return not begin or begin.startswith(_BEGINNINGS.get(path.suffix, (b"",)))
