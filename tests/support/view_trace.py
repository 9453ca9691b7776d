"""Traces of a few states, events and messages for views, and what views make of them as plain tuples."""

from __future__ import annotations

import numpy as np
from memory_trace import MemoryTrace, event_array, state_array

from analyzer.trace import MESSAGE
from analyzer.views.constant import bursts
from analyzer.views.run import ViewRun

COLUMNS = ("source", "source_thread", "destination", "destination_thread", "size", "tag")
TIMES = ("logical_send", "physical_send", "logical_receive", "physical_receive")


class ViewTrace(MemoryTrace):
    """threads: of each rank. states: (begin, end, rank, thread, state). events: (time, value, type, rank, thread).
    messages: (source, thread, destination, thread, size, tag, logical send, physical send, logical receive, physical
    receive). cpu_of: CPU of each (rank, thread)."""

    def __init__(self, duration, *, threads=(1,), states=(), events=(), messages=(), calls=(), cpu_of=None, **more):
        calls = list(calls) or [[] for _ in threads]
        super().__init__(calls, duration_ns=duration, states=sorted(states), **more)
        self.threads = np.array(threads)
        self._events = event_array(events)
        self._messages = np.zeros(len(messages), MESSAGE)
        for row, values in zip(self._messages, sorted(messages, key=lambda m: m[6]), strict=True):
            for name, value in zip((*COLUMNS, *TIMES), values, strict=True):
                row[name] = value
        if cpu_of:
            self._states = state_array(sorted(states))
            self._states["cpu"] = [cpu_of[row["rank"], row["thread"]] for row in self._states]


def burst_list(trace, view, *interval):
    """Bursts of all rows: {row name: [(begin, end, value), ...]}."""
    run = ViewRun(trace)
    names = view.rows(run).names
    found = {name: [] for name in names}
    for some in bursts(view, run, *interval):
        for row, begin, end, value in zip(*(column.tolist() for column in some[:4]), strict=True):
            found[names[row]].append((begin, end, value))
    return found


def bursts_of(trace, view, *interval):
    """Return the bursts of the only row."""
    (found,) = burst_list(trace, view, *interval).values()
    return found
