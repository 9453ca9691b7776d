"""What delays cost: each wait state charged to what made its cause late, directly and by way of other waits.

Source: Böhme et al. (see the package), sections on delay costs. For a wait of w ns the two threads are compared over
the time since they were last in step: since a message between them (or between root and member of a collective), or a
collective of both that nobody leaves before all have come, when the first of the two went on. d(a) is by how much
longer the cause did activity a (compute in a region, spend time in an MPI call; waiting apart), t(v) how long it waited
in wait v. With S = sum of d and t, activity a is charged w d(a) / S: the direct cost. Wait v is charged w t(v) / S and
hands it on to its own causes, together with what is charged to w itself: the indirect cost. So the costs of all delays
add up to all waiting. A cause that did nothing longer is charged by what it did while the other waited.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.sources.spill import Spill
from analyzer.trace import Trace
from analyzer.waits.kinds import length
from analyzer.waits.lanes import Lanes, window_of
from analyzer.waits.paths import Paths
from analyzer.waits.rows import Rows
from analyzer.waits.segments import Segments
from analyzer.waits.syncs import QUESTION, SYNC, LastSyncs

DELAY_WAIT = np.dtype(
    [("enter", "<i8"), ("end", "<i8"), ("cause_enter", "<i8"), ("since", "<i8"), ("place", "<i8"),
      ("lane", "<i4"), ("cause", "<i4")]
)  # fmt: skip
"""`struct delay_wait` of the kernel."""

_PIECE = 1 << 18


@dataclass(frozen=True)
class Costs:
    """What delays cost in ns.

    `by_lane` is float64 of shape (lanes, activities, 2), direct and indirect; `activities` (activities, 2) path and
    what is done there (`Activities.table`). Of each wait, in the order given: `indirect` is the part of it that is due
    to waits of its cause, `caused` what it causes later.
    """

    by_lane: np.ndarray
    activities: np.ndarray
    indirect: np.ndarray
    caused: np.ndarray


def delay_costs(
    trace: Trace, lanes: Lanes, windows: np.ndarray, waits: np.ndarray, syncs: Spill, paths: Paths
) -> Costs:
    """Costs of the delays behind `waits` (WAIT, by lane and time). `syncs` has SYNC by the window of their key."""
    segments = Segments(trace)
    for rank in range(trace.size):
        low, high = np.searchsorted(waits["lane"], [lanes.first[rank], lanes.first[rank + 1]])
        segments.add_rank(rank, waits[low:high], paths.changes(rank))
    rows = _rows(waits)
    _find_last_syncs(rows, windows, syncs, np.array(segments.start))
    return _costs(segments, lanes, waits, rows)


def _rows(waits: np.ndarray) -> np.ndarray:
    """DELAY_WAIT in order of their end."""
    order = np.lexsort((waits["exit"], waits["end"]))
    file = Rows(DELAY_WAIT)
    for first in range(0, len(order), _PIECE):
        place = order[first : first + _PIECE]
        rows = np.zeros(len(place), DELAY_WAIT)
        for column in ("enter", "end", "cause_enter", "lane", "cause"):
            rows[column] = waits[column][place]
        rows["place"] = place
        file.append(rows)
    return file.mapped()


def _find_last_syncs(rows: np.ndarray, windows: np.ndarray, syncs: Spill, starts: np.ndarray) -> None:
    """Fill in since when each pair is compared; rows (DELAY_WAIT) are in order of `end`."""
    last = LastSyncs(starts)
    edges = np.searchsorted(window_of(windows, rows["end"]), np.arange(len(windows)))
    for window in range(len(windows) - 1):
        mine = rows[edges[window] : edges[window + 1]]
        questions = np.zeros(len(mine), SYNC)
        questions["key"], questions["lane"], questions["other"] = mine["end"], mine["lane"], mine["cause"]
        questions["what"] = QUESTION
        questions["comm"] = np.arange(len(mine))  # which one it is, since answers come in order of key
        answers = last.feed(np.concatenate([syncs.read(window), questions]))
        mine["since"][answers["comm"]] = answers["time"]


def _costs(segments: Segments, lanes: Lanes, waits: np.ndarray, rows: np.ndarray) -> Costs:
    table = segments.activities.table()
    by_lane = np.zeros((len(lanes), len(table), 2))
    indirect, caused = np.zeros(len(rows)), np.zeros(len(rows))
    arrays = {
        "segments": segments.rows.mapped(),
        "segment_first": np.array(segments.first, np.int64),
        "place_first": np.searchsorted(waits["lane"], np.arange(len(lanes) + 1)).astype(np.int64),
        "entered": np.ascontiguousarray(waits["enter"]),
        "waited_before": np.concatenate(([0], np.cumsum(length(waits)))),
    }
    tables = ffi.new("struct delay_tables *", {"lanes": len(lanes), "activities": len(table)})
    for name, array in arrays.items():
        kind = "struct delay_segment *" if name == "segments" else "int64_t *"
        setattr(tables, name, ffi.cast(kind, array.ctypes.data))
    pointers = (ffi.cast("double *", array.ctypes.data) for array in (by_lane, indirect, caused))
    if lib.delays_costs(tables, ffi.cast("struct delay_wait *", rows.ctypes.data), len(rows), *pointers):
        raise MemoryError
    found = Costs(by_lane, table, np.empty(len(rows)), np.empty(len(rows)))
    found.indirect[rows["place"]], found.caused[rows["place"]] = indirect, caused
    return found
