"""The one definition of a network measurement's file (`python -m tracelib.ngmpi`): it is written and read by this.

`docs/format.md` says in prose what each column means. PRTT(n, d, s): the time from before the first of n messages of
s bytes, handed to MPI d apart, until the answer to the last one has arrived.
"""

from enum import IntEnum, IntFlag

import h5py
import numpy as np

FORMAT = "tracelib-net"
VERSION = 1

TEXT = h5py.string_dtype()

HOST = np.dtype([("name", TEXT), ("cores", "<i4"), ("cpu", TEXT), ("kernel", TEXT)])
"""One row for each host that ran ranks."""

PAIR = np.dtype(
    [
        ("first", "<i4"),  # rank in the world that sends the trains and holds the clock
        ("second", "<i4"),  # rank that receives and answers
        ("first_host", "<i4"),  # row of `hosts`
        ("second_host", "<i4"),
        ("first_cpu", TEXT),  # CPUs the rank may use, as in "0-3,8"
        ("second_cpu", TEXT),
        ("where", TEXT),  # Where
        ("mode", "<i4"),  # PairMode
        ("group", "<i4"),  # pairs of one number are measured at the same time
    ]
)
"""One row for each pair of ranks that was measured."""

ROW = np.dtype(
    [
        ("pair", "<i4"),  # row of `pairs`
        ("repetition", "<i4"),  # how often the pair had measured this size before
        ("size", "<i8"),  # bytes of a message
        ("train", "<i4"),  # n
        ("one_s", "<f8"),  # PRTT(1, 0, s)
        ("train_s", "<f8"),  # PRTT(n, 0, s)
        ("delayed_s", "<f8"),  # PRTT(n, d, s)
        ("delay_s", "<f8"),  # the d asked for: twice one_s
        ("waited_s", "<f8"),  # the mean of the n - 1 delays that came of it
        ("zero_s", "<f8"),  # PRTT(1, 0, 1)
        ("start_s", "<f8"),  # since the measurement began
        ("flags", "<u4"),  # RowFlag
    ]
)
"""One row for each measurement, in the order they were made."""

RECEIVER = np.dtype(
    [
        ("pair", "<i4"),  # row of `pairs`, whose first rank receives here and whose second sends
        ("size", "<i8"),  # bytes of a message
        ("train", "<i4"),  # n messages
        ("train_s", "<f8"),  # from the end of the first receive to that of the last
        ("delayed_s", "<f8"),  # the same, with a wait before each receive but the first
        ("delay_s", "<f8"),  # wait asked for
        ("waited_s", "<f8"),  # the mean of the n - 1 waits that came of it
        ("start_s", "<f8"),  # since the measurement began
        ("flags", "<u4"),  # RowFlag
    ]
)
"""One row for each measurement of a receiver; there if asked for. Gap: train_s / (n-1). Overhead, where messages are
there before they are received: delayed_s / (n-1) - waited_s."""

PLAN = np.dtype([("size", "<i8"), ("origin", "<i4")])
"""The sizes asked for, and why (SizeOrigin)."""

TABLES = {"hosts": HOST, "pairs": PAIR, "rows": ROW, "plan": PLAN}


class PairMode(IntEnum):
    """Which pairs are measured (the thesis's CLL_NGMPI_MODE)."""

    SAMPLING = 0  # each experiment draws two ranks
    SUBGROUP = 1  # the same, out of some ranks
    PAIRS = 2  # all ranks in pairs, at the same time
    FULL = 3  # every pair, one after the other


class SizeOrigin(IntEnum):
    """Why a size was measured."""

    CONFIGURED = 0
    LOGARITHMIC = 1
    REFINED = 2


class RowFlag(IntFlag):
    """Disturbances and properties of a row."""

    HIT_ONE = 1  # one of the two ranks lost its processor during PRTT(1, 0, s),
    HIT_TRAIN = 2  # during PRTT(n, 0, s),
    HIT_DELAYED = 4  # during PRTT(n, d, s),
    HIT_ZERO = 8  # during PRTT(1, 0, 1)
    CAPPED = 16  # PRTT(1, 0, s) was out of all proportion, and d is less than twice of it
    WARM_UP = 32  # the first row of this size after those of another


WHERE = ("intra", "inter")
"""`where` of a pair: both ranks on one host, or not."""
