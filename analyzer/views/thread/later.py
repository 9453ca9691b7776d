"""Steps whose values are known later than they begin, or that come in another order than that of time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analyzer.columns.spill import Spill
from analyzer.pairing.parts import window_of
from analyzer.views.steps import Steps

_STEP = np.dtype([("row", "<i8"), ("time", "<i8"), ("value", "<f8")])


class Later:
    """Takes steps in any order and gives them window by window. They wait in a temporary file."""

    def __init__(self, bounds: np.ndarray) -> None:
        self._bounds, self._spill = bounds, Spill(_STEP)

    def put(self, row: np.ndarray, time: np.ndarray, value: np.ndarray) -> None:
        """Steps; of those of one row and time the first that is put stays the first."""
        records = np.empty(len(row), _STEP)
        records["row"], records["time"], records["value"] = row, time, value
        self._spill.append_each(window_of(self._bounds, time), records)

    def windows(self) -> Iterator[Steps]:
        """Those of each window in order."""
        for window in range(len(self._bounds) - 1):
            records = self._spill.read(window)
            yield Steps.of(records["row"], records["time"], records["value"]).in_order()
        self._spill.close()
