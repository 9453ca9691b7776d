"""Runs whose machine is known: a program by hand, replayed on it by `analyze replay -o`."""

from __future__ import annotations

from pathlib import Path

from synthetic import WORLD, call, write_run

from analyzer.cli import main

START_NS, BURST_NS = 5_000_000, 10_000
"""Length of MPI_Init: five times the rest of the run, and no machine of a replay knows of it."""


def exchange(folder: Path, name: str, rounds: int, size: int, *, pairs: int = 2, slower: float = 1.0) -> Path:
    """Pairs of ranks that compute and send each other a message of `size` in turn; rank r computes a little longer
    than r - 1. slower: all bursts last as many times as long."""
    rows = []
    for rank in range(2 * pairs):
        calls, at = [call("MPI_Init", 1000 * (rank + 1), START_NS)], START_NS
        for number in range(rounds):
            at += round(slower * (BURST_NS + 100 * rank))
            sends_first = (rank + number) % 2 == 0
            steps = ("MPI_Send", "MPI_Recv") if sends_first else ("MPI_Recv", "MPI_Send")
            for step in steps:
                moved = {"sent" if step == "MPI_Send" else "received": size}
                calls.append(call(step, at, at + 1, comm=WORLD, peer=rank ^ 1, tag=number, **moved))
                at += 1
        calls.append(call("MPI_Finalize", at + BURST_NS, at + 2 * BURST_NS))
        rows.append({"calls": calls})
    return write_run(folder, rows, name=name)


def predicted(run: Path, machine: Path) -> Path:
    """The run that the machine in a file would make of it, beside it."""
    target = run.with_name(f"{run.stem}-there.h5")
    assert main(["replay", str(run), "--machine", str(machine), "-o", str(target), "-q"]) == 0
    return target
