"""A view that is read twice, and computed once: to find columns that all of its values fit in, and to fill them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from analyzer.columns.spill import Spill
from analyzer.views.lanes import Rows
from analyzer.views.run import Run
from analyzer.views.steps import Steps

_STEP = np.dtype([("time", "<i8"), ("value", "<f8"), ("row", "<i4")])


class Kept:
    """The steps of a view (View or Derived) of one run. They wait in a temporary file from the first time on that
    somebody reads all of them."""

    def __init__(self, view: Any) -> None:
        self._view = view
        self._spill: Spill | None = None  # once all steps are in it

    def rows(self, run: Run) -> Rows:
        """What it has rows of."""
        return self._view.rows(run)  # type: ignore[no-any-return]

    def steps(self, run: Run) -> Iterator[Steps]:
        """Window by window."""
        if self._spill is None:
            yield from self._computed(run)
            return
        for window in range(len(run.windows)):
            records = self._spill.read(window)
            yield Steps.of(records["row"], records["time"], records["value"])

    def _computed(self, run: Run) -> Iterator[Steps]:
        spill = Spill(_STEP)
        for window, steps in enumerate(self._view.steps(run)):
            records = np.empty(len(steps.row), _STEP)
            records["row"], records["time"], records["value"] = steps
            spill.append(window, records)
            yield steps
        self._spill = spill
