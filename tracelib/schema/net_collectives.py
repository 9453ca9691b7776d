"""Two tables of a network measurement's file that are there where collectives were timed: see `net`."""

import numpy as np

from tracelib.schema.net import TEXT

_TIMED = np.dtype(
    [
        ("ranks", "<i4"),  # the first ones of the world
        ("bytes", "<i8"),  # that every rank gets
        ("segment_bytes", "<i8"),  # in pieces of this
        ("segments", "<i8"),
        ("repetition", "<i4"),
        ("iterations", "<i4"),  # that the times are of
        ("time_s", "<f8"),  # until the critical responder has it: mean
        ("median_s", "<f8"),
        ("least_s", "<f8"),
        ("naive_s", "<f8"),  # mean of a loop without answers, at the root
        ("responder", "<i4"),  # critical: rank whose answers take longest
        ("ack_s", "<f8"),  # an answer alone, which is taken off: half a round trip of one byte
        ("wait_s", "<f8"),  # that responders waited in the first phase
        ("first_s", "<f8"),  # the critical responder's answers in the first phase
        ("earliest_s", "<f8"),  # those of the one whose answers took least
        ("right", "?"),  # every rank got what the root sent
    ]
)
"""Columns of a timed collective from rank 0 to all."""

COLLECTIVE = np.dtype([("name", TEXT), *_TIMED.descr])
"""One row for each timing of one of MPI's own collectives (bcast, scatter)."""

BROADCAST = np.dtype([("algorithm", TEXT), *_TIMED.descr])
"""One row for each timing of a broadcast by point-to-point messages along a tree (linear, binary, ...)."""

TABLES = {"collectives": COLLECTIVE, "broadcasts": BROADCAST}
