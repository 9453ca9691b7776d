"""An opened run: its properties, and the access of its methods to the trace."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from html import escape
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from analyzer.arguments import Count, checks_arguments
from analyzer.errors import TracelibError
from analyzer.interface.choices import (
    IterationArgument,
    PathArgument,
    RanksArgument,
    TimeArgument,
    iteration_choice,
    place_choice,
    ranks_choice,
    time_ns,
)
from analyzer.interface.host import PythonHost
from analyzer.opening import open_trace
from analyzer.results.open_part import ITERATION_REGION, chosen_windows, iterations_in, open_part
from analyzer.trace import Chosen, Regions, Trace

if TYPE_CHECKING:  # an analysis is imported when it is asked for
    from analyzer.metrics.profile import Profile


@checks_arguments
class OpenedRun:
    """Opened run, or the part of it that was chosen. Subclasses add the analyses."""

    def __init__(
        self,
        path: PathArgument,
        *,
        ranks: RanksArgument | None = None,
        cluster: Count | None = None,
        loop: Count | None = None,
        iteration: IterationArgument | None = None,
        place: str | None = None,
        repair_clocks: TimeArgument | None = None,
    ) -> None:
        """Open a run; the parameters are the same as in `analyzer.open`."""
        self._host = PythonHost(wanted=iteration_choice(loop, iteration))
        self._place = place_choice(place)
        self._opening: dict[str, Any] = {
            "choice": ranks_choice(ranks, cluster),
            "repair_ns": None if repair_clocks is None else time_ns("repair_clocks", repair_clocks),
        }
        self._path = os.fspath(path)
        self._opened: Trace | None = open_part(self._host, self._path, **self._opening)
        self._host.mention_problems(self._opened)

    @property
    def path(self) -> str:
        """Path of the run, as it was given."""
        return self._path

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self.trace.size

    @property
    def duration_s(self) -> float:
        """Duration of the run, seconds. A Dimemas trace has 0."""
        return self.trace.duration_ns / 1e9 if self.trace.has_call_times else 0.0

    @property
    def is_part(self) -> bool:
        """True if only some ranks, iterations, bursts or places of the run were chosen."""
        return bool(self._host.wanted or self._place or self._opening["choice"])

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks that limit the trust in the numbers, one line each. `analyze` writes them on standard error."""
        return tuple(self._host.remarks)

    @property
    def trace(self) -> Trace:
        """The trace of the run, for analyses of your own (docs/extending.md).

        Raises:
            TracelibError: The run is closed.
        """
        if self._opened is None:
            raise TracelibError(f"{self._path} is closed", "open it again with analyzer.open")
        return self._opened

    def close(self) -> None:
        """Close the run, and remove temporary files. Closing it again does nothing."""
        opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()
        self._host.close()

    def __enter__(self) -> Self:
        self.trace  # noqa: B018, raises where the run is closed
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._opened is None:
            return f"{self._path} (closed)"
        ranks = f"{self.ranks} rank{'s' if self.ranks != 1 else ''}"
        return "\n".join([f"{self._path}: {ranks}, {self.duration_s:.6g} s", *self.remarks])

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"

    # How

    @cached_property
    def _profile(self) -> Profile:
        """Sums of calls, which several analyses need."""
        from analyzer.metrics.profile import profile

        return profile(self.trace, self._host.team)

    def _check_choices(self, what: str, *, ranks: str = "", place: str = "") -> None:
        """Raise TracelibError if the run was opened with a choice that has no meaning for an analysis.

        Args:
            what: The analysis, for the error.
            ranks: Why it needs all ranks. "": it does not.
            place: Why it needs all places. "": it does not.
        """
        chosen = self.trace.extra(Chosen)
        if ranks and (chosen.ranks is not None or chosen.cluster):
            raise TracelibError(f"{what} cannot be of some ranks or one cluster: {ranks}", "open the run without them")
        if place and self._place:
            raise TracelibError(f"{what} cannot be of some places: {place}", "open the run without a place")

    def _with_region(self, region: str | None) -> Trace:
        """Return the run.

        If `region` is "iteration" and the run has no such region, its iterations are made visits of it.
        """
        if region != ITERATION_REGION or ITERATION_REGION in self.trace.extra(Regions).names:
            return self.trace
        from analyzer.structure.regions import WithRegion

        return WithRegion(self.trace, iterations_in(self.trace, self._host))

    @contextmanager
    def _whole(self) -> Iterator[tuple[Trace, NDArray[np.int64] | None]]:
        """Yield the whole run and the windows of the chosen iterations, for data that a cut run does not have."""
        wanted = self._host.wanted
        if not wanted or not wanted.is_part:
            yield self.trace, None
            return
        self.trace  # noqa: B018, raises where the run is closed
        trace = open_trace(self._path, **self._opening)
        self._host.call_on_close(trace.close)
        yield trace, chosen_windows(self._host, trace)

    def _times(self, begin: float | None, end: float | None) -> tuple[int, int]:
        """Convert begin and end of a stretch of time from s to ns. None: the begin or the end of the run.

        Raises:
            TracelibError: Nothing lies between begin and end.
        """
        first = round((begin or 0) * 1e9)
        last = min(self.trace.duration_ns if end is None else round(end * 1e9), self.trace.duration_ns)
        if not 0 <= first < last:
            lasts = f"it lasts {self.trace.duration_ns / 1e9:.6g} s"
            raise TracelibError(f"{self._path}: nothing lies between begin and end", lasts)
        return first, last
