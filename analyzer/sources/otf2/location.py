"""What one thread did, from its events in an OTF2 archive."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer._kernels import lib
from analyzer.errors import TracelibError
from analyzer.sources.otf2.library import EVENT, NOBODY
from analyzer.trace.records import CALL, MARK, Mark
from tracelib.schema import Peer

HALF = np.dtype(
    [("logical", "<i8"), ("physical", "<i8"), ("size", "<i8"), ("comm", "<i4"), ("peer", "<i4"), ("tag", "<i8"),
     ("rank", "<i4"), ("thread", "<i4"), ("order", "<i8"), ("done", "<i8")]
)  # fmt: skip
"""One side of a message: when its call was entered, when it took place, when the request was done (0: it blocks)."""

_SENDS = (lib.ARCHIVE_SEND, lib.ARCHIVE_ISEND)
_RECEIVES = (lib.ARCHIVE_RECV, lib.ARCHIVE_IRECV)


@dataclass(frozen=True)
class Names:
    """What the numbers of the archive's definitions mean here."""

    refs: np.ndarray  # of regions, ascending
    procedure: np.ndarray  # of each: index of the procedure; -1: it is a region of the program
    region: np.ndarray  # of each: number of the region, from 1; 0: it is a procedure
    comm_refs: np.ndarray  # of communicators, ascending
    members: tuple[np.ndarray, ...]  # of each: world ranks

    def world_rank(self, comm: np.ndarray, rank: np.ndarray) -> np.ndarray:
        """World ranks of ranks in communicators (indices here; -1: unknown); Peer.NONE of who is none."""
        found = np.full(len(comm), Peer.NONE, np.int64)
        for one in np.unique(comm[comm >= 0]).tolist():
            members = self.members[one]
            mine = np.flatnonzero((comm == one) & (rank < len(members)))
            found[mine] = members[rank[mine]]
        return found


@dataclass(frozen=True)
class Did:
    """Of one thread."""

    calls: np.ndarray  # CALL
    marks: np.ndarray  # MARK
    sends: np.ndarray  # HALF
    receives: np.ndarray  # HALF
    end: int


def did(events: np.ndarray, names: Names, rank: int, thread: int, path: str) -> Did:
    """Calls are the outermost visits of procedures of MPI, regions all visits of others."""
    events, begin, end = _visits(events, path)
    kind = np.searchsorted(names.refs, events["what"][begin])
    kind[kind == len(names.refs)] = 0
    if len(begin) and (not len(names.refs) or (names.refs[kind] != events["what"][begin]).any()):
        raise TracelibError(f"{path}: an event names a region that is not defined")
    is_call = names.procedure[kind] >= 0 if len(begin) else np.zeros(0, bool)
    order = np.flatnonzero(is_call)
    outer = order[end[order] > np.maximum.accumulate(np.append(-1, end[order][:-1]))] if len(order) else order
    return Did(
        _calls(events, begin[outer], end[outer], names.procedure[kind[outer]], names, thread),
        _marks(events["time"], begin[~is_call], end[~is_call], names.region[kind[~is_call]], thread),
        _halves(events, _SENDS, begin[outer], names, rank, thread),
        _halves(events, _RECEIVES, begin[outer], names, rank, thread),
        int(events["time"].max(initial=0)),
    )


def _visits(events: np.ndarray, path: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The events, and rows of begin and end of each visit, in order of begin. What is left open is left at the end."""
    if (np.diff(events["time"]) < 0).any():
        raise TracelibError(f"{path}: events of a location are not in order of time")
    steps = (events["kind"] == lib.ARCHIVE_ENTER).astype(np.int64) - (events["kind"] == lib.ARCHIVE_LEAVE)
    depth = np.cumsum(steps)
    if (depth < 0).any():
        raise TracelibError(f"{path}: a location leaves a region that it did not enter")
    if len(depth) and depth[-1]:
        rest = np.zeros(int(depth[-1]), EVENT)
        rest["kind"], rest["time"] = lib.ARCHIVE_LEAVE, events["time"][-1]
        events = np.concatenate([events, rest])
        steps = np.append(steps, np.full(len(rest), -1))
        depth = np.cumsum(steps)
    rows = np.flatnonzero(steps)
    level = depth[rows] - (steps[rows] > 0)
    order = rows[np.argsort(level, kind="stable")]
    begin, end = order[::2], order[1::2]
    by_begin = np.argsort(begin)
    return events, begin[by_begin], end[by_begin]


def _inside(rows: np.ndarray, begin: np.ndarray) -> np.ndarray:
    """The visit (of those that follow one another) that began last before each row; -1: none had begun."""
    return np.searchsorted(begin, rows) - 1


def _calls(
    events: np.ndarray, begin: np.ndarray, end: np.ndarray, procedure: np.ndarray, names: Names, thread: int
) -> np.ndarray:
    """CALL. Partner, tag and communicator are those of the first message or of the collective in a call."""
    found = np.zeros(len(begin), CALL)
    found["enter"], found["exit"] = events["time"][begin], events["time"][end]
    found["inside"] = found["exit"] - found["enter"]
    found["call"], found["thread"], found["count"] = procedure, thread, 1
    found["comm"] = found["tag"] = -1
    found["peer"] = Peer.NONE
    kind = events["kind"]
    for kinds, sent, received in ((_SENDS, 1, 0), (_RECEIVES, 0, 1), ((lib.ARCHIVE_COLLECTIVE_END,), 1, 1)):
        rows = np.flatnonzero(np.isin(kind, kinds))
        call = _inside(rows, begin)
        rows, call = rows[call >= 0], call[call >= 0]
        together = lib.ARCHIVE_COLLECTIVE_END in kinds
        np.add.at(found["sent"], call, sent * events["length"][rows])
        np.add.at(found["received"], call, received * events["request" if together else "length"][rows])
        rows, call = rows[::-1], call[::-1]  # the first is written last
        comm = _comm(events["comm"][rows], names)
        found["comm"][call] = comm
        partner = events["tag" if together else "what"][rows]
        found["peer"][call] = names.world_rank(comm, np.where(partner == NOBODY, np.iinfo(np.int64).max, partner))
        if not together:
            found["tag"][call] = events["tag"][rows].view(np.int32)
    return found


def _comm(refs: np.ndarray, names: Names) -> np.ndarray:
    at = np.searchsorted(names.comm_refs, refs).clip(max=max(len(names.comm_refs) - 1, 0))
    return np.where(names.comm_refs[at] == refs, at, -1) if len(names.comm_refs) else np.full(len(refs), -1)


def _marks(time: np.ndarray, begin: np.ndarray, end: np.ndarray, region: np.ndarray, thread: int) -> np.ndarray:
    rows = np.concatenate([begin, end])
    order = np.argsort(rows)
    found = np.zeros(len(rows), MARK)
    found["time"], found["number"], found["thread"] = time[rows], np.tile(region, 2), thread
    found["what"] = np.repeat([Mark.BEGIN, Mark.END], len(begin))
    return found[order]


def _halves(
    events: np.ndarray, kinds: tuple[int, int], begin: np.ndarray, names: Names, rank: int, thread: int
) -> np.ndarray:
    """Sends or receives (HALF), in the order in which they match: that of their calls, of receives that of posting."""
    sends = kinds == _SENDS
    rows = np.flatnonzero(np.isin(events["kind"], kinds))
    # A nonblocking send is done, and a nonblocking receive was posted, in another event with its request.
    other = np.flatnonzero(events["kind"] == (lib.ARCHIVE_ISEND_DONE if sends else lib.ARCHIVE_RECV_POSTED))
    nonblocking = events["kind"][rows] == kinds[1]
    partner = _by_request(events["request"], rows, other, later=sends)
    partner = np.where(nonblocking, partner, -1)
    posted = rows if sends else np.where(partner >= 0, partner, rows)
    call = _inside(posted, begin)
    found = np.zeros(len(rows), HALF)
    time = events["time"]
    found["logical"] = np.where(call >= 0, time[begin[call]] if len(begin) else 0, time[posted])
    found["physical"], found["size"] = time[rows], events["length"][rows]
    found["comm"] = _comm(events["comm"][rows], names)
    found["peer"] = names.world_rank(found["comm"], events["what"][rows])
    found["tag"] = events["tag"][rows].view(np.int32)
    found["rank"], found["thread"], found["order"] = rank, thread, posted
    found["done"] = np.where(partner >= 0, time[np.where(partner >= 0, partner if sends else rows, 0)], 0)
    return found


def _by_request(request: np.ndarray, rows: np.ndarray, other: np.ndarray, *, later: bool) -> np.ndarray:
    """Of each row the nearest one of `other` with the same request, after it or before it; -1: there is none."""
    every = np.concatenate([rows, other])
    is_other = np.repeat([False, True], [len(rows), len(other)])
    order = np.lexsort((every, request[every]))
    if later:
        order = order[::-1]
    last = np.maximum.accumulate(np.where(is_other[order], np.arange(len(order)), -1))
    found = np.full(len(every), -1)
    near = order[last.clip(min=0)]
    same = (last >= 0) & (request[every[near]] == request[every[order]])
    found[order] = np.where(same, every[near], -1)
    return found[: len(rows)]
