"""Sums over all calls of a run: each rank is read once, for all sums together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

from analyzer.pairing.parts import Part, parts
from analyzer.parallel import Team
from analyzer.trace import Trace

Total = TypeVar("Total")


class Sums(ABC, Generic[Total]):
    """Interface of a sum over the parts of a run."""

    @abstractmethod
    def add(self, part: Part) -> None:
        """Add a part with some ranks. Parts of a rank come in order of time."""

    @abstractmethod
    def total(self, team: Team) -> Total:
        """Return the sum over all members of a team, each of which has added its ranks' parts. Collective."""


def add_up(trace: Trace, team: Team, sums: Sums[Total]) -> Total:
    """Compute one sum over all ranks. Collective."""
    add_all(trace, team, sums)
    return sums.total(team)


def add_all(trace: Trace, team: Team, *sums: Sums[Any]) -> None:
    """Add the parts of this member's ranks to each sum."""
    for part in parts(trace, trace.share(team)):
        for one in sums:
            one.add(part)
