"""Which numbers are wanted: `0-3,8`, `>=64K`, `!5`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from analyzer.errors import TracelibError

_ONE = re.compile(r"(>=|<=|>|<)?\s*(-?\d+(?:\.\d+)?)\s*([KMG]?)(?:\s*-\s*(-?\d+(?:\.\d+)?)\s*([KMG]?))?", re.IGNORECASE)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True)
class Numbers:
    """Numbers in any of some spans, both ends included; `negated`: in none of them."""

    spans: tuple[tuple[float, float], ...]
    negated: bool = False

    @classmethod
    def of(cls, wanted: Numbers | str | float | Sequence[float]) -> Numbers:
        """From a text such as "0-3,8", ">=64K", "!5" (K, M and G are powers of 1024), a number, or several.

        Raises TracelibError.
        """
        if isinstance(wanted, Numbers):
            return wanted
        if isinstance(wanted, str):
            return cls._parsed(wanted)
        several = [wanted] if isinstance(wanted, int | float) else wanted
        is_list = isinstance(several, list | tuple | range | np.ndarray) and not isinstance(wanted, bool)
        if not is_list or not all(isinstance(one, int | float | np.number) for one in several):
            raise _refused(wanted)
        return cls(tuple((float(one), float(one)) for one in several))

    @classmethod
    def _parsed(cls, text: str) -> Numbers:
        negated, parts = text.strip().startswith("!"), text.strip().removeprefix("!").split(",")
        found = [_ONE.fullmatch(part.strip()) for part in parts]
        if not all(found):
            raise _refused(text)
        return cls(tuple(_span(*one.groups(default="")) for one in found if one), negated)

    @property
    def all(self) -> bool:
        """Whether every number is wanted."""
        return self == EVERY

    def matches(self, values: np.ndarray) -> np.ndarray:
        """bool of each value."""
        found = np.zeros(len(values), bool)
        for low, high in self.spans:
            found |= (values == low) if low == high else (values >= low) & (values <= high)
        return ~found if self.negated else found


def _refused(wanted: object) -> TracelibError:
    return TracelibError(f"{wanted!r} are no numbers such as 0-3,8 or >=64K or !5", "", 2)


def _span(sign: str, low: str, unit: str, high: str, high_unit: str) -> tuple[float, float]:
    value = float(low) * _UNITS[unit.upper()]
    if high:
        return value, float(high) * _UNITS[high_unit.upper()]
    return {
        "": (value, value), ">=": (value, inf), "<=": (-inf, value),
        ">": (np.nextafter(value, inf), inf), "<": (-inf, np.nextafter(value, -inf)),
    }[sign]  # fmt: skip


EVERY = Numbers(((-inf, inf),))
