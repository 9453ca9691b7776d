"""How even the iterations of a run's main loop are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.evenness.by_iteration import computing_by_iteration
from analyzer.evenness.pipelines import Pipeline, pipelines
from analyzer.evenness.uneven import Uneven, uneven
from analyzer.parallel import Team
from analyzer.structure.iterations import Iterations
from analyzer.trace import CallPaths, Trace


@dataclass(frozen=True)
class Evenness:
    """What ranks compute in the iterations of a loop, and what is uneven about it."""

    iterations: Iterations
    computing_ns: np.ndarray  # int64 (ranks, iterations), those whose iterations are known
    uneven: Uneven
    pipelines: tuple[Pipeline, ...]
    place: tuple[str, ...]  # text of the place of each of `pipelines`; empty: not known

    @property
    def elsewhere_ns(self) -> np.ndarray:
        """What each rank does not compute in each iteration: MPI, and what is nobody's."""
        return self.iterations.lengths_ns() - self.computing_ns


def evenness(trace: Trace, team: Team, iterations: Iterations) -> Evenness:
    """That of a loop. Collective over the team."""
    computing = computing_by_iteration(trace, team, iterations.edges)
    found = pipelines(trace, team)
    places = trace.extra(CallPaths).named() if any(one.place for one in found) else None
    texts = tuple(places.text(one.place) if places and one.place else "" for one in found)
    return Evenness(iterations, computing[iterations.known], uneven(iterations.edges, computing), found, texts)
