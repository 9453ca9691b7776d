"""When two threads were last in step: the begin of the time over which their delays are compared."""

from __future__ import annotations

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.native import pointer

SYNC = np.dtype(
    [
        ("key", "<i8"),
        ("time", "<i8"),
        ("other_time", "<i8"),
        ("lane", "<i4"),
        ("other", "<i4"),
        ("comm", "<i4"),  # a member of a collective that nobody leaves before all have come: of which communicator
        ("what", "<i4"),
    ]
)
"""What the kernel takes in order of `key`. MESSAGE: `lane` and `other` were in step; they went on at `time` and
`other_time`. MEMBER: `lane` left a collective of `comm` at `time`. QUESTION: when were both last in step? The kernel
answers in `time`."""

MESSAGE, MEMBER, QUESTION = lib.SYNC_MESSAGE, lib.SYNC_MEMBER, lib.SYNC_QUESTION


class LastSyncs:
    """Answers questions from the rows before them."""

    def __init__(self, starts: np.ndarray) -> None:
        """`starts`: the begin of each lane, when it has been in step with nobody yet."""
        self._starts = np.ascontiguousarray(starts, np.int64)
        self._struct = ffi.gc(lib.syncs_new(len(starts), ffi.from_buffer("int64_t[]", self._starts)), lib.syncs_free)
        if not self._struct:
            raise MemoryError

    def feed(self, rows: np.ndarray) -> np.ndarray:
        """The QUESTION rows among `rows` (SYNC, of any order), answered, in their order."""
        rows = rows[np.lexsort((rows["lane"], -rows["what"], rows["key"]))]
        if lib.syncs_feed(self._struct, pointer(rows), len(rows)):
            raise MemoryError
        return rows[rows["what"] == QUESTION]
