"""Measures one run as named figures, which can be compared with the figures of another run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analyzer.differences.batches import Batches, CallBatch, CallSums, batches, waits_by_batch
from analyzer.differences.figures import (
    BALANCE,
    COMMUNICATION,
    COMPUTING,
    EFFICIENCIES,
    IPC,
    ITERATION,
    NO_CPU,
    PARALLEL,
    PARTS,
    REST,
    RUN_TIME,
    STARTING,
    TRACER,
    TRANSFER,
    WAITING,
    Figure,
    FigureFamily,
    FigureUnit,
    RunFigures,
)
from analyzer.efficiency.factors import Efficiency, efficiency
from analyzer.efficiency.ideal import ideal_replay
from analyzer.errors import TracelibError
from analyzer.imbalance.by_iteration import computing_by_iteration
from analyzer.metrics.counters import counted
from analyzer.metrics.gaps import Gaps, GapSums
from analyzer.metrics.messages import messages
from analyzer.metrics.overhead import Flushes, flushes
from analyzer.metrics.profile import Profile, ProfileSums
from analyzer.metrics.regions import region_profile
from analyzer.metrics.sums import add_all
from analyzer.metrics.unrecorded import unrecorded
from analyzer.metrics.useful import UsefulSums, UsefulTime, cpu_waits
from analyzer.parallel import Team
from analyzer.places.call_gaps import CallGaps
from analyzer.places.phrases import call_at, computing_at
from analyzer.structure.iterations import Iterations
from analyzer.structure.levels.run_structure import iterations
from analyzer.trace import CallPaths, Chosen, Losses, Trace
from analyzer.trace.chosen import unreadable
from analyzer.trace.sharing import sharing
from analyzer.trace.trace import check_computing
from analyzer.waits.analysis import Waits, analyze_waits
from analyzer.waits.kinds import LABELS, WaitKind
from tracelib.schema.procedures import FINALIZE, INIT

Values = dict[Figure, float]


def measure(trace: Trace, team: Team) -> RunFigures:
    """Measure the figures of a run, with samples of them if the run has at least LEAST iterations.

    All members of the team must call this function.

    Raises:
        TracelibError: The trace has no times (a Dimemas trace), or does not tell which thread is computing.
    """
    if not trace.has_call_times:
        raise TracelibError(f"{trace.path} is a Dimemas trace: it holds no times", "name measured runs")
    check_computing(trace)
    loop = iterations(trace, team)
    into = batches(loop)
    calls, computed, stretches, at = ProfileSums(trace), UsefulSums(trace), GapSums(), CallSums(trace, into)
    add_all(trace, team, calls, computed, stretches, at)
    of = _Sums(
        trace, calls.total(team), computed.total(team), stretches.total(team), tuple(at.total(team)),
        flushes(trace, team),
    )  # fmt: skip
    missed = unrecorded(trace, team)
    ideal = ideal_replay(trace, missed, team)
    factors = efficiency(trace, of.computed, of.flushed, missed, ideal)
    waiting = analyze_waits(trace, team, of.calls)
    values = {RUN_TIME: float(trace.duration_ns)}
    values |= _parts(of, waiting, cpu_waits(trace, team)) | _efficiencies(factors)
    values |= _calls(of) | _waits(waiting, of.threads) | _computing(of) | _regions(trace, team, of.threads)
    values |= _counters(trace, team) | _traffic(trace, team, of.calls)
    known = np.isin(np.arange(trace.size), of.present)
    by_rank = np.where(known, of.computed.by_rank(), 0)
    samples, rank_samples = {}, None
    if into and loop:
        values[ITERATION] = float(loop.lengths_ns().max(axis=0).mean())
        computing = computing_by_iteration(trace, team, into.edges).T / into.iterations[:, None]
        samples, rank_samples = _samples(of, into, computing, waits_by_batch(trace, team, into, of.used)), computing
    return RunFigures(
        file=str(trace.path),
        command=trace.origin.command,
        ranks=trace.size,
        threads=of.threads,
        values=values,
        by_rank=by_rank,
        samples=samples,
        rank_samples=rank_samples,
        iterations=loop.count if loop else 0,
        body=loop.body if loop else "",
        waiting_at=_waiting_at(waiting, of.threads),
        shares_cpus=bool(sharing(trace)),
        notes=tuple(_notes(trace, ideal.reason, loop, into)),
        left_out=ideal.left_out,
    )


@dataclass(frozen=True)
class _Sums:
    """Sums over the calls, bursts and flushes of a run, from which its figures are computed."""

    trace: Trace
    calls: Profile
    computed: UsefulTime
    gaps: Gaps
    at: tuple[CallBatch, ...]
    flushed: Flushes

    @property
    def present(self) -> np.ndarray:
        """Numbers of the ranks that could be read, ascending."""
        return np.setdiff1d(np.arange(self.trace.size), self.trace.extra(Losses).missing)

    @property
    def threads(self) -> int:
        """Number of threads of the ranks that could be read, at least 1."""
        return max(int(np.asarray(self.trace.threads)[self.present].sum()), 1)

    @property
    def used(self) -> frozenset[str]:
        """Names of the procedures that the run called."""
        return frozenset(self.calls.procedures)

    @property
    def starting_ns(self) -> int:
        """Time in the calls that start and end MPI, ns, summed over all threads."""
        return int(self.calls.inside_ns[:, [_starts(name) for name in self.calls.procedures]].sum())

    @property
    def tracer_ns(self) -> int:
        """Time of the tracer outside computation, ns, summed over all threads."""
        own = self.flushed.time_ns.sum() if self.trace.origin.tracer_times else 0
        return int(self.computed.tracer_by_rank().sum() + own)


def _starts(procedure: str) -> bool:
    return procedure in INIT or procedure in FINALIZE


def _parts(of: _Sums, waiting: Waits, no_cpu: np.ndarray) -> Values:
    """Split the run time into what a thread does on average, in ns. All parts sum up to the run time."""
    mpi = int(of.calls.mpi_ns().sum())
    ns = {
        COMPUTING: int(of.computed.time_ns.sum()),
        NO_CPU: int(no_cpu.sum()),
        WAITING: waiting.total_ns,
        STARTING: of.starting_ns,
        TRANSFER: mpi - of.starting_ns - waiting.total_ns,
        TRACER: of.tracer_ns,
    }
    found = {figure: value / of.threads for figure, value in ns.items()}
    rest = of.trace.duration_ns - sum(found.values())
    return {figure: found.get(figure, rest if figure is REST else 0.0) for figure in PARTS}


def _efficiencies(of: Efficiency) -> Values:
    factors = (
        of.parallel_efficiency, of.load_balance, of.communication_efficiency, of.serialization_efficiency,
        of.transfer_efficiency,
    )  # fmt: skip
    return {figure: value for figure, value in zip(EFFICIENCIES, factors, strict=True) if value is not None}


def _calls(of: _Sums) -> Values:
    """Return the time in each procedure, and in each procedure by place, in ns for a thread on average."""
    found: Values = defaultdict(float)
    for name, ns in zip(of.calls.procedures, of.calls.inside_ns.sum(axis=0).tolist(), strict=True):
        found[Figure(FigureFamily.CALL, name)] += ns / of.threads
    for one, figure in _places(of):
        found[figure] += float(one.inside_ns.sum()) / of.threads
    return found


def _places(of: _Sums) -> Iterator[tuple[CallBatch, Figure]]:
    """Yield the sums of calls whose place is known, with the figure of the place."""
    paths = of.trace.extra(CallPaths)
    places = paths.named() if paths.known else None
    for one in of.at:
        if one.place and places:
            yield one, Figure(FigureFamily.PLACE, call_at(one.procedure, places.text(one.place)))


def _waits(waiting: Waits, threads: int) -> Values:
    found = {
        Figure(FigureFamily.WAIT, LABELS[kind]): float(waiting.time_ns[:, kind].sum()) / threads
        for kind in WaitKind
        if waiting.time_ns[:, kind].any()
    }
    for cause in waiting.causes:
        figure = Figure(FigureFamily.CAUSE, _cause(cause.rank, cause.what, cause.path))
        found[figure] = found.get(figure, 0.0) + (cause.direct_ns + cause.indirect_ns) / threads
    return found


def _cause(rank: int, what: str, region: str) -> str:
    return f"rank {rank}, {what}" + (f" in region {region}" if region else "")


def _waiting_at(waiting: Waits, threads: int) -> dict[str, float]:
    """Return the waiting in each procedure, and in each procedure by place, in ns for a thread on average."""
    found: dict[str, float] = defaultdict(float)
    for place in waiting.places:
        for name in {place.procedure, call_at(place.procedure, place.place)}:
            found[name] += place.time_ns / threads
    return dict(found)


def _computing(of: _Sums) -> Values:
    """Return the computing time in each stretch of code between two calls, in ns for a thread on average.

    If the places of the calls are not known, a stretch is named by the procedures around it.
    """
    rows, found = of.gaps.rows, defaultdict[Figure, float](float)
    paths = of.trace.extra(CallPaths)
    between = CallGaps(paths.named()) if paths.known else None
    numbers = between.numbers(rows["before"], rows["after"]) if between else np.zeros(len(rows), np.int64)
    for row, number in zip(rows, numbers.tolist(), strict=True):
        before, after = (
            of.trace.procedures[row[side]] if row[side] >= 0 else "" for side in ("before_call", "after_call")
        )
        if between and number:
            text = computing_at(between.every[number], before=after, after=before)
        else:
            text = f"computing between {before or 'its begin'} and {after or 'its end'}"
        found[Figure(FigureFamily.COMPUTING, text)] += int(row["ns"]) / of.threads
    return found


def _regions(trace: Trace, team: Team, threads: int) -> Values:
    own = region_profile(trace, team)
    return {
        Figure(FigureFamily.REGION, own.names[number]): float(own.time_ns[:, number].sum()) / threads
        for number in own.by_time()
    }


def _counters(trace: Trace, team: Team) -> Values:
    sums = counted(trace, team)
    found = {
        Figure(FigureFamily.COUNTER, f"{counter.name} in {where}", FigureUnit.NUMBER): float(of[:, number].sum())
        for where, of in (("computing", sums.useful), ("MPI", sums.inside))
        for number, counter in enumerate(sums.counters)
    }
    return found | ({IPC: sums.ipc} if sums.ipc is not None else {})


def _traffic(trace: Trace, team: Team, calls: Profile) -> Values:
    sent = messages(trace, team)
    found = {
        Figure(FigureFamily.TRAFFIC, "messages", FigureUnit.NUMBER): float(sent.count),
        Figure(FigureFamily.TRAFFIC, "bytes in messages", FigureUnit.BYTES): float(sent.bytes),
    }
    for number, name in enumerate(calls.procedures):
        moved = max(int(calls.sent[:, number].sum()), int(calls.received[:, number].sum()))
        found[Figure(FigureFamily.TRAFFIC, f"calls of {name}", FigureUnit.NUMBER)] = float(calls.count[:, number].sum())
        found[Figure(FigureFamily.TRAFFIC, f"bytes of {name}", FigureUnit.BYTES)] = float(moved)
    return found


def _samples(of: _Sums, into: Batches, computing: np.ndarray, waiting: np.ndarray) -> dict[Figure, np.ndarray]:
    """Return for some figures the mean of an iteration in each batch.

    Args:
        of: Sums over the run.
        into: The batches.
        computing: Computing time of each rank in an iteration, ns, of shape (batches, ranks).
        waiting: Waiting in each batch, ns, of shape (batches, wait kinds).
    """
    each = of.threads * into.iterations
    found: dict[Figure, np.ndarray] = defaultdict(lambda: np.zeros(len(into)))
    for one in of.at:
        found[Figure(FigureFamily.CALL, one.procedure)] += one.inside_ns[:-1] / each
    for one, figure in _places(of):
        found[figure] += one.inside_ns[:-1] / each
    inside = sum((found[Figure(FigureFamily.CALL, name)] for name in of.used if not _starts(name)), np.zeros(len(into)))
    for kind in WaitKind:
        if waiting[:, kind].any():
            found[Figure(FigureFamily.WAIT, LABELS[kind])] = waiting[:, kind] / each
    found[WAITING] = waiting.sum(axis=1) / each
    found[TRANSFER] = inside - found[WAITING]
    found[COMPUTING] = computing.sum(axis=1) / of.threads
    found[RUN_TIME] = found[ITERATION] = into.lengths_ns
    if of.threads == len(of.present):  # a thread a rank: else the longest thread is not known
        mean, longest = computing[:, of.present].mean(axis=1), computing.max(axis=1)
        found |= {PARALLEL: mean / into.lengths_ns, COMMUNICATION: longest / into.lengths_ns}
        found[BALANCE] = mean / np.maximum(longest, 1)
    return dict(found)


def _notes(trace: Trace, not_replayed: str, loop: Iterations | None, into: Batches | None) -> Iterator[str]:
    if not_replayed:
        yield f"serialization and transfer are not known ({not_replayed})"
    missing = unreadable(trace.extra(Losses).missing, trace.extra(Chosen).ranks)
    if len(missing):
        yield f"{len(missing)} of {trace.size} ranks are missing"
    if loop is None:
        yield "no iterations were found"
    elif into is None:
        yield f"it has only {loop.count} iterations"
