"""Point-to-point messages: number, sizes, and traffic between ranks."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analyzer.columns.arrays import by_index
from analyzer.parallel import Team
from analyzer.trace import Arrows, Trace

SIZE_CLASSES = 64
"""Number of classes of message sizes: one for empty messages, and one for each power of two."""
BLOCKS = 16
"""Largest number of rows and columns of the communication matrices by default."""


@dataclass(frozen=True)
class Messages:
    """Number and bytes of the matched messages, by size and by pair of ranks.

    Size class 0 is for empty messages, class k for messages of 2^(k-1) to 2^k - 1 bytes. Row and column of the matrices
    are the source and the destination, in blocks of `ranks_a_block` consecutive ranks.
    """

    size_count: np.ndarray  # (SIZE_CLASSES,)
    size_bytes: np.ndarray  # (SIZE_CLASSES,)
    ranks_a_block: int
    matrix_count: np.ndarray  # (blocks, blocks)
    matrix_bytes: np.ndarray  # (blocks, blocks)
    backwards: int  # number of messages received before they were sent, by the clocks
    arrows: int = 0  # number of arrows inside a task that no MPI call made; they are not among the messages

    @property
    def count(self) -> int:
        return int(self.size_count.sum())

    @property
    def bytes(self) -> int:
        return int(self.size_bytes.sum())


def size_class(size: np.ndarray) -> np.ndarray:
    """Return the class of each message size in bytes: its number of binary digits, such as 0 for 0, 3 for 4 to 7."""
    return np.frexp(size.astype(np.float64))[1]


def messages(trace: Trace, team: Team, blocks: int = BLOCKS) -> Messages:
    """Count messages by size and by pair of ranks. Collective.

    `blocks`: largest number of rows of the communication matrices.
    """
    width = max(1, -(-trace.size // blocks))
    n = -(-trace.size // width)
    sizes = np.zeros((2, SIZE_CLASSES), np.int64)
    matrix = np.zeros((2, n * n), np.int64)
    backwards = arrows = 0
    windows = list(pairwise(trace.message_windows().tolist()))
    for index in team.share(len(windows)):
        rows = trace.unordered_messages(*windows[index])
        kind = size_class(rows["size"])
        cell = rows["source"] // width * n + rows["destination"] // width
        for line, weights in ((0, np.ones(len(rows))), (1, rows["size"])):
            sizes[line] += by_index(kind, weights, SIZE_CLASSES)
            matrix[line] += by_index(cell, weights, n * n)
        backwards += int((rows["physical_receive"] < rows["logical_send"]).sum())
        arrows += len(trace.extra(Arrows).read(*windows[index]))
    sums = (sizes, matrix, backwards, arrows)
    sizes, matrix, backwards, arrows = (sum(part) for part in zip(*team.allgather(sums), strict=True))
    by_cell = matrix.reshape(2, n, n)
    return Messages(sizes[0], sizes[1], width, by_cell[0], by_cell[1], backwards, arrows)
