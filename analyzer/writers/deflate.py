"""Chunks of a table as HDF5's filters shuffle and deflate read them, in fewer bytes than these would write.

The filters decide only how a chunk is read. Deflate codes a block by how often its bytes occur; a library that is given
a shuffled chunk codes the lower bytes of times, which are noise, together with columns that hardly change. Here noise
has blocks of its own, if there are many rows. csrc/runtime/record/compress.c does the same while a program runs.
"""

from __future__ import annotations

import zlib
from itertools import pairwise

import numpy as np

FEW = 1024
"""Of fewer rows a block of their own for noise takes more bytes than it saves."""


def deflated(rows: np.ndarray, level: int) -> bytes:
    """A whole chunk (1-D, contiguous) shuffled and compressed."""
    columns = np.ascontiguousarray(rows.view(np.uint8).reshape(len(rows), -1).T)
    if len(rows) < FEW:
        return zlib.compress(columns.data, level)
    noise = [*(2 * (columns[:, 1:] == columns[:, :-1]).sum(axis=1) < len(rows)), False]
    coder = zlib.compressobj(level)
    parts = []
    for column, (here, after) in zip(columns, pairwise(noise), strict=True):
        parts.append(coder.compress(column))
        if here or after:
            parts.append(coder.flush(zlib.Z_BLOCK))
    return b"".join([*parts, coder.flush()])
