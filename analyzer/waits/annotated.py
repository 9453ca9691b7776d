"""A trace with its wait states as events for Paraver.

The value is the kind + 1 at the begin of a wait, and 0 at its end.
"""

from __future__ import annotations

import numpy as np

from analyzer.columns.spill import Spill
from analyzer.pairing.parts import window_of
from analyzer.parallel import Team
from analyzer.trace import EVENT, Trace
from analyzer.trace.annotated import Annotated
from analyzer.trace.paraver import EventType
from analyzer.waits.kinds import LABELS
from analyzer.waits.message_candidates import append_by_window
from analyzer.waits.threads import Lanes
from analyzer.waits.wait_states import WaitSearch

_LABELS = {
    int(EventType.WAIT_STATE): (
        "Wait state",
        {0: "No wait", **{value: label[0].upper() + label[1:] for value, label in enumerate(LABELS, start=1)}},
    )
}


class WithWaits(Annotated):
    """Trace with the events of its wait states, which are in a temporary file. Collective.

    The team shares the search; each member gets all events.
    """

    def __init__(self, trace: Trace, team: Team) -> None:
        self._spill, self._bounds = Spill(EVENT), trace.windows()
        search = WaitSearch(trace, team)
        cpus = _cpus(trace, search.lanes)
        for part in search.parts():
            events = _events(np.concatenate(team.allgather(part)), search.lanes, cpus)
            append_by_window(self._spill, events, events["time"], self._bounds)
        super().__init__(trace, _LABELS, self._between)

    def _between(self, begin: int, end: int) -> np.ndarray:
        first, last = window_of(self._bounds, np.array([begin, max(end - 1, begin)])).tolist()
        rows = np.concatenate([self._spill.read(window) for window in range(first, last + 1)])
        rows = rows[(rows["time"] >= begin) & (rows["time"] < end)]
        # Where a wait begins at the time when another wait of the thread ends, the end comes first.
        return rows[np.lexsort((rows["value"] > 0, rows["thread"], rows["rank"], rows["time"]))]


def _events(waits: np.ndarray, lanes: Lanes, cpus: np.ndarray) -> np.ndarray:
    """Build the events (EVENT) at the begins and ends of waits (WAIT). Waits of length 0 have none."""
    waits = waits[waits["end"] > waits["enter"]]
    found = np.zeros((len(waits), 2), EVENT)
    found["time"][:, 0], found["time"][:, 1] = waits["enter"], waits["end"]
    found["value"][:, 0] = waits["kind"] + 1
    found["type"] = EventType.WAIT_STATE
    lane = waits["lane"]
    for column, values in (("rank", lanes.rank[lane]), ("thread", lanes.thread[lane]), ("cpu", cpus[lane])):
        found[column] = values[:, None]
    return found.ravel()


def _cpus(trace: Trace, lanes: Lanes) -> np.ndarray:
    """Return the CPU on which each thread is seen first, from 1; 0: unknown."""
    found = np.zeros(len(lanes), np.int64)
    begin, end = trace.windows()[:2].tolist()
    states = trace.states(begin, end)[::-1]
    found[lanes.lane_numbers(states["rank"], states["thread"])] = states["cpu"]
    return found
