"""The error of a prediction, in parts that sum up to it.

Source: "Dimemas specification", section 4.6 (thesis, section 6.7): error of the prediction and error of the
instrumentation, both relative to the run without any; section 4.3 (thesis, section 6.3): spread.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from analyzer.validation.parts import Parts


@dataclass(frozen=True)
class Error:
    """A time predicted from one run for another one, in ns.

    total = bursts + model + tracing.
    """

    predicted: float  # the replay of the first run
    own: float  # the replay of the other run itself, on the same machine
    measured: float  # the other run as traced
    reference: float  # the other run without the tracer; as traced, where nobody knows that

    @property
    def total(self) -> float:
        """How much longer the prediction is than the measured time."""
        return self.predicted - self.reference

    @property
    def bursts(self) -> float:
        """The part that arises because the first run computed longer than the other, or in another order: its tracer's
        perturbation, another processor, another load."""
        return self.predicted - self.own

    @property
    def model(self) -> float:
        """The part that arises because the replay of a run does not take as long as that run."""
        return self.own - self.measured

    @property
    def tracing(self) -> float:
        """The part that arises because the other run was traced: the error of the instrumentation."""
        return self.measured - self.reference

    def share(self, part: float) -> float | None:
        """A part as a share of the reference; None of nothing."""
        return part / self.reference if self.reference else None


@dataclass(frozen=True)
class Validation:
    """Predictions from one run compared with another run of the program."""

    whole: Error
    predicted: Parts
    own: Parts
    measured: Parts

    def procedures(self) -> dict[str, Error]:
        """By procedure, of all ranks together; the largest error first."""
        return _errors(self.predicted.procedures, self.own.procedures, self.measured.procedures)

    def regions(self) -> dict[str, Error]:
        """By region of the program."""
        return _errors(self.predicted.regions, self.own.regions, self.measured.regions)

    def ranks(self) -> list[Error]:
        """When each rank is done."""
        columns = (self.predicted.end.tolist(), self.own.end.tolist(), self.measured.end.tolist())
        return [Error(p, o, m, m) for p, o, m in zip(*columns, strict=True)]

    def outside(self) -> list[Error]:
        """Of each rank the time outside MPI."""
        columns = (self.predicted.outside.tolist(), self.own.outside.tolist(), self.measured.outside.tolist())
        return [Error(p, o, m, m) for p, o, m in zip(*columns, strict=True)]


def validate(predicted: Parts, own: Parts, measured: Parts, untraced_ns: float | None = None) -> Validation:
    """Compare. untraced_ns: how long the other run takes without the tracer."""
    reference = measured.total if untraced_ns is None else untraced_ns
    return Validation(Error(predicted.total, own.total, measured.total, reference), predicted, own, measured)


def _errors(predicted: dict[str, int], own: dict[str, int], measured: dict[str, int]) -> dict[str, Error]:
    names = dict.fromkeys((*measured, *own, *predicted))
    found = {n: Error(predicted.get(n, 0), own.get(n, 0), measured.get(n, 0), measured.get(n, 0)) for n in names}
    return dict(sorted(found.items(), key=lambda item: -abs(item[1].total)))


def spread(times: Iterable[float]) -> float | None:
    """(longest - shortest) / shortest of several times; None of less than two or of nothing."""
    known = list(times)
    return max(known) / min(known) - 1 if len(known) > 1 and min(known) > 0 else None
