"""The critical path by the places in the program: which calls stand on it, and the computing between which."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analyzer.columns.arrays import joined
from analyzer.critical.activities import Before, ThreadActivities, pieces_of
from analyzer.critical.path import CriticalPath
from analyzer.pairing.call_paths import paths_of_calls
from analyzer.places.call_gaps import CallGap, CallGaps
from analyzer.places.phrases import call_at, computing_at, known_text
from analyzer.trace import CallPaths, Trace

ON_PATH = np.dtype([("before", "<i8"), ("path", "<i8"), ("call", "<i8"), ("inside", "<i8"), ("ahead", "<i8")])
"""Calls of one procedure from one path (row of CallPaths.tables), that came after calls from the path `before`: ns of
the critical path inside them, and in the computing before them."""


@dataclass(frozen=True)
class PlaceShare:
    """A call at a place, or computing between two calls, with its ns on the path. `place` as it is shown."""

    text: str
    ns: int
    procedure: str  # the call, or the one that the computing is before; empty: it is after the last one
    path: int  # its row in CallPaths.tables; 0: not known
    stretch: CallGap | None  # of computing; None: it is a call


def place_shares(trace: Trace, path: CriticalPath, chosen: np.ndarray | None = None) -> list[PlaceShare]:
    """What the critical path consists of, by place, the longest first. Empty: the trace does not know its places.

    chosen (bool by row of CallPaths.tables): only these calls, and the computing before and after them.

    What is not the program's (the tracer's time, times in which nothing was recorded) is in no row.
    """
    if not trace.extra(CallPaths).known:
        return []
    rows = added(joined(list(_on_path(trace, path)), ON_PATH))
    if chosen is not None:
        rows["inside"] *= chosen[rows["path"]]
        rows["ahead"] *= chosen[rows["path"]] | chosen[rows["before"]]
    return _named(rows, trace)


def _on_path(trace: Trace, path: CriticalPath) -> Iterator[np.ndarray]:
    """ON_PATH of each thread, piece by piece."""
    nodes, functions = path.nodes, ThreadActivities(trace)
    for thread, stays in path.stays.items():
        whole, rank, number = nodes.whole(thread), int(nodes.rank[thread]), int(nodes.thread[thread])
        before = Before(stays)
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
    """Rows of the same paths and procedure as one."""
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
    """Rows that have the same name are one."""
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


class Whereabouts:
    """Where a thread mostly is while it does one thing."""

    def __init__(self, trace: Trace) -> None:
        self._trace, self._known = trace, trace.extra(CallPaths).known
        self._between: CallGaps | None = None

    def mostly(self, rows: np.ndarray, own: slice, ns: np.ndarray, stream: tuple[int, int], *, computes: bool) -> str:
        """`at exchange.c:212 in exchange`; empty: not known.

        rows: NODE of a thread around some of its nodes, `own`, in or before each of which it is for so many ns; stream:
        rank and thread; computes: it computes before them, else it is in the calls that they are.
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
