"""Sensitivity of a run to the machine: a factorial design around the machine, and sweeps of single parameters."""

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
    """The effect of a factor, or of an interaction of several factors, on the run's time.

    Attributes:
        factors: Numbers of the factors, ascending.
        coefficient: q in ns: half of the change from the low to the high level; for an interaction, of the product of
            levels.
        influence: Share of the variation, SS / SST with SS = 2^k q^2. None: nothing varies.
    """

    factors: tuple[int, ...]
    coefficient: float
    influence: float | None


@dataclass(frozen=True)
class FactorialTerms:
    """The terms of a factorial design: single factors first, then pairs, and so on."""

    mean: float  # q0, the mean over all corners
    terms: tuple[FactorialTerm, ...]

    def main(self, factor: int) -> FactorialTerm:
        """Return the term of a single factor."""
        return self.terms[factor]


def levels(corner: int, factors: int) -> tuple[bool, ...]:
    """Return for each factor whether it is high at a corner: bit j of the corner's number is set for factor j."""
    return tuple(bool(corner >> j & 1) for j in range(factors))


def factorial(results: Sequence[int]) -> FactorialTerms:
    """Compute the terms from the results at all 2^k corners, in the order of the corners' numbers.

    Sums are of integers, so that factors that do not interact have exactly 0.
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
    """Return the sum of sign * value for each column of the table of signs, by Yates's algorithm.

    Column s is the product of the factors whose bits are set in s.
    """
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
    """A factorial design with its results.

    Attributes:
        ends_ns: Time of the run at each corner, by the corner's number, see `levels`.
    """

    factors: tuple[TwoLevelFactor, ...]
    ends_ns: tuple[int, ...]  # by number of the corner, see factorial.levels
    found: FactorialTerms


@dataclass(frozen=True)
class SweepEnds:
    """A parameter sweep with its results.

    Attributes:
        ends_ns: Time of the run for each value of the sweep.
    """

    sweep: ParameterSweep
    ends_ns: tuple[int, ...]
    knee: float | None  # value from which the run is 5 % longer than at the better end; None: no such value
    bend: float | None  # value at which the curve bends most; None: no such value


@dataclass(frozen=True)
class Sensitivity(InNotebook):
    """Results of the factorial design and of the sweeps. `end_ns` is the run's time on the unchanged machine."""

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
    """Replay a program on the machine, at all corners of a factorial design, and for all values of the sweeps.

    Args:
        program: The program. If regions are varied, a program that is divided into them.
        machine: The machine. Parameters that are not varied stay as they are.
        factors: Factors of the design; 2^factors replays. Empty: no design.
        sweeps: Sweeps of single parameters.
        team: Processes that share the replays.
        jobs: Number of replays at the same time. None: as many as the CPUs allow.

    Raises:
        TracelibError: The machine cannot have one of the values.
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
