"""How the cost of each command that reads a run grows with calls and with ranks: `python -m benchmarks.scaling`.

Each command is a process of its own, over synthetic runs of several sizes. Fitted is

    time = a + b x calls + c x ranks        memory = a + c x ranks

with nothing negative, by the least squares of relative errors.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

from benchmarks.mpi import WORK, Mpi
from benchmarks.processes import Failed, Usage, usage_of
from benchmarks.recording import Figure
from benchmarks.synthetic.run import PATTERNS, write_run

CALLS = 2_000_000
RANKS = (256, 1024, 4096, 16384)
CALLS_OF = 1024
"""Ranks of the runs that differ in their calls."""
SIZES = (*((ranks, CALLS) for ranks in RANKS), *((CALLS_OF, factor * CALLS) for factor in (0.25, 0.5, 2)))
SMALL = ((64, 100_000), (256, 100_000), (1024, 100_000), (256, 400_000))
"""(ranks, calls) of the runs."""
LIMIT_S = 900

RUN = "RUN"
"""Stands for the file of the run."""

COMMANDS: Mapping[str, Sequence[str]] = {
    "look": ("-o", "."),
    "look --no-files": (),
    "check": (),
    "efficiency": (),
    "waits": (),
    "critical-path": (),
    "limits": ("--quick", "--jobs", "1"),
    "profile": (),
    "replay": (),
    "what-if": ("--top", "1", "--jobs", "1"),
    "sensitivity": ("--factor", "latency=1us..5us", "--machine", "ideal", "--jobs", "1"),
    "monte-carlo": ("--vary", "latency=1us..2us", "-n", "8", "--jobs", "1"),
    "validate": ("--machine", "ideal", "--against", RUN),
    "loggp": (),
    "prv": ("-o", "."),
    "dim": ("-o", "."),
    "pack": ("-o", "packed.h5"),
    "export": ("-o", "."),
    "what": ("--at", "1ms"),
    "views": ("--view", "parallelism"),
    "hot": (),
    "clusters": (),
    "table": ("--by", "call", "-o", "table.csv"),
    "balance": (),
    "structure": (),
    "cut": ("-o", "cut.h5"),
    "diff": (RUN,),
    "speedup": (RUN,),
    "report": ("-o", "page.html"),
}
"""Commands that are measured, with their options. "look" is `analyze RUN`, which prints a first look and writes every
file."""

CALL_US, RANK_MS, RANK_KB, PROCESS_MB = 2, 1, 20, 300
"""Budgets of each command."""
CALL_US_OF = {"look --no-files": 1, "prv": 0.5}


@dataclass(frozen=True)
class Measured:
    """One command on one run."""

    ranks: int
    calls: int
    usage: Usage


@dataclass(frozen=True)
class Growth:
    """Laws that were fitted for a command, and the largest relative errors of both fits."""

    start_s: float
    call_us: float
    rank_ms: float
    time_off: float
    start_mb: float
    rank_kb: float
    memory_off: float


def fit(terms: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, float]:
    """Fit coefficients, not negative, of the columns of `terms` (values, coefficients), by relative errors.

    Also return the largest of these errors.
    """
    scale = np.abs(terms).max(axis=0)  # or the solver takes small coefficients for none
    relative = terms / scale / values[:, None]
    coefficients, _ = nnls(relative, np.ones(len(values)))
    return coefficients / scale, float(np.abs(relative @ coefficients - 1).max())


def growth(rows: Sequence[Measured]) -> Growth:
    """Fit the growth of one command, measured at three sizes or more that differ in ranks and in calls."""
    one = np.ones(len(rows))
    ranks, calls = np.array([(row.ranks, row.calls) for row in rows], float).T
    times = np.array([row.usage.seconds for row in rows])
    (start_s, call_s, rank_s), time_off = fit(np.stack([one, calls, ranks], 1), times)
    memory = np.array([row.usage.memory_mb for row in rows])
    (start_mb, rank_mb), memory_off = fit(np.stack([one, ranks], 1), memory)
    return Growth(start_s, call_s * 1e6, rank_s * 1e3, time_off, start_mb, rank_mb * 1024, memory_off)


def words_of(command: str, run: Path) -> list[str]:
    """Return the command line of `analyze`."""
    words = [] if command == "look" else command.split()
    return [*words, str(run), *(str(run) if word == RUN else word for word in COMMANDS[command])]


def usages(run: Path, commands: Sequence[str]) -> Iterator[tuple[str, Usage | Failed]]:
    """Measure each command on a run, and remove the files it writes."""
    for command in commands:
        folder = run.parent / "out"
        folder.mkdir()
        try:
            analyze = [sys.executable, "-m", "analyzer", *words_of(command, run)]
            yield command, usage_of(analyze, folder, LIMIT_S)
        except Failed as failed:
            yield command, failed
        finally:
            shutil.rmtree(folder)


def measure(
    sizes: Sequence[tuple[int, float]], pattern: str, commands: Sequence[str]
) -> tuple[dict[str, list[Measured]], dict[str, str]]:
    """Measure all commands on runs of all sizes. Also say why commands failed."""
    found: dict[str, list[Measured]] = {command: [] for command in commands}
    failures: dict[str, str] = {}
    for ranks, wanted in sizes:
        folder = WORK / f"scaling-{pattern}-{ranks}"
        shutil.rmtree(folder, ignore_errors=True)
        written = write_run(folder, pattern, ranks, wanted / ranks)
        for command, usage in usages(written.path, commands):
            print(f"  {ranks} ranks, {written.calls} calls, {command}: {usage}", file=sys.stderr, flush=True)
            if isinstance(usage, Failed):
                failures.setdefault(command, f"fails with {ranks} ranks, {written.calls} calls: {usage}")
            else:
                found[command].append(Measured(ranks, written.calls, usage))
        shutil.rmtree(folder)
    return found, failures


def lines(command: str, rows: Sequence[Measured], failure: str = "") -> Iterator[Figure]:
    """Yield the growth of a command."""
    name = f"analyze {command}" if command != "look" else "analyze"
    if len({row.ranks for row in rows}) < 2 or len({row.calls for row in rows}) < 2 or len(rows) < 3:
        yield Figure(f"{name}, growth", float("nan"), "", None, failure or "measured at too few sizes")
        return
    found = growth(rows)
    time_note = f"and {found.start_s:.2g} s; the fit is off by {100 * found.time_off:.0f} % at most"
    memory_note = f"and {found.start_mb:.0f} MB, of {PROCESS_MB}; off by {100 * found.memory_off:.0f} % at most"
    budget_us = CALL_US_OF.get(command, CALL_US)
    yield Figure(f"{name}, time for each call", found.call_us, "us", budget_us, failure)
    yield Figure(f"{name}, time for each rank", found.rank_ms, "ms", RANK_MS, time_note)
    yield Figure(f"{name}, memory for each rank", found.rank_kb, "KB", RANK_KB, memory_note)


def figures(
    _mpi: Mpi | None = None,
    sizes: Sequence[tuple[int, float]] = SIZES,
    pattern: str = "halo",
    commands: Sequence[str] = tuple(COMMANDS),
) -> Iterator[Figure]:
    """Yield us of each call, ms and KB of each rank, for each command."""
    found, failures = measure(sizes, pattern, commands)
    for command, rows in found.items():
        yield from lines(command, rows, failures.get(command, ""))


def _size(text: str) -> tuple[int, float]:
    ranks, _, calls = text.partition(":")
    return int(ranks), float(calls)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description="How the cost of commands grows.")
    parser.add_argument("--small", action="store_true", help="runs that are measured in a few minutes")
    parser.add_argument("--size", type=_size, action="append", metavar="RANKS:CALLS", help="of a run; several times")
    parser.add_argument("--pattern", choices=PATTERNS, default="halo")
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help="these only: " + ", ".join(COMMANDS))
    given = parser.parse_args()
    if unknown := set(given.commands) - set(COMMANDS):
        parser.error(f"no command {', '.join(sorted(unknown))}")
    sizes = given.size or (SMALL if given.small else SIZES)
    for figure in figures(None, sizes, given.pattern, given.commands or tuple(COMMANDS)):
        budget = "" if figure.budget is None else f"of {figure.budget:g}"
        print(f"{figure.name:42} {figure.value:8.3g} {figure.unit:3} {budget:8} {figure.note}", flush=True)


if __name__ == "__main__":
    main()
