"""Measuring with all ranks: rank 0 gives orders, pairs of ranks carry them out at the same time, rank 0 gets the rows.

Orders and results travel in collectives, so that no other messages are sent than the measured ones.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import astuple, fields

import numpy as np
from mpi4py import MPI

from tracelib.ngmpi.loop import COLUMNS, MeasuringOrder, MessageLoops

EAGER_TESTS, NAP_S = 200, 0.0002
"""Number of tests after which a waiting rank sleeps, and its sleep between tests in s.

Without sleep, it could take the processor of others."""

MOST_ROUNDS = 8
"""Largest number of orders that a rank carries out before it reports. Reporting is slow where processors are shared."""
MOST_PAIRS = 200
"""Largest number of communicators that exist at a time. MPIs have room for some thousands."""

_FIELDS = len(fields(MeasuringOrder))
_ROWS = 4  # the field that is 0 where there is no order
_END = -1.0


def _order(row: np.ndarray) -> MeasuringOrder:
    """Read one row of a table of orders; its numbers are all exact."""
    first, second, size, train, rows, receiver = map(int, row[:-1])
    return MeasuringOrder(first, second, size, train, rows, bool(receiver), float(row[-1]))


class MeasuringCrew:
    """One rank's access to the measurements that all ranks do together."""

    def __init__(self, world: MPI.Intracomm, loop: MessageLoops) -> None:
        self._comm, self._loop = world.Dup(), loop
        self.rank, self.ranks = world.Get_rank(), world.Get_size()
        self._pairs: dict[tuple[int, int], MPI.Intracomm | None] = {}

    def carry_out(self, rounds: Sequence[Sequence[MeasuringOrder]]) -> list[list[np.ndarray]]:
        """Carry out orders. Called at rank 0.

        Args:
            rounds: At most MOST_ROUNDS rounds of orders, which follow each other. No rank is in two orders of a round.

        Returns:
            For each order of each round, an array of shape (rows, COLUMNS) with the flags of both ranks.
        """
        table = np.zeros(self._shape)
        for number, orders in enumerate(rounds):
            table[number, : len(orders)] = [astuple(order) for order in orders]
        self._share(table)
        return self._together(rounds)

    def serve(self) -> None:
        """Carry out orders until rank 0 has no more. Called at the other ranks."""
        table = np.zeros(self._shape)
        while True:
            self._share(table)
            if table[0, 0, 0] == _END:
                return
            self._together([[_order(row) for row in part if row[_ROWS]] for part in table])

    def dismiss(self) -> None:
        """Tell the other ranks that there are no more orders. Called at rank 0."""
        self._share(np.full(self._shape, _END))

    @property
    def _shape(self) -> tuple[int, int, int]:
        """Shape of a table of orders: (rounds, orders at a time, fields of an order)."""
        return MOST_ROUNDS, self.ranks // 2, _FIELDS

    def _share(self, table: np.ndarray) -> None:
        _wait(self._comm.Ibcast(table, root=0))

    def _together(self, rounds: Sequence[Sequence[MeasuringOrder]]) -> list[list[np.ndarray]]:
        counts = np.zeros(self.ranks, int)
        mine = [np.zeros(0)]
        for orders in rounds:
            self._meet(orders)
            for order in orders:
                counts[order.first] += order.rows * len(COLUMNS[order.receiver])
                counts[order.second] += order.rows
                if self.rank in (order.first, order.second):
                    mine.append(self._work(order))
        everything = np.zeros(counts.sum() if self.rank == 0 else 0)
        _wait(self._comm.Igatherv(np.concatenate(mine), [everything, counts] if self.rank == 0 else None, root=0))
        return [] if self.rank else _merge(rounds, np.split(everything, np.cumsum(counts)[:-1]))

    def _work(self, order: MeasuringOrder) -> np.ndarray:
        comm = self._pairs[order.first, order.second]
        assert comm is not None
        first = self.rank == order.first
        return self._loop.measure(comm, order).ravel() if first else self._loop.answer(comm, order)

    def _meet(self, orders: Sequence[MeasuringOrder]) -> None:
        """Create the communicators of pairs that have none.

        All ranks remember all pairs, so that both ranks of a pair free its communicator at the same time.
        """
        if len(self._pairs) + len(orders) > MOST_PAIRS:
            for comm in filter(None, self._pairs.values()):
                comm.Free()
            self._pairs.clear()
        for pair in ((order.first, order.second) for order in orders):
            if pair not in self._pairs:
                group = self._comm.Get_group().Incl(pair)
                self._pairs[pair] = self._comm.Create_group(group) if self.rank in pair else None


def _merge(rounds: Sequence[Sequence[MeasuringOrder]], parts: list[np.ndarray]) -> list[list[np.ndarray]]:
    """Combine the rows of the measuring ranks with the flags of the answering ranks. `parts` has each rank's report."""
    used = [0] * len(parts)

    def take(rank: int, number: int) -> np.ndarray:
        used[rank] += number
        return parts[rank][used[rank] - number : used[rank]]

    def merged(order: MeasuringOrder) -> np.ndarray:
        rows = take(order.first, order.rows * len(COLUMNS[order.receiver])).reshape(order.rows, -1)
        rows[:, -1] = rows[:, -1].astype(int) | take(order.second, order.rows).astype(int)
        return rows

    return [[merged(order) for order in orders] for orders in rounds]


def _wait(request: MPI.Request) -> None:
    tests = 0
    while not request.Test():
        tests += 1
        if tests > EAGER_TESTS:
            time.sleep(NAP_S)
