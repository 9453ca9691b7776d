"""Keeps the peak of memory independent of the length of a trace.

Every window allocates and frees the same few large arrays. glibc raises its threshold for returning such blocks
to the system after the first of them is freed; from then on they come from the heap, whose holes grow with the
number of windows (by a fifth from 1 to 10 million calls). A fixed threshold switches that off.
"""

import ctypes

_M_MMAP_THRESHOLD = -3  # malloc.h
_THRESHOLD_BYTES = 1 << 20


def return_large_blocks() -> None:
    """Let blocks of 1 MiB and more go back to the system when they are freed; without glibc nothing happens."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _THRESHOLD_BYTES)
