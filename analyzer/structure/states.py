"""The states of ranks that make no MPI calls: threads, accelerators, and traces that hold states alone."""

from __future__ import annotations

from itertools import pairwise
from weakref import WeakKeyDictionary

import numpy as np

from analyzer.columns.arrays import joined
from analyzer.trace import STATE, State, Trace
from tracelib.schema.procedures import FINALIZE, INIT, base_name

NAMES = {
    State.IDLE: "idle time",
    State.WAITING_MESSAGE: "wait for messages",
    State.BLOCKING_SEND: "blocking send",
    State.SYNCHRONIZATION: "synchronization",
    State.SCHEDULING: "fork or join",
    State.WAIT: "wait",
    State.BLOCKED: "block",
    State.IMMEDIATE_SEND: "immediate send",
    State.IMMEDIATE_RECEIVE: "immediate receive",
    State.IO: "file operation",
    State.GROUP_COMMUNICATION: "group communication",
    State.OTHERS: "other state",
    State.SEND_RECEIVE: "exchange",
    State.MEMORY_TRANSFER: "memory transfer",
    State.ONE_SIDED: "one-sided call",
    State.STARTUP_LATENCY: "latency",
    State.WAITING_LINKS: "wait for links",
}
"""States that end a computing burst, in words."""
OF_MESSAGES = (
    *(State.WAITING_MESSAGE, State.BLOCKING_SEND, State.WAIT, State.IMMEDIATE_SEND, State.IMMEDIATE_RECEIVE),
    State.SEND_RECEIVE,
)
"""States of calls of messages. Which of them a rank is in is often chance: a message may be there already."""
KINDS = np.arange(max(map(int, State)) + 1)
"""First state of the same kind, by state."""
KINDS[list(OF_MESSAGES)] = State.WAITING_MESSAGE
SHORTEST, LONGEST, WIDE = 0.005, 0.4, 2.0
"""Bursts that do not show are shorter than this share of the usual one, of which half of all computing is longer. Where
the fewest bursts are about as long, within this factor, lies the limit."""
LITTLE = 0.1
"""Largest share of all computing of the bursts that do not show."""
LIMITS = 200
"""Limits that are tried."""
_known: WeakKeyDictionary[Trace, dict[int, np.ndarray]] = WeakKeyDictionary()


def makes_calls(trace: Trace, rank: int) -> bool:
    """Check whether a rank makes any MPI call, besides those that initialise MPI and end it."""
    ends = [number for number, name in enumerate(trace.procedures) if base_name(name) in INIT | FINALIZE]
    return any(bool(np.isin(block["call"], ends, invert=True).any()) for block in trace.calls(rank))


def states_of(trace: Trace, rank: int) -> np.ndarray:
    """Return STATE of all threads of a rank by (thread, begin).

    The states of all ranks are read at once, and kept as long as the trace.
    """
    if trace not in _known:
        blocks = [trace.states(begin, end) for begin, end in pairwise(trace.windows().tolist())]
        rows = joined(blocks, STATE)
        rows = rows[np.lexsort((rows["begin"], rows["thread"], rows["rank"]))]
        edges = np.searchsorted(rows["rank"], np.arange(trace.size + 1))
        _known[trace] = {rank: rows[first:end] for rank, (first, end) in enumerate(pairwise(edges.tolist()))}
    return _known[trace][rank]


def interruptions(trace: Trace, rank: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the times when the busiest thread of a rank does not compute: begins, ends (int64 ns) and states (int64).

    The busiest thread has most states other than running and idle. Of a thread that is only running or idle, idle times
    count; of one that has only running states, the gaps between them.
    """
    rows = states_of(trace, rank)
    rows = rows[rows["end"] > rows["begin"]]
    others = rows[np.isin(rows["state"], [state for state in NAMES if state != State.IDLE])]
    if len(others):
        rows = others
    elif (idle := rows["state"] == State.IDLE).any():
        rows = rows[idle]
    else:
        return _gaps(rows[rows["state"] == State.RUNNING])
    rows = rows[rows["thread"] == _commonest(rows["thread"])]
    return tuple(rows[name].astype(np.int64) for name in ("begin", "end", "state"))


def _gaps(running: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = running[running["thread"] == _commonest(running["thread"])]
    begin, end = rows["end"].astype(np.int64), np.append(rows["begin"][1:], rows["end"][-1:]).astype(np.int64)
    apart = end > begin
    apart[-1:] = True  # the last burst ends with the thread
    return begin[apart], end[apart], np.full(int(apart.sum()), State.IDLE, np.int64)


def _commonest(threads: np.ndarray) -> int:
    return int(np.bincount(threads).argmax()) if len(threads) else 0


def steps_begin(state: np.ndarray, burst: np.ndarray) -> np.ndarray:
    """Return where another state follows, or a burst that shows, int64 (n,).

    burst: ns before each. Shorter bursts lie between the calls of one exchange, for example.
    """
    return np.flatnonzero((np.diff(state, prepend=-1) != 0) | (burst > _shown_from(burst)))


def _shown_from(burst: np.ndarray) -> float:
    """Return the length of bursts (ns) from which on they show."""
    ordered = np.sort(burst[burst > 0]).astype(np.float64)
    if not len(ordered):
        return 0.0
    until = np.concatenate([[0.0], np.cumsum(ordered)])
    usual = float(ordered[np.searchsorted(until[1:], until[-1] / 2)])
    limits = np.geomspace(SHORTEST * usual, LONGEST * usual, LIMITS)
    low, high = (np.searchsorted(ordered, limits * by) for by in (1 / WIDE, WIDE))
    below = until[np.searchsorted(ordered, limits)] <= LITTLE * until[-1]
    below[0] = True
    about = (high - low) / len(ordered) + (until[high] - until[low]) / until[-1]
    return float(limits[below][::-1][np.argmin(about[below][::-1])])
