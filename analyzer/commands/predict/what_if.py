"""`analyze what-if`: what the run would gain if parts of its computation were faster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from analyzer.commands.command import REPLAYS_ALL_RANKS, Chooses, Result, command
from analyzer.commands.shared.iteration_option import opened
from analyzer.commands.shared.machine_option import machine_choice
from analyzer.commands.shared.options import FiniteRange, Option, jobs_option
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError
from analyzer.results.open_part import ITERATION_REGION

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.results.machine_choice import MachineChoice
    from analyzer.trace.at_places import PlaceChoice

_REGIONS, _CALLS = "regions", "calls"
_HALF = 0.5


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
    "What faster code in a region, or on a rank, would gain.",
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
    show_default="0.5",
    help="New time of the region divided by its old time.",
)
@click.option(
    "--on-ranks",
    "ranks",
    cls=Option,
    type=_Ranks(),
    metavar="RANKS",
    old=("--rank",),
    help="Make only these ranks faster, such as 3 or 0-3,7.",
)
@click.option(
    "--by",
    "division",
    type=click.Choice((_REGIONS, _CALLS)),
    help="Parts to try: regions, or the computation between two calls.",
)
@click.option(
    "--top", type=click.IntRange(1), default=15, metavar="N", show_default=True, help="Number of parts to try."
)
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
) -> Result:
    """Replay FILE with faster (or slower) computation in a region, and print what the run gains.

    --region and --factor can be repeated, in pairs; where one region is inside another, both factors apply. Without
    --region, each part in turn is replayed as if it took no time: this shows which part is worth the effort. Parts are
    the regions of the program or, if it has none, the computation between two calls ("MPI_Recv ... MPI_Send"). With
    --place the parts are the computation before and after such calls.

    Without a machine, that of the run is used, as its messages show it (analyze loggp).
    """
    from analyzer.results.what_if import compute

    if place and division == _REGIONS:
        raise click.UsageError("--place cannot be used here: a region is not divided by its calls")
    asked = _pairs(names, factors)
    with (
        opened(session, file, region=ITERATION_REGION if ITERATION_REGION in names else None) as trace,
        session.step(f"Replaying {file}"),
    ):
        return compute(
            trace, session.team, factors=asked, choice=choice, ranks=ranks, by=division, top=top, place=place, jobs=jobs
        )


def _pairs(names: tuple[str, ...], factors: tuple[float, ...]) -> dict[str, float]:
    """Return the factor of each region. Raises TracelibError where they do not go together."""
    if factors and not names:
        raise TracelibError("--factor needs a --region", "name the region to make faster")
    if len(set(names)) < len(names):
        raise TracelibError("a region is named twice", "name each region once")
    if len(factors) not in (0, 1, len(names)):
        raise TracelibError(f"{len(names)} regions and {len(factors)} factors", "give each --region its --factor")
    each = factors if len(factors) == len(names) else (factors or (_HALF,)) * len(names)
    return dict(zip(names, each, strict=True))
