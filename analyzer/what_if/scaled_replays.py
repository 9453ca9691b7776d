"""Replays with some parts of the computation faster, and the prediction of Amdahl's law for comparison.

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
"""Share of all computation from which on a part is nearly the whole program."""


@dataclass(frozen=True)
class WhatIf(InNotebook):
    """Replays of a run with some parts of its computation scaled. Times are in ns."""

    names: tuple[str, ...]  # names of the scaled parts
    factors: tuple[float, ...]  # factor of each scaled part
    before_ns: int  # length of the replay without scaling
    after_ns: int  # length of the replay with the parts scaled
    free_ns: int  # length of the replay if the parts took no time
    computing_ns: int  # computation of all ranks, in all parts of the program
    inside_ns: int  # computation of all ranks in the scaled parts
    scaled_ns: float  # computation in these parts after scaling
    inner_ns: int = 0  # computation in smaller parts that lie inside the scaled parts

    @property
    def gain_ns(self) -> int:
        """Time by which the scaled run is shorter, ns; negative if it is longer."""
        return self.before_ns - self.after_ns

    @property
    def saved(self) -> float:
        """Fraction of the computation in the scaled parts that is saved; negative if the parts become slower."""
        return 1 - self.scaled_ns / self.inside_ns if self.inside_ns else 0.0

    @property
    def elasticity(self) -> float | None:
        """Relative change of the run's length divided by the relative change of the computation in the scaled parts.

        1: the run becomes shorter in proportion. 0: nothing is gained. None: nothing was changed.
        """
        if not self.saved or not self.before_ns:
            return None
        return self.gain_ns / self.before_ns / self.saved

    @property
    def share(self) -> float:
        """Fraction of all computation that lies in the scaled parts."""
        return self.inside_ns / self.computing_ns if self.computing_ns else 0.0

    @property
    def is_trivial(self) -> bool:
        """True if the scaled parts are nearly the whole program (WHOLE) and contain smaller parts.

        The gain then does not tell where to optimize.
        """
        return self.inner_ns > 0 and self.share >= WHOLE

    @property
    def amdahl_ns(self) -> float:
        """Run time by Amdahl's law applied to the sum of all computation: before_ns x (1 - share x saved)."""
        return self.before_ns * (1 - self.share * self.saved)

    @property
    def amdahl_free_ns(self) -> float:
        """Run time by Amdahl's law if the scaled parts took no time, ns."""
        return self.before_ns * (1 - self.share)


def what_if(
    blocks: BlockProgram, machine: Machine, factors: dict[int, float], team: Team, jobs: int | None = None
) -> WhatIf:
    """Replay the run with the bursts of some parts multiplied by factors.

    All members of the team must call this function.

    Args:
        blocks: Program, divided into parts.
        machine: Machine to replay on.
        factors: Factor by index of the part in `blocks`.
        team: Processes that share the replays.
        jobs: Number of replays that a process makes at once, as in `predictions`.
    """
    programs = [blocks.scaled(chosen) for chosen in ({}, factors, dict.fromkeys(factors, 0.0))]
    before, after, free = end_times_of(programs, machine, team, jobs)
    return _found(blocks, factors, before, after, free)


def each_for_free(
    blocks: BlockProgram, machine: Machine, most: int, team: Team, jobs: int | None = None
) -> list[WhatIf]:
    """Replay the run once for each of the longest parts, as if that part alone took no time.

    All members of the team must call this function.

    Args:
        blocks: Program, divided into parts.
        machine: Machine to replay on.
        most: Largest number of parts.
        team: Processes that share the replays.
        jobs: Number of replays that a process makes at once, as in `predictions`.

    Returns:
        One result for each part; the part whose replay is shortest comes first.
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
    """Return the computation, in ns, of the parts that lie inside these blocks and are smaller than all the blocks."""
    within = ~(blocks.member & ~inside).any(axis=1)
    smaller = (blocks.computing_ns * blocks.member).sum(axis=1) < blocks.computing_ns[inside].sum()
    return int(blocks.computing_ns[blocks.member[within & smaller].any(axis=0)].sum())
