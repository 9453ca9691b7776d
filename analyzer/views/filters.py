"""Filters that choose the messages, events and calls that a view sees. States are never filtered.

Source: "Dimemas specification", section 1.16.2, "Filter". The numbers of a filter may be text: `0-3,8`, `>=64K`, `!5`.
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
    """A set of numbers: those within any of the spans, both ends included. `negated`: all numbers outside the spans."""

    spans: tuple[tuple[float, float], ...]
    negated: bool = False

    @classmethod
    def parse(cls, wanted: Numbers | str | float | Sequence[float]) -> Numbers:
        """Make a set of numbers from a number, several numbers, or a text such as "0-3,8", ">=64K" or "!5".

        K, M and G are powers of 1024.

        Raises:
            TracelibError: `wanted` is not of this form.
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
        """True if the set contains every number."""
        return self == EVERY

    def matches(self, values: np.ndarray) -> np.ndarray:
        """Return a mask of the values that are in the set."""
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
"""Any form of a set of numbers that a user may give: "0-3,8", ">=64K", "!5", 7, (1, 2)."""


_LISTS: tuple[tuple[str, str, type | tuple[type, ...]], ...] = (
    ("communicators", "communicator", str), ("types", "event type", (int, str)), ("calls", "procedure", str),
)  # fmt: skip
"""Fields of Filter that are lists: name of the field, word for messages, and type of the elements."""


@dataclass(frozen=True)
class Filter:
    """Conditions on the records that a view sees. A field that is not given accepts all records."""

    source: Wanted = EVERY
    """Messages: world ranks of the sender."""
    destination: Wanted = EVERY
    """Messages: world ranks of the receiver."""
    size: Wanted = EVERY
    """Messages: size in bytes. Calls: bytes that the call sends or receives, whichever is more."""
    tag: Wanted = EVERY
    """Messages and calls: tags."""
    communicators: Sequence[str] = ()
    """Messages and calls: names of communicators, as in the tables of calls (`MPI_COMM_WORLD`)."""
    logical: bool = False
    """Messages: whether logical times count.

    True: a message is sent when the send is called, and received when the receive has been called and the data have
    arrived. False: physical times.
    """
    types: Sequence[int | str] = ()
    """Events: types by number, or by name: `mpi`, `region`, `iteration`, a counter, or any label of the trace."""
    values: Wanted | Sequence[str] = EVERY
    """Events: values, or names of values (`MPI_Send`, `solve`)."""
    calls: Sequence[str] = ()
    """Calls: procedures (`MPI_Send`), or their kinds (`point to point`, `collective`, `one-sided`, `file`)."""
    peer: Wanted = EVERY
    """Calls: world rank of the destination, source or root."""
    place: str = ""
    """Calls: regular expression that is searched in their place (`--place` of other commands)."""
    region: str = ""
    """Calls, messages (at their send) and events: path of a region (`solve/exchange`), with the regions in it."""
    iterations: Wanted = EVERY
    """Calls, messages and events: numbers of iterations of the main loop, from 0."""

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
        """True if the filter depends on regions or iterations."""
        return bool(self.region) or self.iterations != EVERY


def _values(values: Wanted | Sequence[str]) -> Numbers | tuple[str, ...]:
    """Convert the field `values` to numbers, or to names if it is text that does not begin with a number."""
    if isinstance(values, str):
        return Numbers.parse(values) if values.lstrip("!<>= -")[:1].isdigit() else (values,)
    if isinstance(values, list | tuple) and values and all(isinstance(value, str) for value in values):
        return tuple(values)
    return Numbers.parse(values)  # type: ignore[arg-type]
