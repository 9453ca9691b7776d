"""Replays with parts of the computation faster, and what Amdahl's rule would have said.

Source: "Dimemas specification", section 1.13 (thesis, section 3.7.3); G. Amdahl, "Validity of the single processor
approach to achieving large scale computing capabilities", 1967.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.in_notebook import InNotebook
from analyzer.machine.description import Machine
from analyzer.parallel import Team
from analyzer.replay.replays import end_times_of
from analyzer.what_if.blocks import BlockProgram

WHOLE = 0.9
"""Share of all computation from which a part counts as nearly the whole program."""


@dataclass(frozen=True)
class WhatIf(InNotebook):
    """A run with some of its computation scaled; times in ns."""

    names: tuple[str, ...]  # of the parts that are scaled
    factors: tuple[float, ...]
    before_ns: int  # replayed as it is
    after_ns: int
    free_ns: int  # if these parts took no time
    computing_ns: int  # of all ranks, everywhere
    inside_ns: int  # of all ranks, in these parts
    scaled_ns: float  # what is left of that
    inner_ns: int = 0  # of inside_ns, in other parts that lie inside

    @property
    def gain_ns(self) -> int:
        return self.before_ns - self.after_ns

    @property
    def saved(self) -> float:
        """The part of the computation in these parts that is saved; negative if they become slower."""
        return 1 - self.scaled_ns / self.inside_ns if self.inside_ns else 0.0

    @property
    def elasticity(self) -> float | None:
        """Relative change of the run's length / that of this computation: 1 if in proportion, 0 if nothing is
        gained; None if nothing was changed."""
        if not self.saved or not self.before_ns:
            return None
        return self.gain_ns / self.before_ns / self.saved

    @property
    def share(self) -> float:
        """The share of all computation that is in these parts."""
        return self.inside_ns / self.computing_ns if self.computing_ns else 0.0

    @property
    def is_trivial(self) -> bool:
        """Check whether this is nearly the whole program while smaller parts are known: its gain then says nothing."""
        return self.inner_ns > 0 and self.share >= WHOLE

    @property
    def amdahl_ns(self) -> float:
        """Amdahl's rule on the sum of all computation: time x (1 - share x what is saved of it)."""
        return self.before_ns * (1 - self.share * self.saved)

    @property
    def amdahl_free_ns(self) -> float:
        """Amdahl's time if these parts took no time, ns."""
        return self.before_ns * (1 - self.share)


def what_if(
    blocks: BlockProgram, machine: Machine, factors: dict[int, float], team: Team, jobs: int | None = None
) -> WhatIf:
    """Replay the run with the bursts of some parts (by index in `blocks`) multiplied by factors."""
    programs = [blocks.scaled(chosen) for chosen in ({}, factors, dict.fromkeys(factors, 0.0))]
    before, after, free = end_times_of(programs, machine, team, jobs)
    return _found(blocks, factors, before, after, free)


def each_for_free(
    blocks: BlockProgram, machine: Machine, most: int, team: Team, jobs: int | None = None
) -> list[WhatIf]:
    """Replay the run as if each of the longest parts alone took no time, at most `most` of them.

    The most useful part is first.
    """
    times = [blocks.part_ns(part) for part in range(len(blocks.names))]
    chosen = [part for part in sorted(range(len(times)), key=lambda part: (-times[part], part)) if times[part]][:most]
    programs = [blocks.scaled(factors) for factors in ({}, *({part: 0.0} for part in chosen))]
    before, *free = end_times_of(programs, machine, team, jobs)
    found = [_found(blocks, {part: 0.0}, before, end, end) for part, end in zip(chosen, free, strict=True)]
    return sorted(found, key=lambda one: (one.free_ns, -one.inside_ns, one.names))


def _found(blocks: BlockProgram, factors: dict[int, float], before: int, after: int, free: int) -> WhatIf:
    inside = np.asarray(blocks.member[list(factors)].any(axis=0))
    times, scale = blocks.computing_ns[inside], blocks.block_factors(factors)[inside]
    return WhatIf(
        tuple(blocks.names[part] for part in factors), tuple(factors.values()), before, after, free,
        int(blocks.computing_ns.sum()), int(times.sum()), float(np.dot(times, scale)), _inner_ns(blocks, inside),
    )  # fmt: skip


def _inner_ns(blocks: BlockProgram, inside: np.ndarray) -> int:
    """Return the computation in the parts that lie inside these blocks, and are not all of them."""
    within = ~(blocks.member & ~inside).any(axis=1)
    smaller = (blocks.computing_ns * blocks.member).sum(axis=1) < blocks.computing_ns[inside].sum()
    return int(blocks.computing_ns[blocks.member[within & smaller].any(axis=0)].sum())
