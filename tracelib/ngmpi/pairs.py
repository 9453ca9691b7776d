"""Which ranks measure with which: the four modes of the thesis."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

from tracelib.errors import TracelibError
from tracelib.schema.net import WHERE, PairMode

Pair = tuple[int, int]


@dataclass
class PairGroup:
    """Pairs that are measured as one: by the same plan, and each time either all at once or one that is drawn."""

    pairs: list[Pair]
    where: str
    at_once: bool
    _draw: random.Random = field(default_factory=random.Random)

    def next(self) -> list[Pair]:
        """Return the pairs of the next experiment: all at once, or one that is drawn."""
        return self.pairs if self.at_once else [self._draw.choice(self.pairs)]


def groups(mode: PairMode, hosts: Sequence[object], ranks: Sequence[int], seed: int) -> list[PairGroup]:
    """Return the groups of a mode, those within hosts and those between them apart. `hosts`: of each rank of the world.

    `ranks`: the subgroup of PairMode.SUBGROUP. Raises TracelibError for ranks that do not fit.
    """
    chosen = _subgroup(ranks, len(hosts)) if mode is PairMode.SUBGROUP else list(range(len(hosts)))

    def where(pair: Pair) -> str:
        return WHERE[hosts[pair[0]] != hosts[pair[1]]]

    if mode is PairMode.FULL:
        return [PairGroup([pair], where(pair), True) for pair in combinations(chosen, 2)]
    neighbours = mode is PairMode.PAIRS
    pairs = list(zip(chosen[::2], chosen[1::2], strict=False)) if neighbours else list(combinations(chosen, 2))
    kinds = {kind: [pair for pair in pairs if where(pair) == kind] for kind in WHERE}
    return [PairGroup(p, kind, neighbours, random.Random(seed)) for kind, p in kinds.items() if p]


def _subgroup(ranks: Sequence[int], size: int) -> list[int]:
    if strange := [rank for rank in ranks if not 0 <= rank < size]:
        raise TracelibError(f"the subgroup has rank {strange[0]}, but ranks are 0 to {size - 1}")
    if len(set(ranks)) < max(2, len(ranks)):
        raise TracelibError("the subgroup needs at least two ranks, each named once", "name them as --ranks 1,3,5")
    return sorted(ranks)
