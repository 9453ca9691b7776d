"""Times all settings of a design and gives them as rows of the network measurement's file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tracelib.collectives.design import NATIVE, CollectiveDesign, CollectiveSetting
from tracelib.collectives.timing import CollectiveTiming, PreparedCollective, time_collective
from tracelib.errors import TracelibError
from tracelib.schema.net_collectives import COLLECTIVE, TABLES

_LOOK_S = 0.001


def measure(
    world: Any, design: CollectiveDesign | None, library: Any, stopped: Callable[[], bool]
) -> dict[str, np.ndarray]:
    """Measure all settings: rows of the tables "collectives" and "broadcasts" at rank 0; elsewhere none.

    All ranks of the mpi4py communicator call this.

    Repetitions are the outermost loop, so that a slow minute does not meet all of one setting. The design and
    `stopped`, whether to leave it at what there is, are rank 0's. `library` is the cffi module with the loops.
    """
    design = world.bcast(design)
    if design is None:
        return {}
    if not library.lib.mpi_open_more():
        raise TracelibError("mpi4py uses an MPI library that is not known here")
    rows: dict[str, list[tuple]] = {table: [] for table in TABLES}
    for repetition in range(design.repetitions):
        for setting in design.settings():
            if world.bcast(stopped()):
                break
            timing = _time(world, setting, library, design.iterations)
            if timing is not None:
                table = "collectives" if setting.name in NATIVE else "broadcasts"
                rows[table].append(_row(setting, repetition, timing))
    return {table: np.array(found, TABLES[table]) for table, found in rows.items() if world.Get_rank() == 0}


def _time(world: Any, setting: CollectiveSetting, library: Any, iterations: int) -> CollectiveTiming | None:
    """Time a setting; None at ranks that take no part."""
    with _first_ranks(world, setting.ranks) as comm:
        return None if comm is None else time_collective(PreparedCollective(library, comm, setting), comm, iterations)


@contextmanager
def _first_ranks(world: Any, ranks: int) -> Iterator[Any]:
    """Give a communicator of the first ranks; the others get None, and sleep until all are through."""
    from mpi4py import MPI

    mine = world.Get_rank() < ranks
    comm = world.Split(0 if mine else MPI.UNDEFINED, world.Get_rank())
    try:
        yield comm if mine else None
    finally:
        if mine:
            comm.Free()
        done = world.Ibarrier()
        while not done.Test():
            time.sleep(_LOOK_S)


def _row(setting: CollectiveSetting, repetition: int, timing: CollectiveTiming) -> tuple:
    values = vars(setting) | {"segments": setting.segments, "repetition": repetition} | vars(timing)
    return setting.name, *(values[column] for column in (COLLECTIVE.names or ())[1:])
