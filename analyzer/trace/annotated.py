"""A trace with events in addition to the recorded ones: results of an analysis, to be shown by Paraver."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from analyzer.columns.sorted_runs import sort_rows
from analyzer.trace.trace import Kind, Trace

Labels = dict[int, tuple[str, dict[int, str]]]
"""Labels of event types, as in Trace.event_labels: type -> (label, value -> label)."""


class Annotated(Trace):
    """Trace with events added to the recorded ones.

    Args:
        trace: The recorded trace.
        labels: Labels of the added event types.
        added: Function that returns the added events (EVENT) with a time in [begin, end), ns, in any order.
    """

    def __init__(self, trace: Trace, labels: Labels, added: Callable[[int, int], np.ndarray]) -> None:
        for name in Trace.__annotations__:
            if hasattr(trace, name):
                setattr(self, name, getattr(trace, name))
        self._trace, self._added = trace, added
        self.event_labels = trace.event_labels | labels

    def events(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        recorded = self._trace.events(begin, end, ranks)
        added = self._added(begin, self.duration_ns + 1 if end is None else end)
        if ranks is not None:
            added = added[(added["rank"] >= ranks.start) & (added["rank"] < ranks.stop)]
        return sort_rows(np.concatenate([recorded, added]), "time", "rank", "thread") if len(added) else recorded

    def extra(self, kind: type[Kind]) -> Kind:
        return self._trace.extra(kind)

    def span(self, rank: int) -> tuple[int, int]:
        return self._trace.span(rank)

    def windows(self, records: int = 262144) -> np.ndarray:
        return self._trace.windows(records)

    def calls(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        return self._trace.calls(rank, begin, end)

    def requests(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        return self._trace.requests(rank, begin, end)

    def states(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        return self._trace.states(begin, end, ranks)

    def messages(self, begin: int = 0, end: int | None = None) -> np.ndarray:
        return self._trace.messages(begin, end)

    def match(self) -> None:
        self._trace.match()
