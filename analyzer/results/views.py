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
"""Names of what a row of a view may be."""


@dataclass(frozen=True, repr=False)
class ViewsResult(Result):
    """Numbers of one view of a run.

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
        """Return a table with a row for each thread (or rank, node), or for each of these and each interval.

        Args:
            table: "view" or None: the view's numbers. Others as in `Result.to_pandas`.
        """
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
    """Return a copy of a view with the changes that a user asks for.

    Args:
        found: The view.
        name: Name of the view, for errors.
        show: Form of the numbers. None: as the view says.
        level: What a row is, such as "thread" or "node". None: as the view says.
        by: Second view, by whose values a histogram is made. None: as the view says.
        statistic: Statistic of the histogram. None: as the view says.

    Raises:
        TracelibError: A level is asked for, but the view is made of other views; or there is no view `by`.
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
    """Compute a view of a run. It is the work of one process.

    Args:
        trace: An opened run.
        view: The view. A view that lists bursts is shown by rows.
        begin_ns: Begin of the stretch of time, ns.
        end_ns: End of the stretch of time, ns. None: the end of the run.
        bins: Number of intervals of a profile. None: as the view says.

    Raises:
        TracelibError: The run lacks the data that the view needs.
    """
    (asked,) = asked_of([(begin_ns, end_ns)], [trace], bins, None, None)
    shown = view if view.show in SHOWS else replace(view, show="rows")
    return ViewsResult(str(trace.path), ShownView(ViewRun(trace), shown, asked))
