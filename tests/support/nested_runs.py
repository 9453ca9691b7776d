"""Runs whose loops inside loops are planted: how long everything takes, what disturbs it and when is written down.

    folder, [Start(18_020), Loop(5, (Loop(6, (Work(545, "ring"),)), Work(5740, "reduction")))]

All ranks make the same calls. Every step ends for all of them at the same time, so that edges are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from synthetic import WORLD, write_run

from tracelib import schema
from tracelib.schema import RequestKind

MS = 1_000_000
CALL_NS = 1_000
SIZE = 100_000
GHZ = 2.0
COUNTERS = ("PAPI_TOT_CYC", "PAPI_TOT_INS", "PAPI_FP_OPS")
COLLECTIVES = {
    "reduction": "MPI_Allreduce", "transposition": "MPI_Alltoall", "broadcast": "MPI_Bcast", "gather": "MPI_Allgather",
    "barrier": "MPI_Barrier",
}  # fmt: skip
EXCHANGES = {"ring": (1, 0.7, 1.6, 0.5), "skip": (2, 0.8, 0.8, 0.1)}
"""By kind: distance of the neighbour, share of the step that is computed before, instructions a cycle, and
floating-point operations an instruction."""
_ALONE = (0.93, 1.2, 0.3)
"""The last three of what a collective ends."""


@dataclass(frozen=True)
class Work:
    """Computing, and the communication that ends it."""

    ms: float
    ends: str  # one of EXCHANGES or COLLECTIVES


@dataclass(frozen=True)
class Loop:
    """`count` passes of the same steps."""

    count: int
    body: tuple[Loop | Work, ...]


@dataclass(frozen=True)
class Start:
    """Collectives in random order and computing of random lengths."""

    ms: float


@dataclass(frozen=True)
class Flushes:
    """Time between two calls in which all ranks write their buffers, three times each."""

    ms: float


Step = Work | Loop | Start | Flushes


@dataclass(frozen=True)
class Stop:
    """A time at which a rank that computes loses its CPU, for a given time."""

    rank: int
    at_ms: float
    ms: float


@dataclass(frozen=True)
class Slow:
    """Messages that are sent in this time take `times` as long."""

    begin_ms: float
    end_ms: float
    times: float


@dataclass
class Planted:
    """The rows of all ranks, a call of all of them after the other.

    jitter: standard deviation of what a step takes, and of what each rank computes in it, as a share.
    """

    ranks: int
    jitter: float = 0.01
    seed: int = 1
    stops: Sequence[Stop] = ()
    slow: Sequence[Slow] = ()
    calls: list[np.ndarray] = field(default_factory=list)
    requests: list[np.ndarray] = field(default_factory=list)
    readings: list[np.ndarray] = field(default_factory=list)
    flushes: list[tuple[int, int, int]] = field(default_factory=list)  # rank, begin, end
    procedures: list[str] = field(default_factory=list)
    edges_ns: list[list[int]] = field(default_factory=list)  # of each loop of level 1 begins of its passes, and its end

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)
        self.now = np.zeros(self.ranks, np.int64)
        self.counted = np.zeros((self.ranks, len(COUNTERS)))
        self._left = list(self.stops)

    def run(self, steps: Sequence[Step]) -> Planted:
        """All of them, between MPI_Init and MPI_Finalize."""
        self._call("MPI_Init", self.now + MS)
        for step in steps:
            if isinstance(step, Loop):
                self.edges_ns.append([])
                self._loop(step, self.edges_ns[-1])
            else:
                self._step(step)
        self._call("MPI_Finalize", self.now + CALL_NS)
        return self

    def _step(self, step: Step) -> None:
        if isinstance(step, Loop):
            self._loop(step, [])
        elif isinstance(step, Work):
            self._work(step)
        elif isinstance(step, Start):
            self._start(step)
        else:
            self._flush(step)

    def _loop(self, loop: Loop, edges: list[int]) -> None:
        for _ in range(loop.count):
            edges.append(int(self.now.max()))
            for step in loop.body:
                self._step(step)
        edges.append(int(self.now.max()))

    def _noise(self, *shape: int) -> np.ndarray:
        return 1 + self.jitter * np.clip(self.random.standard_normal(shape), -3, 3)

    def _work(self, step: Work) -> None:
        begin, whole = int(self.now.max()), step.ms * MS * float(self._noise(1)[0])
        neighbour, *how = EXCHANGES.get(step.ends, (0, *_ALONE))
        share, ipc, flops = how
        self._compute(whole * share * self._noise(self.ranks), ipc, flops)
        end = begin + round(whole)
        if neighbour:
            self._exchange(neighbour, end)
        else:
            self._call(COLLECTIVES[step.ends], np.full(self.ranks, max(end, int(self.now.max()) + CALL_NS)), comm=WORLD)

    def _compute(self, ns: np.ndarray, ipc: float, flops: float) -> None:
        """Instructions vary more than cycles do, as they do in programs whose work depends on their data."""
        ns = np.rint(ns).astype(np.int64)
        cycles = GHZ * ns
        instructions = cycles * ipc * self._noise(self.ranks)
        self.counted += np.stack([cycles, instructions, instructions * flops], axis=1)
        for stop in list(self._left):
            if self.now[stop.rank] <= stop.at_ms * MS < self.now[stop.rank] + ns[stop.rank]:
                ns[stop.rank] += round(stop.ms * MS)
                self._left.remove(stop)
        self.now = self.now + ns

    def _exchange(self, neighbour: int, end: int) -> None:
        """A message to a neighbour and one from the other side, received at `end` if the network is not slow."""
        every = np.arange(self.ranks)
        to, of = (every + neighbour) % self.ranks, (every - neighbour) % self.ranks
        tag = neighbour
        received = self._call("MPI_Irecv", self.now + CALL_NS, comm=WORLD, peer=of, tag=tag)
        sent = self._call("MPI_Isend", self.now + CALL_NS, comm=WORLD, peer=to, tag=tag, sent=SIZE)
        arrival = max(end, int(self.now.max()) + 2 * CALL_NS)
        for slow in self.slow:
            first = int(sent["enter"].min())
            if slow.begin_ms * MS <= first < slow.end_ms * MS:
                arrival = first + round((arrival - first) * slow.times)
        self._call("MPI_Waitall", np.full(self.ranks, arrival))
        for what, posted, peer in ((RequestKind.RECV_DONE, received, of), (RequestKind.SEND_DONE, sent, to)):
            rows = np.zeros(self.ranks, schema.REQUEST)
            rows["posted"], rows["completed"], rows["bytes"] = posted["enter"], arrival, SIZE
            rows["comm"], rows["peer"], rows["tag"], rows["what"] = WORLD, peer, tag, int(what)
            self.requests.append(rows)

    def _call(self, procedure: str, leave: np.ndarray, **columns) -> np.ndarray:
        """Record a call of all ranks, until `leave`; return its rows."""
        if procedure not in self.procedures:
            self.procedures.append(procedure)
        rows = np.zeros(self.ranks, schema.CALL)
        rows["call"], rows["peer"], rows["tag"] = self.procedures.index(procedure), schema.Peer.NONE, -1
        rows["enter"], rows["exit"] = self.now, leave
        for name, values in columns.items():
            rows[name] = values
        self.calls.append(rows)
        self.readings.append(np.stack([self.counted, self.counted]))
        self.now = np.array(leave, np.int64)
        return rows

    def _start(self, step: Start) -> None:
        end, names = int(self.now.max()) + round(step.ms * MS), ("MPI_Bcast", "MPI_Allgather", "MPI_Barrier")
        parts = self.random.dirichlet(np.ones(12)) * step.ms * MS
        for part in parts[:-1]:
            self._compute(part * 0.9 * self._noise(self.ranks), float(self.random.uniform(0.5, 2)), 0.1)
            self._call(str(self.random.choice(names)), np.full(self.ranks, int(self.now.max()) + CALL_NS), comm=WORLD)
        self._compute(np.maximum(end - CALL_NS - self.now, 0), 1.0, 0.1)
        self._call("MPI_Barrier", np.full(self.ranks, end), comm=WORLD)

    def _flush(self, step: Flushes) -> None:
        begin, whole = int(self.now.max()), round(step.ms * MS)
        for rank in range(self.ranks):
            for part in range(3):
                first = begin + round(whole * (part + 0.1 + 0.5 * self.random.random()) / 3)
                self.flushes.append((rank, first, first + round(whole * 0.12)))
        self.counted += GHZ * whole * 0.64
        self.now = np.full(self.ranks, begin + whole, np.int64)

    def written(self, folder: Path, *, counters: bool = True) -> Path:
        """As a run.h5."""
        folder.mkdir(parents=True, exist_ok=True)
        calls, readings = np.stack(self.calls, axis=1), np.stack(self.readings)  # (ranks, n), (n, 2, ranks, counters)
        requests = np.stack(self.requests, axis=1) if self.requests else np.zeros((self.ranks, 0), schema.REQUEST)
        return write_run(folder, [self._rank(rank, calls, requests, readings, counters) for rank in range(self.ranks)])

    def _rank(self, rank: int, calls: np.ndarray, requests: np.ndarray, readings: np.ndarray, counted: bool) -> dict:
        events = [(begin, end) for of, begin, end in sorted(self.flushes) if of == rank]
        rows = np.zeros(2 * len(events), schema.EVENT)
        rows["time"], rows["type"], rows["value"] = np.ravel(events), schema.FLUSH_TYPE, [1, 0] * len(events)
        found = {"calls": calls[rank], "requests": requests[rank], "events": rows, "procedures": self.procedures}
        if not counted:
            return found
        values = np.rint(readings[:, :, rank]).astype(np.uint64).ravel()
        block = np.zeros(1, schema.BLOCK)
        tables = {"calls": calls[rank], "requests": requests[rank], "events": rows, "counts": values}
        block["count"][0] = [len(tables.get(name, ())) for name in schema.BUFFERED]
        block["set"], block["flags"] = 1, 1
        types = (42000059, 42000050, 42000102)
        sets = [(1, k, types[k], 4, name.encode()) for k, name in enumerate(COUNTERS)]
        return found | {"counts": values, "counters": sets, "blocks": block}
