"""Keeps the peak of memory independent of the length of a trace.

Every window allocates and frees the same few arrays of some megabytes. glibc moves its thresholds (what is mapped
from the system one by one, what is given back) each time such a block is freed, and then keeps them in the heap,
whose holes depend on the history: a fifth more memory at 10 million calls than at 1 million. A fixed threshold
switches that off; the page faults it costs are a tenth of the time.
"""

import ctypes

_M_MMAP_THRESHOLD = -3  # malloc.h
_MAPPED_BYTES = 1 << 20


def fix_threshold() -> None:
    """Let blocks of 1 MiB and more go back to the system when they are freed; without glibc nothing happens."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _MAPPED_BYTES)
