"""States and events of calls: what a source needs that knows only calls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analyzer.trace.paraver import EventType, event_table, state_table
from analyzer.trace.records import EVENT, STATE, State
from tracelib.schema.procedures import COLLECTIVES, base_name


def call_states(rank: int, calls: np.ndarray, procedures: Sequence[str]) -> np.ndarray:
    """STATE of the calls (CALL) of a rank."""
    found = np.zeros(len(calls), STATE)
    found["rank"], found["begin"], found["end"] = rank, calls["enter"], calls["exit"]
    found["thread"], found["state"] = calls["thread"], state_table(procedures)[calls["call"]]
    return found


def running(rank: int, thread: int, begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """STATE of the computations of a thread, of those that take time."""
    found = np.zeros(len(begins), STATE)
    found["rank"], found["thread"], found["begin"], found["end"] = rank, thread, begins, ends
    found["state"] = State.RUNNING
    return found[ends > begins]


def call_events(rank: int, calls: np.ndarray, procedures: Sequence[str]) -> np.ndarray:
    """EVENT of the begin and the end of calls of a rank; of a collective what is needed to know it again."""
    types, values = event_table(procedures)
    collective = np.array([base_name(name) in COLLECTIVES for name in procedures], bool)
    every, of_all = np.arange(len(calls)), np.flatnonzero(collective[calls["call"]])
    columns = (
        (every, "enter", types[calls["call"]], values[calls["call"]]),
        (of_all, "enter", EventType.COLLECTIVE_SEND_SIZE, calls["sent"][of_all]),
        (of_all, "enter", EventType.COLLECTIVE_RECEIVE_SIZE, calls["received"][of_all]),
        (of_all, "enter", EventType.COLLECTIVE_ROOT, calls["peer"][of_all] == rank),
        (of_all, "enter", EventType.COLLECTIVE_COMMUNICATOR, calls["comm"][of_all] + 1),
        (every, "exit", types[calls["call"]], 0),
    )
    parts = []
    for of, time, type_, value in columns:
        part = np.zeros(len(of), EVENT)
        part["time"], part["thread"], part["type"], part["value"] = calls[time][of], calls["thread"][of], type_, value
        parts.append(part)
    found = np.concatenate(parts)
    found["rank"] = rank
    return found[np.lexsort((np.concatenate([of for of, *_ in columns]), found["time"]))]  # a call after the one before
