"""The ranks of a synthetic run and how far in time each of them is."""

from __future__ import annotations

import numpy as np

from benchmarks.synthetic.groups import Split
from benchmarks.synthetic.recorder import Recorder
from csrc.generate import standard
from tracelib import schema
from tracelib.schema import Peer

RANKS_A_NODE = 64
POST_NS = 80  # in a call that does not wait
GAP_NS = 20  # between two calls without a computation
LATENCY_NS, LATENCY_ON_NODE_NS = 1500, 400
BYTES_A_NS = 10
JITTER_NS = 500  # by which the members of a collective leave apart
NOISE = 0.02  # standard deviation of a computation's length, as a share
NOISE_LEAST = 0.9  # the shortest computation, in the mean
SLOW_FACTOR = 1.3
BEGIN_NS = 10**12
INIT_NS = 5_000_000
WORLD, SELF = 1, 2
"""Rows of `communicators`."""

PROCEDURES = tuple(procedure.name for procedure in standard.procedures())
"""All that the runtime knows: every rank file names them."""
NUMBER = {name: number for number, name in enumerate(PROCEDURES)}


def slow_ranks(ranks: int) -> list[int]:
    """Return the ranks whose computations take SLOW_FACTOR times as long: three of them, far apart."""
    return sorted({ranks // 7, ranks // 2 + 1, ranks - 2})


class World:
    """`now` (ranks, ns) is where each rank is outside MPI."""

    def __init__(self, ranks: int, seed: int) -> None:
        if not 4 <= ranks <= 65536:
            raise ValueError(f"4 to 65536 ranks, not {ranks}")
        self.ranks = ranks
        self.random = np.random.default_rng(seed)
        self.recorder = Recorder(ranks)
        self.started = BEGIN_NS + self.random.integers(0, 1_000_000, ranks)
        self.now = self.started + 2_000_000
        self.every = np.arange(ranks)
        self.slowness = np.ones(ranks)
        self.splits: list[Split] = []
        self.slowness[slow_ranks(ranks)] = SLOW_FACTOR

    def compute_ns(self, ranks: np.ndarray, mean_ns: float | np.ndarray) -> np.ndarray:
        """Draw how long computations of these ranks take."""
        noise = np.maximum(1 + NOISE * self.random.standard_normal(len(ranks)), NOISE_LEAST)
        return np.rint(mean_ns * self.slowness[ranks] * noise).astype(np.int64) + GAP_NS

    def compute(self, ranks: np.ndarray, mean_ns: float | np.ndarray) -> None:
        """Let these ranks compute."""
        self.now[ranks] += self.compute_ns(ranks, mean_ns)

    def message_ns(self, sources: np.ndarray, destinations: np.ndarray, size: int | np.ndarray) -> np.ndarray:
        """Return the ns from the exit of the send to the arrival."""
        on_node = sources // RANKS_A_NODE == destinations // RANKS_A_NODE
        return np.where(on_node, LATENCY_ON_NODE_NS, LATENCY_NS) + size // BYTES_A_NS

    def record(self, ranks: np.ndarray, procedure: str, enter: np.ndarray, leave: np.ndarray, **columns) -> None:
        """Record a call of each of these ranks, which ascend; `columns` of `calls` besides times and procedure."""
        rows = blank_calls(len(ranks))
        rows["call"], rows["enter"], rows["exit"] = NUMBER[procedure], enter, leave
        for name, values in columns.items():
            rows[name] = values
        self.recorder.add_calls(ranks, rows)

    def collective(self, procedure: str, groups: np.ndarray, comm: int, transfer_ns: int = 0, **columns) -> None:
        """Record a call of all ranks, which `groups` (groups, members) divides; all leave after the last of their
        group."""
        least_ns = int(np.ceil(np.log2(groups.shape[1]))) * LATENCY_NS + transfer_ns + POST_NS
        leave = np.empty_like(self.now)
        leave[groups] = self.now[groups].max(axis=1, keepdims=True) + least_ns
        leave += self.random.integers(0, JITTER_NS, self.ranks)
        self.record(self.every, procedure, self.now, leave, comm=comm, **columns)
        self.now = leave + GAP_NS

    def split(self, groups: np.ndarray) -> int:
        """Record MPI_Comm_split of the world into these (groups, members). Return the new row of `communicators`."""
        self.collective("MPI_Comm_split", self.every[None], WORLD)
        number = len(self.splits) + 1
        self.splits.append(Split(groups, number << 32, self.now - GAP_NS - POST_NS // 2))
        return SELF + number

    def allreduce(self) -> None:
        """Add an MPI_Allreduce of one number, over all ranks."""
        self.collective("MPI_Allreduce", self.every[None], WORLD, sent=8, received=8)

    def begin(self) -> None:
        """Record MPI_Init."""
        self.collective("MPI_Init", self.every[None], 0, INIT_NS)

    def end(self) -> None:
        """Record MPI_Finalize."""
        self.collective("MPI_Finalize", self.every[None], 0)


def blank_calls(n: int) -> np.ndarray:
    """Return rows of `calls` that have no peer, no tag and no bytes."""
    rows = np.zeros(n, schema.CALL)
    rows["peer"], rows["tag"] = Peer.NONE, -1
    return rows
