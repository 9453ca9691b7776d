"""The error of a prediction, in parts that sum up to it.

Source: "Dimemas specification", section 4.6 (thesis, section 6.7): error of the prediction and error of the
instrumentation, both relative to the run without any; section 4.3 (thesis, section 6.3): spread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analyzer.columns.arrays import by_index
from analyzer.efficiency.ideal import REPLAYED_VISIT, replayed_visits
from analyzer.metrics.profile import profile
from analyzer.metrics.regions import region_visits
from analyzer.pairing.parts import Part, parts
from analyzer.parallel import Team
from analyzer.program.model import Program
from analyzer.replay.predicted import CallTimes, times_of_calls
from analyzer.replay.section import NOT_COMPARED, ReplaySection
from analyzer.replay.simulate import ReplayPrediction
from analyzer.trace import Regions, Trace


@dataclass(frozen=True)
class PredictedParts:
    """Times of a run or of its replay, in ns. Procedures and regions are summed over all ranks.

    Attributes:
        total: Time until the last rank is done.
        end: Time until each rank is done, int64 of shape (ranks,).
        in_mpi: Time of each rank in MPI, int64 of shape (ranks,).
        procedures: Time in each procedure of MPI.
        regions: Time in each region. A region that is inside itself counts once.
    """

    total: int  # until the last rank is done
    end: np.ndarray  # (ranks,) int64: until each is
    in_mpi: np.ndarray  # (ranks,)
    procedures: dict[str, int]
    regions: dict[str, int]

    @property
    def outside(self) -> np.ndarray:
        """Time of each rank outside MPI, ns: computing, and waiting for a CPU."""
        return self.end - self.in_mpi


def measured_parts(trace: Trace, section: ReplaySection, team: Team) -> tuple[PredictedParts, dict[str, int]]:
    """Measure the times of a run's section, and count its calls. Collective over the team.

    Returns:
        The times, and the number of calls of each procedure that was called.
    """
    found = profile(trace, team)
    compared = np.array([name not in NOT_COMPARED for name in found.procedures], bool)
    times = dict(zip(found.procedures, (found.inside_ns.sum(axis=0) * compared).tolist(), strict=True))
    counts = dict(zip(found.procedures, (found.count.sum(axis=0) * compared).tolist(), strict=True))
    in_mpi = (found.inside_ns * compared).sum(axis=1)
    parts = PredictedParts(
        section.measured_ns, section.ends_ns, in_mpi, _used(times), _measured_regions(trace, section, team)
    )
    return parts, _used(counts)


def _used(values: dict[str, int]) -> dict[str, int]:
    return {name: value for name, value in values.items() if value}


def _measured_regions(trace: Trace, section: ReplaySection, team: Team) -> dict[str, int]:
    names = trace.extra(Regions).names
    sums: Counter[str] = Counter()
    for rank in trace.share(team) if names else ():
        visits = region_visits(trace, rank)
        visits = visits[visits["thread"] == 0]
        begin, end = (visits[name].clip(section.begin[rank], section.end[rank]) for name in ("begin", "end"))
        for region, name in enumerate(names):
            mine = visits["region"] == region
            latest = np.maximum.accumulate(np.concatenate([[-1], visits["end"][mine]]))[:-1]
            outer = visits["end"][mine] > latest
            sums[name] += int((end[mine] - begin[mine])[outer].sum())
    every = team.allgather(sums)
    return _used({name: sum(of_member[name] for of_member in every) for name in names})


def predicted_parts(trace: Trace, section: ReplaySection, found: ReplayPrediction, team: Team) -> PredictedParts:
    """Compute the times of a replayed section. Collective: each member reads the calls of its ranks.

    Args:
        trace: The run.
        section: The section of the run that was replayed.
        found: Prediction with the times of the operations.
        team: Processes that share the work.
    """
    of_ranks, of_procedures = np.zeros(trace.size, np.int64), np.zeros(len(trace.procedures), np.int64)
    replayed = _Replayed(section.program, found)
    for part in parts(trace, trace.share(team)):
        rank, calls = part.calls
        spent = replayed.spent(part)
        of_ranks += by_index(rank, spent, len(of_ranks))
        of_procedures += by_index(calls["call"], spent, len(of_procedures))
    of_ranks, of_procedures = (sum(team.allgather(sums)) for sums in (of_ranks, of_procedures))
    regions: Counter[str] = Counter()
    names = trace.extra(Regions).names
    visits = replayed_visits(section.program, found.times) if names else np.zeros(0, REPLAYED_VISIT)
    for region, name in enumerate(names):
        regions[name] = int(visits["time"][visits["region"] == region].sum())
    ends = np.zeros(trace.size, np.int64)
    np.maximum.at(ends, section.program.rank, found.usage["end"])
    times = dict(zip(trace.procedures, of_procedures.tolist(), strict=True))
    times = {name: ns for name, ns in times.items() if name not in NOT_COMPARED}
    return PredictedParts(found.end_ns, ends, of_ranks, _used(times), _used(regions))


class _Replayed:
    """Durations of calls in a replay."""

    def __init__(self, program: Program, found: ReplayPrediction) -> None:
        self._program, self._found = program, found
        self._times: dict[int, CallTimes] = {}  # of ranks under way

    def spent(self, part: Part) -> np.ndarray:
        """Return the ns in each call of a part, in order. Parts of a rank come in order of time."""
        rank, calls = part.calls
        streams = [stream for of in part.ranks for stream in self._program.streams_of(of)]
        if part.is_whole and streams == list(range(streams[0], streams[0] + len(part.ranks))):
            counts = np.bincount(rank - part.ranks.start, minlength=len(part.ranks))
            begin, end = times_of_calls(self._program, self._found, range(streams[0], streams[-1] + 1), counts)
            return end - begin
        cuts = np.searchsorted(rank, np.arange(part.ranks.start, part.ranks.stop + 1)).tolist()
        self._times = {of: known for of, known in self._times.items() if of in part.ranks}
        spent = [np.zeros(0, np.int64)]
        for of, (first, last) in zip(part.ranks, pairwise(cuts), strict=True):
            if of not in self._times:
                self._times[of] = CallTimes(self._program, self._found, of)
            begin, end = self._times[of].next(calls["thread"][first:last])
            spent.append(end - begin)
        return np.concatenate(spent)


@dataclass(frozen=True)
class PredictionError:
    """Error of a time that a replay of one run predicts for another run. All times are ns.

    total = bursts + model + tracing.

    Attributes:
        predicted: Replay of the first run.
        own: Replay of the other run, on the same machine.
        measured: The other run as traced.
        reference: The other run without the tracer. If that is not known: as traced.
    """

    predicted: float  # the replay of the first run
    own: float  # the replay of the other run itself, on the same machine
    measured: float  # the other run as traced
    reference: float  # the other run without the tracer; as traced, where nobody knows that

    @property
    def total(self) -> float:
        """Predicted time less the reference, ns."""
        return self.predicted - self.reference

    @property
    def bursts(self) -> float:
        """Error because the two runs do not compute equally long or in the same order: predicted - own, ns.

        Causes are the tracer's perturbation of the first run, another processor, or another load.
        """
        return self.predicted - self.own

    @property
    def model(self) -> float:
        """Error because the replay of the other run does not take as long as that run itself: own - measured, ns."""
        return self.own - self.measured

    @property
    def tracing(self) -> float:
        """Error because the other run was traced, the error of the instrumentation: measured - reference, ns."""
        return self.measured - self.reference

    def share(self, part: float) -> float | None:
        """Return `part` (ns) divided by the reference. None: the reference is 0."""
        return part / self.reference if self.reference else None


@dataclass(frozen=True)
class Validation:
    """Comparison of a prediction from one run with another run of the same program.

    Attributes:
        whole: Error of the run's duration.
        predicted: Times of the replay of the first run.
        own: Times of the replay of the other run.
        measured: Times of the other run.
    """

    whole: PredictionError
    predicted: PredictedParts
    own: PredictedParts
    measured: PredictedParts

    def procedures(self) -> dict[str, PredictionError]:
        """Return the error of the time in each procedure, summed over all ranks; the largest error first."""
        return _errors(self.predicted.procedures, self.own.procedures, self.measured.procedures)

    def regions(self) -> dict[str, PredictionError]:
        """Return the error of the time in each region, summed over all ranks; the largest error first."""
        return _errors(self.predicted.regions, self.own.regions, self.measured.regions)

    def ranks(self) -> list[PredictionError]:
        """Return the error of the time at which each rank is done, in order of rank."""
        columns = (self.predicted.end.tolist(), self.own.end.tolist(), self.measured.end.tolist())
        return [PredictionError(p, o, m, m) for p, o, m in zip(*columns, strict=True)]

    def outside(self) -> list[PredictionError]:
        """Return the error of each rank's time outside MPI, in order of rank."""
        columns = (self.predicted.outside.tolist(), self.own.outside.tolist(), self.measured.outside.tolist())
        return [PredictionError(p, o, m, m) for p, o, m in zip(*columns, strict=True)]


def validate(
    predicted: PredictedParts, own: PredictedParts, measured: PredictedParts, untraced_ns: float | None = None
) -> Validation:
    """Compare a prediction with the run that it predicts.

    Args:
        predicted: Times of the replay of the first run.
        own: Times of the replay of the other run.
        measured: Times of the other run.
        untraced_ns: Duration of the other run without the tracer. None: not known, `measured` is the reference.
    """
    reference = measured.total if untraced_ns is None else untraced_ns
    return Validation(PredictionError(predicted.total, own.total, measured.total, reference), predicted, own, measured)


def _errors(predicted: dict[str, int], own: dict[str, int], measured: dict[str, int]) -> dict[str, PredictionError]:
    """Return the error of each name's time, the largest error first."""
    names = dict.fromkeys((*measured, *own, *predicted))
    found = {
        n: PredictionError(predicted.get(n, 0), own.get(n, 0), measured.get(n, 0), measured.get(n, 0)) for n in names
    }
    return dict(sorted(found.items(), key=lambda item: -abs(item[1].total)))


def spread(times: Iterable[float]) -> float | None:
    """Return (longest - shortest) / shortest of several times. None: fewer than two times, or the shortest is 0."""
    known = list(times)
    return max(known) / min(known) - 1 if len(known) > 1 and min(known) > 0 else None
