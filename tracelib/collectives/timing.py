"""Measures the time of a collective from one rank to all, by the answer of the rank that is last to have the data.

Source: Nupairoj and Ni 1994, as in Rodriguez 2011, figures 4.4 and 4.5. In a first phase each rank in turn answers the
root, after a wait that is longer than the collective. The rank whose answers take longest is the critical responder. In
the second phase it answers at once. The answer keeps one repetition from running into the next. Without it, a loop
measures how often the root can start a collective, and not how long one takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tracelib.collectives.design import CollectiveSetting
from tracelib.collectives.trees import ALGORITHMS, TreeNode, node

WAIT = 10
"""In the first phase, a responder waits this many times the estimated time of the collective."""

_OPERATIONS = dict.fromkeys(ALGORITHMS, 0) | {"bcast": 1, "scatter": 2}
"""Number of each operation in enum collective_operation."""
_FEWEST = 10
_ESTIMATES = 3


@dataclass(frozen=True)
class CollectiveTiming:
    """Measured times of one collective, in s. The median time of an answer alone is subtracted.

    Attributes:
        iterations: Number of repetitions in the second phase.
        responder: Critical responder, the rank that is last to have the data.
        time_s: Mean time.
        median_s: Median time.
        least_s: Shortest time.
        naive_s: Mean time at the root of a loop without answers.
        ack_s: Time of an answer alone: half a round trip of one byte, median.
        wait_s: Wait of the responders in the first phase.
        first_s: Median time of the critical responder in the first phase.
        earliest_s: Median time of the fastest responder in the first phase.
        right: Whether every rank received what the root sent.
    """

    iterations: int
    responder: int  # critical: last to have it
    time_s: float  # mean
    median_s: float
    least_s: float
    naive_s: float  # mean of a loop without answers, at the root
    ack_s: float  # an answer alone: half a round trip of one byte, median
    wait_s: float  # of responders in the first phase
    first_s: float  # median in the first phase, of the critical responder
    earliest_s: float  # the same of the responder whose answers took least
    right: bool  # every rank got what the root sent


class PreparedCollective:
    """Collective that is ready to be measured on an mpi4py communicator. The communicator has no other traffic."""

    def __init__(self, library: Any, comm: Any, setting: CollectiveSetting) -> None:
        """Prepare the buffers. Collective over `comm`.

        Args:
            library: cffi module with the measuring loops.
            comm: Communicator with `setting.ranks` ranks.
            setting: Operation, algorithm and sizes.
        """
        from mpi4py import MPI

        self._comm, self._lib, self._ffi = comm, library.lib, library.ffi
        self.setting = setting
        rank = comm.Get_rank()
        place = node(setting.name, rank, setting.ranks) if setting.name in ALGORITHMS else TreeNode(-1, ())
        self._buffer = np.zeros(setting.bytes, np.uint8)
        whole = setting.bytes * (setting.ranks if setting.name == "scatter" and rank == 0 else 0)
        self._source = np.zeros(whole, np.uint8)
        self._children = self._ffi.new("int32_t[]", list(place.children) or [0])
        self._struct = self._ffi.new(
            "struct collective *",
            {
                "comm": self._ffi.cast("intptr_t", MPI._handleof(comm)),
                "rank": rank,
                "ranks": setting.ranks,
                "operation": _OPERATIONS[setting.name],
                "buffer": self._ffi.from_buffer("char[]", self._buffer),
                "source": self._ffi.from_buffer("char[]", self._source),
                "bytes": setting.bytes,
                "segment_bytes": setting.segment_bytes,
                "parent": place.parent,
                "children": len(place.children),
                "child": self._children,
            },
        )

    def arrives(self) -> bool:
        """Run the collective once with random data, and return whether every rank got the right data. Collective."""
        rank, n = self._comm.Get_rank(), self.setting.bytes
        random = np.random.default_rng(n + self.setting.segment_bytes)
        whole = random.integers(0, 256, n * (self.setting.ranks if self.setting.name == "scatter" else 1), np.uint8)
        self._source[:] = whole[: len(self._source)]
        self._buffer[:] = whole[:n] if rank == 0 else 0
        self._check(self._lib.collective_once(self._struct))
        expected = whole.reshape(-1, n)[rank if self.setting.name == "scatter" else 0]
        return all(self._comm.allgather(np.array_equal(self._buffer, expected)))

    def loop_s(self, n: int) -> np.ndarray:
        """Return the mean time of n repetitions in a row, in s, for each rank: shape (ranks,). Collective."""
        total = self._ffi.new("double *")
        self._check(self._lib.collective_loop(self._struct, n, total))
        return np.array(self._comm.allgather(total[0] / n))

    def answered_s(self, n: int, responder: int, wait_s: float = 0.0) -> np.ndarray:
        """Measure n repetitions until the answer of a responder. Collective.

        Args:
            n: Number of repetitions.
            responder: Rank that answers.
            wait_s: Time that it waits before it answers, which is subtracted.

        Returns:
            Times in s at rank 0, shape (n,). On other ranks they have no meaning.
        """
        times = np.zeros(n)
        room = self._ffi.from_buffer("double[]", times)
        self._check(self._lib.responder_loop(self._struct, n, responder, wait_s, room))
        return times - wait_s

    def answer_s(self, n: int, responder: int) -> np.ndarray:
        """Measure n round trips of one byte with the responder, and return half of each, in s, at rank 0: shape (n,).

        On other ranks the values are 0. Collective.
        """
        times = np.zeros(n)
        self._check(self._lib.responder_answers(self._struct, n, responder, self._ffi.from_buffer("double[]", times)))
        return times

    def _check(self, error: int) -> None:
        if error:
            raise RuntimeError(f"MPI returned error {error} while {self.setting.name} was timed")


def time_collective(collective: PreparedCollective, comm: Any, iterations: int) -> CollectiveTiming:
    """Measure both phases of a collective, and return the times on all ranks. Collective over at least two ranks.

    The first phase has a tenth of the repetitions: its waits are long, and only the order of the ranks matters.
    """
    few = max(_FEWEST, iterations // 10)
    right = collective.arrives()
    wait_s = WAIT * float(np.median([collective.loop_s(few).max() for _ in range(_ESTIMATES)]))
    first = _first_phase(collective, few, wait_s)
    responder = comm.bcast(1 + int(np.argmax(first)))
    naive_s = float(collective.loop_s(iterations)[0])
    ack_s = float(np.median(collective.answer_s(iterations, responder)))
    times = collective.answered_s(iterations, responder) - ack_s
    timing = CollectiveTiming(
        iterations=iterations,
        responder=responder,
        time_s=float(times.mean()),
        median_s=float(np.median(times)),
        least_s=float(times.min()),
        naive_s=naive_s,
        ack_s=ack_s,
        wait_s=wait_s,
        first_s=max(first),
        earliest_s=min(first),
        right=right,
    )
    return comm.bcast(timing)


def _first_phase(collective: PreparedCollective, iterations: int, wait_s: float) -> list[float]:
    """Return, at rank 0, the median time until the answers of ranks 1, 2, ..., in s.

    Waits and the time of an answer alone are subtracted.
    """
    found = []
    for responder in range(1, collective.setting.ranks):
        ack = collective.answer_s(iterations, responder)
        times = collective.answered_s(iterations, responder, wait_s)
        found.append(float(np.median(times) - np.median(ack)))
    return found
