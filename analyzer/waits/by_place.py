"""Where in the program waits are, and what was done where meanwhile by the thread that was waited for."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analyzer.columns.rows import Rows
from analyzer.columns.spill import Spill
from analyzer.pairing.call_paths import calls_with_paths
from analyzer.pairing.parts import window_of
from analyzer.places.between import Between, Kind
from analyzer.places.words import call_at, computing_at
from analyzer.trace import CallPaths, Trace
from analyzer.waits.find import Found

MOST_CALLS = 64
"""So many calls before the one that was waited for are looked at."""

COMPUTES, IN_CALL = 1, 2
"""What a thread mostly did; 0: not known."""

WHERE = np.dtype(
    [("path", "<i8"), ("before", "<i8"), ("after", "<i8"), ("call", "<i8"), ("does", "<i8"), ("ns", "<i8")]
)
"""Of a wait: the path of its call; what the thread that was waited for did longest meanwhile, and for how long: it
computed between calls from the paths `before` and `after`, of which the latter is of `call`; or it was in `call`, from
the path `after`."""

_ASKED = np.dtype(
    [("wait", "<i8"), ("time", "<i8"), ("begin", "<i8"), ("thread", "<i8"), ("causes", "<i8")]
)  # of a wait: which; when a call was entered; since when that is asked; whether it is the one that was waited for
_CALL = np.dtype([("enter", "<i8"), ("over", "<i8"), ("call", "<i8"), ("path", "<i8")])


@dataclass(frozen=True)
class Reason:
    """Waits in one call at one place, for others that did the same meanwhile; all ranks together."""

    procedure: str
    place: str  # of the wait
    cause: str  # "computing at smooth.c:40-61 in smooth before MPI_Send", "MPI_Recv at x.c:3 in f"; empty: not known
    rank: int  # that was waited for longest
    ranks: int  # that were waited for
    count: int
    time_ns: int


def wait_places(trace: Trace, found: Found) -> Rows | None:
    """WHERE of each wait that was found, in their order; None: the trace does not know its places.

    Each rank's calls are read once, window by window.
    """
    if not trace.extra(CallPaths).known:
        return None
    windows, where = trace.windows(), Rows.zeros(len(found.rows), WHERE)
    asked, ranks = _questions(found, windows)
    for rank in np.flatnonzero(ranks).tolist():
        _answer(trace, rank, asked, windows, where)
    asked.close()
    return where


def _questions(found: Found, windows: np.ndarray) -> tuple[Spill, np.ndarray]:
    """_ASKED by rank and window (rank x windows + window), of the calls that waited and those that were waited for; and
    which ranks (bool) are asked."""
    lanes, asked, count = found.search.lanes, Spill(_ASKED), len(windows) - 1
    ranks = np.zeros(found.search.trace.size, bool)
    for first, waits in found.rows.pieces():
        for causes, lane, time in ((0, "lane", "enter"), (1, "cause", "cause_enter")):
            rows = np.zeros(len(waits), _ASKED)
            rows["wait"], rows["time"], rows["begin"] = first + np.arange(len(waits)), waits[time], waits["enter"]
            rows["thread"], rows["causes"] = lanes.thread[waits[lane]], causes
            rank = lanes.rank[waits[lane]]
            asked.append_each(rank * count + window_of(windows, rows["time"]), rows)
            ranks[rank] = True
    return asked, ranks


def _answer(trace: Trace, rank: int, asked: Spill, windows: np.ndarray, where: Rows) -> None:
    """What is asked of the calls of one rank."""
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
            if thread in before:
                _answer_thread(questions.compress(questions["thread"] == thread), before[thread], where)
        where.forget()
        before = {thread: rows[-MOST_CALLS - 1 :] for thread, rows in before.items()}


def _answer_thread(asked: np.ndarray, calls: np.ndarray, where: Rows) -> None:
    """calls: _CALL of the thread, as far back as is looked."""
    at = np.searchsorted(calls["enter"], asked["time"], "right") - 1
    asked, at = asked.compress(at >= 0), at.compress(at >= 0)
    out, causes = where.mapped(), asked["causes"] > 0
    out["path"][asked["wait"][~causes]] = calls["path"][at[~causes]]
    _look_back(asked.compress(causes), at.compress(causes), calls, out)


def _look_back(asked: np.ndarray, at: np.ndarray, calls: np.ndarray, out: np.ndarray) -> None:
    """What was done longest between `begin` and the entry of the calls `at`."""
    best = np.zeros(len(asked), WHERE)
    open_ = np.arange(len(asked))
    for _ in range(MOST_CALLS):
        if not len(open_):
            break
        this, begin = at[open_], asked["begin"][open_]
        earlier = this > 0
        over = np.where(earlier, calls["over"][this - 1], begin)
        computed = calls["enter"][this] - np.maximum(over, begin)
        inside = np.where(earlier, over - np.maximum(calls["enter"][this - 1], begin), 0)
        path, last = calls["path"][this], np.where(earlier, calls["path"][this - 1], 0)
        _better(best, open_, computed, (last, path, calls["call"][this]), COMPUTES)
        _better(best, open_, inside, (0 * last, last, calls["call"][this - 1]), IN_CALL)
        at[open_] -= 1
        open_ = open_.compress(earlier & (np.where(earlier, calls["enter"][this - 1], begin) > begin))
    for name in ("before", "after", "call", "does", "ns"):
        out[name][asked["wait"]] = best[name]


def _better(best: np.ndarray, rows: np.ndarray, ns: np.ndarray, what: tuple[np.ndarray, ...], does: int) -> None:
    longer = ns > best["ns"][rows]
    rows = rows.compress(longer)
    for name, values in zip(("before", "after", "call", "ns"), (*what, ns), strict=True):
        best[name][rows] = values.compress(longer)
    best["does"][rows] = does


class Said:
    """Places of waits and of their causes in words."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self.places = trace.extra(CallPaths).named()
        self._between = Between(self.places)
        self.every: list[tuple[str, str]] = [("", "")]
        """What causes did, in full and with lines alone: "computing x.c:3-9"; the first: not known."""
        self._numbers = {self.every[0]: 0}

    def chain(self, path: int) -> str:
        """A place and its callers; empty: not known."""
        return self.places.chain(path) if path else ""

    def line(self, path: int) -> str:
        """The line of a place alone, as far as it is known."""
        place = int(self.places.place[path])
        return (self.places.where(place) or self.places.text(place)) if place else ""

    def causes(self, rows: np.ndarray) -> np.ndarray:
        """The number in `every` of what each of some causes (WHERE) did."""
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
            before = "" if stretch.kind is Kind.BETWEEN else "before "
            short = f"computing {before}{stretch.where or stretch.text}"
            texts = computing_at(stretch, procedure), short
        elif does == IN_CALL and spot:
            text = self.places.text(spot)
            texts = call_at(procedure, text), f"{procedure} {self.places.where(spot) or text}"
        number = self._numbers.setdefault(texts, len(self.every))
        if number == len(self.every):
            self.every.append(texts)
        return number


def reasons(trace: Trace, found: Found, where: Rows) -> tuple[Reason, ...]:
    """Waits by their places and by what was done meanwhile, those that take longest first."""
    said, lanes = Said(trace), found.search.lanes
    sums: dict[tuple[int, int, int], dict[int, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for (_, waits), (_, rows) in zip(found.rows.pieces(), where.pieces(), strict=True):
        columns = waits["call"], said.places.place[rows["path"]], said.causes(rows), lanes.rank[waits["cause"]]
        keys, which = np.unique(np.stack(columns, axis=1).astype(np.int64), axis=0, return_inverse=True)
        times = np.bincount(which.ravel(), waits["end"] - waits["enter"], len(keys)).astype(np.int64)
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
        rows_.append(Reason(trace.procedures[call], text, said.every[cause][0], most, len(by_rank), count, ns))
    return tuple(sorted(rows_, key=lambda r: (-r.time_ns, r.procedure, r.place, r.cause)))
