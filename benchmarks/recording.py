"""What recording a call costs: loops with and without the library, in turns, compared by their minima."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.mpi import Mpi, remove_run

ROUNDS = 5
BATCHES = 400
CALLS = 1000  # a batch is shorter than the way from one flush of a 1 MiB buffer to the next
LONG_BATCHES = 10
LONG_CALLS = 400_000  # a batch holds dozens of flushes
ROUND_TRIPS = 1000


@dataclass(frozen=True)
class Figure:
    """One line of the table. `budget` is None where there is none."""

    name: str
    value: float
    unit: str
    budget: float | None
    note: str = ""


def cost_ns(mpi: Mpi, ranks: int, program: str, *args: object) -> tuple[float, float]:
    """Smallest batch without the library, and what the library adds to it (both ns)."""
    binary = mpi.compile(program)
    without, with_library = [], []
    for _ in range(ROUNDS):
        without += mpi.run(ranks, binary, *args)
        with_library += mpi.run(ranks, binary, *args, traced="cost")
    remove_run("cost")
    return min(without), min(with_library) - min(without)


def figures(mpi: Mpi) -> Iterator[Figure]:
    """Cost of a call between flushes, with them, with a request, and of a round trip."""
    bare, added = cost_ns(mpi, 1, "call", "send", BATCHES, CALLS)
    yield Figure(
        "recorded call, between flushes", added, "ns", 25, f"MPI_Send to MPI_PROC_NULL, {bare:.1f} ns untraced"
    )
    bare, added = cost_ns(mpi, 1, "call", "send", LONG_BATCHES, LONG_CALLS)
    yield Figure("recorded call, with flushes", added, "ns", 40, f"the same, buffer of 1 MiB, {bare:.1f} ns untraced")
    bare, added = cost_ns(mpi, 1, "call", "isend", BATCHES, CALLS)
    yield Figure("with a request, between flushes", added, "ns", 35, f"MPI_Isend and MPI_Wait, {bare:.1f} ns untraced")
    bare, added = cost_ns(mpi, 1, "call", "isend", LONG_BATCHES, LONG_CALLS)
    yield Figure("with a request, with flushes", added, "ns", 50, f"the same, buffer of 1 MiB, {bare:.1f} ns untraced")
    bare, added = cost_ns(mpi, 2, "pingpong", BATCHES, ROUND_TRIPS)
    yield Figure("0-byte round trip, 4 calls", added / 1e3, "us", 0.1, f"{bare / 1e3:.2f} us untraced")
