"""Limits that keep the peak of memory independent of the length of a trace.

Every window allocates and frees the same few arrays of some megabytes. glibc moves its thresholds (which blocks are
mapped from the system one by one, which are given back) each time one of these is freed. Then it keeps them in the
heap, whose holes depend on the history: a fifth more memory at 10 million calls than at 1 million. Fixed thresholds
switch that off. They are as high as they can be without the peak growing: each page that comes back from the system
costs a fault, and with a threshold of 1 MiB these were half of the time.
"""

import atexit
import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # malloc.h
_KEPT_BYTES = 64 << 20
_MAPPED_BYTES = 8 << 20
_RARELY = 100
"""Number of collections of the middle generation for each one of the oldest; Python has 10."""


def fix_thresholds() -> None:
    """Give blocks of 8 MiB and more back to the system when they are freed, and free memory beyond 64 MiB.

    The latter is at the heap's end. Without glibc nothing happens.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _MAPPED_BYTES)
        mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)


def search_little_for_cycles() -> None:
    """Let Python collect the oldest objects a tenth as often, and not once more when the process ends.

    It is for a process that keeps most of its objects until it ends. With thousands of ranks each collection takes
    seconds.
    """
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, _RARELY)
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)


@contextmanager
def no_search_for_cycles() -> Iterator[None]:
    """Stop the search for cycles while thousands of objects are made that all live on.

    Python would look through them again and again, a sixth of the time. They end among the oldest, at which it looks
    last.
    """
    searches = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searches:
            if not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()
