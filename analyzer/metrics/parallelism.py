"""The parallelism profile of a run: the number of threads that compute at each instant.

Source: "Dimemas specification", sections 1.16.2 (parallelism profile) and 3.1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from analyzer.in_notebook import InNotebook
from analyzer.metrics.callers import CallerSums
from analyzer.metrics.sums import add_up
from analyzer.pairing.call_paths import calls_with_paths
from analyzer.parallel import Team
from analyzer.trace import CallPaths, Losses, State, Trace
from analyzer.trace.at_places import AtPlaces
from analyzer.trace.trace import check_computing

COMPUTING, MESSAGES, COLLECTIVES, QUEUE = "computing", "messages", "collectives", "queue"
"""Names of the series of a parallelism profile.

COMPUTING, MESSAGES, COLLECTIVES: number of threads that compute, are in calls of messages, or are in collectives.
QUEUE: number of messages that wait for links, in a prediction.
"""

STATES = {
    COMPUTING: (State.RUNNING,),
    MESSAGES: (
        State.WAITING_MESSAGE, State.BLOCKING_SEND, State.TEST_PROBE, State.WAIT, State.IMMEDIATE_SEND,
        State.IMMEDIATE_RECEIVE, State.SEND_RECEIVE,
    ),
    COLLECTIVES: (State.SYNCHRONIZATION, State.GROUP_COMMUNICATION),
}  # fmt: skip
LOW = 0.5
"""A dip is where fewer threads compute than this share of the mean number."""


@dataclass(frozen=True)
class ParallelismDip:
    """Stretch of time in which few threads compute: fewer than LOW (0.5) of the mean number."""

    begin_ns: int
    end_ns: int
    computing: float  # mean number of threads that compute
    mostly: str  # MESSAGES or COLLECTIVES, in which more of the other threads are; "": in neither
    lost_ns: float  # computing time in ns, all threads together, that is less than with the mean number
    place: str = ""  # place whose calls hold most of the other threads; empty: not known


@dataclass(frozen=True)
class Parallelism(InNotebook):
    """Mean number of threads in each bin of time that compute, or are in some kind of calls.

    The means are exact but for rounding to float64. The last bin may be shorter than the others.
    """

    end_ns: int
    width_ns: int  # width of a bin in ns
    threads: int
    series: dict[str, np.ndarray]  # mean number of threads in each bin, float64 (bins,), by name of the series
    places: tuple[str, ...] = ()  # names of the series that count threads in calls from one place

    @property
    def edges(self) -> np.ndarray:
        """Return the begins of the bins, and the end of the last bin: int64 of shape (bins + 1,), ns."""
        bins = len(self.series[COMPUTING])
        return np.minimum(np.arange(bins + 1, dtype=np.int64) * self.width_ns, self.end_ns)

    def mean(self, name: str = COMPUTING) -> float:
        """Return the mean of a series over the whole run: a number of threads."""
        return float((self.series[name] * np.diff(self.edges)).sum()) / self.end_ns if self.end_ns else 0.0

    @property
    def utilisation(self) -> float:
        """Return the mean number of threads that compute, divided by the number of all threads."""
        return self.mean() / self.threads if self.threads else 0.0

    def dips(self, most: int = 5) -> list[ParallelismDip]:
        """Find the dips, in which fewer than LOW (0.5) of the mean number of threads compute.

        Returns:
            The `most` dips that lose most computing time, in order of time.
        """
        computing, edges, mean = self.series[COMPUTING], self.edges, self.mean()
        low = np.concatenate([[False], computing < LOW * mean, [False]])
        spans = np.flatnonzero(np.diff(low)).reshape(-1, 2).tolist()
        found = [self._dip(first, last, edges, mean) for first, last in spans]
        worst = sorted(found, key=lambda dip: -dip.lost_ns)[:most]
        return sorted(worst, key=lambda dip: dip.begin_ns)

    def _dip(self, first: int, last: int, edges: np.ndarray, mean: float) -> ParallelismDip:
        widths = np.diff(edges[first : last + 1])
        area = {name: float((self.series[name][first:last] * widths).sum()) for name in (*STATES, *self.places)}
        length = int(widths.sum())
        other = max((MESSAGES, COLLECTIVES), key=area.__getitem__)
        place = max(self.places, key=area.__getitem__, default="")
        return ParallelismDip(
            int(edges[first]), int(edges[last]), area[COMPUTING] / length, other if area[other] else "",
            mean * length - area[COMPUTING], place if place and area[place] else "",
        )  # fmt: skip


class CountBins:
    """Number of intervals over time, in bins of one width.

    Only changes of the number are stored: two for each interval.
    """

    def __init__(self, end_ns: int, bins: int) -> None:
        self.end_ns = end_ns
        self.width_ns = max(-(-end_ns // bins), 1)
        self.count = max(-(-end_ns // self.width_ns), 1)
        self.change, self.area = np.zeros(self.count, np.int64), np.zeros(self.count, np.int64)

    def add(self, begin: np.ndarray, end: np.ndarray) -> None:
        """Add intervals from `begin` to `end` (ns, int64 of one length)."""
        for times, sign in ((begin, 1), (end, -1)):
            at = times // self.width_ns
            inside = at < self.count
            at, times = at[inside], times[inside]
            np.add.at(self.change, at, sign)
            np.add.at(self.area, at, sign * ((at + 1) * self.width_ns - times))


def means(change: np.ndarray, area: np.ndarray, width_ns: int, end_ns: int) -> np.ndarray:
    """Compute the mean number of intervals in each bin, from `change` and `area` of CountBins."""
    before = np.cumsum(change) - change
    whole = before * width_ns + area
    widths = np.full(len(change), width_ns, np.int64)
    widths[-1] = max(end_ns - (len(change) - 1) * width_ns, 1)
    whole[-1] -= (before[-1] + change[-1]) * (width_ns - widths[-1])  # the part of the bin behind the end
    return whole / widths


def at_places(
    found: Parallelism, trace: Trace, team: Team, chosen: np.ndarray | None = None, most: int = 10
) -> Parallelism:
    """Add series for the places in whose calls threads spend most time. Collective.

    Args:
        found: The profile of the run.
        trace: The trace; it must know call paths.
        team: The processes that share the work.
        chosen: bool, one for each row of CallPaths.tables: only these calls count. None: all.
        most: Maximum number of places.
    """
    some = trace if chosen is None else AtPlaces(trace, chosen)
    places, bins = trace.extra(CallPaths).named(), len(found.series[COMPUTING])
    rows = add_up(some, team, CallerSums(some)).rows
    ns = np.bincount(places.place[rows["path"]], rows["inside"], len(places))
    shown = [int(place) for place in np.argsort(-ns, kind="stable")[:most] if place and ns[place]]
    number = np.full(len(places), -1)
    number[shown] = np.arange(len(shown))
    counted = [CountBins(found.end_ns, bins) for _ in shown]
    for rank in trace.share(team):
        for calls, paths in calls_with_paths(some, rank):
            of = number[places.place[paths]]
            for k in np.unique(of[of >= 0]).tolist():
                mine = calls.compress(of == k)
                counted[k].add(mine["enter"], mine["enter"] + mine["inside"])
    series = dict(found.series)
    for place, one in zip(shown, counted, strict=True):
        change, area = (team.total(part) for part in (one.change, one.area))
        series[places.text(place)] = means(change, area, one.width_ns, found.end_ns)
    return replace(found, series=series, places=tuple(map(places.text, shown)))


def parallelism(trace: Trace, team: Team, bins: int) -> Parallelism:
    """Compute the parallelism profile of a run from the states of its threads. Collective.

    Args:
        trace: The trace.
        team: The processes that share the work.
        bins: Number of bins of equal width into which the run is divided; rounding may leave fewer.

    Raises:
        TracelibError: The trace has no states.
    """
    check_computing(trace)
    found = {name: CountBins(trace.duration_ns, bins) for name in STATES}
    ranks = trace.share(team)
    for begin, end in pairwise(trace.windows().tolist() if len(ranks) else []):
        states = trace.states(begin, end, ranks)
        for name, of in STATES.items():
            mine = states[np.isin(states["state"], of)]
            found[name].add(mine["begin"], mine["end"])
    series = {}
    for name, counted in found.items():
        change, area = (team.total(part) for part in (counted.change, counted.area))
        series[name] = means(change, area, counted.width_ns, trace.duration_ns)
    threads = int(np.delete(trace.threads, list(trace.extra(Losses).missing)).sum())
    return Parallelism(trace.duration_ns, found[COMPUTING].width_ns, threads, series)
