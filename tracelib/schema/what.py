"""Kinds of rows of `requests`."""

from collections.abc import Collection
from enum import IntEnum
from functools import lru_cache

import numpy as np


class RequestKind(IntEnum):
    """Kind of a row of `requests`: its `what` without the ordinal of partitioned operations (WHAT_ORDINAL_SHIFT)."""

    SEND_STARTED = 1
    RECV_STARTED = 2
    SEND_DONE = 3
    RECV_DONE = 4
    COLLECTIVE_DONE = 5
    SEND_CANCELLED = 6
    RECV_CANCELLED = 7
    SEND_FREED = 8  # MPI_Request_free: still delivered
    RECV_FREED = 9
    RECEIVED = 10  # the receiving half of a Sendrecv; a matched receive
    OTHER_DONE = 11
    RMA_DONE = 12  # MPI_Rput, ...: complete on this side
    READ_DONE = 13  # of a file
    WRITE_DONE = 14
    COLLECTIVE_STARTED = 15  # persistent
    PARTITIONED_SEND_STARTED = 16
    PARTITIONED_RECV_STARTED = 17
    PARTITIONED_SEND_DONE = 18
    PARTITIONED_RECV_DONE = 19


STARTED = (
    RequestKind.SEND_STARTED, RequestKind.RECV_STARTED, RequestKind.COLLECTIVE_STARTED,
    RequestKind.PARTITIONED_SEND_STARTED, RequestKind.PARTITIONED_RECV_STARTED,
)  # fmt: skip
"""Rows that MPI_Start made, of persistent and partitioned requests: they have no time of completion."""

WHAT_ORDINAL_SHIFT = 8
"""Above: of several partitioned requests with one communicator, peer and tag, which it is, modulo 256."""
WHAT_MASK = (1 << WHAT_ORDINAL_SHIFT) - 1


def is_one_of(what: np.ndarray, kinds: Collection[RequestKind]) -> np.ndarray:
    """Return a mask of the values of `what` that are some of these kinds, partitioned operations included."""
    return _are(tuple(kinds))[what & WHAT_MASK]


@lru_cache
def _are(kinds: tuple[RequestKind, ...]) -> np.ndarray:
    """Return a mask of the values that are one of these: np.isin takes 40 us, and a rank has a few rows."""
    found = np.zeros(WHAT_MASK + 1, bool)
    found[list(kinds)] = True
    return found
