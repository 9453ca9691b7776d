"""The place of each wait, and the activity and place of the thread that was waited for during the wait."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analyzer.columns.arrays import by_index, joined
from analyzer.columns.rows import Rows
from analyzer.columns.spill import Spill
from analyzer.pairing.call_paths import calls_with_paths
from analyzer.pairing.parts import window_of
from analyzer.places.call_gaps import CallGaps, GapKind
from analyzer.places.phrases import call_at, computing_at
from analyzer.trace import CallPaths, Trace
from analyzer.waits.wait_states import WaitStates

MOST_CALLS = 64
"""Number of calls that the search for a cause goes back, from the call that was waited for."""

COMPUTES, IN_CALL = 1, 2
"""Values of `does`: the thread computed, or it was in a call; 0: not known."""

WHERE = np.dtype(
    [("path", "<i8"), ("before", "<i8"), ("after", "<i8"), ("call", "<i8"), ("does", "<i8"), ("ns", "<i8")]
)
"""Place and cause of one wait. `path` is the call path of the call that waited (row of CallPaths.tables).

The other columns describe the activity of the thread that was waited for that took the longest part of the wait, `ns`.
`does` is COMPUTES or IN_CALL. COMPUTES: it computed between a call from path `before` and a call of procedure `call`
from path `after`. IN_CALL: it was in a call of procedure `call` from path `after`.
"""

DID = np.dtype([("wait", "<i8"), *((name, "<i8") for name in WHERE.names or () if name != "path")])
"""Activity of the thread that was waited for during wait number `wait`, and the `ns` of the wait that it took.

Other columns are as in WHERE. The rows of one wait add up to the length of the wait.
"""

_ASKED = np.dtype(
    [("wait", "<i8"), ("time", "<i8"), ("begin", "<i8"), ("end", "<i8"), ("thread", "<i8"), ("causes", "<i8")]
)  # number of the wait; when a call was entered; the time asked about; whether it was the call waited for
_CALL = np.dtype([("enter", "<i8"), ("over", "<i8"), ("call", "<i8"), ("path", "<i8")])


@dataclass(frozen=True)
class WaitReason:
    """Activity of other ranks that took part of the waits in calls of one procedure at one place, sum over all ranks.

    `time_ns` is the sum of these parts in ns, `count` their number.
    """

    procedure: str
    place: str  # of the call that waits
    cause: str  # "computing at smooth.c:40-61 in smooth before MPI_Send", "MPI_Recv at x.c:3 in f"; empty: not known
    rank: int  # the rank that was waited for longest
    ranks: int  # number of ranks that were waited for
    count: int
    time_ns: int


@dataclass(frozen=True)
class WaitPlaces:
    """Place and cause of each wait (`where`, WHERE, in the order of the waits).

    `did` has all activities during the waits (DID, in any order).
    """

    where: Rows
    did: Rows

    def chosen(self, paths: np.ndarray) -> WaitPlaces:
        """Keep only the waits in calls from chosen paths, and number the remaining waits from 0.

        Args:
            paths: bool, one for each row of CallPaths.tables.
        """
        where, did = Rows(WHERE), Rows(DID)
        kept = [np.zeros(0, bool), *(paths[piece["path"]] for _, piece in self.where.pieces())]
        mine = np.concatenate(kept)
        number = np.cumsum(mine) - 1
        for first, piece in self.where.pieces():
            where.append(piece.compress(mine[first : first + len(piece)]))
        for _, piece in self.did.pieces():
            rows = piece.compress(mine[piece["wait"]])
            rows["wait"] = number[rows["wait"]]
            did.append(rows)
        return WaitPlaces(where, did)


def wait_places(trace: Trace, found: WaitStates) -> WaitPlaces | None:
    """Find the place and the cause of each wait. None: the trace does not know call paths.

    Each rank's calls are read once, window by window.
    """
    if not trace.extra(CallPaths).known:
        return None
    windows, places = trace.windows(), WaitPlaces(Rows.zeros(len(found.rows), WHERE), Rows(DID))
    asked, ranks = _questions(found, windows)
    for rank in np.flatnonzero(ranks).tolist():
        _answer(trace, rank, asked, windows, places)
    asked.close()
    return places


def _questions(found: WaitStates, windows: np.ndarray) -> tuple[Spill, np.ndarray]:
    """Build the questions to each rank: about the calls that waited, and about the calls that were waited for.

    Returns:
        _ASKED rows under the number rank x windows + window, and a bool for each rank: True if it is asked anything.
    """
    lanes, asked, count = found.search.lanes, Spill(_ASKED), len(windows) - 1
    ranks = np.zeros(found.search.trace.size, bool)
    for first, waits in found.rows.pieces():
        for causes, lane, time in ((0, "lane", "enter"), (1, "cause", "cause_enter")):
            rows = np.zeros(len(waits), _ASKED)
            rows["wait"], rows["time"], rows["begin"] = first + np.arange(len(waits)), waits[time], waits["enter"]
            rows["end"] = waits["end"]
            rows["thread"], rows["causes"] = lanes.thread[waits[lane]], causes
            rank = lanes.rank[waits[lane]]
            asked.append_each(rank * count + window_of(windows, rows["time"]), rows)
            ranks[rank] = True
    return asked, ranks


def _answer(trace: Trace, rank: int, asked: Spill, windows: np.ndarray, places: WaitPlaces) -> None:
    """Answer the questions about the calls of one rank: read its calls, window by window."""
    before: dict[int, np.ndarray] = {}  # the last calls of each thread
    for window, (begin, end) in enumerate(pairwise(windows.tolist())):
        for calls, paths in calls_with_paths(trace, rank, begin, end):
            for thread in np.unique(calls["thread"]).tolist():
                own = np.flatnonzero(calls["thread"] == thread)
                rows = np.zeros(len(own), _CALL)
                rows["enter"], rows["over"] = calls["enter"][own], (calls["enter"] + calls["inside"])[own]
                rows["call"], rows["path"] = calls["call"][own], paths[own]
                before[thread] = np.concatenate([before.get(thread, rows[:0]), rows])
        questions = asked.read(rank * (len(windows) - 1) + window)
        for thread in np.unique(questions["thread"]).tolist():
            mine = questions.compress(questions["thread"] == thread)
            _answer_thread(mine, before.get(thread, np.zeros(0, _CALL)), places)
        places.where.forget()
        before = {thread: rows[-MOST_CALLS - 1 :] for thread, rows in before.items()}


def _answer_thread(asked: np.ndarray, calls: np.ndarray, places: WaitPlaces) -> None:
    """Answer the questions about one thread.

    Args:
        asked: Questions (_ASKED) about calls of one window.
        calls: Calls of the thread (_CALL) in the window, and MOST_CALLS before it.
        places: Gets the answers.
    """
    at = np.searchsorted(calls["enter"], asked["time"], "right") - 1
    places.did.append(_rest(asked.compress((at < 0) & (asked["causes"] > 0)), np.zeros(0, DID)))
    asked, at = asked.compress(at >= 0), at.compress(at >= 0)
    out, causes = places.where.mapped(), asked["causes"] > 0
    out["path"][asked["wait"][~causes]] = calls["path"][at[~causes]]
    _look_back(asked.compress(causes), at.compress(causes), calls, out, places.did)


def _look_back(asked: np.ndarray, at: np.ndarray, calls: np.ndarray, out: np.ndarray, did: Rows) -> None:
    """Find what a thread did between begin and end of each wait, going back from the calls `at`.

    Writes the longest activity of each wait to `out` (WHERE), and all activities to `did` (DID).
    """
    if not len(asked):
        return
    begin, end = asked["begin"], asked["end"]
    parts = [
        _part(asked, at, calls, IN_CALL, np.maximum(calls["enter"][at], begin), np.minimum(calls["over"][at], end))
    ]
    at = at.copy()
    open_ = np.arange(len(asked))
    for _ in range(MOST_CALLS):
        if not len(open_):
            break
        this, since, until = at[open_], begin[open_], end[open_]
        earlier = this > 0
        over = np.maximum(np.where(earlier, calls["over"][this - 1], since), since)
        enter = np.maximum(np.where(earlier, calls["enter"][this - 1], since), since)
        its = asked[open_]
        parts.append(_part(its, this, calls, COMPUTES, over, np.minimum(calls["enter"][this], until), earlier))
        parts.append(_part(its, this - earlier, calls, IN_CALL, enter, np.minimum(over, until)))
        at[open_] -= 1
        open_ = open_.compress(earlier & (enter > since))
    rows = _added(joined(parts, DID))
    best = _longest(rows)
    for name in ("before", "after", "call", "does", "ns"):
        out[name][best["wait"]] = best[name]
    did.append(rows)
    did.append(_rest(asked, rows))


def _part(
    asked: np.ndarray, at: np.ndarray, calls: np.ndarray, does: int, since: np.ndarray, until: np.ndarray,
    follows: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """Build a DID row of each question for one activity, from `since` until `until` (ns).

    The activity is the call `at` (IN_CALL), or the computing before that call (COMPUTES). `follows` is for computing:
    bool, True if there is an earlier call.
    """
    rows = np.zeros(len(asked), DID)
    rows["wait"], rows["does"], rows["ns"] = asked["wait"], does, until - since
    rows["after"], rows["call"] = calls["path"][at], calls["call"][at]
    if follows is not None:
        rows["before"] = np.where(follows, calls["path"][at - 1], 0)
    return rows.compress(rows["ns"] > 0)


_SAME = ("wait", "does", "before", "after", "call")


def _added(rows: np.ndarray) -> np.ndarray:
    """Add up DID rows of one wait that have the same activity."""
    if not len(rows):
        return rows
    rows = rows.take(np.lexsort([rows[name] for name in reversed(_SAME)]))
    first = np.flatnonzero(np.any([np.diff(rows[name], prepend=-1) != 0 for name in _SAME], axis=0))
    found = rows.take(first)
    found["ns"] = np.add.reduceat(rows["ns"], first)
    return found


def _longest(rows: np.ndarray) -> np.ndarray:
    """Find the longest activity of each wait (rows: DID)."""
    rows = rows.take(np.lexsort((-rows["ns"], rows["wait"])))
    return rows.compress(np.diff(rows["wait"], prepend=-1) != 0)


def _rest(asked: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Build DID rows of the unknown part of each wait: before the searched calls, or before the first call."""
    order = np.argsort(asked["wait"])
    rest = np.zeros(len(asked), DID)
    rest["wait"] = asked["wait"][order]
    known = by_index(np.searchsorted(rest["wait"], rows["wait"]), rows["ns"], len(rest))
    rest["ns"] = (asked["end"] - asked["begin"])[order] - known
    return rest.compress(rest["ns"] > 0)


class WaitTexts:
    """Texts for the places of waits and for their causes."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self.places = trace.extra(CallPaths).named()
        self._between = CallGaps(self.places)
        self.every: list[tuple[str, str]] = [("", "")]
        """Text of each cause, in full and in short, such as "computing x.c:3-9". Entry 0: not known."""
        self._numbers = {self.every[0]: 0}

    def chain(self, path: int) -> str:
        """Return the text of a place and its callers; empty: not known."""
        return self.places.chain(path) if path else ""

    def line(self, path: int) -> str:
        """Return file and line of a place, or its function if the line is not known; empty: nothing is known."""
        place = int(self.places.place[path])
        return (self.places.location(place) or self.places.text(place)) if place else ""

    def causes(self, rows: np.ndarray) -> np.ndarray:
        """Return for each cause (WHERE or DID rows) the index of its text in `every`."""
        stretch = self._between.numbers(rows["before"], rows["after"])
        spot = np.where(rows["does"] == COMPUTES, stretch, self.places.place[rows["after"]])
        width = np.int64(max(len(self._trace.procedures), 1))
        keys, which = np.unique((spot * width + rows["call"]) * 3 + rows["does"], return_inverse=True)
        found = [self._number(key // 3 // int(width), key // 3 % int(width), key % 3) for key in keys.tolist()]
        return np.array(found, np.int64)[which]

    def _number(self, spot: int, call: int, does: int) -> int:
        texts, procedure = ("", ""), self._trace.procedures[call]
        if does == COMPUTES and spot:
            stretch = self._between.every[spot]
            before = "" if stretch.kind is GapKind.BETWEEN else "before "
            short = f"computing {before}{stretch.where or stretch.text}"
            texts = computing_at(stretch, procedure), short
        elif does == IN_CALL and spot:
            text = self.places.text(spot)
            texts = call_at(procedure, text), f"{procedure} {self.places.location(spot) or text}"
        number = self._numbers.setdefault(texts, len(self.every))
        if number == len(self.every):
            self.every.append(texts)
        return number


def reasons(trace: Trace, found: WaitStates, places: WaitPlaces) -> tuple[WaitReason, ...]:
    """Sum waits by procedure, place and cause, the longest time first.

    A wait contributes to each activity that the thread that was waited for did during the wait, with the time of it.
    """
    said, lanes = WaitTexts(trace), found.search.lanes
    waits, where = found.rows.mapped(), places.where.mapped()
    sums: dict[tuple[int, int, int], dict[int, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for _, did in places.did.pieces():
        at = did["wait"]
        columns = (
            waits["call"][at],
            said.places.place[where["path"][at]],
            said.causes(did),
            lanes.rank[waits["cause"][at]],
        )
        keys, which = np.unique(np.stack(columns, axis=1).astype(np.int64), axis=0, return_inverse=True)
        times = by_index(which.ravel(), did["ns"], len(keys))
        counts = np.bincount(which.ravel(), minlength=len(keys))
        for (call, place, cause, rank), ns, count in zip(keys.tolist(), times.tolist(), counts.tolist(), strict=True):
            of_rank = sums[call, place, cause][rank]
            of_rank[0] += ns
            of_rank[1] += count
    rows_ = []
    for (call, place, cause), by_rank in sums.items():
        most = min(by_rank, key=lambda rank: (-by_rank[rank][0], rank))
        ns, count = (sum(of[k] for of in by_rank.values()) for k in (0, 1))
        text = said.places.text(place) if place else ""
        rows_.append(WaitReason(trace.procedures[call], text, said.every[cause][0], most, len(by_rank), count, ns))
    return tuple(sorted(rows_, key=lambda r: (-r.time_ns, r.procedure, r.place, r.cause)))
