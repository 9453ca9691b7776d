"""Result of `analyze what-if`: what a run would gain if parts of its computation were faster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.console import Console

from analyzer.errors import TracelibError
from analyzer.operations.program import program_of
from analyzer.parallel import Team
from analyzer.program.model import Program
from analyzer.report.what_if import WhatIfReport, print_what_if, what_if_json
from analyzer.report.words.eager import Eager
from analyzer.report.words.left_out import not_replayed
from analyzer.results.machine_choice import MachineChoice, cpu_time_of, incomplete, replaying
from analyzer.results.result import Result
from analyzer.trace import Regions, Trace, ranks_named
from analyzer.trace.at_places import PlaceChoice
from analyzer.what_if.blocks import BlockProgram, blocks_between_calls, blocks_of_regions
from analyzer.what_if.scaled_replays import each_for_free, what_if

REGIONS, CALLS = "regions", "calls"
_MOST_NAMES = 8


@dataclass(frozen=True, repr=False)
class WhatIfResult(Result):
    """Predicted gain from faster computation."""

    _main: ClassVar[tuple[str, ...]] = ("each_free", "summary")

    _asked: WhatIfReport

    def to_dict(self) -> dict[str, Any]:
        return what_if_json(self._asked)

    def _rows(self) -> dict[str, list[dict[str, Any]]]:
        rows = super()._rows()
        named = [{"part": ", ".join(one["name"] for one in row["parts"]), **row} for row in rows.get("each_free", [])]
        for row in named:
            del row["parts"]
        return rows | ({"each_free": named} if named else {})

    def print(self, console: Console) -> None:
        print_what_if(self._asked, console)


def compute(
    trace: Trace, team: Team, *, factors: Mapping[str, float], choice: MachineChoice,
    ranks: frozenset[int] | None = None, by: str | None = None, top: int = 15, place: PlaceChoice | None = None,
    jobs: int | None = None,
) -> WhatIfResult:  # fmt: skip
    """Replay a run with faster or slower computation in parts of it. Collective over the team.

    Args:
        trace: An opened run.
        team: Processes that share the work.
        factors: New time / old time by name of region, or part. Empty: each part in turn takes no time.
        choice: The machine. Where it is not known, an ideal one is used.
        ranks: Ranks whose computation changes. None: all.
        by: Parts to try: "regions", or "calls", the computation between two calls. None: regions if there are any.
        top: Number of parts to try.
        place: Parts are computation before and after calls through these places. None: all computation.
        jobs: Number of replays at once. None: one for each CPU.

    Raises:
        TracelibError: There is no such part or rank.
    """
    with replaying(trace, team):
        _check_ranks(trace, ranks)
        known = choice.known(trace, team)
        machine = known or choice.or_ideal()
        program = program_of(trace, team, buffered=machine.eager_limit is None)
        blocks = _divided(trace, program, by, ranks, place)
        if factors:
            wanted = {_part(blocks, name, str(trace.path)): factor for name, factor in factors.items()}
            found = [what_if(blocks, machine, wanted, team, jobs)]
        else:
            found = each_for_free(blocks, machine, top, team, jobs)
    return WhatIfResult(
        WhatIfReport(
            file=str(trace.path),
            measured_ns=trace.duration_ns if trace.has_call_times else 0,
            machine=choice.text(unknown=known is None),
            eager=Eager.from_replay(machine, program),
            ranks=f" on {ranks_named(sorted(ranks))}" if ranks is not None else "",
            found=found,
            each=not factors,
            cpu_time=cpu_time_of(trace, program),
            lacking=not_replayed(incomplete(trace, team), [program], machine),
        )
    )


def _check_ranks(trace: Trace, ranks: frozenset[int] | None) -> None:
    wrong = sorted(rank for rank in ranks or () if rank >= trace.size)
    if wrong:
        raise TracelibError(f"there is no rank {wrong[0]}", f"ranks are 0 to {trace.size - 1}")


def _divided(
    trace: Trace, program: Program, by: str | None, ranks: frozenset[int] | None, place: PlaceChoice | None
) -> BlockProgram:
    if by == REGIONS and not trace.extra(Regions).names:
        raise TracelibError(f"{trace.path} has no regions", "name them in the program (docs/regions.md), or --by calls")
    if place:
        return blocks_between_calls(trace, program, ranks, place.paths(trace))
    by_region = by == REGIONS or (by is None and bool(trace.extra(Regions).names))
    return (blocks_of_regions if by_region else blocks_between_calls)(trace, program, ranks)


def _part(blocks: BlockProgram, name: str, file: str) -> int:
    if name in blocks.names:
        return blocks.part(name)
    longest = sorted(range(len(blocks.names)), key=blocks.part_ns, reverse=True)[:_MOST_NAMES]
    known = ", ".join(blocks.names[part] for part in longest) + (", ..." if len(blocks.names) > _MOST_NAMES else "")
    raise TracelibError(f"{file} has no part {name!r}", f"it has {known}" if known else "it has no parts")
