"""Calls that the operations of a Dimemas trace stand for, at the times that a replay gave them."""

from __future__ import annotations

import numpy as np

from analyzer.operations.region_events import are_of_regions, begun_by
from analyzer.program.model import Program, pieces
from analyzer.program.operation import COLLECTIVE_NAMES, OperationFlag, OperationKind
from analyzer.replay.cpu_waits import wait_events
from analyzer.replay.simulate import ReplayPrediction
from analyzer.trace import CALL, MARK, REQUEST, Mark
from analyzer.trace.paraver import EventType
from analyzer.writers.run_file import RankRecords
from tracelib import schema
from tracelib.schema import RequestKind

_SENDS = {
    OperationFlag(0): "MPI_Send", OperationFlag.RENDEZVOUS: "MPI_Send", OperationFlag.IMMEDIATE: "MPI_Isend",
    OperationFlag.IMMEDIATE | OperationFlag.RENDEZVOUS: "MPI_Irsend",
}  # fmt: skip
"""Procedure of a send by its flag `sync`, as analyze dim writes the flag, which does not distinguish blocking sends."""
PROCEDURES = (
    "MPI_Send", "MPI_Isend", "MPI_Irsend", "MPI_Recv", "MPI_Irecv", "MPI_Wait",
    *(f"MPI_{name}" for name in COLLECTIVE_NAMES), *(f"MPI_I{name.lower()}" for name in COLLECTIVE_NAMES),
)  # fmt: skip
"""Procedures that a Dimemas trace can distinguish. `CALL.call` of a replayed Dimemas trace is an index in them."""

CALLS = (
    OperationKind.SEND,
    OperationKind.RECV,
    OperationKind.IRECV,
    OperationKind.WAIT,
    OperationKind.COLLECTIVE,
    OperationKind.COLLECTIVE_START,
)
"""Kinds of operations of a Dimemas trace that each stand for one call."""
_WAIT_FOR_NOBODY = (OperationKind.SEND, OperationKind.IRECV, OperationKind.COLLECTIVE_START)
_IDLE = 0
"""Type of the events with which prv2dim marks idle blocks. They are no events of the program."""


def regions_of(program: Program) -> tuple[int, ...]:
    """Return the numbers of the regions that occur in the program's events (type 60000019), ascending."""
    found = [np.unique(ops["other"][are_of_regions(ops)]) for ops in pieces(program)]
    values = np.unique(np.concatenate([np.zeros(0, np.int64), *found]))
    return tuple(values[values > 0].tolist())


def recorded(program: Program, prediction: ReplayPrediction, rank: int, regions: tuple[int, ...]) -> RankRecords:
    """Return the records of one rank of a replayed Dimemas trace, its threads one after the other.

    Each operation is a call: MPI_Sendrecv, MPI_Waitall and the like appear as their single operations. A message in a
    communicator that the trace does not define has an unknown communicator.

    Args:
        program: Program of the Dimemas trace.
        prediction: Replay of the program alone, with `times`.
        rank: The rank.
        regions: Numbers of the regions in the program's events (`regions_of`). The records number them 1, 2, ...
    """
    parts = [_thread(program, prediction, k, regions) for k in program.streams_of(rank)]
    calls, requests, marks, events = (np.concatenate(tables) for tables in zip(*parts, strict=True))
    order = np.argsort(calls["enter"], kind="stable")
    return RankRecords(calls[order], requests, marks, events)


def _thread(
    program: Program, prediction: ReplayPrediction, stream: int, regions: tuple[int, ...]
) -> tuple[np.ndarray, ...]:
    assert prediction.times is not None, "simulate(..., times=True)"
    first, last = program.offsets[stream : stream + 2].tolist()
    ops, times = program.ops[first:last], prediction.times[first:last]
    thread = int(program.thread[stream])
    is_call = np.isin(ops["kind"], CALLS)
    early = np.isin(ops["kind"][is_call], _WAIT_FOR_NOBODY)
    predicted = times["begin"][is_call], times["end"][is_call]
    enter, leave = in_order(*predicted, early)
    calls = _calls(ops[is_call], enter, leave, thread)
    events = _events(ops, times, thread)
    marks = _marks(ops, times, thread, regions)
    end = max(int(prediction.usage["end"][stream]), int(leave[-1]) if len(leave) else 0)
    if prediction.cpu_waits:
        waits = wait_events(prediction.cpu_waits.shown_of_stream(stream), predicted, (enter, leave), thread)
        events = np.concatenate([events, waits])
    events = np.append(events, np.array([(end, 0, EventType.APPLICATION, 0, thread)], schema.EVENT))
    return calls, _requests(ops[is_call], calls, thread), marks, events


def in_order(enter: np.ndarray, leave: np.ndarray, early: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Move the times of a thread's calls so that each call lasts at least 1 ns and the calls do not overlap.

    Entries, and exits of the calls in `early`, are moved into the burst before them where there is room: the messages
    that others receive were then not sent later. All other times are moved to later times.

    Args:
        enter: Entries in ns, in order.
        leave: Exits in ns.
        early: Mask of the calls that wait for no other rank. None: all times are moved to later times.

    Returns:
        The moved entries and exits.
    """
    points = np.column_stack([enter, leave]).ravel()
    steps = np.arange(len(points))
    if early is not None:
        before = np.minimum.accumulate((points - steps)[::-1])[::-1] + steps
        movable = np.column_stack([np.ones(len(early), bool), early]).ravel()
        points = np.where(movable, np.maximum(before, 0), points)
    points = np.maximum.accumulate(points - steps) + steps
    return points[::2], points[1::2]


def _calls(ops: np.ndarray, enter: np.ndarray, leave: np.ndarray, thread: int) -> np.ndarray:
    calls = np.zeros(len(ops), CALL)
    calls["enter"], calls["exit"], calls["inside"] = enter, leave, leave - enter
    calls["thread"], calls["count"] = thread, 1
    calls["call"] = _procedures(ops)
    waits = ops["kind"] == OperationKind.WAIT
    collective = np.isin(ops["kind"], (OperationKind.COLLECTIVE, OperationKind.COLLECTIVE_START))
    calls["comm"] = np.where(waits | (ops["comm"] < 0), -1, ops["comm"] - 1)
    calls["peer"] = np.where(waits | (ops["peer"] < 0), schema.Peer.NONE, ops["peer"])
    calls["tag"] = np.where(waits | collective, -1, ops["tag"])
    calls["sent"] = np.where((ops["kind"] == OperationKind.SEND) | collective, ops["bytes"], 0)
    calls["received"] = np.where(ops["kind"] == OperationKind.RECV, ops["bytes"], np.where(collective, ops["other"], 0))
    return calls


def _procedures(ops: np.ndarray) -> np.ndarray:
    """Return the index in PROCEDURES of the procedure of each operation."""
    found = np.zeros(len(ops), np.int32)
    for flags, name in _SENDS.items():
        mine = ops["flags"] & (OperationFlag.IMMEDIATE | OperationFlag.RENDEZVOUS) == flags
        found[(ops["kind"] == OperationKind.SEND) & mine] = PROCEDURES.index(name)
    for kind, name in (
        (OperationKind.RECV, "MPI_Recv"),
        (OperationKind.IRECV, "MPI_Irecv"),
        (OperationKind.WAIT, "MPI_Wait"),
    ):
        found[ops["kind"] == kind] = PROCEDURES.index(name)
    blocking = PROCEDURES.index(f"MPI_{COLLECTIVE_NAMES[0]}")
    for kind, base in (
        (OperationKind.COLLECTIVE, blocking),
        (OperationKind.COLLECTIVE_START, blocking + len(COLLECTIVE_NAMES)),
    ):
        mine = ops["kind"] == kind
        found[mine] = base + ops["tag"][mine]
    return found


def _requests(ops: np.ndarray, calls: np.ndarray, thread: int) -> np.ndarray:
    """Return one request (REQUEST) for each wait. It belongs to the operation that used the wait's slot last."""
    at = np.arange(len(ops))
    opens = np.isin(ops["kind"], (OperationKind.IRECV, OperationKind.COLLECTIVE_START))
    used = opens | (ops["kind"] == OperationKind.WAIT)
    order = at[used][np.argsort(ops["request"][used], kind="stable")]
    waits = ops["kind"][order] == OperationKind.WAIT
    done, begun = order[waits], order[np.flatnonzero(waits) - 1]
    requests = np.zeros(len(done), REQUEST)
    collective = ops["kind"][begun] == OperationKind.COLLECTIVE_START
    requests["posted"], requests["completed"] = calls["enter"][begun], calls["exit"][done]
    requests["bytes"] = np.where(collective, 0, ops["bytes"][done])
    requests["comm"], requests["peer"] = calls["comm"][begun], calls["peer"][begun]
    requests["tag"] = np.where(collective, calls["call"][begun], ops["tag"][begun])
    requests["what"] = np.where(collective, RequestKind.COLLECTIVE_DONE, RequestKind.RECV_DONE)
    requests["thread"] = thread
    return requests[np.argsort(requests["completed"], kind="stable")]


def _events(ops: np.ndarray, times: np.ndarray, thread: int) -> np.ndarray:
    mine = (ops["kind"] == OperationKind.EVENT) & (ops["tag"] != _IDLE) & ~are_of_regions(ops)
    events = np.zeros(int(mine.sum()), schema.EVENT)
    events["time"], events["thread"] = times["begin"][mine], thread
    events["type"], events["value"] = ops["tag"][mine].astype(np.uint32), ops["other"][mine]
    return events


def _marks(ops: np.ndarray, times: np.ndarray, thread: int, regions: tuple[int, ...]) -> np.ndarray:
    """Return begins and ends of regions. An end, which has no number, belongs to the innermost open region."""
    mine = are_of_regions(ops)
    value, time = ops["other"][mine], times["begin"][mine]
    begun = begun_by(value)
    sound = np.flatnonzero(begun >= 0)
    marks = np.zeros(len(sound), MARK)
    marks["time"], marks["thread"] = time[sound], thread
    marks["what"] = np.where(begun[sound] == sound, Mark.BEGIN, Mark.END)
    marks["number"] = np.searchsorted(regions, value[begun[sound]]) + 1
    return marks
