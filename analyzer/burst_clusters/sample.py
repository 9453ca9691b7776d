"""A sample of a run's bursts that fits into memory, the same however many processes draw it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from analyzer.burst_clusters.bursts import Bursts, bursts
from analyzer.parallel import Team
from analyzer.trace import Trace

SIZE = 10_000
"""Bursts in the sample. Half are drawn from all alike, half by their length, so that rare long ones are in it."""


@dataclass
class _Lowest:
    """The rows with the lowest keys."""

    keys: np.ndarray = field(default_factory=lambda: np.zeros(0))
    ids: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint64))
    values: np.ndarray | None = None

    def add(self, keys: np.ndarray, ids: np.ndarray, values: np.ndarray) -> None:
        if self.values is None:
            self.values = np.zeros((0, values.shape[1]))
        keys, ids = np.concatenate([self.keys, keys]), np.concatenate([self.ids, ids])
        values = np.concatenate([self.values, values])
        kept = np.lexsort((ids, keys))[: SIZE // 2]
        self.keys, self.ids, self.values = keys[kept], ids[kept], values[kept]


def draw(
    trace: Trace, team: Team, counters: tuple[str, ...] = (), shortest_ns: int = 0, stretches: np.ndarray | None = None
) -> np.ndarray:
    """The values (as `Bursts` has them) of at most SIZE of the bursts with known counts that are not shorter, and lie
    in the stretches (see `bursts`).

    One pass in bounded memory; collective over the team.
    """
    alike, by_length = _Lowest(), _Lowest()
    for found in bursts(trace, trace.share(team), counters, stretches):
        duration = found.values[:, 0]
        wanted = ~np.isnan(found.values).any(axis=1) & (duration >= shortest_ns)
        ids = _ids(found, int(trace.threads.max()))[wanted]
        chance = -np.log((ids >> np.uint64(11)).astype(float) * 2.0**-53 + 2.0**-54)
        alike.add(chance, ids, found.values[wanted])
        by_length.add(chance / duration[wanted], ids, found.values[wanted])
    parts = [_merged(team, part, 1 + len(counters)) for part in (alike, by_length)]
    ids, values = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return values[np.unique(ids, return_index=True)[1]]


def _merged(team: Team, mine: _Lowest, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and values of the rows with the lowest keys of all members."""
    every = team.allgather((mine.keys, mine.ids, np.zeros((0, columns)) if mine.values is None else mine.values))
    keys, ids, values = (np.concatenate(part) for part in zip(*every, strict=True))
    kept = np.lexsort((ids, keys))[: SIZE // 2]
    return ids[kept], values[kept]


def _ids(found: Bursts, most_threads: int) -> np.ndarray:
    """A random number of each burst that depends on its place and begin alone (splitmix64)."""
    lane = found.states["rank"].astype(np.uint64) * np.uint64(most_threads) + found.states["thread"].astype(np.uint64)
    x = found.states["begin"].astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + lane * np.uint64(0xD1B54A32D192ED03)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
