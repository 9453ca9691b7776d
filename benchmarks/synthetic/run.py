"""The files of a synthetic run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.synthetic.alltoall import alltoall
from benchmarks.synthetic.groups import Communicators
from benchmarks.synthetic.halo import halo, ring
from benchmarks.synthetic.image import Image
from benchmarks.synthetic.irregular import irregular
from benchmarks.synthetic.links import write_links
from benchmarks.synthetic.workers import workers
from benchmarks.synthetic.world import BEGIN_NS, PROCEDURES, RANKS_A_NODE, World
from tracelib import schema

PATTERNS: dict[str, Callable[[World, float], None]] = {
    "ring": ring,
    "halo": halo,
    "workers": workers,
    "alltoall": alltoall,
    "irregular": irregular,
}
"""Each takes ranks that have called MPI_Init, and the mean number of calls a rank."""

TICKS_A_NS = 3
CREATED_NS = 1_700_000_000 * 10**9  # since 1970
CALLS_A_BLOCK = 6553  # a buffer has room for so many requests, and for more calls
_TIMES = {"calls": ("enter", "exit"), "requests": ("posted", "completed"), "events": ("time",)}


@dataclass(frozen=True)
class Written:
    """A run in files."""

    path: Path  # run.h5
    calls: int  # of all ranks


def write_run(folder: Path, pattern: str, ranks: int, mean_calls: float, seed: int = 1) -> Written:
    """Write run.h5 and run.ranks/ into `folder`. The same arguments give the same bytes."""
    world = World(ranks, seed)
    world.begin()
    PATTERNS[pattern](world, mean_calls)
    world.end()
    (folder / "run.ranks").mkdir(parents=True)
    image, communicators = Image(list(PROCEDURES)), Communicators(ranks, world.splits)
    command = f"./synthetic {pattern} {ranks} {mean_calls:g} --seed {seed}"
    number = 0
    for rank, (calls, requests) in enumerate(world.recorder.take()):
        number += len(calls)
        tables = {"calls": calls, "requests": requests, **_blocks(calls, requests)}
        for name, columns in _TIMES.items():
            for column in columns:
                tables[name][column] *= np.uint64(TICKS_A_NS)
        started = int(world.started[rank])
        tables["clock"] = _clock(started, tables["events"])
        tables |= communicators.tables(rank, TICKS_A_NS) | {"objects": np.zeros(1, schema.OBJECT)}
        image.write(folder / f"run.ranks/{rank:06d}.h5", tables, _attributes(rank, ranks, started, command))
    write_links(folder / "run.h5", ranks, CREATED_NS)
    return Written(folder / "run.h5", number)


def _blocks(calls: np.ndarray, requests: np.ndarray) -> dict[str, np.ndarray]:
    """Return buffers of calls and requests, and the events of their flushes.

    The end of one is the first of the next buffer, except for the last, which is closed with both of its events.
    """
    ends = np.append(np.arange(CALLS_A_BLOCK, len(calls), CALLS_A_BLOCK), len(calls))
    last = calls["exit"][ends - 1]
    events = np.zeros((len(ends), 2), schema.EVENT)
    events["time"] = last[:, None] + np.array([2, 8], np.uint64)
    events["type"], events["value"] = schema.FLUSH_TYPE, (1, 0)
    names = list(schema.BUFFERED)
    blocks = np.zeros(len(ends), schema.BLOCK)
    blocks["flags"] = 1
    event_ends = 2 * np.arange(len(ends)) + 1
    event_ends[-1] += 1
    for name, end in (
        ("calls", ends),
        ("requests", np.searchsorted(requests["completed"], last, "right")),
        ("events", event_ends),
    ):
        first = np.append(0, end[:-1])
        blocks["first"][:, names.index(name)] = first
        blocks["count"][:, names.index(name)] = end - first
    return {"blocks": blocks, "events": events.ravel()}


def _clock(started: int, events: np.ndarray) -> np.ndarray:
    """Return pairs at the start of the process, when recording began, and after each flush."""
    ends = events["time"][1::2].astype(np.int64) // TICKS_A_NS
    ns = np.concatenate([[started, started + 1_000_000], ends + 1])
    rows = np.zeros(len(ns), schema.CLOCK)
    rows["ticks"], rows["monotonic_ns"] = ns * TICKS_A_NS, ns
    return rows


def _attributes(rank: int, ranks: int, started: int, command: str) -> dict[str, int | str]:
    pid = 1000 + rank % RANKS_A_NODE
    return {
        "rank": rank, "size": ranks, "pid": pid, "time_namespace": 4026531834,
        "start_ticks": started * TICKS_A_NS, "start_realtime_ns": CREATED_NS + started - BEGIN_NS,
        "ticks_are_tsc": 1, "buffer_bytes": 1 << 20, "state": int(schema.ProcessState.FINALIZED),
        "host": f"node{rank // RANKS_A_NODE:04d}", "boot_id": "synthetic", "mpi_library": "synthetic",
        "command": command, "spool": f"/dev/shm/tracelib-{pid}-synthetic", "cpus": str(rank % RANKS_A_NODE),
        "job": "synthetic",
    }  # fmt: skip
