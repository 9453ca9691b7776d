"""`analyze what-if`: what the run would gain if parts of its computation were faster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from analyzer.commands.command import REPLAYS_ALL_RANKS, Chooses, command
from analyzer.commands.shared.iteration_option import open_wanted
from analyzer.commands.shared.machine_option import machine_choice
from analyzer.commands.shared.options import FiniteRange, jobs_option
from analyzer.commands.shared.session import Session
from analyzer.commands.shared.wanted import NAME
from analyzer.errors import TracelibError

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.commands.shared.machine_option import MachineChoice
    from analyzer.program.program import Program
    from analyzer.trace import Trace
    from analyzer.trace.at_places import PlaceChoice
    from analyzer.what_if.blocks import Blocks
    from analyzer.what_if.scaled_replays import WhatIf

_REGIONS, _CALLS = "regions", "calls"
_HALF = 0.5
_MOST_NAMES = 8


class _Ranks(click.ParamType):
    """Ranks such as 0-3,7 as a set."""

    name = "ranks"

    def convert(
        self, value: str | frozenset[int], param: click.Parameter | None, ctx: click.Context | None
    ) -> frozenset[int]:
        if isinstance(value, frozenset):
            return value
        found: set[int] = set()
        for part in value.split(","):
            first, dash, last = part.partition("-")
            if not first.isdecimal() or (dash and not last.isdecimal()) or int(last or first) < int(first):
                self.fail(f"{value!r} is not a list of ranks such as 3 or 0-3,7", param, ctx)
            found.update(range(int(first), int(last or first) + 1))
        return frozenset(found)


@command(
    "What faster computation in a region would gain.",
    iterations=True,
    ranks=REPLAYS_ALL_RANKS,
    place=Chooses("the parts that are tried: the computing before and after these calls"),
    json=1,
)
@click.argument("file", type=click.Path())
@click.option(
    "--region", "names", multiple=True, metavar="NAME", help="Region to make faster, with the regions inside it."
)
@click.option(
    "--factor",
    "factors",
    type=FiniteRange(0),
    multiple=True,
    metavar="X",
    help="New time / old time of the region [0.5].",
)
@click.option("--rank", "ranks", type=_Ranks(), metavar="RANKS", help="On these ranks only: 3, or 0-3,7.")
@click.option(
    "--by",
    "division",
    type=click.Choice((_REGIONS, _CALLS)),
    help="Parts to try: regions, or the computation between two calls.",
)
@click.option("--top", type=click.IntRange(1), default=15, metavar="N", help="How many parts to try [15].")
@jobs_option
@machine_choice
def what_if_command(
    session: Session,
    file: str,
    names: tuple[str, ...],
    factors: tuple[float, ...],
    ranks: frozenset[int] | None,
    division: str | None,
    top: int,
    place: PlaceChoice | None,
    jobs: int | None,
    choice: MachineChoice,
) -> None:
    """Replay FILE with faster (or slower) computation in a region, and print what the run gains.

    --region and --factor can be repeated, in pairs; where one region is inside another, both factors apply. Without
    --region, each part in turn is replayed as if it took no time: this shows which part is worth the effort. Parts are
    the regions of the program or, if it has none, the computation between two calls ("MPI_Recv ... MPI_Send"). With
    --place the parts are the computation before and after such calls.

    Without a machine, that of the run is used, as its messages show it (analyze loggp).
    """
    from analyzer.commands.shared.machine_option import cpu_time_of, incomplete, replaying
    from analyzer.operations.program import program_of
    from analyzer.report.what_if import Asked, print_what_if, what_if_json
    from analyzer.report.words.eager import Eager
    from analyzer.report.words.left_out import not_replayed
    from analyzer.trace import ranks_named
    from analyzer.what_if.scaled_replays import each_for_free, what_if

    if place and division == _REGIONS:
        raise click.UsageError("--place cannot be used here: a region is not divided by its calls")
    asked_of = _pairs(names, factors)
    trace = open_wanted(session, file, region=NAME if NAME in names else None)
    session.mention_problems(trace)
    try:
        with session.step(f"Replaying {file}"), replaying(trace, session.team):
            _check_ranks(trace, ranks)
            known = choice.known(trace, session.team)
            machine = known or choice.or_ideal()
            program = program_of(trace, session.team, buffered=machine.eager_limit is None)
            blocks = _divided(trace, program, division, ranks, place)
            found: list[WhatIf]
            if asked_of:
                wanted = {_part(blocks, name, file): factor for name, factor in asked_of.items()}
                found = [what_if(blocks, machine, wanted, session.team, jobs)]
            else:
                found = each_for_free(blocks, machine, top, session.team, jobs)
        on_ranks = f" on {ranks_named(sorted(ranks))}" if ranks is not None else ""
        lacks = not_replayed(incomplete(trace, session.team), [program], machine)
        measured = trace.duration_ns if trace.has_call_times else 0
        asked = Asked(
            file=file,
            measured_ns=measured,
            machine=_named(choice, known is None),
            eager=Eager.of(machine, program),
            ranks=on_ranks,
            found=found,
            each=not asked_of,
            cpu_time=cpu_time_of(trace, program),
            lacking=lacks,
        )
        if session.as_json:
            session.print_json(what_if_json(asked))
        elif not session.quiet:
            session.print(lambda console: print_what_if(asked, console))
    finally:
        trace.close()


def _named(choice: MachineChoice, unknown: bool) -> str:
    """The machine in words."""
    if unknown:
        return "an ideal machine (the messages of the run do not show its network; --machine names a machine)"
    return choice.file or ("the machine of the run" if choice.own else "an ideal machine with the options")


def _pairs(names: tuple[str, ...], factors: tuple[float, ...]) -> dict[str, float]:
    """The factor of each region. Raises TracelibError where they do not go together."""
    if factors and not names:
        raise TracelibError("--factor needs a --region", "name the region to make faster")
    if len(set(names)) < len(names):
        raise TracelibError("a region is named twice", "name each region once")
    if len(factors) not in (0, 1, len(names)):
        raise TracelibError(f"{len(names)} regions and {len(factors)} factors", "give each --region its --factor")
    each = factors if len(factors) == len(names) else (factors or (_HALF,)) * len(names)
    return dict(zip(names, each, strict=True))


def _check_ranks(trace: Trace, ranks: frozenset[int] | None) -> None:
    wrong = sorted(rank for rank in ranks or () if rank >= trace.size)
    if wrong:
        raise TracelibError(f"there is no rank {wrong[0]}", f"ranks are 0 to {trace.size - 1}")


def _divided(
    trace: Trace, program: Program, division: str | None, ranks: frozenset[int] | None, place: PlaceChoice | None
) -> Blocks:
    from analyzer.trace import Regions
    from analyzer.what_if.blocks import blocks_between_calls, blocks_of_regions

    if division == _REGIONS and not trace.extra(Regions).names:
        raise TracelibError(f"{trace.path} has no regions", "name them in the program (docs/regions.md), or --by calls")
    if place:
        return blocks_between_calls(trace, program, ranks, place.paths(trace))
    by_region = division == _REGIONS or (division is None and bool(trace.extra(Regions).names))
    return (blocks_of_regions if by_region else blocks_between_calls)(trace, program, ranks)


def _part(blocks: Blocks, name: str, file: str) -> int:
    if name in blocks.names:
        return blocks.part(name)
    longest = sorted(range(len(blocks.names)), key=blocks.part_ns, reverse=True)[:_MOST_NAMES]
    known = ", ".join(blocks.names[part] for part in longest) + (", ..." if len(blocks.names) > _MOST_NAMES else "")
    raise TracelibError(f"{file} has no part {name!r}", f"it has {known}" if known else "it has no parts")
