"""Places of the program where ranks lose time: uneven computing, and long calls."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from analyzer.metrics.callers import CallerSums, from_places
from analyzer.metrics.computing import ComputingSums, UnevenComputing, uneven_computing
from analyzer.metrics.sums import add_all
from analyzer.parallel import Team
from analyzer.places.phrases import call_at
from analyzer.trace import CallPaths, Trace


@dataclass(frozen=True)
class InCalls:
    """Calls of one procedure from one place, named by `text`, and the total time in them in ns, over all ranks."""

    text: str
    ns: int


@dataclass(frozen=True)
class LostAt:
    """Uneven computing and long calls, each with the largest loss first. Both empty: places are not known."""

    uneven: Sequence[UnevenComputing] = ()
    in_calls: Sequence[InCalls] = ()


NOWHERE = LostAt()
"""The LostAt of a trace without places."""


def lost_at(trace: Trace, team: Team, without: Set[str] = frozenset()) -> LostAt:
    """Find where ranks compute most unevenly, and which calls take longest. Collective.

    Args:
        trace: The trace.
        team: The processes that share the work.
        without: Procedures whose calls are left out.
    """
    paths = trace.extra(CallPaths)
    if not paths.known or not trace.has_call_times:
        return NOWHERE
    computed, called = ComputingSums(trace), CallerSums(trace)
    add_all(trace, team, computed, called)
    uneven = uneven_computing(computed.total(team), trace)
    places = paths.named()
    found = [f for f in from_places(called.total(team), places, trace) if f.procedure not in without]
    texts = [call_at(f.procedure, places.text(f.place) if f.place else "") for f in found]
    return LostAt(uneven, [InCalls(text, f.inside_ns) for text, f in zip(texts, found, strict=True)])
