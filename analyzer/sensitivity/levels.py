"""Values of a machine's parameters, and of computation in regions, to be tried: two levels of a factor, many of a
sweep."""

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
    """Return the parameter of the machine, or of the region of a "region:NAME": 1 is as traced. Raises
    TracelibError."""
    if not name.startswith(PREFIX):
        return parameter(name)
    return MachineParameter(name, "", "", lambda _: 1.0, lambda machine, _: machine, positive=True)


def region_of(of: MachineParameter) -> str | None:
    """Return the region that it is of; None: of the machine."""
    return of.name.removeprefix(PREFIX) if of.name.startswith(PREFIX) else None


def check_regions(wanted: Iterable[MachineParameter], names: tuple[str, ...], path: str) -> bool:
    """Check whether regions are wanted. Raises TracelibError for regions that the trace does not have."""
    regions = [region for of in wanted if (region := region_of(of)) is not None]
    for region in regions:
        if region not in names:
            shown = ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")
            hint = f"it has {shown}" if names else "name them in the program: docs/regions.md"
            raise TracelibError(f"{path} has no region {region!r}", hint)
    return bool(regions)


def scales(values: dict[MachineParameter, float], blocks: BlockProgram) -> dict[int, float]:
    """Return the factors of regions, by their part of the program."""
    return {blocks.part(region): v for of, v in values.items() if (region := region_of(of)) is not None}


DEFAULT_NAMES = ("latency", "bandwidth", "buses", "speed")
WITHIN = 0.1
"""Distance of the levels from the machine's value, as a share of it (thesis section 3.7.2)."""
STEPS = 13
"""Values of a sweep, unless told otherwise."""
AROUND = 32.0
"""A sweep without a range goes from the machine's value divided by this to its value times this."""

_Made = TypeVar("_Made")


@dataclass(frozen=True)
class TwoLevelFactor:
    """A parameter at two levels."""

    parameter: MachineParameter
    low: float
    high: float


@dataclass(frozen=True)
class ParameterSweep:
    """A parameter at many values, in rising order."""

    parameter: MachineParameter
    values: tuple[float, ...]


def factor_of(text: str, machine: Machine, within: float = WITHIN) -> TwoLevelFactor:
    """Parse a factor from "latency=1us..5us", "latency=20%" (of the machine's value) or "latency".

    "region:NAME=0.9..1.1" is how many times as long a region's computation lasts. Raises TracelibError.
    """
    found, levels = _named(text)
    if ".." in levels:
        return TwoLevelFactor(found, *_range(found, levels))
    if levels:
        within = _share(levels, text)
    return _around(found, machine, within)


def default_factors(machine: Machine, within: float = WITHIN) -> tuple[list[TwoLevelFactor], list[str]]:
    """Return the factors of `DEFAULT_NAMES` for which the machine has a value, and why the others are left out."""
    return _known_ones(lambda name: _around(parameter(name), machine, within))


def default_sweeps(machine: Machine, ranks: int) -> tuple[list[ParameterSweep], list[str]]:
    """Choose sweeps for a machine as `default_factors` chooses factors."""
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
    """Parse a sweep from "latency=1us..1ms:13", "latency=1us..1ms" or "latency"; steps are equal ratios.

    Of a number that the machine has infinitely many of: from 1 to one for each rank. Raises TracelibError.
    """
    found, values = _named(text)
    values, colon, steps = values.partition(":")
    if colon and (not steps.isdecimal() or not 2 <= int(steps) <= 10_000):
        raise TracelibError(f"{text!r}: {steps!r} is not a number of values", "write NAME=LOW..HIGH:13")
    low, high = _range(found, values) if values else _wide_range(found, machine, ranks)
    return ParameterSweep(found, spaced(low, high, int(steps or STEPS), whole=found.whole))


def spaced(low: float, high: float, steps: int, *, whole: bool) -> tuple[float, ...]:
    """Return values from low to high, each the same multiple of the one before; whole ones if only those make sense."""
    values = np.geomspace(low, high, steps)
    values[[0, -1]] = low, high
    if whole:
        values = np.unique(np.round(values))
    return tuple(values.tolist())


def _named(text: str) -> tuple[MachineParameter, str]:
    """Return the name of what is varied, and the text after the "=", unless the "=" is part of a region's name."""
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
    """Raise TracelibError if there would be too many combinations, or a factor is named twice."""
    names = [factor.parameter.name for factor in factors]
    if len(set(names)) < len(names):
        raise TracelibError("a factor is named twice", "name each once")
    if len(factors) > most:
        raise TracelibError(f"{len(factors)} factors have {2 ** len(factors)} combinations", f"name at most {most}")
