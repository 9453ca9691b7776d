"""Cost of recording a call: loops with and without the library, in turns, compared by their minima."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.mpi import ROOT, Mpi, remove_run

ROUNDS = 5
BATCHES = 400
CALLS = 1000  # a batch is shorter than the way from one flush of a 1 MiB buffer to the next
LONG_BATCHES = 60
LONG_CALLS = 65_536  # a batch holds three flushes, and is so short that some are not interrupted
ROUND_TRIPS = 1000
READS = 2  # of the clock, by each recorded call: the least that a tracer can do
ABOVE_NS, FLUSHES_NS, REQUEST_NS = 15, 15, 10
"""Budget of a call beside the clock: in itself, by its share of flushes, by a request that is followed."""


@dataclass(frozen=True)
class Figure:
    """One line of the table. `budget` is None where there is none."""

    name: str
    value: float
    unit: str
    budget: float | None
    note: str = ""


def cost_ns(mpi: Mpi, ranks: int, program: str, *args: object) -> tuple[float, float]:
    """Return the smallest batch without the library, and what the library adds to it (both ns)."""
    binary = mpi.compile(program)
    without, with_library = [], []
    for _ in range(ROUNDS):
        without += mpi.run(ranks, binary, *args)
        with_library += mpi.run(ranks, binary, *args, traced="cost")
    remove_run("cost")
    return min(without), min(with_library) - min(without)


def read_ns(mpi: Mpi, clock: str) -> float:
    """Time the smallest batch of reads of "tsc" or "monotonic"."""
    program = mpi.compile("clock", f"-I{ROOT / 'csrc' / 'runtime'}")
    return min(n for _ in range(ROUNDS) for n in mpi.run(1, program, clock, BATCHES, CALLS))


def call_figure(mpi: Mpi, name: str, calls: str, read: float, batches: int, length: int, above: float) -> Figure:
    """Measure the cost of a call, and its part that is not reading the clock; `above` is the budget of that part."""
    bare, added = cost_ns(mpi, 1, "call", calls, batches, length)
    what = {"send": "MPI_Send to MPI_PROC_NULL", "isend": "MPI_Isend and MPI_Wait"}[calls]
    note = f"two reads of the clock and {added - READS * read:.1f} ns; {what}, {bare:.1f} ns untraced"
    return Figure(name, added, "ns", round(READS * read + above, 1), note)


def figures(mpi: Mpi) -> Iterator[Figure]:
    """Yield the price of a read of the clock, and the cost of a call and of a round trip.

    Calls are between flushes, with them, and with a request.
    """
    read = read_ns(mpi, "tsc")
    yield Figure("read of the clock, time stamp counter", read, "ns", None, "each recorded call takes two")
    yield Figure("read of the clock, CLOCK_MONOTONIC", read_ns(mpi, "monotonic"), "ns", None)
    short, long = (BATCHES, CALLS), (LONG_BATCHES, LONG_CALLS)
    whole = ABOVE_NS + FLUSHES_NS
    yield call_figure(mpi, "recorded call, between flushes", "send", read, *short, ABOVE_NS)
    yield call_figure(mpi, "recorded call, with flushes", "send", read, *long, whole)
    yield call_figure(mpi, "with a request, between flushes", "isend", read, *short, ABOVE_NS + REQUEST_NS)
    yield call_figure(mpi, "with a request, with flushes", "isend", read, *long, whole + REQUEST_NS)
    bare, added = cost_ns(mpi, 2, "pingpong", BATCHES, ROUND_TRIPS)
    yield Figure("0-byte round trip, 4 calls", added / 1e3, "us", 0.1, f"{bare / 1e3:.2f} us untraced")
