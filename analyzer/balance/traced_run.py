"""Distribution of work for the next run, from what each rank of one traced run computed, and how fast its CPU was.

Source: search-and-balance specification, section 2 (formulas 9, 10 and 14). The simulator replaces the model, because
the time of the run is not that of its slowest rank alone.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from analyzer.balance.scaled_program import redistributed, shared_part
from analyzer.errors import TracelibError
from analyzer.machine.description import Machine
from analyzer.operations.bursts import check_cpu_time, is_any_measured
from analyzer.operations.program import program_of
from analyzer.parallel import Team
from analyzer.program.model import LeftOut, Program
from analyzer.replay.simulate import simulate
from analyzer.trace import Trace
from tracelib.schema.shares import Expectation, SharePlan

_PARTS = 8
_MOST_VARIED = 0.99


@dataclass(frozen=True)
class Proposal:
    """Proposed distribution of work for the next run. Arrays have the shape (ranks,).

    Attributes:
        now: Fraction of the work that each rank had.
        shared_ns: Computing of the shared work by each rank, on the machine; wall time or CPU time.
        cpu_ns: CPU time of the shared work in the run. None: not known.
        parts: Proposed fraction of the work of each rank.
        measured_ns: Duration of the run. 0: not known, or not comparable with CPU time.
        replayed_ns: Duration of the replay with the fractions of the run.
        even_ns: Duration of the replay with equal fractions.
        planned_ns: Duration of the replay with the proposed fractions.
        left_out: Calls of the run that the replay leaves out.
        varied: Largest relative variation of a rank's speed within the run.
    """

    now: np.ndarray  # part of the work that each rank had
    shared_ns: np.ndarray  # what it computed of the shared work, by the clock or as its CPU time, on the machine
    cpu_ns: np.ndarray | None  # the CPU time of that in the run; None: not known
    parts: np.ndarray  # proposed
    measured_ns: int  # 0: not known, or not comparable with CPU time
    replayed_ns: int  # as it was
    even_ns: int  # with equal parts
    planned_ns: int  # with the proposed parts
    left_out: tuple[LeftOut, ...]  # calls of the run that its replay leaves out
    varied: float  # by how much of itself a rank's speed varied within the run, the most of all ranks

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.parts)

    @property
    def speeds(self) -> np.ndarray:
        """Speed of each rank relative to the slowest, which has 1."""
        return self.parts / self.parts.min()

    @property
    def expected(self) -> Expectation:
        """Times that the replays predict, with an interval.

        The interval allows for speeds that vary as within the run. It is also as wide as the replay of the traced
        run misses the
        measured time (if that is comparable).
        """
        misses = self.measured_ns / self.replayed_ns if self.measured_ns and self.replayed_ns else 1.0
        low, high = self.planned_ns * min(misses, 1.0), self.planned_ns * max(misses, 1.0)
        times = (self.planned_ns, low * (1 - self.varied), high * (1 + self.varied), self.even_ns)
        return Expectation(*(time / 1e9 for time in times))

    @property
    def plan(self) -> SharePlan:
        """Plan with one line of speeds for any size, and the expected computing of each rank."""
        times = self.shared_ns * self.parts / self.now / 1e9
        speeds = tuple(self.speeds.tolist())
        return SharePlan((0.0,), (speeds,), ((0.0, self.expected),), ((0.0, tuple(times.tolist())),))


def propose(
    trace: Trace,
    machine: Machine,
    team: Team,
    *,
    region: str | None = None,
    now: np.ndarray | None = None,
    cpu_time: bool = False,
    messages: bool = False,
) -> Proposal:
    """Propose fractions with which all ranks finish together, if an item takes each rank as long as in the run.

    Args:
        trace: The run.
        machine: Machine of the next run, whose CPU speeds count.
        team: Processes that share the reading.
        region: Region whose computation is shared. None: all computation.
        now: Fraction of the work that each rank had. None: equal fractions.
        cpu_time: Whether speeds are by CPU time, without the time that other programs took from the CPUs.
        messages: Whether the size of a rank's messages grows with its share, too.

    Raises:
        TracelibError: A rank computed nothing, or its CPU time is not known.
    """
    if cpu_time:
        check_cpu_time(trace)
    program = program_of(trace, team, cpu_time=cpu_time, buffered=machine.eager_limit is None)
    ranks = program.ranks
    had = np.full(ranks, 1 / ranks) if now is None else np.asarray(now, float) / np.sum(now)
    if len(had) != ranks:
        raise TracelibError(f"the shares are of {len(had)} ranks, and the run has {ranks}")
    marked, computed = shared_part(trace, program, region)
    base = simulate(marked, machine)
    shared = computed * _slower(marked, base.usage["computing"]) * _crowded(machine, ranks)
    if not (shared > 0).all() or not (had > 0).all():
        rank = int(np.argmin(np.minimum(shared, had)))
        raise TracelibError(
            f"rank {rank} computed nothing of what is shared: how fast it is is not known",
            "--region names what is shared",
        )
    parts = had / shared / np.sum(had / shared)
    even = redistributed(marked, 1 / ranks / had, messages=messages)
    planned = redistributed(marked, parts / had, messages=messages)
    cpu = None
    if trace.has_call_times and is_any_measured(trace):
        with suppress(TracelibError):
            cpu = shared_part(trace, program_of(trace, team, cpu_time=True), region)[1]
    return Proposal(
        had,
        shared,
        cpu,
        parts,
        trace.duration_ns if trace.has_call_times and not cpu_time else 0,
        base.end_ns,
        simulate(even, machine).end_ns,
        simulate(planned, machine).end_ns,
        program.left_out,
        _varied(marked),
    )


def _varied(marked: Program) -> float:
    """Return the largest relative standard deviation of a rank's computation over eighths of its bursts, below 1.

    If steps are alike, this is how much the rank's speed varies over time.
    """
    found = 0.0
    for stream in range(len(marked.rank)):
        ops = marked.ops[marked.stream(stream)]
        bursts = ops["burst"][(ops["block"] > 0) & (ops["burst"] > 0)].astype(float)
        if len(bursts) >= _PARTS:
            sums = [part.mean() for part in np.array_split(bursts, _PARTS)]
            found = max(found, float(np.std(sums, ddof=1) / np.mean(sums)))
    return min(found, _MOST_VARIED)


def _slower(program: Program, computing_ns: np.ndarray) -> np.ndarray:
    """Return for each rank: computing on the machine with a CPU of its own / computing in the run."""
    there, here = np.zeros(program.ranks), np.zeros(program.ranks)
    np.add.at(there, program.rank, computing_ns)
    for stream, rank in enumerate(program.rank):
        here[rank] += float(np.sum(program.ops[program.stream(stream)]["burst"]))
    return np.divide(there, here, out=np.ones(program.ranks), where=here > 0)


def _crowded(machine: Machine, ranks: int) -> np.ndarray:
    """Compute the number of ranks for each CPU of a rank's node, at least 1: ranks that share a CPU share its speed."""
    place = np.array(machine.place(ranks), np.int64)
    nodes = machine.with_nodes(ranks)
    cpus = np.array([node.cpus if isinstance(node.cpus, int) else 0 for node in nodes], float)
    there = np.bincount(place, minlength=len(nodes))
    per_cpu = np.divide(there, cpus, out=np.ones(len(nodes)), where=cpus > 0)
    return np.maximum(per_cpu, 1.0)[place]
