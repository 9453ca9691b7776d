"""The multiplicative speedup model: several runs relative to the smallest, factor by factor, and which one undermines.

Source: M. Casas, "Spectral analysis of executions" (2009), section 4.3, equations 4.1 and 4.13, and section 4.4.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, prod

from analyzer.efficiency.scaling import WEAK, ComputingWork, kind_of_scaling
from analyzer.errors import TracelibError
from analyzer.in_notebook import InNotebook
from analyzer.speedup_model.factors import SpeedupFactor, factors_of
from analyzer.speedup_model.parameters import SpeedupParameters

NEAR = 0.02
"""A quotient this close to 1 is no cause: measured and modelled speedup are to agree within 1 to 2 %."""


@dataclass(frozen=True)
class FactorChange:
    """A factor of a run and its quotient to the reference: below 1 it takes speedup away, above 1 it adds some."""

    factor: SpeedupFactor
    before: float
    after: float
    quotient: float

    @property
    def distance(self) -> float:
        """|ln quotient|: how far from 1 (the thesis leaves open how to measure it)."""
        return abs(log(self.quotient))


@dataclass(frozen=True)
class Speedup(InNotebook):
    """Runs in order of their ranks; the first is the reference.

    With weak scaling the work grows with the threads: amounts and measured speedup are relative to their number.
    """

    runs: tuple[SpeedupParameters, ...]
    kind: str  # STRONG or WEAK of analyzer.efficiency.scaling
    factors: tuple[SpeedupFactor, ...]
    notes: tuple[str, ...]  # why factors are joined

    @property
    def reference(self) -> SpeedupParameters:
        return self.runs[0]

    def linear(self, run: SpeedupParameters) -> float:
        """Return P / P_0."""
        return run.threads / self.reference.threads

    def measured(self, run: SpeedupParameters) -> float:
        """Return S_p = T_p0 / T_p, equation 4.1."""
        return self.reference.period_ns / run.period_ns * self._grown(run)

    def modelled(self, run: SpeedupParameters) -> float:
        """Return equation 4.13: P / P_0 times the quotients."""
        return self.linear(run) * prod(moved.quotient for moved in self.moved(run) if moved.factor.in_model)

    def difference(self, run: SpeedupParameters) -> float:
        """Return the relative difference of the measured speedup from the modelled one; positive if the measured is
        larger."""
        return self.measured(run) / self.modelled(run) - 1

    def moved(self, run: SpeedupParameters) -> list[FactorChange]:
        """Return all factors of a run, in the order of the model."""
        return [self.moved_by(factor, run) for factor in self.factors]

    def undermining(self, run: SpeedupParameters) -> FactorChange | None:
        """Return the factor with the smallest quotient; None: all are 1 or more, but for NEAR."""
        worst = min(self.moved(run), key=lambda moved: moved.quotient)
        return worst if worst.quotient < 1 - NEAR else None

    def causes(self, run: SpeedupParameters) -> list[FactorChange]:
        """Return the factors that depart from 1 by more than NEAR, the farthest first.

        Source: "the factor whose quotient departs farthest from one is the cause" (section 4.4.2).
        """
        found = [moved for moved in self.moved(run) if abs(moved.quotient - 1) > NEAR]
        return sorted(found, key=lambda moved: -moved.distance)

    def moved_by(self, factor: SpeedupFactor, run: SpeedupParameters) -> FactorChange:
        """Return one factor of a run."""
        before, after = factor.of(self.reference), factor.of(run)
        assert before is not None and after is not None, "factors_of chose it"
        quotient = before * self._grown(run) / after if factor.is_amount else after / before
        return FactorChange(factor, before, after, quotient)

    def _grown(self, run: SpeedupParameters) -> float:
        return self.linear(run) if self.kind == WEAK else 1.0


def speedup(runs: Sequence[SpeedupParameters], kind: str | None = None) -> Speedup:
    """Compare the runs with the one with the fewest threads; of several the first that is named.

    kind: STRONG or WEAK; None: WEAK if the work grew more like the number of threads than stayed the same. Raises
    TracelibError for fewer than two runs.
    """
    if len(runs) < 2:
        raise TracelibError("one run has no speedup", "name runs at several rank counts, or one before and one after")
    ordered = tuple(sorted(runs, key=lambda run: run.threads))
    chosen = factors_of(ordered)
    return Speedup(ordered, kind or kind_of_scaling([_work(run) for run in ordered]), chosen.factors, chosen.notes)


def _work(run: SpeedupParameters) -> ComputingWork:
    """Collect the work of a run as `kind_of_scaling` takes it."""
    instructions = None if run.instructions is None else run.instructions / run.iterations
    return ComputingWork(run.threads, run.period_ns, run.useful_ns / run.iterations, None, run.ipc, None, instructions)


@dataclass(frozen=True)
class VariantDifference:
    """The second variant relative to the first at one rank count."""

    first: SpeedupParameters
    second: SpeedupParameters
    speedups: tuple[float, float]  # of each, relative to its own smallest run
    faster: float  # T of the first / T of the second
    moved: tuple[FactorChange, ...]  # how the factors themselves differ; their product is `faster`

    @property
    def gains(self) -> list[FactorChange]:
        """The factors that are better in the second, the most important first."""
        return sorted((m for m in self.moved if m.quotient > 1 + NEAR), key=lambda m: -m.distance)

    @property
    def losses(self) -> list[FactorChange]:
        """Factors that are worse in the second variant."""
        return sorted((m for m in self.moved if m.quotient < 1 - NEAR), key=lambda m: -m.distance)

    @property
    def same_speedup(self) -> bool:
        """Check whether both variants scale alike."""
        first, second = self.speedups
        return abs(second / first - 1) <= NEAR


@dataclass(frozen=True)
class Variants(InNotebook):
    """Two variants, each relative to its own smallest run, and their difference at each common rank count."""

    first: Speedup
    second: Speedup
    differences: tuple[VariantDifference, ...]


def variants(first: list[SpeedupParameters], second: list[SpeedupParameters], kind: str | None = None) -> Variants:
    """Compare two variants. Raises TracelibError if one has fewer than two runs, or they share no rank count."""
    chosen = factors_of([*first, *second])
    both = [speedup(runs, kind) for runs in (first, second)]
    one, other = (Speedup(s.runs, s.kind, chosen.factors, chosen.notes) for s in both)
    pairs = [(a, b) for a in one.runs for b in other.runs if a.threads == b.threads]
    if not pairs:
        raise TracelibError("the two variants have no rank count in common", "name runs at the same numbers of ranks")
    found = []
    for a, b in pairs:
        pair = Speedup((a, b), one.kind, chosen.factors, chosen.notes)
        found.append(
            VariantDifference(a, b, (one.measured(a), other.measured(b)), pair.measured(b), tuple(pair.moved(b)))
        )
    return Variants(one, other, tuple(found))
