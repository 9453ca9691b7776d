"""Sums over all calls of a run. Several sums can be computed together, so that each rank is read only once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

from analyzer.pairing.parts import Part, parts
from analyzer.parallel import Team
from analyzer.trace import Trace

Total = TypeVar("Total")


class Sums(ABC, Generic[Total]):
    """Interface of a sum that is computed from the parts of a run (analyzer.pairing.parts)."""

    @abstractmethod
    def add(self, part: Part) -> None:
        """Add a part, which has the calls of some ranks in a stretch of time.

        Parts of one rank come in order of time.
        """

    @abstractmethod
    def total(self, team: Team) -> Total:
        """Return the sum over all members of a team. Collective: each member has added the parts of its ranks."""


def add_up(trace: Trace, team: Team, sums: Sums[Total]) -> Total:
    """Compute one sum over all ranks of a trace. Collective."""
    add_all(trace, team, sums)
    return sums.total(team)


def add_all(trace: Trace, team: Team, *sums: Sums[Any]) -> None:
    """Add the parts of this member's ranks to each sum. `Sums.total` then gives the sums over all members."""
    for part in parts(trace, trace.share(team)):
        for one in sums:
            one.add(part)
