"""A team whose members are threads of one process: what only one process can do must not be in its work."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, BrokenBarrierError
from typing import Any, TypeVar

from patience import patient

from analyzer.parallel import Team

Found = TypeVar("Found")


class ThreadTeam(Team):
    """One of several threads."""

    def __init__(self, rank: int, board: list[Any], barrier: Barrier) -> None:
        self.rank, self.size, self._board, self._barrier = rank, len(board), board, barrier

    def barrier(self) -> None:
        self._barrier.wait(timeout=patient(60))

    def allgather(self, value: Any) -> list[Any]:
        self._board[self.rank] = value
        self.barrier()
        found = list(self._board)
        self.barrier()
        return found


def by_team(size: int, work: Callable[[Team], Found]) -> list[Found]:
    """Return the result of each member of a team. Raises their first error that is no broken barrier."""
    board, barrier = [None] * size, Barrier(size)

    def member(rank: int) -> Found:
        try:
            return work(ThreadTeam(rank, board, barrier))
        except BaseException:
            barrier.abort()
            raise

    with ThreadPoolExecutor(size) as pool:
        members = [pool.submit(member, rank) for rank in range(size)]
    errors = [error for done in members if (error := done.exception())]
    if errors:
        raise min(errors, key=lambda error: isinstance(error, BrokenBarrierError))
    return [done.result() for done in members]
