"""A master and its workers: rank 0 receives results from any and answers each with more work, until none is left."""

from __future__ import annotations

import numpy as np

from benchmarks.synthetic.world import GAP_NS, NOISE_LEAST, NUMBER, POST_NS, WORLD, World, blank_calls

WORK_BYTES, RESULT_BYTES = 1024, 256
WORK, RESULT, STOP = 1, 2, 3
"""Tags."""
SERVICE_NS = 2 * (POST_NS + GAP_NS)
"""Time of the master for each result: MPI_Recv, MPI_Send."""
MASTER_USED = 0.7
"""Share of the time in which it serves."""
SHORTEST, LONGEST = 0.5, 1.5
"""Shortest and longest task, as multiples of the mean."""
NEVER = np.iinfo(np.int64).max


def tasks(ranks: int, mean_calls: float) -> int:
    """Return the number of tasks for about `mean_calls` calls a rank: each worker has one at least."""
    messages = (mean_calls - 2) * ranks / 2
    return max(ranks - 1, round((messages - (ranks - 1)) / 2))


class Farm:
    """Results are served in the order in which they arrive."""

    def __init__(self, world: World, number: int) -> None:
        self._world = world
        self._left = number
        self._mean_ns = world.ranks * SERVICE_NS / MASTER_USED
        self._least_ns = int(SHORTEST * NOISE_LEAST * self._mean_ns)
        self._arrival = np.full(world.ranks, NEVER)

    def run(self) -> None:
        """Run from the first work to the last stop."""
        world, workers = self._world, self._world.every[1:]
        self._add_master(self._answer(workers, world.now[0] + np.arange(len(workers)) * (POST_NS + GAP_NS)))
        while (first := int(self._arrival.min())) < NEVER:
            # No answer to one of these makes a result that arrives before the last of them.
            horizon = max(first, int(world.now[0])) + self._least_ns
            served = np.flatnonzero(self._arrival <= horizon)
            self._serve(served[np.argsort(self._arrival[served], kind="stable")])

    def _serve(self, workers: np.ndarray) -> None:
        """Receive their results, which arrive in this order, and answer each."""
        begin_ns = int(self._world.now[0])
        before = np.arange(len(workers)) * SERVICE_NS
        found = np.maximum(np.maximum.accumulate(self._arrival[workers] - before), begin_ns) + before
        self._arrival[workers] = NEVER
        rows = blank_calls(2 * len(workers))
        receives = rows[::2]
        receives["call"], receives["comm"] = NUMBER["MPI_Recv"], WORLD
        receives["enter"][0], receives["enter"][1:] = begin_ns, found[:-1] + SERVICE_NS
        receives["exit"] = found + POST_NS
        receives["peer"], receives["tag"], receives["received"] = workers, RESULT, RESULT_BYTES
        rows[1::2] = self._answer(workers, found + POST_NS + GAP_NS)
        self._add_master(rows)

    def _answer(self, workers: np.ndarray, enter: np.ndarray) -> np.ndarray:
        """Send them work, or that there is none; returns the master's rows."""
        rows = blank_calls(len(workers))
        has_work = np.arange(len(workers)) < self._left
        self._left -= int(has_work.sum())
        rows["call"], rows["comm"], rows["peer"] = NUMBER["MPI_Send"], WORLD, workers
        rows["enter"], rows["exit"] = enter, enter + POST_NS
        rows["tag"], rows["sent"] = np.where(has_work, WORK, STOP), np.where(has_work, WORK_BYTES, 0)
        self._work(rows[np.argsort(workers)])
        return rows

    def _work(self, sends: np.ndarray) -> None:
        """Record the work of the workers on the tasks that the master has sent; the sends ascend."""
        world, workers, common = self._world, sends["peer"].astype(np.int64), {"comm": WORLD, "peer": 0}
        size = sends["sent"].astype(np.int64)
        arrival = sends["exit"].astype(np.int64) + world.message_ns(np.zeros_like(workers), workers, size)
        enter, leave = world.now[workers], np.maximum(world.now[workers], arrival) + POST_NS
        world.record(workers, "MPI_Recv", enter, leave, **common, tag=sends["tag"], received=size)
        world.now[workers] = leave + GAP_NS
        busy = workers[sends["tag"] == WORK]
        world.compute(busy, self._mean_ns * world.random.uniform(SHORTEST, LONGEST, len(busy)))
        leave = world.now[busy] + POST_NS
        world.record(busy, "MPI_Send", world.now[busy], leave, **common, tag=RESULT, sent=RESULT_BYTES)
        world.now[busy] = leave + GAP_NS
        self._arrival[busy] = leave + world.message_ns(busy, np.zeros_like(busy), RESULT_BYTES)

    def _add_master(self, rows: np.ndarray) -> None:
        self._world.recorder.add_calls(np.zeros(len(rows), np.int64), rows)
        self._world.now[0] = int(rows["exit"][-1]) + GAP_NS


def workers(world: World, mean_calls: float) -> None:
    """Write the whole program."""
    Farm(world, tasks(world.ranks, mean_calls)).run()
