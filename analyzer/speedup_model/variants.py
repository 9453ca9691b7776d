"""Two variants of a program at the same rank counts: what one gains in a factor and loses in another.

Source: M. Casas, "Spectral analysis of executions" (2009), section 4.4.2: CPMD with and without task groups.
"""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.errors import TracelibError
from analyzer.in_notebook import InNotebook
from analyzer.speedup_model.factors import factors_of
from analyzer.speedup_model.model import NEAR, Moved, Speedup, speedup
from analyzer.speedup_model.parameters import Parameters


@dataclass(frozen=True)
class Difference:
    """The second variant relative to the first at one rank count."""

    first: Parameters
    second: Parameters
    speedups: tuple[float, float]  # of each, relative to its own smallest run
    faster: float  # T of the first / T of the second
    moved: tuple[Moved, ...]  # how the factors themselves differ; their product is `faster`

    @property
    def gains(self) -> list[Moved]:
        """The factors that are better in the second, the most important first."""
        return sorted((m for m in self.moved if m.quotient > 1 + NEAR), key=lambda m: -m.distance)

    @property
    def losses(self) -> list[Moved]:
        """Those that are worse."""
        return sorted((m for m in self.moved if m.quotient < 1 - NEAR), key=lambda m: -m.distance)

    @property
    def same_speedup(self) -> bool:
        """Whether both scale alike."""
        first, second = self.speedups
        return abs(second / first - 1) <= NEAR


@dataclass(frozen=True)
class Variants(InNotebook):
    """Both variants, each relative to its own smallest run, and how they differ at each rank count that both have."""

    first: Speedup
    second: Speedup
    differences: tuple[Difference, ...]


def variants(first: list[Parameters], second: list[Parameters], kind: str | None = None) -> Variants:
    """Raises TracelibError where one of them has fewer than two runs, or they have no rank count in common."""
    chosen = factors_of([*first, *second])
    both = [speedup(runs, kind) for runs in (first, second)]
    one, other = (Speedup(s.runs, s.kind, chosen.factors, chosen.notes) for s in both)
    pairs = [(a, b) for a in one.runs for b in other.runs if a.threads == b.threads]
    if not pairs:
        raise TracelibError("the two variants have no rank count in common", "name runs at the same numbers of ranks")
    found = []
    for a, b in pairs:
        pair = Speedup((a, b), one.kind, chosen.factors, chosen.notes)
        found.append(Difference(a, b, (one.measured(a), other.measured(b)), pair.measured(b), tuple(pair.moved(b))))
    return Variants(one, other, tuple(found))
