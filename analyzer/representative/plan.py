"""Counters that cannot be read together, each in an iteration of its own: the plan, and what it says of the whole run.

Source: M. Casas, "Spectral analysis of executions" (2009), section 5.5: run t_init + m T only, read counter j in
[t_init + (j - 1) T, t_init + j T], extrapolate. The thesis prints no formula: here G_j = c_j N / n_j, with the number N
of iterations and the n_j of them in which the counter was read; where iterations are not known, lengths in time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.burst_clusters.bursts import bursts
from analyzer.errors import TracelibError
from analyzer.parallel import Team
from analyzer.replay.section import section_bounds
from analyzer.representative.series import TIME, series_of_run
from analyzer.representative.subset import representative
from analyzer.structure.calls.ranks import loop_of
from analyzer.structure.calls.sequence import sequence_of
from analyzer.trace import Counters, Trace
from tracelib.schema import COUNTER_SET_TYPE
from tracelib.schema.procedures import BLOCKING_COLLECTIVES, base_name

STEPS = 1 << 13
"""Steps of the series in which the period of a run is looked for."""
_ALIKE = 0.25
"""An iteration is like the others if it lasts as long as the median within this share."""


@dataclass(frozen=True)
class Plan:
    """Set j (from 0) of `sets` is read from moments[j] to moments[j + 1]; times are ns after MPI_Init.

    collectives: the same as numbers of blocking collectives over MPI_COMM_WORLD, where each period has equally many.
    """

    sets: tuple[str, ...]
    moments_ns: tuple[int, ...]
    collectives: tuple[int, ...] | None
    period_ns: int
    length_ns: int  # of the run, between MPI_Init and MPI_Finalize

    @property
    def init_ns(self) -> int:
        """t_init: when the first set's turn begins."""
        return self.moments_ns[0]

    @property
    def needed_ns(self) -> int:
        """How long the program has to run for it: t_init + m T."""
        return self.moments_ns[-1]

    @property
    def cost_ratio(self) -> float:
        """Of one whole run for each set to this."""
        return len(self.sets) * self.length_ns / self.needed_ns

    def schedule(self) -> str:
        """The file of TRACELIB_ROTATE=file:PATH. Before the first turn the last set is read, after the last the first,
        so that each turn begins with a change."""
        turns = [len(self.sets), *range(1, len(self.sets) + 1), 1]
        at = ["start", *(self._moment(k) for k in range(len(self.moments_ns)))]
        what = [f"iteration {k}: {name}" for k, name in enumerate(self.sets, 1)]
        what = ["before the iterations", *what, "after them"]
        rows = [f"*  {moment:<18} {turn}  # {said}" for moment, turn, said in zip(at, turns, what, strict=True)]
        return "\n".join([f'# TRACELIB_COUNTERS="{";".join(self.sets)}"', *rows]) + "\n"

    def _moment(self, number: int) -> str:
        if self.collectives is not None:
            return f"collectives:{self.collectives[number]}"
        return f"{max(round(self.moments_ns[number] / 1000), 1)}us"


def plan(trace: Trace, team: Team, sets: tuple[str, ...], steps: int = STEPS) -> Plan:
    """From a run of the same program, whatever was counted in it: its iterations, as rank 0's calls show them, else by
    the period of its computing time.

    Raises TracelibError where nothing repeats, or fewer iterations in a row are alike than there are sets. Collective
    over the team.
    """
    begin, end = section_bounds(trace, team)
    first, last = int(begin.min()), int(end.max())
    if last <= first:
        raise TracelibError(f"{trace.path}: nothing lies between MPI_Init and MPI_Finalize")
    edges = team.bcast(_passes(trace) if team.rank == 0 else None)
    if edges is None:
        edges = _periods(trace, first, last, steps)
    at = _first_alike(np.diff(edges), len(sets))
    if at is None:
        raise TracelibError(f"{trace.path} has fewer iterations in a row that are alike than sets of counters")
    moments = edges[at : at + len(sets) + 1]
    counts = team.bcast(_collectives(trace, moments) if team.rank == 0 else None)
    steady = counts[0] > 0 and counts[1] > counts[0] and len(set(np.diff(counts).tolist())) == 1
    return Plan(
        sets,
        tuple((moments - first).tolist()),
        tuple(counts) if steady else None,
        round(float(np.median(np.diff(edges)))),
        last - first,
    )


def _passes(trace: Trace) -> np.ndarray | None:
    """When rank 0 begins each pass of its outermost loop, and ends the last one (ns); None: it has no loop."""
    calls = sequence_of(trace, 0)
    loop = loop_of(calls)
    if loop is None:
        return None
    ends = calls.left[loop.end] if loop.end < len(calls) else calls.exit[-1]
    return np.append(calls.left[loop.begins], ends).astype(np.int64)


def _periods(trace: Trace, first: int, last: int, steps: int) -> np.ndarray:
    """Edges of the periods of the computing time of all threads."""
    series = series_of_run(trace, first, last, steps)
    found = representative(series.columns[TIME])
    if found is None:
        raise TracelibError(f"{trace.path} has no iterations: its counters need a whole run each")
    edges = np.arange(found.start % found.period.samples, len(series) + 0.5, found.period.samples)
    return np.rint(edges * series.step).astype(np.int64) + first


def _first_alike(lengths: np.ndarray, number: int) -> int | None:
    """The first of so many iterations in a row that last as long as the median does; the very first is often slower,
    and is taken only where there is no other."""
    if len(lengths) < number:
        return None
    good = np.abs(lengths - np.median(lengths)) <= _ALIKE * np.median(lengths)
    runs = np.convolve(good, np.ones(number), "valid") > number - 0.5
    later = runs.copy()
    later[0] = False
    chosen = later if later.any() else runs
    return int(chosen.argmax()) if chosen.any() else None


def _collectives(trace: Trace, times: np.ndarray) -> list[int]:
    """Blocking collectives over MPI_COMM_WORLD that rank 0 has left before each time."""
    names = [base_name(name) in BLOCKING_COLLECTIVES for name in trace.procedures]
    world = [k for k, of in enumerate(trace.communicators) if of.name == "MPI_COMM_WORLD"]
    exits = [np.zeros(0, np.int64)]
    for block in trace.calls(0):
        chosen = np.isin(block["call"], np.flatnonzero(names)) & np.isin(block["comm"], world)
        exits.append(block["exit"][chosen])
    return np.searchsorted(np.sort(np.concatenate(exits)), times, side="right").tolist()


@dataclass(frozen=True)
class Estimate:
    """A counter of a run that followed a plan: what it says of the whole run, beside a run that counted it throughout
    (None: there is none)."""

    counter: str
    counted: float  # c_j
    read_ns: float  # for how long, the mean over ranks
    share: float  # n_j / N: of the iterations, or of the time, that in which it was read
    full: float | None

    @property
    def estimated(self) -> float:
        """Of the whole run."""
        return self.counted / self.share

    @property
    def error(self) -> float | None:
        return None if not self.full else abs(self.estimated - self.full) / self.full


@dataclass(frozen=True)
class Estimates:
    counters: tuple[Estimate, ...]
    length_ns: int
    needed_ns: int  # from the end of MPI_Init until all sets had had their turn
    iterations: int | None  # N; None: they are not known, shares are of the time
    runs: int  # that reading each set throughout would take

    @property
    def cost_ratio(self) -> float:
        return self.runs * self.length_ns / self.needed_ns


def estimates(trace: Trace, team: Team, full: dict[str, float]) -> Estimates:
    """Of a run that followed a plan. full: totals of counters, as `totals` has them, of runs that counted throughout.

    Raises TracelibError where its sets did not take turns. Collective over the team.
    """
    begin, end = section_bounds(trace, team)
    first, last = int(begin.min()), int(end.max())
    turns = _turns(trace)
    if not turns:
        raise TracelibError(f"{trace.path}: its sets of counters did not take turns", "use TRACELIB_ROTATE=file:PLAN")
    names = tuple(c.name for c in trace.extra(Counters).known if not c.whole)
    sums, read = _counted(trace, team, names, turns)
    edges = team.bcast(_passes(trace) if team.rank == 0 else None)
    shares = _shares(read, edges, last - first)
    found = tuple(
        Estimate(name, float(c), float(np.diff(lasted, axis=0).mean()), float(share), full.get(name))
        for name, c, lasted, share in zip(names, sums, read, shares, strict=True)
        if share > 0
    )
    done = max(stop for of in turns.values() for _, _, stop in of)
    iterations = None if edges is None else len(edges) - 1
    return Estimates(found, last - first, done - first, iterations, len(next(iter(turns.values()))))


def _shares(read: np.ndarray, edges: np.ndarray | None, length_ns: int) -> np.ndarray:
    """Of each counter the share of rank 0's iterations, or without them of the time, in which it was read."""
    if edges is None:
        return np.diff(read, axis=1)[:, 0].mean(axis=1) / length_ns
    passed = np.interp(read[:, :, 0], edges, np.arange(len(edges), dtype=float))
    return np.diff(passed, axis=1)[:, 0] / (len(edges) - 1)


def totals(trace: Trace, team: Team) -> dict[str, float]:
    """What all bursts between MPI_Init and MPI_Finalize counted, by the name of the counter. Collective."""
    begin, end = section_bounds(trace, team)
    names = tuple(counter.name for counter in trace.extra(Counters).known)
    sums = np.zeros(1 + len(names))
    for found in bursts(trace, trace.share(team), names):
        rank = found.states["rank"]
        inside = (found.states["begin"] >= begin[rank]) & (found.states["begin"] < end[rank])
        sums += np.nan_to_num(found.values[inside]).sum(axis=0)
    total = np.sum(team.allgather(sums), axis=0)
    return dict(zip(names, total[1:].tolist(), strict=True))


def _turns(trace: Trace) -> dict[int, list[tuple[int, int, int]]]:
    """Of each rank the turns of a plan in order: (set, begin, end). The last change is that back to the first set, the
    one to it before that begins the plan."""
    found: dict[int, list[tuple[int, int, int]]] = {}
    events = trace.events()
    events = events[events["type"] == COUNTER_SET_TYPE]
    for rank in range(trace.size):
        mine = events[(events["rank"] == rank) & (events["thread"] == 0)]
        values, times = mine["value"].tolist(), mine["time"].tolist()
        lowest = min(values, default=0)
        changes = [k for k, value in enumerate(values) if value == lowest]
        if len(changes) < 2:
            return {}
        found[rank] = [(values[k], times[k], times[k + 1]) for k in range(changes[-2], changes[-1])]
    return found


def _counted(
    trace: Trace, team: Team, names: tuple[str, ...], turns: dict[int, list[tuple[int, int, int]]]
) -> tuple[np.ndarray, np.ndarray]:
    """Of each counter what was counted in the turn of its set, and begin and end of that turn on each rank, shape
    (counters, 2, ranks); both 0 where it was not read."""
    sums, read = np.zeros(len(names)), np.zeros((len(names), 2, trace.size))
    for found in bursts(trace, trace.share(team), names):
        for rank in np.unique(found.states["rank"]).tolist():
            mine = found.states["rank"] == rank
            begins, values = found.states["begin"][mine], found.values[mine, 1:]
            for _, begin, end in turns[rank]:
                inside = values[(begins >= begin) & (begins < end)]
                sums += np.nan_to_num(inside).sum(axis=0)
                read[(~np.isnan(inside)).any(axis=0), :, rank] = begin, end
    return np.sum(team.allgather(sums), axis=0), np.sum(team.allgather(read), axis=0)
