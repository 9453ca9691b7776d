"""Predicted run with facts that the written run does not have.

These are the times when the network carried messages, the CPUs of threads, latency, and waits for links and semaphores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from analyzer.columns.sorted_runs import sort_rows
from analyzer.program.model import Program
from analyzer.program.operation import OperationFlag, OperationKind, between_calls
from analyzer.replay.on_machine import ThreadCpus
from analyzer.replay.recorded import CALLS
from analyzer.replay.simulate import ReplayPrediction
from analyzer.trace import CALL, EVENT, STATE, Nodes, State, Trace
from analyzer.trace.annotated import Annotated

_OF_NO_CALL = (State.RUNNING, State.SCHEDULING, State.IDLE)
"""States outside calls. Only waits for semaphores divide them."""


def refined(states: np.ndarray, ops: np.ndarray, times: np.ndarray, transfers: np.ndarray) -> np.ndarray:
    """Divide the states of one thread where operations of a call have states of their own.

    STARTUP_LATENCY: the overhead of an operation. A part in which the thread had no CPU keeps its state. WAITING_LINKS:
    a blocking send, from when its receive is posted until the message starts. BLOCKED: a wait for a semaphore.

    Args:
        states: States (STATE) of the thread, in order of time, without overlap.
        ops: Operations (OP) of the thread.
        times: Times (TIME) of these operations.
        transfers: Messages (TRANSFER) of these operations.
    """
    begin, acted, end = times["begin"], transfers["acted"], times["end"]
    sends = (ops["kind"] == OperationKind.SEND) & ((ops["flags"] & OperationFlag.IMMEDIATE) == 0)
    posted = np.maximum(transfers["posted"], acted)
    latency = _Stretches.of(begin, acted, State.STARTUP_LATENCY)
    links = _Stretches.of(posted[sends], np.minimum(transfers["start"], end)[sends], State.WAITING_LINKS)
    semaphores = ops["kind"] == OperationKind.SEM_WAIT
    blocked = _Stretches.of(acted[semaphores], end[semaphores], State.BLOCKED)
    return _divided(_divided(_divided(states, latency), links), blocked, running=True)


class _Stretches:
    """Times in which a thread was in `state`: from `begin` to `end` (ns), ascending and without overlap."""

    def __init__(self, begin: np.ndarray, end: np.ndarray, state: State) -> None:
        self.begin, self.end, self.state = begin, end, state

    @classmethod
    def of(cls, begin: np.ndarray, end: np.ndarray, state: State) -> _Stretches:
        """Make the stretches of the operations that began (begin >= 0) and took time."""
        some = (begin >= 0) & (end > begin)
        return cls(begin[some], end[some], state)

    def cover(self, times: np.ndarray) -> np.ndarray:
        """Return a mask of the times that lie in one of the stretches."""
        at = np.searchsorted(self.begin, times, "right") - 1
        return (at >= 0) & (times < np.append(self.end, 0)[at])


def _divided(states: np.ndarray, by: _Stretches, *, running: bool = False) -> np.ndarray:
    """Divide states at the begins and ends of stretches. Inside a stretch a state becomes the state of the stretch.

    Args:
        states: States (STATE) of one thread.
        by: The stretches.
        running: Only RUNNING becomes the state of the stretch. False: only states of calls.
    """
    if not len(states) or not len(by.begin):
        return states
    points = np.unique(np.concatenate([states["begin"], states["end"], by.begin, by.end]))
    row = np.searchsorted(states["begin"], points[:-1], "right") - 1
    inside = (row >= 0) & (points[:-1] < states["end"][row])
    found = np.zeros(int(inside.sum()), STATE)
    found[:] = states[row[inside]]
    found["begin"], found["end"] = points[:-1][inside], points[1:][inside]
    divisible = found["state"] == State.RUNNING if running else ~np.isin(found["state"], _OF_NO_CALL)
    found["state"] = np.where(divisible & by.cover(found["begin"]), by.state, found["state"])
    return _joined(found, row[inside])


def _joined(pieces: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Join neighbouring pieces that come from the same row and have the same state. `row` has the row of each piece."""
    new = np.append(True, (row[1:] != row[:-1]) | (pieces["state"][1:] != pieces["state"][:-1]))
    first = np.flatnonzero(new)
    found = pieces[first].copy()
    found["end"] = pieces["end"][np.append(first[1:], len(pieces)) - 1]
    return found


class CarriedRun(Annotated):
    """Predicted run on the nodes and CPUs of the machine, with the times when messages had their links and bus.

    `physical_send` of a message is the time from which on it had its links and bus. If its send is not found among the
    operations, it keeps the time of its call. States also distinguish latency and waiting for links; all of them are in
    memory.

    Args:
        trace: The written run of `prediction`.
        program: The program.
        prediction: Replay of `program` alone, with `times` and `transfers`.
        nodes: Nodes of the machine.
        cpus: CPUs by (rank, thread).
        of_calls: The program comes from a trace with calls, each of which may be several operations. False: each
            operation is a call.
        applications: Numbers of ranks of the applications, as in Origin. The written run has one application.
    """

    def __init__(
        self,
        trace: Trace,
        program: Program,
        prediction: ReplayPrediction,
        nodes: Nodes,
        cpus: Mapping[tuple[int, int], ThreadCpus],
        *,
        of_calls: bool,
        applications: tuple[int, ...] = (),
    ) -> None:
        super().__init__(trace, {}, lambda begin, end: np.zeros(0, EVENT))
        self.origin = replace(trace.origin, applications=applications)
        self.nodes, self._cpus = nodes, cpus
        self._sends: dict[tuple[int, int], _Sends | None] = {}
        for rank in range(trace.size):
            calls = np.concatenate([np.zeros(0, CALL), *trace.calls(rank)])
            for stream in program.streams_of(rank):
                thread = int(program.thread[stream])
                enter = calls["enter"][calls["thread"] == thread]
                self._sends[rank, thread] = _sends(program, prediction, stream, enter, of_calls)
        self._states = self._refined(trace.states(), program, prediction)
        self._begins = np.ascontiguousarray(self._states["begin"])

    def messages(self, begin: int = 0, end: int | None = None) -> np.ndarray:
        found = super().messages(begin, end).copy()
        senders = found["source"].astype(np.int64) << 32 | found["source_thread"]
        for sender in np.unique(senders).tolist():
            mine = np.flatnonzero(senders == sender)
            if sends := self._sends.get((sender >> 32, sender & 0xFFFFFFFF)):
                found["physical_send"][mine] = sends.started(found[mine])
        for side, time in (("source", "logical_send"), ("destination", "logical_receive")):
            for rows, cpus in self._by_thread(found[side], found[f"{side}_thread"]):
                found[f"{side}_cpu"][rows] = cpus.at(found[time][rows])
        return found

    def states(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        first = np.searchsorted(self._begins, begin)
        last = len(self._begins) if end is None else np.searchsorted(self._begins, end)
        found = self._states[first:last]
        return found if ranks is None else found[(found["rank"] >= ranks.start) & (found["rank"] < ranks.stop)]

    def _refined(self, states: np.ndarray, program: Program, prediction: ReplayPrediction) -> np.ndarray:
        """Divide all states of the run (STATE), and set their CPUs."""
        assert prediction.times is not None and prediction.transfers is not None
        parts = [np.zeros(0, STATE)]
        for rank, thread, rows in _threads_of(states["rank"], states["thread"]):
            of_thread = program.stream(program.stream_of(rank, thread))
            tables = (table[of_thread] for table in (program.ops, prediction.times, prediction.transfers))
            part = refined(states[rows], *tables)
            if cpus := self._cpus.get((rank, thread)):
                part["cpu"] = cpus.of_states(part["begin"], part["state"])
            parts.append(part)
        return sort_rows(np.concatenate(parts), "begin", "rank", "thread")

    def events(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        found = super().events(begin, end, ranks).copy()
        for rows, cpus in self._by_thread(found["rank"], found["thread"]):
            found["cpu"][rows] = cpus.at(found["time"][rows])
        return found

    def _by_thread(self, ranks: np.ndarray, threads: np.ndarray) -> Iterator[tuple[np.ndarray, ThreadCpus]]:
        """Yield for each thread with known CPUs the indices of its rows, and the CPUs."""
        for rank, thread, rows in _threads_of(ranks, threads):
            if cpus := self._cpus.get((rank, thread)):
                yield rows, cpus


def _threads_of(ranks: np.ndarray, threads: np.ndarray) -> Iterator[tuple[int, int, np.ndarray]]:
    """Yield rank and number of each thread that has rows, and the indices of its rows in order."""
    both = ranks.astype(np.int64) << 32 | threads
    order = np.argsort(both, kind="stable")
    which, first = np.unique(both[order], return_index=True)
    for key, rows in zip(which.tolist(), np.split(order, first[1:]), strict=False):
        yield key >> 32, key & 0xFFFFFFFF, rows


@dataclass(frozen=True)
class _Sends:
    """Sends of one thread, ordered by call and receiver. Equal sends keep their order."""

    calls: np.ndarray  # entries of the calls that send, ns, ascending
    key: np.ndarray  # for each send: index of its call in `calls`, and receiver
    bytes: np.ndarray
    start: np.ndarray

    @classmethod
    def of(cls, enter: np.ndarray, peer: np.ndarray, bytes_: np.ndarray, start: np.ndarray) -> _Sends:
        """Make the sends. `enter` is the entry (ns) of the call of each send, in the program's order."""
        calls, place = np.unique(enter, return_inverse=True)
        key = _key(place, peer)
        order = np.argsort(key, kind="stable")
        return cls(calls, key[order], bytes_[order], start[order])

    def started(self, messages: np.ndarray) -> np.ndarray:
        """Return when each message (MESSAGE, in order of sending) got its links, limited to the times of its call."""
        found = messages["physical_send"].copy()
        place = np.searchsorted(self.calls, messages["logical_send"]).clip(max=len(self.calls) - 1)
        key = _key(place, messages["destination"])
        order = np.argsort(key, kind="stable")
        at = (np.searchsorted(self.key, key[order]) + _number_of_equals(key[order])).clip(max=len(self.key) - 1)
        sent, received, size = (messages[name][order] for name in ("logical_send", "physical_receive", "size"))
        here = (self.calls[place[order]] == sent) & (self.key[at] == key[order]) & (self.bytes[at] == size)
        here &= self.start[at] >= 0
        started = np.minimum(np.maximum(self.start[at], sent), np.maximum(received, sent))
        found[order[here]] = started[here]
        return found


def _key(call: np.ndarray, peer: np.ndarray) -> np.ndarray:
    """Compute a key that is equal for messages of one call to one receiver."""
    return call.astype(np.int64) << 32 | peer


def _number_of_equals(ascending: np.ndarray) -> np.ndarray:
    """Return for each value the number of equal values before it. The values must be ascending."""
    return np.arange(len(ascending)) - np.searchsorted(ascending, ascending)


def _sends(
    program: Program, prediction: ReplayPrediction, stream: int, enter: np.ndarray, of_calls: bool
) -> _Sends | None:
    """Return the sends of a thread; None: there are none. `enter` has the entries of the thread's calls, in order."""
    assert prediction.transfers is not None, "simulate(..., transfers=True)"
    ops, transfers = program.ops[program.stream(stream)], prediction.transfers[program.stream(stream)]
    in_calls = (
        ~between_calls(ops) & (ops["kind"] != OperationKind.PARALLEL) if of_calls else np.isin(ops["kind"], CALLS)
    )
    ops, transfers = ops[in_calls], transfers[in_calls]
    call = np.cumsum((ops["flags"] & OperationFlag.FIRST) > 0) - 1 if of_calls else np.arange(len(ops))
    sends = (ops["kind"] == OperationKind.SEND) & ((ops["flags"] & OperationFlag.OF_WINDOW) == 0)
    if not sends.any():
        return None
    return _Sends.of(enter[call[sends]], ops["peer"][sends], ops["bytes"][sends], transfers["start"][sends])
