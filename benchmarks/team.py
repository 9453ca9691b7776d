"""How many times as fast `mpirun -n N analyze` is as one process: `python -m benchmarks.team`.

Compared is processor time: that of one process, and of N processes the longest chain from meeting to meeting of all
(benchmarks.member). So a machine that is busy with other things measures about the same. What the same command takes on
a run of a few calls is left out on both sides: each process has to start. Of several rounds the shortest counts.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from analyzer.commands.table import COMMANDS as ENTRIES
from benchmarks.mpi import ENVIRONMENT, ROOT, WORK, Mpi, find
from benchmarks.recording import Figure
from benchmarks.scaling import COMMANDS, words_of
from benchmarks.synthetic.run import PATTERNS, write_run

RANKS, CALLS, PROCESSES = 4096, 2_000_000, 2
FEW_RANKS, FEW_CALLS = 8, 400
ROUNDS = 3
GOAL = 0.7
"""Of the number of processes."""


def chain(stretches: Sequence[Sequence[float]]) -> float:
    """The longest chain of what processes do between their meetings (s)."""
    return sum(map(max, zip(*stretches, strict=True)))


def seconds(mpi: Mpi, run: Path, command: str, processes: int) -> float:
    """Processor time of a command. Raises CalledProcessError where it fails."""
    folder, notes = run.parent / "out", run.parent / "notes"
    folder.mkdir()
    notes.mkdir()
    launcher = [mpi.mpirun, "-n", str(processes)] if processes > 1 else []
    words = [*launcher, sys.executable, "-m", "benchmarks.member", notes, *words_of(command, run)]
    environment = dict(os.environ) | ENVIRONMENT | {"PYTHONPATH": str(ROOT)}
    try:
        subprocess.run(words, cwd=folder, env=environment, check=True, capture_output=True, text=True)
        return chain([json.loads((notes / f"{rank}.json").read_text()) for rank in range(processes)])
    finally:
        shutil.rmtree(folder)
        shutil.rmtree(notes)


def figures(
    mpi: Mpi, pattern: str = "halo", ranks: int = RANKS, calls: float = CALLS, processes: int = PROCESSES,
    commands: Sequence[str] = tuple(COMMANDS), rounds: int = ROUNDS,
) -> Iterator[Figure]:  # fmt: skip
    """The speed-up of each command on a synthetic run."""
    place = WORK / f"team-{pattern}"
    shutil.rmtree(place, ignore_errors=True)
    written = write_run(place, pattern, ranks, calls / ranks)
    tiny = write_run(place / "tiny", pattern, FEW_RANKS, FEW_CALLS / FEW_RANKS)
    for command in commands:
        name = f"analyze {command}" if command != "look" else "analyze"
        alone = ENTRIES[command].alone
        try:
            rows = [
                [seconds(mpi, run, command, n) for run in (written.path, tiny.path) for n in (1, processes)]
                for _ in range(rounds)
            ]
            one, several, start, starts = map(min, zip(*rows, strict=True))
        except subprocess.CalledProcessError as failed:
            yield Figure(f"{name}, {processes} processes", float("nan"), "", None, failed.stderr.strip()[-100:])
            continue
        note = f"{one:.3g} s and {several:.3g} s, of which starting {start:.2g} s and {starts:.2g} s"
        gain = (one - start) / max(several - starts, 1e-3)
        yield Figure(
            f"{name}, {processes} processes", gain, "times as fast", None if alone else GOAL * processes,
            f"{note}; {alone}" if alone else note,
        )  # fmt: skip
    shutil.rmtree(place)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.team", description="What more processes gain.")
    parser.add_argument("-n", "--processes", type=int, default=PROCESSES)
    parser.add_argument("--ranks", type=int, default=RANKS, help="of the run")
    parser.add_argument("--calls", type=float, default=CALLS, help="of the run")
    parser.add_argument("--pattern", choices=PATTERNS, default="halo")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help="these only: " + ", ".join(COMMANDS))
    given = parser.parse_args()
    commands = given.commands or tuple(COMMANDS)
    for figure in figures(find(), given.pattern, given.ranks, given.calls, given.processes, commands, given.rounds):
        budget = "" if figure.budget is None else f"of {figure.budget:g}"
        print(f"{figure.name:38} {figure.value:6.3g} {budget:8} {figure.note}", flush=True)


if __name__ == "__main__":
    main()
