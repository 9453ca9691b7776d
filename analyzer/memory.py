"""Keeps the peak of memory independent of the length of a trace.

Every window allocates and frees the same few arrays of some megabytes. glibc moves its two thresholds (what is
mapped from the system one by one, what is given back) each time such a block is freed, so that the heap's holes
depend on the history: a fifth more memory at 10 million calls than at 1 million. Fixed thresholds switch that off;
these two keep the windows' arrays in the heap, where they are reused without a page fault.
"""

import ctypes

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # malloc.h
_MAPPED_BYTES = 16 << 20
_KEPT_BYTES = 256 << 20


def fix_thresholds() -> None:
    """Fix both thresholds of glibc's malloc; without glibc nothing happens."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _MAPPED_BYTES)
        mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
