"""Filters that choose a view's messages, events and calls. States are never filtered.

Source: "Dimemas specification", section 1.16.2, "Filter".

Also the numbers of a filter as text: `0-3,8`, `>=64K`, `!5`.
"""

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
    def parse(cls, wanted: Numbers | str | float | Sequence[float]) -> Numbers:
        """Make them from a text such as "0-3,8", ">=64K", "!5" (K, M and G are powers of 1024), a number, or several.

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
        """True if every number is chosen."""
        return self == EVERY

    def matches(self, values: np.ndarray) -> np.ndarray:
        """Return a mask of the values that are chosen."""
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


Wanted = Numbers | str | float | Sequence[float]
"""Numbers that are wanted: "0-3,8", ">=64K", "!5", 7, (1, 2)."""


_LISTS: tuple[tuple[str, str, type | tuple[type, ...]], ...] = (
    ("communicators", "communicator", str), ("types", "event type", (int, str)), ("calls", "procedure", str),
)  # fmt: skip
"""Fields that are lists: name, name for messages, and type of the elements."""


@dataclass(frozen=True)
class Filter:
    """Choice of a run's records. A field that is not given chooses all; a view sees nothing else."""

    source: Wanted = EVERY
    """Messages: world ranks that send."""
    destination: Wanted = EVERY
    """Messages: world ranks that receive."""
    size: Wanted = EVERY
    """Messages: bytes. Calls: bytes that they send or receive, whichever is more."""
    tag: Wanted = EVERY
    """Messages and calls."""
    communicators: Sequence[str] = ()
    """Messages and calls: names, as in the tables of calls (`MPI_COMM_WORLD`)."""
    logical: bool = False
    """Messages: they are sent when the call is entered, and received when it was and their data are there."""
    types: Sequence[int | str] = ()
    """Events: types, by number or by name (`mpi`, `region`, `iteration`, a counter, any label of the trace)."""
    values: Wanted | Sequence[str] = EVERY
    """Events: values, or their names (`MPI_Send`, `solve`)."""
    calls: Sequence[str] = ()
    """Calls: procedures (`MPI_Send`), or kinds of them (`point to point`, `collective`, `one-sided`, `file`)."""
    peer: Wanted = EVERY
    """Calls: world ranks of destination, source or root."""
    place: str = ""
    """Calls: a regular expression that finds their place (`--place` of other commands)."""
    region: str = ""
    """Calls, messages (where they are sent) and events: in this region, or in a region in it; `solve/exchange`."""
    iterations: Wanted = EVERY
    """Only in these iterations of the main loop, which count from 0."""

    def __post_init__(self) -> None:
        for name in ("source", "destination", "size", "tag", "peer", "iterations"):
            object.__setattr__(self, name, Numbers.parse(getattr(self, name)))
        for name, what, kinds in _LISTS:
            value = getattr(self, name)
            several = (value,) if isinstance(value, str | int | float) else tuple(value)
            if wrong := [one for one in several if not isinstance(one, kinds) or isinstance(one, bool)]:
                raise TracelibError(f"{wrong[0]!r} is no {what}", "", 2)
            object.__setattr__(self, name, several)
        object.__setattr__(self, "values", _values(self.values))
        try:
            re.compile(self.place)
        except re.error as error:
            raise TracelibError(f"{self.place!r} is no regular expression: {error}", "", 2) from error

    @property
    def has_where(self) -> bool:
        """True if it depends on the region or the iteration."""
        return bool(self.region) or self.iterations != EVERY


def _values(values: Wanted | Sequence[str]) -> Numbers | tuple[str, ...]:
    """Return numbers, or names."""
    if isinstance(values, str):
        return Numbers.parse(values) if values.lstrip("!<>= -")[:1].isdigit() else (values,)
    if isinstance(values, list | tuple) and values and all(isinstance(value, str) for value in values):
        return tuple(values)
    return Numbers.parse(values)  # type: ignore[arg-type]
