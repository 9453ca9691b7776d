"""A process beside that of pytest: for what others' threads would disturb, or what may overwrite memory."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context


def own_process() -> ProcessPoolExecutor:
    """One process, that has nothing of this one. It calls functions of modules, one after the other; where it dies, the
    result of the call is BrokenProcessPool. It ends with the block that it is used in."""
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"))
