"""How many times as fast `mpirun -n N analyze` is as one process, and whether it says and writes the same bytes:
`python -m benchmarks.team`.

Compared is processor time: that of one process, and of N processes the longest chain from meeting to meeting of all
(benchmarks.member). So a machine that is busy with other things measures about the same. What the same command takes on
a run of a few calls is left out on both sides: each process has to start. Of several rounds the shortest counts. Times
by the clock are said beside it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

from analyzer.commands import registry
from benchmarks.mpi import ENVIRONMENT, ROOT, WORK, Mpi, find
from benchmarks.recording import Figure
from benchmarks.scaling import COMMANDS, words_of
from benchmarks.synthetic.run import PATTERNS, write_run

RANKS, CALLS, PROCESSES = 4096, 2_000_000, 2
FEW_RANKS, FEW_CALLS = 8, 400
ROUNDS = 3
GOAL = 0.7
"""Least speedup, as a share of the number of processes."""


def chain(stretches: Sequence[Sequence[float]]) -> float:
    """Return the longest chain of the processes' work between their meetings (s)."""
    return sum(map(max, zip(*stretches, strict=True)))


@dataclass(frozen=True)
class Done:
    """Cost of a command, and a digest of what it printed and wrote."""

    seconds: float  # processor time
    clock_s: float
    digest: bytes


def done(mpi: Mpi, run: Path, command: str, processes: int) -> Done:
    """Run a command. Raises CalledProcessError if it fails."""
    folder, notes = run.parent / "out", run.parent / "notes"
    folder.mkdir()
    notes.mkdir()
    launcher = [mpi.mpirun, "-n", str(processes)] if processes > 1 else []
    words = [*launcher, sys.executable, "-m", "benchmarks.member", str(notes), *words_of(command, run)]
    environment = dict(os.environ) | ENVIRONMENT | {"PYTHONPATH": str(ROOT)}
    try:
        begin = time.monotonic()
        said = subprocess.run(words, cwd=folder, env=environment, check=True, capture_output=True)
        clock_s = time.monotonic() - begin
        stretches = [json.loads((notes / f"{rank}.json").read_text()) for rank in range(processes)]
        return Done(chain(stretches), clock_s, _digest(said.stdout, folder))
    finally:
        shutil.rmtree(folder)
        shutil.rmtree(notes)


def _digest(printed: bytes, folder: Path) -> bytes:
    """Return a digest of the output, and of names and contents of files. HDF5 notes the time when types were made, so
    only attributes and rows of its files count."""
    found = hashlib.sha256(printed)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        found.update(str(path.relative_to(folder)).encode())
        if path.suffix == ".h5":
            with h5py.File(path) as file:
                found.update(_of_node("/", file))
                file.visititems(lambda name, node: found.update(_of_node(name, node)))
            continue
        with path.open("rb") as opened:
            found.update(hashlib.file_digest(opened, "sha256").digest())
    return found.digest()


def _of_node(name: str, node: h5py.Group | h5py.Dataset | h5py.Datatype) -> bytes:
    values = {key: np.asarray(node.attrs[key]) for key in sorted(node.attrs)}
    if isinstance(node, h5py.Dataset):
        values[name] = node[()]
    heads = [(key, value.dtype.str, value.dtype.descr, value.shape) for key, value in values.items()]
    return f"{name} {heads}".encode() + b"".join(value.tobytes() for value in values.values())


def figures(
    mpi: Mpi, pattern: str = "halo", ranks: int = RANKS, calls: float = CALLS, processes: int = PROCESSES,
    commands: Sequence[str] = tuple(COMMANDS), rounds: int = ROUNDS,
) -> Iterator[Figure]:  # fmt: skip
    """Yield the speed-up of each command on a synthetic run."""
    place = WORK / f"team-{pattern}"
    shutil.rmtree(place, ignore_errors=True)
    written = write_run(place, pattern, ranks, calls / ranks)
    tiny = write_run(place / "tiny", pattern, FEW_RANKS, FEW_CALLS / FEW_RANKS)
    os.sync()  # before, files take less of the disk than afterwards, which some commands say
    for command in commands:
        name = f"analyze {command}" if command != "look" else "analyze"
        alone = registry.find(command).spec.alone
        try:
            rows = [
                [done(mpi, run, command, n) for run in (written.path, tiny.path) for n in (1, processes)]
                for _ in range(rounds)
            ]
        except subprocess.CalledProcessError as failed:
            why = failed.stderr.decode(errors="replace").strip()[-100:]
            yield Figure(f"{name}, {processes} processes", float("nan"), "", None, why)
            continue
        one, several, start, starts = (min(row.seconds for row in column) for column in zip(*rows, strict=True))
        note = f"{one:.3g} s and {several:.3g} s, of which starting {start:.2g} s and {starts:.2g} s"
        clock = (min(row.clock_s for row in column) for column in list(zip(*rows, strict=True))[:2])
        note += "; by the clock {:.3g} s and {:.3g} s".format(*clock)
        if any(row[0].digest != row[1].digest for row in rows):
            note += "; OTHER BYTES"
        gain = (one - start) / max(several - starts, 1e-3)
        yield Figure(
            f"{name}, {processes} processes", gain, "times as fast", None if alone else GOAL * processes,
            f"{note}; {alone.work}" if alone else note,
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
