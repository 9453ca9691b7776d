"""Cost that each option adds to the cost of a recorded call."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.mpi import NOTHING, Mpi, remove_run
from benchmarks.recording import Figure

ROUNDS = 5
BATCHES, CALLS = 10, 100_000
"""A batch holds a dozen flushes of a buffer of 1 MiB."""

OPTIONS: dict[str, dict[str, str]] = {
    "no option": {},
    "TRACELIB_CLOCK=monotonic": {"TRACELIB_CLOCK": "monotonic"},
    "TRACELIB_CPUTIME=on": {"TRACELIB_CPUTIME": "on"},
    "TRACELIB_COUNTERS=perf::PAGE-FAULTS": {"TRACELIB_COUNTERS": "perf::PAGE-FAULTS"},
    "TRACELIB_SAMPLE=1ms": {"TRACELIB_SAMPLE": "1ms", "TRACELIB_COUNTERS": "CPU_NS"},
    "TRACELIB_COMPRESS=1": {"TRACELIB_COMPRESS": "1"},
    "TRACELIB_LIMIT=8M, ring": {"TRACELIB_LIMIT": "8M", "TRACELIB_LIMIT_POLICY": "ring"},
    "TRACELIB_LIMIT=8M, thin": {"TRACELIB_LIMIT": "8M", "TRACELIB_LIMIT_POLICY": "thin"},
    "TRACELIB_BURSTS=100us": {"TRACELIB_BURSTS": "100us"},
    "TRACELIB_CALLS=-p2p": {"TRACELIB_CALLS": "-p2p"},
    "TRACELIB_START=off": {"TRACELIB_START": "off"},
    "TRACELIB_SYSTEM=1s": {"TRACELIB_SYSTEM": "1s"},
    "TRACELIB_DISABLE=1": {"TRACELIB_DISABLE": "1"},
}


def figures(mpi: Mpi) -> Iterator[Figure]:
    """Yield for each option the smallest batch, less untraced ones; options in turns."""
    program = mpi.compile("call")
    bare: list[float] = []
    found: dict[str, list[float]] = {name: [] for name in OPTIONS}
    for _ in range(ROUNDS):
        bare += mpi.run(1, program, "send", BATCHES, CALLS)
        for name, variables in OPTIONS.items():
            found[name] += mpi.run(1, program, "send", BATCHES, CALLS, traced="option", options=variables or NOTHING)
    remove_run("option")
    none = min(found["no option"]) - min(bare)
    for name, batches in found.items():
        cost = min(batches) - min(bare)
        note = "MPI_Send to MPI_PROC_NULL, flushes included" if name == "no option" else f"{cost - none:+.3g} ns"
        yield Figure(f"call, {name}", cost, "ns", None, note)
