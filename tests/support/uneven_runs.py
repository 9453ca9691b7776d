"""Runs of iterations with planted problems, whose times follow from their definition: messages take no time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from synthetic import WORLD, call, write_run

NS = 1_000  # a unit of time in this file is 1 us
CALL = 2 * NS


class Ranks:
    """Ranks that compute and communicate, each with a clock of its own."""

    def __init__(self, ranks: int) -> None:
        self.now = [0] * ranks
        self.calls: list[list] = [[] for _ in range(ranks)]
        self.edges: list[list[int]] = [[] for _ in range(ranks)]
        self.everybody("MPI_Init")

    def compute(self, rank: int, us: float) -> None:
        self.now[rank] += int(us * NS)

    def everybody(self, name: str, **columns) -> None:
        """A call that nobody leaves before all have come."""
        end = max(self.now) + CALL
        for rank, calls in enumerate(self.calls):
            calls.append(call(name, self.now[rank], end, **columns))
        self.now = [end] * len(self.now)

    def send(self, rank: int, peer: int, tag: int) -> int:
        """Takes CALL; when it was entered."""
        begin = self.now[rank]
        self.calls[rank].append(call("MPI_Send", begin, begin + CALL, comm=WORLD, peer=peer, tag=tag, sent=8))
        self.now[rank] += CALL
        return begin

    def receive(self, rank: int, peer: int, tag: int, sent: int) -> None:
        """Until the message is there, and CALL."""
        begin = self.now[rank]
        self.now[rank] = max(begin, sent) + CALL
        self.calls[rank].append(call("MPI_Recv", begin, self.now[rank], comm=WORLD, peer=peer, tag=tag, received=8))

    def mark(self) -> None:
        """An iteration begins or ends here."""
        for edges, now in zip(self.edges, self.now, strict=True):
            edges.append(now)


def iterative(
    iterations: int, ranks: int, work: Callable[[int, int], float], *, step_us: float = 0, rings: bool = True
) -> Ranks:
    """`work(iteration, rank)` us of computing, an exchange with both neighbours of a ring, a chain in which each rank
    computes step_us when it has the result of the rank before, a reduction."""
    run = Ranks(ranks)
    run.mark()
    for iteration in range(iterations):
        for rank in range(ranks):
            run.compute(rank, work(iteration, rank))
        if rings:
            _exchange(run, ranks)
        if step_us:
            _chain(run, ranks, step_us)
        run.everybody("MPI_Allreduce", comm=WORLD, sent=8, received=8)
        run.mark()
    run.everybody("MPI_Finalize")
    return run


def _exchange(run: Ranks, ranks: int) -> None:
    right = [run.send(rank, (rank + 1) % ranks, 1) for rank in range(ranks)]
    left = [run.send(rank, (rank - 1) % ranks, 2) for rank in range(ranks)]
    for rank in range(ranks):
        run.receive(rank, (rank - 1) % ranks, 1, right[(rank - 1) % ranks])
        run.receive(rank, (rank + 1) % ranks, 2, left[(rank + 1) % ranks])


def _chain(run: Ranks, ranks: int, step_us: float) -> None:
    sent = 0
    for rank in range(ranks):
        if rank:
            run.receive(rank, rank - 1, 3, sent)
        run.compute(rank, step_us)
        if rank < ranks - 1:
            sent = run.send(rank, rank + 1, 3)


def written(folder: Path, run: Ranks) -> Path:
    """As a run.h5."""
    return write_run(folder, [{"calls": calls} for calls in run.calls])
