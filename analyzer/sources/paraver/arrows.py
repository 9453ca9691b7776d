"""Separates the communication records of a .prv into MPI messages and arrows that a tool draws inside a task.

A tool may draw an arrow from a CUDA call to its kernel, from the creation of a task to its execution, or between two
CPUs of a thread. In the file, arrows look like messages. A record between two tasks is a message. A record inside a
task is a message if the thread is inside MPI at both ends, as in a send to itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analyzer.columns.sorted_runs import SortedRuns
from analyzer.sources.paraver.body import TraceBody
from analyzer.trace import MESSAGE, Arrows, State
from analyzer.trace.paraver import MPI_TYPES

_COMMUNICATING = (
    State.WAITING_MESSAGE, State.BLOCKING_SEND, State.WAIT, State.IMMEDIATE_SEND, State.IMMEDIATE_RECEIVE,
    State.SEND_RECEIVE,
)  # fmt: skip
"""States in which a thread sends or receives. They show MPI where a trace has no events of its calls."""

_STEP = np.dtype([("thread", "<i8"), ("time", "<i8"), ("until", "<i8")])
"""Time in which a thread is inside MPI: from `time` up to and including `until` (ns). Threads are numbered through."""
_OPEN = np.iinfo(np.int64).max


@dataclass(frozen=True)
class SortedArrows:
    """Communication records of a trace, separated into messages and arrows.

    Both are MESSAGE in order of logical send.
    """

    messages: SortedRuns  # MESSAGE by logical send
    arrows: SortedRuns  # MESSAGE by logical send

    def close(self) -> None:
        """Remove the temporary files."""
        self.messages.close()
        self.arrows.close()


def sort_out(body: TraceBody, windows: np.ndarray) -> SortedArrows:
    """Separate messages from arrows inside a task, one window of time after the other.

    Args:
        body: The trace.
        windows: Bounds of the windows, ns.
    """
    step = body.sizes.sorted_step
    messages, arrows = (SortedRuns(MESSAGE, "logical_send", "source", step=step) for _ in range(2))
    inside_sender = SortedRuns(MESSAGE, "logical_receive", "destination", step=step)
    threads = _Threads(body)
    for begin, end in pairwise(windows.tolist()):
        threads.step(begin, end)
        rows = body.messages.read(begin, end)
        own = rows["source"] == rows["destination"]
        messages.append(rows[~own])
        inside = threads.inside(rows[own], "source", "source_thread", "logical_send")
        arrows.append(rows[own][~inside])
        inside_sender.append(rows[own][inside])
    threads = _Threads(body)
    for begin, end in pairwise(windows.tolist()):
        threads.step(begin, end)
        rows = inside_sender.read(begin, end)
        inside = threads.inside(rows, "destination", "destination_thread", "logical_receive")
        messages.append(rows[inside])
        arrows.append(rows[~inside])
    inside_sender.close()
    return SortedArrows(messages, arrows)


class _Threads:
    """Times in which each thread is inside MPI, one window of time after the other."""

    def __init__(self, body: TraceBody) -> None:
        self._body = body
        self._by_events = bool(body.calls.any())
        self._first = np.concatenate(([0], np.cumsum(body.header.threads, dtype=np.int64)))
        self._steps = np.zeros(0, _STEP)

    def step(self, begin: int, end: int) -> None:
        """Read the next window, [begin, end) ns."""
        new = self._of_events(begin, end) if self._by_events else self._of_states(begin, end)
        steps = np.concatenate([_last_of_each(self._steps), new])
        self._steps = steps[np.lexsort((np.arange(len(steps)), steps["time"], steps["thread"]))]

    def _of_events(self, begin: int, end: int) -> np.ndarray:
        events = self._body.events.read(begin, end)
        events = events[np.isin(events["type"], MPI_TYPES)]
        return self._made(events, "time", np.where(events["value"] > 0, _OPEN, events["time"]))

    def _of_states(self, begin: int, end: int) -> np.ndarray:
        states = self._body.states.read(begin, end)
        states = states[np.isin(states["state"], _COMMUNICATING)]
        return self._made(states, "begin", states["end"])

    def _made(self, rows: np.ndarray, time: str, until: np.ndarray) -> np.ndarray:
        steps = np.zeros(len(rows), _STEP)
        steps["thread"], steps["time"], steps["until"] = self._first[rows["rank"]] + rows["thread"], rows[time], until
        return steps

    def inside(self, rows: np.ndarray, rank: str, thread: str, time: str) -> np.ndarray:
        """Return a mask of the messages whose thread at one end is inside MPI.

        Args:
            rows: Messages (MESSAGE) of the window.
            rank: Column of the rank at that end.
            thread: Column of the thread.
            time: Column of the time, ns.
        """
        asked = np.zeros(len(rows), _STEP)
        asked["thread"], asked["time"] = self._first[rows[rank]] + rows[thread], rows[time]
        every = np.concatenate([self._steps, asked])
        is_step = np.arange(len(every)) < len(self._steps)
        order = np.lexsort((~is_step, every["time"], every["thread"]))
        before = np.maximum.accumulate(np.where(is_step[order], np.arange(len(order)), -1))
        last = every[order[before.clip(min=0)]]
        here = every[order]
        found = np.zeros(len(every), bool)
        known = (before >= 0) & (last["thread"] == here["thread"])
        found[order] = known & (last["until"] >= here["time"])
        return found[len(self._steps) :]


def _last_of_each(steps: np.ndarray) -> np.ndarray:
    """Return the last step of each thread, from steps in order of thread and time."""
    return steps[np.append(np.flatnonzero(np.diff(steps["thread"])), len(steps) - 1)] if len(steps) else steps


@dataclass(frozen=True, kw_only=True)
class ParaverArrows(Arrows):
    """Arrows that tools draw inside a task, in a .prv."""

    runs: Callable[[], SortedRuns]
    body: TraceBody

    def read(self, begin: int = 0, end: int | None = None) -> np.ndarray:
        return self.runs().read(begin, self.body.last_ns + 1 if end is None else end)

    def among(self, messages: np.ndarray, begin: int, end: int) -> np.ndarray:
        rows, chosen = self.body.messages.read(begin, end), self.body.chosen
        return rows if chosen is None else rows[chosen[rows["source"]] & chosen[rows["destination"]]]
