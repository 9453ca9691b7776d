"""All that there is to say of the efficiency of a run, and of several relative to the smallest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analyzer.metrics.efficiency import Efficiency, efficiency
from analyzer.metrics.flushes import flushes
from analyzer.metrics.ideal import ideal_replay
from analyzer.metrics.region_efficiency import (
    RegionEfficiency,
    VisitEfficiency,
    region_efficiencies,
    visit_efficiencies,
)
from analyzer.metrics.scaling import (
    NO_SCALING,
    Scaling,
    Work,
    kind_of_scaling,
    reference_of,
    scaling,
    work,
    work_of_region,
)
from analyzer.metrics.unrecorded import unrecorded
from analyzer.metrics.useful import useful
from analyzer.metrics.useful_counts import useful_counts
from analyzer.parallel import Team
from analyzer.trace import Trace


@dataclass(frozen=True)
class Efficiencies:
    """What was found in one run."""

    file: str
    ranks: int
    missing: tuple[int, ...]
    efficiency: Efficiency
    work: Work
    regions: list[RegionEfficiency] | None  # None: not asked for
    visits: list[VisitEfficiency] | None


def efficiencies(
    trace: Trace, team: Team, *, eager_limit: int | None = None, by_region: bool = False, region: str | None = None
) -> Efficiencies:
    """Efficiencies of a run; `by_region`: and of its regions; `region`: and of one and each visit of it.

    Collective over the team.
    """
    computed, missed = useful(trace, team), unrecorded(trace, team)
    wants_regions = by_region or region is not None
    ideal = ideal_replay(trace, missed, team, eager_limit, regions=wants_regions)
    whole = efficiency(trace, computed, flushes(trace, team), missed, ideal)
    regions = region_efficiencies(trace, team, ideal) if wants_regions else None
    if regions is not None and not by_region:
        regions = [one for one in regions if one.name == region]
    visits = visit_efficiencies(trace, region, team, ideal) if region is not None else None
    amount = work(trace, computed, whole, useful_counts(trace, team))
    return Efficiencies(str(trace.path), trace.size, trace.missing, whole, amount, regions, visits)


@dataclass(frozen=True)
class Compared:
    """Runs relative to the smallest, and with them their regions and visits of the same name and number."""

    runs: Sequence[Efficiencies]
    kind: str | None  # of scaling; None: one run
    reference: int  # number of the run that the others are relative to
    wholes: list[Scaling]
    regions: list[list[Scaling]]  # of each run those of its regions
    visits: list[list[Scaling]]


def compare(runs: Sequence[Efficiencies], kind: str | None = None) -> Compared:
    """How runs scale: `kind` STRONG or WEAK; None: as their work says. One run does not scale."""
    reference = reference_of([run.work for run in runs])
    base = runs[reference]
    kind = kind or kind_of_scaling([run.work for run in runs]) if len(runs) > 1 else None
    regions = {one.name: work_of_region(one.threads, one.efficiency) for one in base.regions or ()}
    visits = {one.number: work_of_region(one.threads, one.efficiency) for one in base.visits or ()}

    def relative(amount: Work, other: Work | None) -> Scaling:
        return NO_SCALING if kind is None or other is None else scaling(amount, other, kind)

    return Compared(
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
