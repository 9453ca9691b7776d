"""Sensitivity of a run to the machine: a factorial design around it, and sweeps of single parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analyzer.in_notebook import InNotebook
from analyzer.machine.description import Machine
from analyzer.machine.parameters import MachineParameter
from analyzer.parallel import Team
from analyzer.program.model import Program
from analyzer.replay.replays import Case, end_times
from analyzer.sensitivity.knees import bend, knee
from analyzer.sensitivity.levels import ParameterSweep, TwoLevelFactor, scales
from analyzer.what_if.blocks import BlockProgram


@dataclass(frozen=True)
class FactorialTerm:
    """A factor, or an interaction of several.

    coefficient: q, in units of y: half of what going from low to high adds (of an interaction: what the product does).
    influence: share of the variation, SS / SST with SS = 2^k q^2; None where nothing varies at all.
    """

    factors: tuple[int, ...]
    coefficient: float
    influence: float | None


@dataclass(frozen=True)
class FactorialTerms:
    """The terms of a design: single factors first, then pairs, ..., each in order of the factors."""

    mean: float  # q0
    terms: tuple[FactorialTerm, ...]

    def main(self, factor: int) -> FactorialTerm:
        """Return the term of a factor alone."""
        return self.terms[factor]


def levels(corner: int, factors: int) -> tuple[bool, ...]:
    """Mark the factors that are high at a corner: factor j is where bit j of the corner's number is set."""
    return tuple(bool(corner >> j & 1) for j in range(factors))


def factorial(results: Sequence[int]) -> FactorialTerms:
    """Return the terms, from the results at all 2^k corners in order of their numbers.

    Sums are of integers, so what does not interact has exactly 0.
    """
    corners = len(results)
    contrasts = _contrasts([int(y) for y in results])
    subsets = sorted(range(1, corners), key=lambda s: (s.bit_count(), _members(s)))
    variation = sum(contrasts[s] ** 2 for s in subsets)  # 2^k SST
    terms = tuple(
        FactorialTerm(_members(s), contrasts[s] / corners, contrasts[s] ** 2 / variation if variation else None)
        for s in subsets
    )
    return FactorialTerms(contrasts[0] / corners, terms)


def _contrasts(values: list[int]) -> list[int]:
    """Sum of sign times value for each column of the table of signs, by Yates's algorithm; column s is the product of
    the factors whose bits are set in s."""
    half = 1
    while half < len(values):
        for low in range(len(values)):
            if not low & half:
                high = low | half
                values[low], values[high] = values[low] + values[high], values[high] - values[low]
        half *= 2
    return values


def _members(subset: int) -> tuple[int, ...]:
    return tuple(j for j in range(subset.bit_length()) if subset >> j & 1)


@dataclass(frozen=True)
class FactorialDesign:
    """A factorial design: the end of the run (ns) at each corner, and what follows."""

    factors: tuple[TwoLevelFactor, ...]
    ends_ns: tuple[int, ...]  # by number of the corner, see factorial.levels
    found: FactorialTerms


@dataclass(frozen=True)
class SweepEnds:
    """The end of the run (ns) for each value of a sweep."""

    sweep: ParameterSweep
    ends_ns: tuple[int, ...]
    knee: float | None  # longer than at the better end by a share
    bend: float | None  # where the curve bends most


@dataclass(frozen=True)
class Sensitivity(InNotebook):
    """Results of the design and the sweeps; `end_ns` on the machine as it is."""

    machine: Machine
    end_ns: int
    design: FactorialDesign | None
    sweeps: tuple[SweepEnds, ...]


def sensitivity(
    program: Program | BlockProgram,
    machine: Machine,
    factors: Sequence[TwoLevelFactor],
    sweeps: Sequence[ParameterSweep],
    team: Team,
    jobs: int | None = None,
) -> Sensitivity:
    """Replay the program on the machine, at all corners of the factors, and for all values of the sweeps.

    All else stays as it is. Where regions are varied, the program is divided into them. Raises TracelibError where a
    value makes no sense.
    """
    corners = 2 ** len(factors) if factors else 0
    cases = [_case(program, machine, {})]
    cases += [_case(program, machine, _at_corner(factors, corner)) for corner in range(corners)]
    for sweep in sweeps:
        cases += [_case(program, machine, {sweep.parameter: value}) for value in sweep.values]
    ends = end_times(cases, team, jobs)
    design_ends, rest = ends[1 : 1 + corners], ends[1 + corners :]
    swept = []
    for sweep in sweeps:
        mine, rest = rest[: len(sweep.values)], rest[len(sweep.values) :]
        at = knee(sweep.values, mine, whole=sweep.parameter.whole)
        swept.append(SweepEnds(sweep, tuple(mine), at, bend(sweep.values, mine)))
    design = FactorialDesign(tuple(factors), tuple(design_ends), factorial(design_ends)) if factors else None
    return Sensitivity(machine, ends[0], design, tuple(swept))


def _at_corner(factors: Sequence[TwoLevelFactor], corner: int) -> dict[MachineParameter, float]:
    high = levels(corner, len(factors))
    return {f.parameter: f.high if up else f.low for f, up in zip(factors, high, strict=True)}


def _case(program: Program | BlockProgram, machine: Machine, values: dict[MachineParameter, float]) -> Case:
    for parameter, value in values.items():
        machine = parameter.set(machine, value)
    return (program.scaled(scales(values, program)) if isinstance(program, BlockProgram) else program), machine
