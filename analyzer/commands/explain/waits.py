"""`analyze waits`: where ranks wait for others, and who makes them wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from analyzer.commands.command import Alone, Chooses, Opens, Output, command
from analyzer.commands.shared.options import Option
from analyzer.commands.shared.picture import Drawing
from analyzer.commands.shared.session import Session

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.trace import Trace
    from analyzer.trace.at_places import PlaceChoice


@command(
    "Ranks wait: for whom, where, and what made those late.",
    opens=Opens(),
    iterations="region",
    ranks=Chooses(),
    place=Chooses("all waits that are shown; what delays cost is not"),
    repair=True,
    picture=True,
    json=1,
    alone=Alone("one process adds up what delays cost", 4),
    step="Finding wait states",
)
@click.option(
    "--top",
    "longest",
    cls=Option,
    old=("--longest",),
    type=click.IntRange(0),
    default=10,
    metavar="N",
    show_default=True,
    help="Number of longest waits to show.",
)
def waits_command(session: Session, trace: Trace, longest: int, place: PlaceChoice | None) -> Output:
    """Print the wait states of FILE, named as in Scalasca, and the delays that cause them.

    \b
    late sender       a receive waits for its send (wrong order: another message,
                      which is received later, was already there)
    late receiver     a send waits for its receive
    wait at barrier, N x N, fence   a rank waits for the last member
    early reduce      the root waits for the ranks that send
    late broadcast    a rank waits for the root
    early scan        a rank waits for the ranks before it
    late post, early wait           one-sided: the origin waits for MPI_Win_post
                      of the target, the target for MPI_Win_complete
    lock contention   a rank waits for the rank that has the lock of a window

    The direct cost of a delay is how long others wait for it. The indirect cost
    is how long others, in turn, wait for these. All costs add up to all waiting.
    """
    from analyzer.results.waits import compute

    result = compute(trace, session.team, longest=longest, place=place)
    waited = result._wait_states
    drawing = Drawing(
        calls=result._calls,
        waited=None if place else waited,
        boxes=[(one.rank, one.begin_ns, one.begin_ns + one.time_ns) for one in waited.longest],
        boxed="the longest waits",
    )
    return Output.of(result, drawing)
