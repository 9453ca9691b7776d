"""Values of machine parameters, and of regions' computation, for replays: two levels of a factor, many of a sweep."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from analyzer.errors import TracelibError
from analyzer.machine.description import Machine
from analyzer.machine.parameters import MachineParameter, parameter, two_values_of
from analyzer.what_if.blocks import BlockProgram

PREFIX = "region:"
_MOST_NAMES = 8


def named(name: str) -> MachineParameter:
    """Return the parameter of a name such as "latency" or "region:NAME".

    The value of a region's parameter multiplies the region's computation: 1 is as traced.

    Raises:
        TracelibError: There is no such parameter.
    """
    if not name.startswith(PREFIX):
        return parameter(name)
    return MachineParameter(name, "", "", lambda _: 1.0, lambda machine, _: machine, positive=True)


def region_of(of: MachineParameter) -> str | None:
    """Return the name of the region that a parameter scales. None: the parameter belongs to the machine."""
    return of.name.removeprefix(PREFIX) if of.name.startswith(PREFIX) else None


def check_regions(wanted: Iterable[MachineParameter], names: tuple[str, ...], path: str) -> bool:
    """Return True if a parameter scales a region, after checking that the trace has these regions.

    Args:
        wanted: Parameters that are varied.
        names: Names of the trace's regions.
        path: Name of the trace, for errors.

    Raises:
        TracelibError: The trace does not have a region.
    """
    regions = [region for of in wanted if (region := region_of(of)) is not None]
    for region in regions:
        if region not in names:
            shown = ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")
            hint = f"it has {shown}" if names else "name them in the program: docs/regions.md"
            raise TracelibError(f"{path} has no region {region!r}", hint)
    return bool(regions)


def scales(values: dict[MachineParameter, float], blocks: BlockProgram) -> dict[int, float]:
    """Return the factor for each region's computation, by the region's part number in the program.

    Args:
        values: Value of each varied parameter.
        blocks: The program, divided into regions.
    """
    return {blocks.part(region): v for of, v in values.items() if (region := region_of(of)) is not None}


DEFAULT_NAMES = ("latency", "bandwidth", "buses", "speed")
WITHIN = 0.1
"""Default distance of a factor's levels from the machine's value, as a share of it (thesis section 3.7.2)."""
STEPS = 13
"""Default number of values in a sweep."""
AROUND = 32.0
"""Ratio that gives a sweep its default range: from the machine's value / `AROUND` to the value * `AROUND`."""

_Made = TypeVar("_Made")


@dataclass(frozen=True)
class TwoLevelFactor:
    """A parameter of the machine at two levels, for a factorial design."""

    parameter: MachineParameter
    low: float
    high: float


@dataclass(frozen=True)
class ParameterSweep:
    """A parameter of the machine at many values, ascending."""

    parameter: MachineParameter
    values: tuple[float, ...]


def factor_of(text: str, machine: Machine, within: float = WITHIN) -> TwoLevelFactor:
    """Parse a factor such as "latency=1us..5us", "latency=20%" (of the machine's value) or "latency".

    "region:NAME=0.9..1.1" multiplies the computation in a region.

    Args:
        text: The factor.
        machine: Machine whose value lies between the levels if `text` has none.
        within: Distance of the levels from the machine's value, as a share, for a factor without levels.

    Raises:
        TracelibError: The text is not valid, or the machine's value is 0, infinite or not set and no range is given.
    """
    found, levels = _named(text)
    if ".." in levels:
        return TwoLevelFactor(found, *_range(found, levels))
    if levels:
        within = _share(levels, text)
    return _around(found, machine, within)


def default_factors(machine: Machine, within: float = WITHIN) -> tuple[list[TwoLevelFactor], list[str]]:
    """Return the factors of `DEFAULT_NAMES` for which the machine has a value, and why the others are left out.

    Args:
        machine: The machine.
        within: Distance of the levels from the machine's value, as a share.
    """
    return _known_ones(lambda name: _around(parameter(name), machine, within))


def default_sweeps(machine: Machine, ranks: int) -> tuple[list[ParameterSweep], list[str]]:
    """Return the sweeps of `DEFAULT_NAMES` for which the machine has a value, and why the others are left out.

    Args:
        machine: The machine.
        ranks: Number of ranks, for sweeps of a number that is unlimited on the machine.
    """
    return _known_ones(lambda name: sweep_of(name, machine, ranks))


def _known_ones(make: Callable[[str], _Made]) -> tuple[list[_Made], list[str]]:
    made, reasons = [], []
    for name in DEFAULT_NAMES:
        try:
            made.append(make(name))
        except TracelibError as error:
            reasons.append(str(error))
    return made, reasons


def sweep_of(text: str, machine: Machine, ranks: int) -> ParameterSweep:
    """Parse a sweep such as "latency=1us..1ms:13" (with the number of values), "latency=1us..1ms" or "latency".

    Each value is the same multiple of the value before. A sweep of a number that is unlimited on the machine, such as
    buses, goes from 1 to the number of ranks.

    Args:
        text: The sweep.
        machine: Machine whose value is in the middle of a sweep without a range.
        ranks: Number of ranks.

    Raises:
        TracelibError: The text is not valid, or the machine has no value to start from.
    """
    found, values = _named(text)
    values, colon, steps = values.partition(":")
    if colon and (not steps.isdecimal() or not 2 <= int(steps) <= 10_000):
        raise TracelibError(f"{text!r}: {steps!r} is not a number of values", "write NAME=LOW..HIGH:13")
    low, high = _range(found, values) if values else _wide_range(found, machine, ranks)
    return ParameterSweep(found, spaced(low, high, int(steps or STEPS), whole=found.whole))


def spaced(low: float, high: float, steps: int, *, whole: bool) -> tuple[float, ...]:
    """Return `steps` values from low to high, each the same multiple of the value before.

    With `whole`, values are rounded to whole numbers, and equal ones are dropped.
    """
    values = np.geomspace(low, high, steps)
    values[[0, -1]] = low, high
    if whole:
        values = np.unique(np.round(values))
    return tuple(values.tolist())


def _named(text: str) -> tuple[MachineParameter, str]:
    """Return the parameter before the "=", and the text after it. A region's name may contain "="."""
    name, equals, values = text.rpartition("=")
    if not equals or (name.startswith(PREFIX) and ".." not in values and "%" not in values):
        name, values = text, ""
    return named(name.strip()), values


def _range(of: MachineParameter, text: str) -> tuple[float, float]:
    ends = text.split("..")
    if len(ends) != 2:
        raise TracelibError(f"{of.name}={text} is not a range", f"write {of.name}=LOW..HIGH")
    low, high = two_values_of(of, *ends)
    if not 0 < low < high < math.inf:
        raise TracelibError(f"{of.name}={text} is not a range", "it must go from a number above 0 to a larger one")
    return low, high


def _share(text: str, where: str) -> float:
    try:
        share = float(text.strip().removesuffix("%")) / 100
    except ValueError:
        share = math.nan
    if not text.strip().endswith("%") or not 0 < share < 1:
        raise TracelibError(f"{where!r} is not a factor", "write NAME=LOW..HIGH, NAME=10% or NAME")
    return share


def _known(of: MachineParameter, machine: Machine) -> float:
    value = of.get(machine)
    if math.isnan(value):
        raise TracelibError(f"{of.name} is not set on this machine", f"name a range: {of.name}=LOW..HIGH")
    if math.isinf(value) or not value:
        what = "infinite" if value else "0"
        raise TracelibError(f"{of.name} is {what} on this machine", f"name a range: {of.name}=LOW..HIGH")
    return value


def _around(of: MachineParameter, machine: Machine, within: float) -> TwoLevelFactor:
    value = _known(of, machine)
    low, high = value * (1 - within), value * (1 + within)
    if of.whole:
        low, high = max(1, math.floor(round(low, 9))), max(math.ceil(round(high, 9)), value + 1)
    return TwoLevelFactor(of, low, high)


def _wide_range(of: MachineParameter, machine: Machine, ranks: int) -> tuple[float, float]:
    if of.whole and of.endless and math.isinf(of.get(machine)):
        return 1.0, float(max(ranks, 2))
    value = _known(of, machine)
    low = value / AROUND
    return (max(1.0, round(low)), float(round(value * AROUND))) if of.whole else (low, value * AROUND)


def check_number(factors: Sequence[TwoLevelFactor], most: int) -> None:
    """Check that there are at most `most` factors, and none is named twice.

    Raises:
        TracelibError: There are too many factors, or one is named twice.
    """
    names = [factor.parameter.name for factor in factors]
    if len(set(names)) < len(names):
        raise TracelibError("a factor is named twice", "name each once")
    if len(factors) > most:
        raise TracelibError(f"{len(factors)} factors have {2 ** len(factors)} combinations", f"name at most {most}")
