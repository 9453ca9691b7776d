"""The analysis of the efficiency of a run, and of several runs relative to the smallest run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.efficiency.by_region import RegionEfficiency, VisitEfficiency, region_efficiencies, visit_efficiencies
from analyzer.efficiency.cpu_use import NOT_KNOWN, CpuSharing, cpus
from analyzer.efficiency.factors import Efficiency, efficiency
from analyzer.efficiency.ideal import UNKNOWN_IDEAL, IdealReplay, ideal_replay
from analyzer.efficiency.scaling import (
    NO_SCALING,
    ComputingWork,
    Scaling,
    kind_of_scaling,
    reference_of,
    scaling,
    work,
    work_of_region,
)
from analyzer.in_notebook import InNotebook
from analyzer.metrics.counters import useful_counts
from analyzer.metrics.lost_at import NOWHERE, LostAt, lost_at
from analyzer.metrics.overhead import flushes
from analyzer.metrics.unrecorded import unrecorded
from analyzer.metrics.useful import useful
from analyzer.operations.bursts import is_any_measured
from analyzer.parallel import Team
from analyzer.trace import Chosen, Losses, Trace
from analyzer.trace.trace import check_computing


@dataclass(frozen=True)
class Efficiencies(InNotebook):
    """The efficiencies of one run, of its regions, and what limits them."""

    file: str
    ranks: int
    missing: tuple[int, ...]
    efficiency: Efficiency
    work: ComputingWork
    duration_ns: int
    tracer_ns: np.ndarray  # ns that the tracer held the threads of each rank
    regions: list[RegionEfficiency] | None  # None: not asked for
    visits: list[VisitEfficiency] | None
    cpus: CpuSharing = NOT_KNOWN
    transfer_waits_ns: int | None = None  # part of the saving of an ideal network that may be CPU waits
    useful_ns: np.ndarray | None = None  # useful time of each rank; None: not known
    chosen: tuple[int, ...] | None = None  # the ranks that were to be read, if not all; the others are missing
    ideal_by_cpu_time: IdealReplay = UNKNOWN_IDEAL  # replay with CPU times as bursts, if they were recorded
    lost_at: LostAt = NOWHERE


def efficiencies(
    trace: Trace, team: Team, *, eager_limit: int | None = None, by_region: bool = False, region: str | None = None
) -> Efficiencies:
    """Compute the efficiencies of a run. Collective.

    Args:
        trace: The trace.
        team: The processes that share the work.
        eager_limit: Size in bytes from which a send waits in the ideal replay. None: as in `ideal_replay`.
        by_region: True: also compute the efficiencies of all regions.
        region: Also compute the efficiencies of this region and of each visit to it.

    Raises:
        TracelibError: The trace does not say when threads compute.
    """
    check_computing(trace)
    computed, missed = useful(trace, team), unrecorded(trace, team)
    wants_regions = by_region or region is not None
    ideal = ideal_replay(trace, missed, team, eager_limit, regions=wants_regions)
    lost = flushes(trace, team)
    whole = efficiency(trace, computed, lost, missed, ideal)
    regions = region_efficiencies(trace, team, ideal) if wants_regions else None
    if regions is not None and not by_region:
        regions = [one for one in regions if one.name == region]
    visits = visit_efficiencies(trace, region, team, ideal) if region is not None else None
    amount = work(trace, computed, whole, useful_counts(trace, team))
    had = cpus(trace, team)
    return Efficiencies(
        str(trace.path),
        trace.size,
        trace.extra(Losses).missing,
        whole,
        amount,
        trace.duration_ns,
        computed.tracer_by_rank() + (lost.time_ns if trace.origin.tracer_times else 0),
        regions,
        visits,
        had,
        had.of_transfer_ns(whole, int(computed.of_ranks(whole.runtime_ns).argmax())),
        computed.by_rank(),
        trace.extra(Chosen).ranks,
        ideal_replay(trace, missed, team, eager_limit, cpu_time=True) if is_any_measured(trace) else UNKNOWN_IDEAL,
        lost_at(trace, team),
    )


@dataclass(frozen=True)
class ScalingComparison(InNotebook):
    """Scaling of several runs relative to the smallest run.

    It includes regions of the same name, and visits of the same number.
    """

    runs: Sequence[Efficiencies]
    kind: str | None  # kind of scaling; None: one run
    reference: int  # index of the run that the others are relative to
    wholes: list[Scaling]
    regions: list[list[Scaling]]  # for each run, one for each of its regions
    visits: list[list[Scaling]]


def compare(runs: Sequence[Efficiencies], kind: str | None = None) -> ScalingComparison:
    """Compare runs with the smallest run. A single run has no scaling.

    `kind`: STRONG or WEAK; None: as the work of the runs shows.
    """
    reference = reference_of([run.work for run in runs])
    base = runs[reference]
    kind = kind or kind_of_scaling([run.work for run in runs]) if len(runs) > 1 else None
    regions = {one.name: work_of_region(one.threads, one.efficiency) for one in base.regions or ()}
    visits = {one.number: work_of_region(one.threads, one.efficiency) for one in base.visits or ()}

    def relative(amount: ComputingWork, other: ComputingWork | None) -> Scaling:
        return NO_SCALING if kind is None or other is None else scaling(amount, other, kind)

    return ScalingComparison(
        runs,
        kind,
        reference,
        [relative(run.work, base.work) for run in runs],
        [
            [relative(work_of_region(r.threads, r.efficiency), regions.get(r.name)) for r in run.regions or ()]
            for run in runs
        ],
        [
            [relative(work_of_region(v.threads, v.efficiency), visits.get(v.number)) for v in run.visits or ()]
            for run in runs
        ],
    )
