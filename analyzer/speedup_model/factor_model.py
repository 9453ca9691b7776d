"""The multiplicative speedup model: factors of several runs relative to the smallest run, and the factor that falls.

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
"""Distance from 1 up to which a quotient counts as unchanged: measured and modelled speedup agree within 1 to 2 %."""


@dataclass(frozen=True)
class FactorChange:
    """A factor of a run compared with the reference run.

    Attributes:
        before: Value of the factor in the reference run.
        after: Value of the factor in the run.
        quotient: Its contribution to the speedup. Below 1 it reduces the speedup, above 1 it increases it.
    """

    factor: SpeedupFactor
    before: float
    after: float
    quotient: float

    @property
    def distance(self) -> float:
        """|ln quotient|, the distance of the quotient from 1. The thesis leaves open how to measure it."""
        return abs(log(self.quotient))


@dataclass(frozen=True)
class Speedup(InNotebook):
    """The speedup model of several runs, ordered by their number of threads. The first run is the reference.

    With weak scaling the work grows with the threads. Amounts and measured speedup are then relative to the number of
    threads.
    """

    runs: tuple[SpeedupParameters, ...]
    kind: str  # STRONG or WEAK of analyzer.efficiency.scaling
    factors: tuple[SpeedupFactor, ...]
    notes: tuple[str, ...]  # why factors are joined

    @property
    def reference(self) -> SpeedupParameters:
        """The run with the fewest threads, to which the others are compared."""
        return self.runs[0]

    def linear(self, run: SpeedupParameters) -> float:
        """Return the linear speedup P / P_0, where P is the run's number of threads and P_0 the reference's."""
        return run.threads / self.reference.threads

    def measured(self, run: SpeedupParameters) -> float:
        """Return the measured speedup S_p = T_p0 / T_p (equation 4.1); with weak scaling times P / P_0."""
        return self.reference.period_ns / run.period_ns * self._grown(run)

    def modelled(self, run: SpeedupParameters) -> float:
        """Return the speedup of the model: P / P_0 times the quotients of all factors (equation 4.13)."""
        return self.linear(run) * prod(moved.quotient for moved in self.moved(run) if moved.factor.in_model)

    def difference(self, run: SpeedupParameters) -> float:
        """Return measured / modelled speedup - 1, the relative difference of the two."""
        return self.measured(run) / self.modelled(run) - 1

    def moved(self, run: SpeedupParameters) -> list[FactorChange]:
        """Return the change of each factor between the reference and a run, in the order of the model."""
        return [self.moved_by(factor, run) for factor in self.factors]

    def undermining(self, run: SpeedupParameters) -> FactorChange | None:
        """Return the factor with the smallest quotient. None: no quotient is below 1 - `NEAR` (0.98)."""
        worst = min(self.moved(run), key=lambda moved: moved.quotient)
        return worst if worst.quotient < 1 - NEAR else None

    def causes(self, run: SpeedupParameters) -> list[FactorChange]:
        """Return the factors whose quotients differ from 1 by more than `NEAR` (0.02), largest |ln quotient| first.

        Source: "the factor whose quotient departs farthest from one is the cause" (section 4.4.2).
        """
        found = [moved for moved in self.moved(run) if abs(moved.quotient - 1) > NEAR]
        return sorted(found, key=lambda moved: -moved.distance)

    def moved_by(self, factor: SpeedupFactor, run: SpeedupParameters) -> FactorChange:
        """Return the change of one factor between the reference and a run."""
        before, after = factor.of(self.reference), factor.of(run)
        assert before is not None and after is not None, "factors_of chose it"
        quotient = before * self._grown(run) / after if factor.is_amount else after / before
        return FactorChange(factor, before, after, quotient)

    def _grown(self, run: SpeedupParameters) -> float:
        return self.linear(run) if self.kind == WEAK else 1.0


def speedup(runs: Sequence[SpeedupParameters], kind: str | None = None) -> Speedup:
    """Compare runs with the run that has the fewest threads. Of several, the first is the reference.

    Args:
        runs: Measured runs, at least two.
        kind: Kind of scaling, STRONG or WEAK. None: WEAK if the work grew more like the number of threads than it
            stayed constant.

    Raises:
        TracelibError: There are fewer than two runs.
    """
    if len(runs) < 2:
        raise TracelibError("one run has no speedup", "name runs at several rank counts, or one before and one after")
    ordered = tuple(sorted(runs, key=lambda run: run.threads))
    chosen = factors_of(ordered)
    return Speedup(ordered, kind or kind_of_scaling([_work(run) for run in ordered]), chosen.factors, chosen.notes)


def _work(run: SpeedupParameters) -> ComputingWork:
    """Convert a run to the work that `kind_of_scaling` takes."""
    instructions = None if run.instructions is None else run.instructions / run.iterations
    return ComputingWork(run.threads, run.period_ns, run.useful_ns / run.iterations, None, run.ipc, None, instructions)


@dataclass(frozen=True)
class VariantDifference:
    """The second variant of a program compared with the first, at one rank count."""

    first: SpeedupParameters
    second: SpeedupParameters
    speedups: tuple[float, float]  # measured speedup of each variant over its own smallest run
    faster: float  # time of the first variant / time of the second
    moved: tuple[FactorChange, ...]  # changes of factors from the first to the second; product: `faster`

    @property
    def gains(self) -> list[FactorChange]:
        """Factors that are better in the second variant by more than `NEAR` (2 %), largest change first."""
        return sorted((m for m in self.moved if m.quotient > 1 + NEAR), key=lambda m: -m.distance)

    @property
    def losses(self) -> list[FactorChange]:
        """Factors that are worse in the second variant by more than `NEAR` (2 %), largest change first."""
        return sorted((m for m in self.moved if m.quotient < 1 - NEAR), key=lambda m: -m.distance)

    @property
    def same_speedup(self) -> bool:
        """True if the speedups of the two variants differ by at most `NEAR` (2 %)."""
        first, second = self.speedups
        return abs(second / first - 1) <= NEAR


@dataclass(frozen=True)
class Variants(InNotebook):
    """Two variants of a program, each with its own speedup model, and their difference at each common rank count."""

    first: Speedup
    second: Speedup
    differences: tuple[VariantDifference, ...]


def variants(first: list[SpeedupParameters], second: list[SpeedupParameters], kind: str | None = None) -> Variants:
    """Compare two variants of a program.

    Args:
        first: Runs of the first variant.
        second: Runs of the second variant.
        kind: Kind of scaling, STRONG or WEAK. None: as the runs show.

    Raises:
        TracelibError: A variant has fewer than two runs, or the variants have no number of threads in common.
    """
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
