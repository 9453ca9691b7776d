"""The C loops between messages, as functions on numpy arrays."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from mpi4py import MPI

from tracelib._ngmpi import ffi, lib
from tracelib.errors import TracelibError

_TICKS = np.dtype([(name, "<u8") for name, _ in ffi.typeof("struct prtt_row").fields])
COLUMNS = len(_TICKS.names or ())
"""Numbers that come of one row: seconds in the order of `struct prtt_row`, and its flags."""

CALIBRATION_S = 0.02


@dataclass(frozen=True)
class Clock:
    """What time is read from."""

    source: str  # "tsc" or "monotonic"
    ticks_per_s: float
    resolution_s: float  # smallest step seen


def _pair() -> tuple[int, int]:
    ticks, monotonic = ffi.new("uint64_t *"), ffi.new("int64_t *")
    lib.prtt_clock(ticks, monotonic)
    return ticks[0], monotonic[0]


def _calibrate() -> Clock:
    first_ticks, first_ns = _pair()
    time.sleep(CALIBRATION_S)
    ticks, ns = _pair()
    per_s = (ticks - first_ticks) / (ns - first_ns) * 1e9
    return Clock("tsc" if lib.prtt_clock_is_tsc() else "monotonic", per_s, lib.prtt_clock_step() / per_s)


class Loop:
    """The loops of one rank. `most_bytes`: of the largest message. Raises TracelibError where no MPI is found."""

    def __init__(self, most_bytes: int) -> None:
        if not lib.prtt_open():
            raise TracelibError("the MPI library under mpi4py is none that is known here")
        self.clock = _calibrate()
        self._memory = np.ones(max(most_bytes, 1), np.uint8)
        self._visit = ffi.new("struct prtt_visit *")
        self._visit.buffer = ffi.cast("uint8_t *", self._memory.ctypes.data)
        self._origin = _pair()[0]

    def _prepare(self, comm: MPI.Comm, peer: int, size: int, train: int, rows: int, most_delay_s: float) -> None:
        visit = self._visit
        visit.comm, visit.peer = ffi.cast("intptr_t", MPI._handleof(comm)), peer
        visit.size, visit.train, visit.rows = size, train, rows
        visit.most_delay = round(most_delay_s * self.clock.ticks_per_s)

    def measure(self, comm: MPI.Comm, size: int, train: int, rows: int, most_delay_s: float) -> np.ndarray:
        """As the pair's rank 0: (rows, COLUMNS) seconds and flags."""
        self._prepare(comm, 1, size, train, rows, most_delay_s)
        ticks = np.zeros(rows, _TICKS)
        _check(lib.prtt_measure(self._visit, ffi.cast("struct prtt_row *", ticks.ctypes.data)))
        ticks["start"] -= self._origin
        values = ticks.view("<u8").reshape(rows, COLUMNS).astype(float)
        values[:, :-1] /= self.clock.ticks_per_s
        return values

    def answer(self, comm: MPI.Comm, size: int, train: int, rows: int) -> np.ndarray:
        """As the pair's rank 1: the flags of each row."""
        self._prepare(comm, 0, size, train, rows, 0)
        flags = np.zeros(rows, np.uint64)
        _check(lib.prtt_answer(self._visit, ffi.cast("uint64_t *", flags.ctypes.data)))
        return flags.astype(float)


def _check(error: int) -> None:
    if error:
        raise MPI.Exception(error)
