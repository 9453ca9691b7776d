"""The C loops that measure messages, as functions on numpy arrays."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from mpi4py import MPI

from tracelib._ngmpi import ffi, lib
from tracelib.errors import TracelibError


def _columns(struct: str) -> tuple[str, ...]:
    return tuple(name for name, _ in ffi.typeof(struct).fields)


COLUMNS = {False: _columns("struct prtt_row"), True: _columns("struct prtt_receiver_row")}
"""Columns of one measured row, by whether the receiver is measured: times in s as in C, then the flags."""

CALIBRATION_S = 0.02


@dataclass(frozen=True)
class MeasuringOrder:
    """Order for two ranks to measure one size.

    Attributes:
        first: Rank that measures.
        second: Rank that answers.
        size: Message size in bytes.
        train: Number of messages of a train.
        rows: Number of measurements.
        receiver: Whether the receiver is measured, instead of PRTTs.
        most_delay_s: Longest delay within a train, s; 0: no limit. If the receiver is measured: the delay.
    """

    first: int
    second: int
    size: int
    train: int
    rows: int
    receiver: bool = False
    most_delay_s: float = 0.0


@dataclass(frozen=True)
class MeasurementClock:
    """Clock that times the measurements.

    Attributes:
        source: "tsc" or "monotonic".
        ticks_per_s: Frequency of the clock.
        resolution_s: Smallest step that was seen.
    """

    source: str  # "tsc" or "monotonic"
    ticks_per_s: float
    resolution_s: float  # smallest step seen


def _pair() -> tuple[int, int]:
    ticks, monotonic = ffi.new("uint64_t *"), ffi.new("int64_t *")
    lib.prtt_clock(ticks, monotonic)
    return ticks[0], monotonic[0]


def _calibrate() -> MeasurementClock:
    first_ticks, first_ns = _pair()
    time.sleep(CALIBRATION_S)
    ticks, ns = _pair()
    per_s = (ticks - first_ticks) / (ns - first_ns) * 1e9
    return MeasurementClock("tsc" if lib.prtt_clock_is_tsc() else "monotonic", per_s, lib.prtt_clock_step() / per_s)


class MessageLoops:
    """Measuring loops of one rank.

    Args:
        most_bytes: Size of the largest message.
        one_buffer: Whether messages are received into the buffer that is sent from, as in programs that pass one
            buffer on.
            Then it is in the sender's cache. Otherwise there are two buffers, as in OSU's and Intel's benchmarks.

    Raises:
        TracelibError: No known MPI is loaded.
    """

    def __init__(self, most_bytes: int, one_buffer: bool = False) -> None:
        if not lib.prtt_open():
            raise TracelibError("mpi4py uses an MPI library that is not known here")
        self.clock = _calibrate()
        self._sent = np.ones(max(most_bytes, 1), np.uint8)
        self._received = self._sent if one_buffer else np.ones_like(self._sent)
        self._visit = ffi.new("struct prtt_visit *")
        self._visit.sent = ffi.cast("uint8_t *", self._sent.ctypes.data)
        self._visit.received = ffi.cast("uint8_t *", self._received.ctypes.data)
        self._origin = np.uint64(_pair()[0])

    def _prepare(self, comm: MPI.Comm, peer: int, order: MeasuringOrder) -> None:
        visit = self._visit
        visit.comm, visit.peer = ffi.cast("intptr_t", MPI._handleof(comm)), peer
        visit.size, visit.train, visit.rows = order.size, order.train, order.rows
        visit.most_delay = round(order.most_delay_s * self.clock.ticks_per_s)

    def measure(self, comm: MPI.Comm, order: MeasuringOrder) -> np.ndarray:
        """Carry out an order at the pair's rank 0. Return times in s and flags, shape (rows, columns)."""
        self._prepare(comm, 1, order)
        ticks = np.zeros((order.rows, len(COLUMNS[order.receiver])), np.uint64)
        if order.receiver:
            _check(lib.prtt_receive(self._visit, ffi.cast("struct prtt_receiver_row *", ticks.ctypes.data)))
        else:
            _check(lib.prtt_measure(self._visit, ffi.cast("struct prtt_row *", ticks.ctypes.data)))
        ticks[:, 0] -= self._origin
        values = ticks.astype(float)
        values[:, :-1] /= self.clock.ticks_per_s
        return values

    def answer(self, comm: MPI.Comm, order: MeasuringOrder) -> np.ndarray:
        """Carry out an order at the pair's rank 1. Return the flags of each row, shape (rows,)."""
        self._prepare(comm, 0, order)
        flags = np.zeros(order.rows, np.uint64)
        work = lib.prtt_feed if order.receiver else lib.prtt_answer
        _check(work(self._visit, ffi.cast("uint64_t *", flags.ctypes.data)))
        return flags.astype(float)


def _check(error: int) -> None:
    if error:
        raise MPI.Exception(error)
