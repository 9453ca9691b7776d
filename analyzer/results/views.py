"""Result of `analyze views`: a number for each thread, rank or node over time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rich.console import Console

from analyzer.errors import TracelibError
from analyzer.report.views.shown import ShownView, asked_of
from analyzer.results.result import Result
from analyzer.trace import Trace
from analyzer.views.run import ViewRun
from analyzer.views.tabulated import PARTNER
from analyzer.views.view import View
from analyzer.views.view_file import ViewFile, find_view

if TYPE_CHECKING:
    import pandas

SHOWS = ("rows", "profile", "histogram")
"""Forms of the numbers: sums by row, values over time, or counts by value."""
LEVELS = ("thread", "task", "application", "cpu", "node", "system")
"""Kinds of rows."""


@dataclass(frozen=True, repr=False)
class ViewsResult(Result):
    """A view of a run.

    Attributes:
        file: Path of the run.
    """

    file: str
    _shown: ShownView

    def to_dict(self) -> dict[str, Any]:
        return {"file": self.file, "views": [self._shown.json()]}

    def print(self, console: Console) -> None:
        self._shown.print(console, first=True)

    def to_pandas(self, table: str | None = None) -> pandas.DataFrame:
        """Return the view's numbers: a row for each rank (or thread, node), or for each rank and interval."""
        if table not in (None, "view"):
            return super().to_pandas(table)
        frame: pandas.DataFrame = self._shown.found.to_pandas()
        return frame

    @property
    def table_names(self) -> tuple[str, ...]:
        """Names of the tables of `to_pandas`."""
        return ("view", *super().table_names)


def chosen_view(
    found: ViewFile, name: str, show: str | None, level: str | None, by: str | None, statistic: str | None
) -> ViewFile:
    """Return a view with the changes that a user asks for.

    Args:
        found: The view.
        name: Its name, for messages.
        show: Form of the numbers. None: as the view says.
        level: Rows, such as "thread" or "node". None: as the view says.
        by: A view by whose values a histogram is made. None: as the view says.
        statistic: Statistic of the histogram. None: as the view says.

    Raises:
        TracelibError: The view is made of others and has a level of its own, or there is no view `by`.
    """
    if level and isinstance(found.view, View):
        found = replace(found, view=replace(found.view, level=level))
    elif level:
        raise TracelibError(f"{name}: --level is for a view that is not made of others", "", 2)
    table = found.table
    if by:
        partners = by == PARTNER
        table = replace(table, control=None if partners else find_view(by).view, partners=partners)
    if statistic:
        table = replace(table, statistic=statistic)
    return replace(found, table=table, show=show or ("histogram" if by or statistic else found.show))


def compute(trace: Trace, view: ViewFile, *, begin_ns: int, end_ns: int | None, bins: int | None = None) -> ViewsResult:
    """Compute a view of a run. One process does it.

    Args:
        trace: An opened run.
        view: The view; one that lists bursts is shown by rows.
        begin_ns: Begin of the part that is looked at, ns.
        end_ns: Its end, ns. None: the end of the run.
        bins: Intervals of a profile. None: as the view says.

    Raises:
        TracelibError: The run does not have what the view looks at.
    """
    (asked,) = asked_of([(begin_ns, end_ns)], [trace], bins, None, None)
    shown = view if view.show in SHOWS else replace(view, show="rows")
    return ViewsResult(str(trace.path), ShownView(ViewRun(trace), shown, asked))
