"""Measurements of one run for the speedup model: length of the compared section, and computation in it.

Source: M. Casas, "Spectral analysis of executions" (2009), section 4.3.2, equations 4.2, 4.3 and 4.12. The ideal
network is defined in section 4.3.2.3: on it, messages and collectives take no time in the replay.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from analyzer.efficiency.by_region import region_efficiencies
from analyzer.efficiency.cpu_use import cpu_use
from analyzer.efficiency.ideal import UNKNOWN_IDEAL, IdealReplay, ideal_of_program, ideal_replay, obstacle
from analyzer.errors import TracelibError
from analyzer.metrics.counters import useful_counts
from analyzer.metrics.unrecorded import unrecorded
from analyzer.parallel import Team
from analyzer.program.model import LeftOut
from analyzer.replay.section import section_bounds, section_of
from analyzer.structure.iterations import Iterations
from analyzer.structure.regions import NAME, WithRegion
from analyzer.trace import Regions, State, Trace
from analyzer.trace.chosen import ranks_lacking
from analyzer.trace.sharing import sharing
from analyzer.trace.trace import check_computing


@dataclass(frozen=True)
class SpeedupParameters:
    """Measurements of one run, or of one section of it, over `iterations` repetitions.

    Times are in ns; None: not known. In the equations, T is `span_ns`, t_i the useful time of thread i, T_ideal the
    span on the ideal network, and P the number of threads.
    """

    file: str
    ranks: int
    threads: int  # number of threads of all ranks
    span_ns: float  # T
    useful_ns: float  # sum of t_i
    useful_max_ns: float  # max(t_i)
    ideal_ns: float | None  # T_ideal
    not_replayed: str = ""  # why `ideal_ns` is not known
    left_out: tuple[LeftOut, ...] = ()  # calls that take no time on the ideal network though they move data
    iterations: float = 1
    instructions: float | None = None  # of all threads, in their useful time
    ipc: float | None = None
    cpu_share: float | None = None  # share of the useful time in which the threads had a CPU
    shares_cpus: bool = False  # there are more ranks than CPUs; then waiting for a CPU also counts as time in MPI

    @property
    def period_ns(self) -> float:
        """Time T of one iteration, ns."""
        return self.span_ns / self.iterations

    @property
    def communication(self) -> float:
        """Communication efficiency: CommEff = max(t_i) / T, equation 4.2."""
        return self.useful_max_ns / self.span_ns

    @property
    def balance(self) -> float:
        """Load balance: LB = sum(t_i) / (P max(t_i)), equation 4.3, with the number of threads as P."""
        return self.useful_ns / (self.threads * self.useful_max_ns)

    @property
    def transfer(self) -> float | None:
        """Real communication efficiency: RealCommEff = T_ideal / T, equation 4.12. None: T_ideal is not known."""
        return None if self.ideal_ns is None else self.ideal_ns / self.span_ns

    @property
    def dependencies(self) -> float | None:
        """Micro load balance: microLB = max(t_i) / T_ideal, equation 4.12. None: T_ideal is not known."""
        return None if self.ideal_ns is None else self.useful_max_ns / self.ideal_ns


def parameters(
    trace: Trace,
    team: Team,
    region: str | None = None,
    eager_limit: int | None = None,
    iterations: Iterations | None = None,
) -> SpeedupParameters:
    """Measure a run for the speedup model. Collective over the team.

    The section is the time between the end of MPI_Init and the begin of MPI_Finalize, or all visits of a region, or
    given iterations. Instructions and cycles are counted over the whole run. The section and iterations get a share of
    them by useful time; for a region they are not known.

    Args:
        trace: The run.
        team: Processes that share the work.
        region: Region whose visits are the iterations. None: the whole run.
        eager_limit: Size in bytes from which a send waits for its receive on the ideal network. None: as `ideal_replay`
            chooses.
        iterations: Iterations to measure. They take precedence over `region`. None: no iterations.

    Raises:
        TracelibError: The trace has no times (Dimemas), lacks ranks, or has no such region, or nothing is computed.
    """
    if not trace.has_call_times:
        raise TracelibError(f"{trace.path} is a Dimemas trace: it holds no times", "name measured runs")
    check_computing(trace)
    if lacking := ranks_lacking(trace):
        raise TracelibError(f"{trace.path}: {lacking}, so its speedup is not known")
    if iterations is not None:
        found = _of_iterations(trace, team, iterations, eager_limit)
    elif region is not None:
        found = _of_region(trace, team, region, eager_limit)
    else:
        found = _of_run(trace, team, eager_limit)
    if found.useful_max_ns <= 0 or found.span_ns <= 0:
        where = f"region {region!r}" if region is not None else "it"
        raise TracelibError(f"{trace.path}: nothing is computed in {where}, so its speedup is not known")
    return found


def _of_run(trace: Trace, team: Team, eager_limit: int | None) -> SpeedupParameters:
    begin, end = section_bounds(trace, team)
    useful = useful_within(trace, team, begin, end)
    counts, had = useful_counts(trace, team), cpu_use(trace, team)
    per_ns = counts.instructions / counts.time_ns if counts.time_ns and counts.ipc else None
    computing = had.computing_ns.sum() if had else 0
    ideal = _ideal_section(trace, team, eager_limit)
    return SpeedupParameters(
        file=str(trace.path),
        ranks=trace.size,
        threads=len(useful),
        span_ns=int(end.max() - begin.min()),
        useful_ns=int(useful.sum()),
        useful_max_ns=int(useful.max(initial=0)),
        ideal_ns=ideal.runtime_ns,
        not_replayed=ideal.reason,
        left_out=ideal.left_out,
        instructions=None if per_ns is None else per_ns * float(useful.sum()),
        ipc=counts.ipc,
        cpu_share=float(had.computing_cpu_ns.sum() / computing) if had and computing else None,
        shares_cpus=bool(sharing(trace)),
    )


def _of_iterations(trace: Trace, team: Team, iterations: Iterations, eager_limit: int | None) -> SpeedupParameters:
    found = _of_region(WithRegion(trace, iterations), team, NAME, eager_limit)
    counts, had = useful_counts(trace, team), cpu_use(trace, team)
    per_ns = counts.instructions / counts.time_ns if counts.time_ns and counts.ipc else None
    computing = had.computing_ns.sum() if had else 0
    return replace(
        found,
        instructions=None if per_ns is None else per_ns * found.useful_ns,
        ipc=counts.ipc,
        cpu_share=float(had.computing_cpu_ns.sum() / computing) if had and computing else None,
    )


def _ideal_section(trace: Trace, team: Team, eager_limit: int | None) -> IdealReplay:
    """Replay the section on the ideal network. Ranks begin as far apart as they did in the run."""
    if reason := obstacle(trace, unrecorded(trace, team)):
        return IdealReplay(None, None, reason)
    try:
        program = section_of(trace, team, cpu_time=False, everywhere=False).program
    except TracelibError as error:
        return IdealReplay(None, None, str(error))
    return ideal_of_program(trace, program, team, eager_limit)


def _of_region(trace: Trace, team: Team, region: str, eager_limit: int | None) -> SpeedupParameters:
    names = trace.extra(Regions).names
    if region not in names:
        known = f"it has {', '.join(names[:12])}" if names else "name them in the program: docs/regions.md"
        raise TracelibError(f"{trace.path} has no region {region!r}", known)
    ideal = ideal_replay(trace, unrecorded(trace, team), team, eager_limit, regions=True)
    found = [one for one in region_efficiencies(trace, team, ideal) if one.name == region]
    if not found:
        raise TracelibError(f"{trace.path}: no rank enters region {region!r}")
    (one,) = found
    e = one.efficiency
    return SpeedupParameters(
        file=str(trace.path),
        ranks=trace.size,
        threads=one.threads,
        span_ns=e.runtime_ns,
        useful_ns=e.useful_mean_ns * one.threads,
        useful_max_ns=e.useful_max_ns,
        ideal_ns=e.ideal.runtime_ns,
        not_replayed=(UNKNOWN_IDEAL if e.ideal.runtime_ns else ideal).reason,
        left_out=e.ideal.left_out,
        iterations=one.visits / one.threads,
        shares_cpus=bool(sharing(trace)),
    )


def useful_within(trace: Trace, team: Team, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return each thread's useful time (state Running) from begin[rank] to end[rank]. Collective over the team.

    Args:
        trace: The run.
        team: Processes that share the work.
        begin: Begin for each rank, int64 ns of shape (ranks,).
        end: End for each rank, int64 ns of shape (ranks,).

    Returns:
        Times, int64 ns of shape (threads of all ranks,), in order of rank and thread.
    """
    first = np.concatenate(([0], np.cumsum(trace.threads))).astype(np.int64)
    sums = np.zeros(int(first[-1]), np.int64)
    ranks = trace.share(team)
    if len(ranks):
        for start, stop in pairwise(trace.windows().tolist()):
            states = trace.rank_states(start, stop, ranks)
            states = states[(states["state"] == State.RUNNING) & np.isin(states["rank"], ranks)]
            rank = states["rank"]
            inside = np.minimum(states["end"], end[rank]) - np.maximum(states["begin"], begin[rank])
            np.add.at(sums, first[rank] + states["thread"], np.maximum(inside, 0))
    return np.sum(team.allgather(sums), axis=0)
