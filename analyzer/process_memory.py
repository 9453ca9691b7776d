"""Keeps the peak of memory independent of the length of a trace.

Every window allocates and frees the same few arrays of some megabytes. glibc moves its thresholds (what is mapped
from the system one by one, what is given back) each time such a block is freed, and then keeps them in the heap,
whose holes depend on the history: a fifth more memory at 10 million calls than at 1 million. Fixed thresholds switch
that off. They are as high as they can be without the peak growing: each page that comes back from the system costs a
fault, and with a threshold of 1 MiB these were half of the time.
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
"""So many looks at the younger objects before one at the oldest; Python has 10."""


def fix_thresholds() -> None:
    """Let blocks of 8 MiB and more go back to the system when they are freed, and what is free at the heap's end beyond
    64 MiB; without glibc nothing happens."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _MAPPED_BYTES)
        mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)


def search_little_for_cycles() -> None:
    """Of a process that keeps most of what it makes until it ends: have Python look through the oldest objects a tenth
    as often, and not once more when it ends. With thousands of ranks each look takes seconds."""
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, _RARELY)
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)


@contextmanager
def no_search_for_cycles() -> Iterator[None]:
    """While thousands of objects are made that all live on: Python would look through them again and again, a sixth of
    the time. They end among the oldest, at which it looks last."""
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
