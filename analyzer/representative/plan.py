"""Counters that cannot be read together, each read in an iteration of its own: plan, and estimates for the whole run.

Source: M. Casas, "Spectral analysis of executions" (2009), section 5.5: run only t_init + m T, read counter j in
[t_init + (j - 1) T, t_init + j T], extrapolate. The thesis prints no formula. Here the estimate is G_j = c_j N / n_j:
count c_j, number N of iterations, and number n_j of iterations in which the counter was read. Where iterations are not
known, lengths of time take their place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from analyzer.burst_clusters.bursts import bursts
from analyzer.errors import TracelibError
from analyzer.parallel import Team
from analyzer.replay.section import section_bounds
from analyzer.representative.series import TIME, series_of_run
from analyzer.representative.subset import representative
from analyzer.structure.calls.rank_loops import loop_of
from analyzer.structure.calls.sequence import Sequence, sequence_of
from analyzer.trace import Counters, Trace
from tracelib.schema import COUNTER_SET_TYPE
from tracelib.schema.procedures import BLOCKING_COLLECTIVES, base_name

STEPS = 1 << 13
"""Number of steps of the time series in which the period of a run is searched."""
_ALIKE = 0.25
"""Largest relative difference of an iteration's length from the median for which the iteration counts as typical."""


@dataclass(frozen=True)
class CounterPlan:
    """Turns of sets of counters: set j of `sets` (from 0) is read from moments_ns[j] to moments_ns[j + 1].

    Attributes:
        sets: Sets of counters, as for TRACELIB_COUNTERS.
        moments_ns: Times in ns after MPI_Init, one more than there are sets.
        collectives: The moments as numbers of blocking collectives over MPI_COMM_WORLD. None: periods have different
            numbers of them.
        period_ns: Median length of an iteration.
    """

    sets: tuple[str, ...]
    moments_ns: tuple[int, ...]
    collectives: tuple[int, ...] | None
    period_ns: int
    length_ns: int  # length of the run, from MPI_Init to MPI_Finalize

    @property
    def init_ns(self) -> int:
        """Begin of the first set's turn, in ns after MPI_Init (t_init)."""
        return self.moments_ns[0]

    @property
    def needed_ns(self) -> int:
        """Time that the program has to run for the plan, in ns: t_init + m T."""
        return self.moments_ns[-1]

    @property
    def cost_ratio(self) -> float:
        """Time of one whole run for each set / time that the plan needs."""
        return len(self.sets) * self.length_ns / self.needed_ns

    def schedule(self) -> str:
        """Return the text of the file for TRACELIB_ROTATE=file:PATH.

        The last set is read before the first turn, and the first set after the last turn. So each turn begins with a
        change.
        """
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


def plan(trace: Trace, team: Team, sets: tuple[str, ...], steps: int = STEPS) -> CounterPlan:
    """Plan turns of counters from a run of the same program. Collective over the team.

    Iterations are found in rank 0's calls, or else by the period of the run's computing time. The run may have any
    counters.

    Args:
        trace: The run.
        team: Processes that share the work.
        sets: Sets of counters, as for TRACELIB_COUNTERS.
        steps: Number of steps of the time series in which the period is searched.

    Raises:
        TracelibError: Nothing repeats, or there are fewer typical iterations in a row than sets.
    """
    begin, end = section_bounds(trace, team)
    first, last = int(begin.min()), int(end.max())
    if last <= first:
        raise TracelibError(f"{trace.path}: nothing lies between MPI_Init and MPI_Finalize")
    edges = team.bcast(passes(trace) if team.rank == 0 else None)
    if edges is None:
        edges = _periods(trace, first, last, steps)
    at = _first_alike(np.diff(edges), len(sets))
    if at is None:
        raise TracelibError(f"{trace.path} has fewer iterations in a row that are alike than sets of counters")
    moments = edges[at : at + len(sets) + 1]
    counts = team.bcast(_collectives(trace, moments) if team.rank == 0 else None)
    steady = counts[0] > 0 and counts[1] > counts[0] and len(set(np.diff(counts).tolist())) == 1
    return CounterPlan(
        sets,
        tuple((moments - first).tolist()),
        tuple(counts) if steady else None,
        round(float(np.median(np.diff(edges)))),
        last - first,
    )


def _loop(trace: Trace) -> tuple[Sequence, np.ndarray] | None:
    """Return rank 0's calls and its outermost loop: the first call of each pass, and the first call after the loop.

    None: rank 0 has no loop.
    """
    calls = sequence_of(trace, 0)
    loop = loop_of(calls)
    return None if loop is None else (calls, np.append(loop.begins, loop.end))


def passes(trace: Trace) -> np.ndarray | None:
    """Return the time at which rank 0 begins each pass of its outermost loop, and the end of the last pass.

    Returns:
        Times, int64 ns of shape (passes + 1,). None: rank 0 has no loop.
    """
    found = _loop(trace)
    if found is None:
        return None
    calls, places = found
    ends = calls.left[places[-1]] if places[-1] < len(calls) else calls.exit[-1]
    return np.append(calls.left[places[:-1]], ends).astype(np.int64)


def _periods(trace: Trace, first: int, last: int, steps: int) -> np.ndarray:
    """Return the edges of the periods of all threads' computing time, int64 ns."""
    series = series_of_run(trace, first, last, steps)
    found = representative(series.columns[TIME])
    if found is None:
        raise TracelibError(f"{trace.path} has no iterations: its counters need a whole run each")
    edges = np.arange(found.start % found.period.samples, len(series) + 0.5, found.period.samples)
    return np.rint(edges * series.step).astype(np.int64) + first


def _first_alike(lengths: np.ndarray, number: int) -> int | None:
    """Find the first of `number` consecutive iterations whose lengths are within 25 % (`_ALIKE`) of the median.

    The run's first iteration is often slower. It is chosen only if there is no other choice. None: there are too few.
    """
    if len(lengths) < number:
        return None
    good = np.abs(lengths - np.median(lengths)) <= _ALIKE * np.median(lengths)
    runs = np.convolve(good, np.ones(number), "valid") > number - 0.5
    later = runs.copy()
    later[0] = False
    chosen = later if later.any() else runs
    return int(chosen.argmax()) if chosen.any() else None


def _collectives(trace: Trace, times: np.ndarray) -> list[int]:
    """Return how many blocking collectives over MPI_COMM_WORLD rank 0 has left before each time."""
    names = [base_name(name) in BLOCKING_COLLECTIVES for name in trace.procedures]
    world = [k for k, of in enumerate(trace.communicators) if of.name == "MPI_COMM_WORLD"]
    exits = [np.zeros(0, np.int64)]
    for block in trace.calls(0):
        chosen = np.isin(block["call"], np.flatnonzero(names)) & np.isin(block["comm"], world)
        exits.append(block["exit"][chosen])
    return np.searchsorted(np.sort(np.concatenate(exits)), times, side="right").tolist()


@dataclass(frozen=True)
class CounterEstimate:
    """A counter's estimate for the whole run, from a run in which sets of counters took turns.

    A counter that was never read in the turn of its set has a share of 0 and no estimate.
    """

    counter: str
    counted: float  # count c_j in the turns of the counter's set
    read_ns: float  # computing time in which the counter was read, mean over the ranks
    share: float  # n_j / N: share of the iterations, or of the computing time, in which the counter was read
    full: float | None

    @property
    def estimated(self) -> float | None:
        """Estimated count of the whole run. None: the counter was never read."""
        return self.counted / self.share if self.share else None

    @property
    def error(self) -> float | None:
        """|estimated - full| / full, the relative error of the estimate. None: one of them is not known."""
        return None if not self.full or self.estimated is None else abs(self.estimated - self.full) / self.full


@dataclass(frozen=True)
class CounterEstimates:
    """Estimates of all counters of a run in which sets of counters took turns, and their cost."""

    counters: tuple[CounterEstimate, ...]
    length_ns: int
    needed_ns: int  # time from the end of MPI_Init until all sets had their turn
    iterations: int | None  # number N of iterations; None: not known, shares are shares of time
    runs: int  # number of runs that would be needed to read each set throughout

    @property
    def cost_ratio(self) -> float:
        """Time of one whole run for each set / time until all sets had their turn."""
        return self.runs * self.length_ns / self.needed_ns


def estimates(trace: Trace, team: Team, full: dict[str, float]) -> CounterEstimates:
    """Estimate the counters of a whole run from a run in which sets of counters took turns. Collective over the team.

    Args:
        trace: The run.
        team: Processes that share the work.
        full: Counts by counter from runs that read it throughout, as `totals` returns them.

    Raises:
        TracelibError: The run's sets of counters did not take turns.
    """
    begin, end = section_bounds(trace, team)
    first, last = int(begin.min()), int(end.max())
    turns = _turns(trace)
    if not turns:
        raise TracelibError(f"{trace.path}: its sets of counters did not take turns", "use TRACELIB_ROTATE=file:PLAN")
    names = tuple(counter.name for counter in trace.extra(Counters).known)
    iterations = team.bcast(_iterations(trace) if team.rank == 0 else None)
    read = _read(trace, team, names, turns, iterations or _Iterations.of_time(first, last))
    found = tuple(
        CounterEstimate(name, float(c), float(ns), float(share), full.get(name))
        for name, c, ns, share in zip(names, read.counted, read.computing_ns / trace.size, read.shares, strict=True)
    )
    done = max(stop for of in turns.values() for _, _, stop in of)
    number = iterations.number if iterations else None
    return CounterEstimates(found, last - first, done - first, number, len(next(iter(turns.values()))))


@dataclass(frozen=True)
class _Iterations:
    """Iterations as stretches of steps. A step is the computing of a rank up to one call and from there to the next.

    Attributes:
        ends_ns: End of each step, int64 ns of shape (steps,).
        begins: First step of each iteration, and the step after the last iteration, int64 of shape (iterations + 1,).
        of_rank_0: Only rank 0's bursts count for the shares. False: the bursts of all ranks.
    """

    ends_ns: np.ndarray
    begins: np.ndarray
    of_rank_0: bool

    @classmethod
    def of_time(cls, first_ns: int, last_ns: int) -> _Iterations:
        """Return a single iteration of all ranks, from first_ns to last_ns. It is used if no loop is known."""
        return cls(np.array([first_ns, last_ns]), np.array([1, 2]), of_rank_0=False)

    @property
    def number(self) -> int:
        return len(self.begins) - 1

    def steps(self, begins_ns: np.ndarray) -> np.ndarray:
        """Return the step of each burst, from the time at which the burst begins."""
        return np.searchsorted(self.ends_ns, begins_ns, side="right")

    def weights(self, computing_ns: np.ndarray) -> np.ndarray:
        """Return the share of computing time that each step has in its iteration, float64 of shape (steps + 1,).

        If all iterations have the same number of steps, a step's share is the mean over the iterations. So the shares
        of a turn from any call to the same call one iteration later have a sum of exactly 1.
        """
        lengths = np.diff(self.begins)
        inside = slice(int(self.begins[0]), int(self.begins[-1]))
        whole = np.add.reduceat(computing_ns[inside], self.begins[:-1] - self.begins[0])
        part = computing_ns[inside] / np.repeat(np.maximum(whole, 1), lengths)
        if (lengths == lengths[0]).all():
            part = np.tile(part.reshape(len(lengths), -1).mean(axis=0), len(lengths))
        found = np.zeros(len(computing_ns))
        found[inside] = part
        return found


def _iterations(trace: Trace) -> _Iterations | None:
    """Find the iterations of rank 0's outermost loop. None: rank 0 has no loop."""
    found = _loop(trace)
    return None if found is None else _Iterations(found[0].exit, found[1].astype(np.int64), of_rank_0=True)


class _Read(NamedTuple):
    """Sums over the bursts of all ranks that lie in the turns.

    Attributes:
        counted: Counts, float64 of shape (counters,).
        computing_ns: Computing time in which each counter was read, float64 of shape (counters,).
        shares: Share of the iterations in which each counter was read, shape (counters,).
    """

    counted: np.ndarray
    computing_ns: np.ndarray
    shares: np.ndarray


def _read(
    trace: Trace, team: Team, names: tuple[str, ...], turns: dict[int, list[tuple[int, int, int]]],
    iterations: _Iterations,
) -> _Read:  # fmt: skip
    """Sum up the counts in the turns of the sets. Collective over the team.

    A burst belongs wholly to one turn and to one step of an iteration, however long the change of sets takes. The part
    of a step that no set reads is distributed in proportion to the rest of the step.
    """
    steps = len(iterations.ends_ns) + 1
    counted, read_ns = np.zeros(len(names)), np.zeros(len(names))
    of_steps, any_of_steps, read_of_steps = np.zeros(steps), np.zeros(steps), np.zeros((steps, len(names)))
    for part in bursts(trace, trace.share(team), names):
        begins, ranks, lasted = part.states["begin"], part.states["rank"], part.values[:, 0]
        values = np.where(_in_turns(begins, ranks, turns)[:, None], part.values[:, 1:], np.nan)
        known_ns = np.where(np.isnan(values), 0, lasted[:, None])
        counted += np.nan_to_num(values).sum(axis=0)
        read_ns += known_ns.sum(axis=0)
        judged = (ranks == 0) | (not iterations.of_rank_0)
        at = iterations.steps(begins[judged])
        by_any = ~np.isnan(part.values[judged, 1:]).all(axis=1)
        np.add.at(of_steps, at, lasted[judged])
        np.add.at(any_of_steps, at, lasted[judged] * by_any)
        np.add.at(read_of_steps, at, known_ns[judged])
    sums = (counted, read_ns, of_steps, any_of_steps, read_of_steps)
    counted, read_ns, of_steps, any_of_steps, read_of_steps = (np.sum(team.allgather(of), axis=0) for of in sums)
    shares = iterations.weights(of_steps) @ (read_of_steps / np.maximum(any_of_steps, 1)[:, None])
    return _Read(counted, read_ns, shares / iterations.number)


def _in_turns(begins: np.ndarray, ranks: np.ndarray, turns: dict[int, list[tuple[int, int, int]]]) -> np.ndarray:
    """Mark the bursts that begin in the turns of their rank. Turns follow each other without a gap."""
    first = np.array([turns[rank][0][1] for rank in range(len(turns))])
    last = np.array([turns[rank][-1][2] for rank in range(len(turns))])
    return (begins >= first[ranks]) & (begins < last[ranks])


def totals(trace: Trace, team: Team) -> dict[str, float]:
    """Return the total of each counter between MPI_Init and MPI_Finalize, by its name. Collective over the team."""
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
    """Return the turns of each rank in order: (set, begin, end). Empty if a rank has no complete plan.

    The last change to the first set ends the plan. The change to the first set before it begins the plan.
    """
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
