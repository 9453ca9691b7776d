"""Where the time of a run went between MPI_Init and MPI_Finalize: as measured, and as a replay has it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from analyzer.columns.by_index import by_index
from analyzer.efficiency.ideal_regions import replayed_visits
from analyzer.metrics.profile import profile
from analyzer.metrics.regions import region_visits
from analyzer.parallel import Team
from analyzer.replay.predicted import CallTimes
from analyzer.replay.section import NOT_COMPARED, Section
from analyzer.replay.simulate import Prediction
from analyzer.trace import Regions, Trace


@dataclass(frozen=True)
class Parts:
    """Times in ns. Of procedures and regions the sums over all ranks; a region inside itself counts once."""

    total: int  # until the last rank is done
    end: np.ndarray  # (ranks,) int64: until each is
    in_mpi: np.ndarray  # (ranks,)
    procedures: dict[str, int]
    regions: dict[str, int]

    @property
    def outside(self) -> np.ndarray:
        """Of each rank what is not in MPI: computation, and waiting for a CPU."""
        return self.end - self.in_mpi


def measured_parts(trace: Trace, section: Section, team: Team) -> tuple[Parts, dict[str, int]]:
    """Those of a measured run, and how often each procedure was called; all members of the team call this."""
    found = profile(trace, team)
    compared = np.array([name not in NOT_COMPARED for name in found.procedures], bool)
    times = dict(zip(found.procedures, (found.inside_ns.sum(axis=0) * compared).tolist(), strict=True))
    counts = dict(zip(found.procedures, (found.count.sum(axis=0) * compared).tolist(), strict=True))
    in_mpi = (found.inside_ns * compared).sum(axis=1)
    parts = Parts(section.measured_ns, section.ends_ns, in_mpi, _used(times), _measured_regions(trace, section))
    return parts, _used(counts)


def _used(values: dict[str, int]) -> dict[str, int]:
    return {name: value for name, value in values.items() if value}


def _measured_regions(trace: Trace, section: Section) -> dict[str, int]:
    sums: Counter[str] = Counter()
    for rank in range(trace.size if trace.extra(Regions).names else 0):
        visits = region_visits(trace, rank)
        visits = visits[visits["thread"] == 0]
        begin, end = (visits[name].clip(section.begin[rank], section.end[rank]) for name in ("begin", "end"))
        for region, name in enumerate(trace.extra(Regions).names):
            mine = visits["region"] == region
            latest = np.maximum.accumulate(np.concatenate([[-1], visits["end"][mine]]))[:-1]
            outer = visits["end"][mine] > latest
            sums[name] += int((end[mine] - begin[mine])[outer].sum())
    return _used(sums)


def predicted_parts(trace: Trace, section: Section, found: Prediction) -> Parts:
    """Those of the replay of the section of a run; `found` needs the times of the operations."""
    sums = np.zeros((trace.size, len(trace.procedures)), np.int64)
    for rank in range(trace.size):
        times = CallTimes(section.program, found, rank)
        for block in trace.calls(rank):
            begin, end = times.next(block["thread"])
            sums[rank] += by_index(block["call"], end - begin, len(trace.procedures))
    regions: Counter[str] = Counter()
    visits = replayed_visits(section.program, found)
    for region, name in enumerate(trace.extra(Regions).names):
        regions[name] = int(visits["time"][visits["region"] == region].sum())
    ends = np.zeros(trace.size, np.int64)
    np.maximum.at(ends, section.program.rank, found.usage["end"])
    spent = dict(zip(trace.procedures, sums.sum(axis=0).tolist(), strict=True))
    spent = {name: ns for name, ns in spent.items() if name not in NOT_COMPARED}
    return Parts(found.end_ns, ends, sums.sum(axis=1), _used(spent), _used(regions))
