"""Half of a point-to-point message: its send or its receive, in the form that the kernels match."""

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
"""Send or receive: `struct half` of the kernels.

With `ghost` 1, the row stands for a number of unrecorded sends or receives, which is in `bytes`.
"""

OUTGOING = np.dtype([("half", HALF), ("source", "<i4"), ("number", "<i4")])
"""Send to a rank that another process of the team reads: `struct outgoing` of the kernels."""
