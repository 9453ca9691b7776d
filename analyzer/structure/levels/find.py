"""The iterations of a run, for who looks at them one by one."""

from __future__ import annotations

from analyzer.parallel import Team
from analyzer.structure.events import recorded
from analyzer.structure.iterations import Iterations
from analyzer.structure.levels.structure import all_loops, main_loop
from analyzer.trace import Trace


def iterations(trace: Trace, team: Team, level: int = 1, *, by_signals: bool = False) -> Iterations | None:
    """The passes of the main loop (level 1), or of the longest loop inside its typical iteration (level 2), and so on.
    None: there is no such loop. Those of level 1 are taken from a trace that says them. by_signals: where calls say
    nothing, signals are asked. Collective over the team."""
    if level == 1 and (known := recorded(trace, team)):
        return known
    part = main_loop(trace, team, by_signals=by_signals) if level == 1 else next(iter(all_loops(trace, team)), None)
    for _ in range(level - 1):
        inner = [one for one in part.inside if one.iterations] if part else []
        part = max(inner, key=lambda one: one.span_ns, default=None)
    return part.iterations if part else None


def numbered_loops(trace: Trace, team: Team) -> list[Iterations]:
    """The passes of all loops, in the order in which `analyze structure` numbers them, from 1. Those of the first are
    taken from a trace that says them. Collective over the team."""
    found = [part.iterations for part in all_loops(trace, team) if part.iterations]
    known = recorded(trace, team)
    return [known, *found[1:]] if known else found
