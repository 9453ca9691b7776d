"""The programs whose commands read the damaged files, as functions."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from fuzz.seeds import Line

STDOUT, STDERR = "said.out", "said.err"
"""Files in the folder where a command runs."""


_MORE = (
    "analyzer.commands.network._network",
    "analyzer.commands.network._ways",
    "analyzer.experiments.formats.flat_files",
    "analyzer.experiments.formats.tia_xml",
    "analyzer.report.pictures.distributions",
    "analyzer.sources.dimemas.reader",
    "analyzer.sources.paraver.trace",
    "analyzer.recording.run.trace",
    "analyzer.writers.packed",
    "matplotlib.backends.backend_agg",
    "pandas",
    "pyarrow.parquet",
    "scipy.optimize",
    "scipy.stats",
    "tracelib.commands",
    "tracelib.ngmpi.config",
    "tracelib.ngmpi.options",
)


def warm() -> None:
    """Import what commands import when they begin."""
    from analyzer.commands.registry import find, names

    for command in names():
        find(command)
    for name in _MORE:
        import_module(name)


def begin(folder: Path) -> None:
    """Send all further output to files in the folder, which becomes the working directory."""
    os.chdir(folder)
    os.environ["TMPDIR"] = str(folder)
    for name, number in ((STDOUT, 1), (STDERR, 2)):
        file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(file, number)
        os.close(file)
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False, errors="backslashreplace")  # noqa: SIM115


def said(folder: Path) -> str:
    """Return the text on stderr."""
    path = folder / STDERR
    return path.read_text(errors="replace") if path.exists() else ""


def execute(line: Line) -> int:
    """The exit code of a command line."""
    return _PROGRAMS[line[0]](list(line[1:]))


def _analyze(words: list[str]) -> int:
    from analyzer.cli import main

    return main(words)


def _tracelib(words: list[str]) -> int:
    from tracelib.commands import run_commands

    sys.argv = ["tracelib", *words]
    return run_commands()


def _ngmpi(words: list[str]) -> int:
    """Read the options file as the first of four ranks; the measurement itself needs MPI."""
    from tracelib.errors import TracelibError
    from tracelib.ngmpi import config, options

    try:
        options.decide(config.read(Path(words[words.index("-c") + 1])), 4, output=Path("none.h5"))
    except TracelibError as error:
        print(f"tracelib: {error.line}", file=sys.stderr)
        return error.exit_code
    return 0


_PROGRAMS: dict[str, Callable[[list[str]], int]] = {"analyze": _analyze, "tracelib": _tracelib, "ngmpi": _ngmpi}
