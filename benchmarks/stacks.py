"""Cost that call paths add to a recorded call, in turns with calls that have none."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.mpi import Mpi, remove_run
from benchmarks.recording import Figure

ROUNDS = 5
CALLERS = 10
SAME = (400, 1000)
"""Batches and calls in each: few, since a batch must fit between two interruptions."""
NEW = (10, 50)
MANY, ROUNDS_OF_MANY = 10_000, 50
PLACE_NS, PATH_NS, MANY_NS = 2, 15, 800
"""Budget in ns of the place of the call, of a path of CALLERS places, and of a path of MANY (no cache holds them)."""


def smallest(mpi: Mpi, what: str, size: tuple[int, int], callers: dict[str, int]) -> dict[str, float]:
    """Time the smallest batch by TRACELIB_STACK, which takes turns."""
    program = mpi.compile("stacks")
    found: dict[str, list[float]] = {stack: [] for stack in callers}
    for _ in range(ROUNDS):
        for stack, n in callers.items():
            found[stack] += mpi.run(1, program, what, n, *size, traced="stacks", options={"TRACELIB_STACK": stack})
    remove_run("stacks")
    return {stack: min(batches) for stack, batches in found.items()}


def many_stacks(mpi: Mpi) -> Figure:
    """Time a call from one of MANY stacks, in rounds, with all that their first round costs."""
    program = mpi.compile("stacks")
    size = ("many", CALLERS, ROUNDS_OF_MANY, MANY)
    found: dict[str, list[float]] = {"0": [], "all": []}
    for _ in range(ROUNDS):
        for stack, means in found.items():
            batches = mpi.run(1, program, *size, traced="stacks", options={"TRACELIB_STACK": stack})
            means.append(sum(batches) / len(batches))
    remove_run("stacks")
    added = min(found["all"]) - min(found["0"])
    note = f"mean of {ROUNDS_OF_MANY} rounds, the first one walks all"
    return Figure(f"call from one of {MANY} stacks", added, "ns", MANY_NS, note)


def figures(mpi: Mpi) -> Iterator[Figure]:
    """Yield a call from a stack that was there before; the first from a stack; the first from a path."""
    same = smallest(mpi, "same", SAME, dict.fromkeys(("0", "1", "all"), CALLERS))
    none = same["0"]
    yield Figure("place of a call, TRACELIB_STACK=1", same["1"] - none, "ns", PLACE_NS, f"{none:.1f} ns without")
    yield Figure(f"call path of {CALLERS} callers", same["all"] - none, "ns", PATH_NS, "from a stack that was walked")
    yield many_stacks(mpi)
    for what, note in (("new-stack", "a path that is known"), ("new-path", "written to the file at once")):
        new = smallest(mpi, what, NEW, {"0": CALLERS, "all": CALLERS})
        yield Figure(f"first call from a {what.replace('-', ' ')[4:]}", new["all"] - new["0"], "ns", None, note)
