"""Reads the bursts of a trace with the counts of counters in each, window by window."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from analyzer.columns.arrays import Sorted
from analyzer.errors import TracelibError
from analyzer.trace import State, Trace

DURATION = "duration"
_WINDOW = 1 << 16
"""Number of calls in a window of time. With counters, each call has several events."""


class BurstTable(NamedTuple):
    """Some bursts of positive length.

    states: STATE of shape (n,): when and where each burst took place. values: float64 of shape (n, 1 + counters): the
    duration in ns, then each counter's count in the burst. NaN: the counter was not read.
    """

    states: np.ndarray
    values: np.ndarray


def counter_types(trace: Trace, names: tuple[str, ...]) -> tuple[int, ...]:
    """Return the event type of each named counter. Raises TracelibError if the trace has no such counter."""
    types = {label.split()[0]: number for number, (label, _) in trace.event_labels.items() if label.split()}
    found = []
    for name in names:
        if name not in types:
            raise TracelibError(f"{trace.path} has no counter {name!r}", "docs/counters.md says how to record some")
        found.append(types[name])
    return tuple(found)


def labelled_counters(trace: Trace) -> tuple[str, ...]:
    """Return the names of the counters of an imported trace.

    Counters are found by the range of event types that Extrae uses for them.
    """
    return tuple(
        label.split()[0] for number, (label, _) in sorted(trace.event_labels.items())
        if 42_000_000 <= number < 45_000_000 and label.split() and number < 42_009_990
    )  # fmt: skip


def bursts(
    trace: Trace, ranks: range, counters: tuple[str, ...] = (), stretches: np.ndarray | None = None
) -> Iterator[BurstTable]:
    """Yield all bursts of some ranks, window of time by window. A burst belongs to the window in which it begins.

    An event has the count since the previous event. So the count of a burst is the value of the first event at its end.

    Args:
        trace: The trace.
        ranks: Ranks whose bursts are read.
        counters: Names of the counters.
        stretches: Begin and end (ns) of a stretch of time of each rank, int64 of shape (ranks of the trace, 2). Bursts
            that are not wholly inside are left out. None: the whole run.
    """
    if not len(ranks):
        return
    types = counter_types(trace, counters)
    for begin, end in pairwise(trace.windows(_WINDOW).tolist()):
        states = trace.states(begin, end, ranks)
        states = states[(states["state"] == State.RUNNING) & (states["end"] > states["begin"])]
        states = states[np.isin(states["rank"], ranks)]
        if stretches is not None:
            first, last = stretches[states["rank"]].T
            states = states[(states["begin"] >= first) & (states["end"] <= last)]
        yield measured(trace, states, types, ranks)


def measured(trace: Trace, states: np.ndarray, types: tuple[int, ...], ranks: range | None) -> BurstTable:
    """Return some bursts (STATE) with their durations and counts.

    Args:
        trace: The trace.
        states: The bursts, STATE of shape (n,).
        types: Event types of the counters.
        ranks: Ranks to which the bursts belong. None: all ranks.
    """
    values = np.full((len(states), 1 + len(types)), np.nan)
    values[:, 0] = states["end"] - states["begin"]
    if types and len(states):
        events = trace.events(int(states["end"].min()), int(states["end"].max()) + 1, ranks)
        most = int(trace.threads.max())
        for column, kind in enumerate(types, start=1):
            of_kind = events[events["type"] == kind]
            lanes = of_kind["rank"].astype(np.int64) * most + of_kind["thread"]
            order = np.lexsort((of_kind["time"], lanes))
            of_kind, lanes = of_kind[order], lanes[order]
            first = np.ones(len(lanes), bool)
            first[1:] = (np.diff(lanes) != 0) | (np.diff(of_kind["time"]) != 0)
            of_kind, lanes = of_kind[first], lanes[first]
            at = Sorted(lanes, of_kind["time"]).exactly(
                states["rank"].astype(np.int64) * most + states["thread"], states["end"]
            )
            known = at >= 0
            values[known, column] = of_kind["value"][at[known]]
    return BurstTable(states, values)
