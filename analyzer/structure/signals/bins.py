"""Step functions of time in bins, by the kernels."""

from __future__ import annotations

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.native import pointer


class Bins:
    """A sum of steps between two times (ns), of which only what changes in each bin is kept."""

    def __init__(self, begin_ns: int, end_ns: int, samples: int) -> None:
        self.begin_ns, self.end_ns = begin_ns, end_ns
        self.width_ns = max(-(-(end_ns - begin_ns) // samples), 1)
        self.count = max(-(-(end_ns - begin_ns) // self.width_ns), 1)
        self.change, self.area = np.zeros(self.count), np.zeros(self.count)

    def fill(self, target) -> None:
        """What the kernels know it by: a struct signal_bins."""
        target.begin, target.end = self.begin_ns, self.end_ns
        target.width, target.count = self.width_ns, self.count
        target.change, target.area = pointer(self.change, "double *"), pointer(self.area, "double *")

    def add(self, begin: np.ndarray, end: np.ndarray, weight: np.ndarray | None = None) -> None:
        """Intervals in ns; what weighs nothing else weighs 1."""
        struct = ffi.new("struct signal_bins *")
        self.fill(struct)
        first, last = (np.ascontiguousarray(column, np.int64) for column in (begin, end))
        weights = ffi.NULL
        if weight is not None:
            weight = np.ascontiguousarray(weight, np.float64)
            weights = pointer(weight, "double *")
        lib.signal_add(struct, pointer(first, "int64_t *"), pointer(last, "int64_t *"), weights, len(first))

    def packed(self) -> np.ndarray:
        """What is added up over processes."""
        return np.stack([self.change, self.area])

    def means(self, packed: np.ndarray) -> np.ndarray:
        """(bins,) The mean in each bin; the last one may be shorter."""
        change, area = packed
        before = np.cumsum(change) - change
        whole = before * self.width_ns + area
        widths = np.full(self.count, self.width_ns, np.float64)
        widths[-1] = self.end_ns - self.begin_ns - (self.count - 1) * self.width_ns or self.width_ns
        whole[-1] -= (before[-1] + change[-1]) * (self.width_ns - widths[-1])
        return whole / widths
