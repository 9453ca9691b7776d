"""`analyze check`: is the file sound and complete?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.commands.command import Chooses, Opens, Output, command
from analyzer.commands.shared.picture import Drawing
from analyzer.commands.shared.session import Session

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.trace import Trace
    from analyzer.trace.at_places import PlaceChoice

_END = 0.1
"""Share of a run, before its end, that is drawn if the run did not end in order."""


@command(
    "Before you trust numbers: is the trace sound and complete?",
    opens=Opens({"impossible": True}, remarks="", whole=True),
    ranks=Chooses(),
    place=Chooses("what is wrong with these calls and their messages"),
    repair=True,
    picture=True,
    json=1,
    step="Checking {file}",
)
def check(session: Session, trace: Trace, place: PlaceChoice | None) -> Output:
    """Check FILE: can it be read, are its records in order, its messages matched and its counts consistent, and was
    nothing lost?

    Each finding is one line. The exit code is 0 if there are no findings, else 1. Notes are not findings. With --place
    only what is wrong with such calls is looked for. --picture draws the whole run, or, of one that was killed, the
    last tenth.
    """
    from analyzer.results.check import compute
    from analyzer.trace import Losses

    result = compute(trace, session.team, place=place)
    whole = trace.duration_ns
    end = (round(whole * (1 - _END)), whole) if trace.extra(Losses).ending else None
    return Output.of(result, Drawing(shown=end), exit_code=result.exit_code)
