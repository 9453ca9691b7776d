"""Half of a point-to-point message: its send or its receive, as the kernels match it."""

from __future__ import annotations

import numpy as np

HALF = np.dtype(
    [
        ("posted", "<i8"),
        ("completed", "<i8"),
        ("bytes", "<i8"),
        ("peer", "<i4"),
        ("tag", "<i4"),
        ("comm", "<i4"),
        ("thread", "<i4"),
        ("call", "<i4"),
        ("ghost", "<i4"),
        ("channel", "<i4"),
        ("reserved", "<i4"),
    ]
)
"""`struct half` of the kernels: one side of a message or, with `ghost` 1, `bytes` sides that were not recorded."""

OUTGOING = np.dtype([("half", HALF), ("source", "<i4"), ("number", "<i4")])
"""`struct outgoing` of the kernels: a send to a rank that another process reads."""
