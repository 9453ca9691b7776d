"""Sums over all calls of a run: each rank is looked at once, however many sums are made of what it did."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

from analyzer.pairing.parts import Part, parts
from analyzer.parallel import Team
from analyzer.trace import Trace

Total = TypeVar("Total")


class Sums(ABC, Generic[Total]):
    """Something that is added up over the parts of a run."""

    @abstractmethod
    def add(self, part: Part) -> None:
        """Add what some ranks did. Parts of a rank come in order of time."""

    @abstractmethod
    def total(self, team: Team) -> Total:
        """The sum over all members of a team, each of which has added its ranks' parts. Collective."""


def add_up(trace: Trace, team: Team, sums: Sums[Total]) -> Total:
    """One sum over all ranks. Collective over the team."""
    add_all(trace, team, sums)
    return sums.total(team)


def add_all(trace: Trace, team: Team, *sums: Sums[Any]) -> None:
    """Have every sum add this member's ranks."""
    for part in parts(trace, trace.share(team)):
        for one in sums:
            one.add(part)
