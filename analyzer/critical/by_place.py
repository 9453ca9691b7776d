"""The critical path by places of the program: calls on the path, and computing between two calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analyzer.columns.arrays import joined
from analyzer.critical.activities import PathTimeBefore, ThreadActivities, pieces_of
from analyzer.critical.path import CriticalPath
from analyzer.pairing.call_paths import paths_of_calls
from analyzer.places.call_gaps import CallGap, CallGaps
from analyzer.places.phrases import call_at, computing_at, known_text
from analyzer.trace import CallPaths, Trace

ON_PATH = np.dtype([("before", "<i8"), ("path", "<i8"), ("call", "<i8"), ("inside", "<i8"), ("ahead", "<i8")])
"""Time on the path of calls of one procedure from one call path that follow calls from the path `before`.

`path` and `before` are rows of CallPaths.tables. `inside`: ns in the calls. `ahead`: ns of computing before the calls.
"""


@dataclass(frozen=True)
class PlaceShare:
    """Time in ns on the critical path of calls at one place, or of the computing between two places.

    `text` names it.
    """

    text: str
    ns: int
    procedure: str  # the call, or the call after the computing; empty: computing after the last call
    path: int  # row of its path in CallPaths.tables; 0: not known
    stretch: CallGap | None  # between which places the thread computes; None: it is a call


def place_shares(trace: Trace, path: CriticalPath, chosen: np.ndarray | None = None) -> list[PlaceShare]:
    """Sum the critical path by place, the longest time first. Empty: the trace does not know call paths.

    Time that is not the program's (the tracer's, or not recorded) is left out.

    Args:
        trace: The trace.
        path: The critical path of the trace.
        chosen: bool, one for each row of CallPaths.tables: only these calls, and the computing before and after them,
            count. None: all.
    """
    if not trace.extra(CallPaths).known:
        return []
    rows = added(joined(list(_on_path(trace, path)), ON_PATH))
    if chosen is not None:
        rows["inside"] *= chosen[rows["path"]]
        rows["ahead"] *= chosen[rows["path"]] | chosen[rows["before"]]
    return _named(rows, trace)


def _on_path(trace: Trace, path: CriticalPath) -> Iterator[np.ndarray]:
    """Yield ON_PATH rows of each thread, piece by piece."""
    nodes, functions = path.nodes, ThreadActivities(trace)
    for thread, stays in path.stays.items():
        whole, rank, number = nodes.whole(thread), int(nodes.rank[thread]), int(nodes.thread[thread])
        before = PathTimeBefore(stays)
        last, open_ns, begin = 0, 0, 0 if number == 0 else int(whole["enter"][0])
        for first, did in pieces_of(functions, whole, begin):
            held, enter, exit_ = (before.until(times) for times in (did.held, did.enter, did.exit))
            computing = np.where(did.ahead == functions.launch, 0, enter - held)
            of_nodes = whole["call"][first : first + len(enter)]
            is_call = np.flatnonzero(of_nodes >= 0)
            until = np.cumsum(computing)
            if not len(is_call):
                open_ns += int(until[-1])
                continue
            rows = np.zeros(len(is_call), ON_PATH)
            rows["call"], rows["inside"] = of_nodes[is_call], (exit_ - enter)[is_call]
            rows["ahead"] = np.diff(until[is_call], prepend=0)
            rows["ahead"][0] += open_ns
            open_ns = int(until[-1] - until[is_call[-1]])
            on_path = (rows["inside"] > 0) | (rows["ahead"] > 0)
            asked = is_call if on_path.any() else is_call[-1:]
            paths = paths_of_calls(trace, rank, number, did.enter[asked])
            if on_path.any():
                rows["before"], rows["path"] = np.append(last, paths[:-1]), paths
                yield added(rows[on_path])
            last = int(paths[-1])
            path.forget()
        if open_ns:
            yield np.array([(last, 0, -1, 0, open_ns)], ON_PATH)


def added(rows: np.ndarray) -> np.ndarray:
    """Add up ON_PATH rows that have the same paths and procedure."""
    if not len(rows):
        return rows
    rows = rows.take(np.lexsort((rows["call"], rows["path"], rows["before"])))
    new = np.any([np.diff(rows[name], prepend=-2) != 0 for name in ("before", "path", "call")], axis=0)
    first = np.flatnonzero(new)
    found = rows.take(first)
    for name in ("inside", "ahead"):
        found[name] = np.add.reduceat(rows[name], first)
    return found


def _named(rows: np.ndarray, trace: Trace) -> list[PlaceShare]:
    """Name rows, and add up rows that have the same name."""
    places = trace.extra(CallPaths).named()
    between = CallGaps(places)
    stretches = between.numbers(rows["before"], rows["path"])
    found: dict[str, PlaceShare] = {}
    columns = (rows["path"], rows["call"], rows["inside"], rows["ahead"], stretches)
    for path, call, inside, ahead, number in zip(*(column.tolist() for column in columns), strict=True):
        procedure, stretch = trace.procedures[call] if call >= 0 else "", between.every[number]
        named = (
            (call_at(procedure, known_text(places, path)), inside, None),
            (computing_at(stretch, procedure), ahead, stretch),
        )
        for text, ns, of in named:
            if ns:
                ns += found[text].ns if text in found else 0
                found[text] = PlaceShare(text, ns, procedure, path, of)
    return sorted(found.values(), key=lambda share: (-share.ns, share.text))


class ThreadPlaces:
    """Finder of the place where a thread is longest during one activity."""

    def __init__(self, trace: Trace) -> None:
        self._trace, self._known = trace, trace.extra(CallPaths).known
        self._between: CallGaps | None = None

    def mostly(self, rows: np.ndarray, own: slice, ns: np.ndarray, stream: tuple[int, int], *, computes: bool) -> str:
        """Return the main place of an activity, such as "at exchange.c:212 in exchange"; empty: not known.

        Args:
            rows: Nodes of a thread (NODE) around the nodes that count.
            own: The nodes that count, as a slice of `rows`.
            ns: Time of the activity in or before each of the nodes that count.
            stream: Rank, and thread within the rank.
            computes: True: the activity is computing before the nodes. False: it is in the calls.
        """
        is_call = np.flatnonzero(rows["call"] >= 0)
        nodes = np.arange(len(rows))[own]
        if not self._known or not len(is_call) or not ns.any():
            return ""
        self._between = self._between or CallGaps(self._trace.extra(CallPaths).named())
        paths = np.append(paths_of_calls(self._trace, *stream, rows["enter"][is_call]), 0)
        after = np.searchsorted(is_call, nodes)
        numbers = (
            self._between.numbers(paths[after - 1], paths[after])  # -1: the nothing at the end
            if computes
            else self._between.places.place[paths[after]]
        )
        most = int(np.bincount(numbers, ns).argmax())
        if not computes:
            return f"at {self._between.places.text(most)}" if most else ""
        first = int(after[numbers == most][0])
        next_ = self._trace.procedures[rows["call"][is_call[first]]] if first < len(is_call) else ""
        return computing_at(self._between.every[most], next_).removeprefix("computing").strip() if most else ""
