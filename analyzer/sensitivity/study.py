"""How sensitive a run is to the machine: a factorial design around it, and sweeps of single parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analyzer.in_notebook import InNotebook
from analyzer.machine.machine import Machine
from analyzer.machine.parameters import Parameter
from analyzer.parallel import Team
from analyzer.program.program import Program
from analyzer.replay.replays import Case, end_times
from analyzer.sensitivity.factorial import Factorial, factorial, levels
from analyzer.sensitivity.knees import bend, knee
from analyzer.sensitivity.levels import Factor, Sweep
from analyzer.sensitivity.regions import scales
from analyzer.what_if.blocks import Blocks


@dataclass(frozen=True)
class Design:
    """A factorial design: the end of the run (ns) at each corner, and what follows."""

    factors: tuple[Factor, ...]
    ends_ns: tuple[int, ...]  # by number of the corner, see factorial.levels
    found: Factorial


@dataclass(frozen=True)
class Swept:
    """The end of the run (ns) for each value of a sweep."""

    sweep: Sweep
    ends_ns: tuple[int, ...]
    knee: float | None  # longer than at the better end by a share
    bend: float | None  # where the curve bends most


@dataclass(frozen=True)
class Sensitivity(InNotebook):
    """What was asked for; `end_ns` on the machine as it is."""

    machine: Machine
    end_ns: int
    design: Design | None
    sweeps: tuple[Swept, ...]


def sensitivity(
    program: Program | Blocks,
    machine: Machine,
    factors: Sequence[Factor],
    sweeps: Sequence[Sweep],
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
        swept.append(Swept(sweep, tuple(mine), at, bend(sweep.values, mine)))
    design = Design(tuple(factors), tuple(design_ends), factorial(design_ends)) if factors else None
    return Sensitivity(machine, ends[0], design, tuple(swept))


def _at_corner(factors: Sequence[Factor], corner: int) -> dict[Parameter, float]:
    high = levels(corner, len(factors))
    return {f.parameter: f.high if up else f.low for f, up in zip(factors, high, strict=True)}


def _case(program: Program | Blocks, machine: Machine, values: dict[Parameter, float]) -> Case:
    for parameter, value in values.items():
        machine = parameter.set(machine, value)
    return (program.scaled(scales(values, program)) if isinstance(program, Blocks) else program), machine
