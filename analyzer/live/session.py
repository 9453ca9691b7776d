"""A run that is shown live, and read again while it is being written."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from threading import Lock, Thread

from analyzer import views
from analyzer.errors import TracelibError
from analyzer.live.drawn_views import DrawnViews
from analyzer.live.marks import MarkFinder
from analyzer.live.run import LiveRun
from analyzer.live.search import SearchHits
from analyzer.live.selection import CallSearch
from analyzer.live.tiles import Tiles
from analyzer.parallel import Team
from analyzer.structure.iterations import Iterations
from analyzer.structure.levels.run_structure import IterationMethod, structure
from analyzer.trace import Trace
from analyzer.views.view_file import ViewFile

_SEARCHES = 4
"""Number of searches that stay in memory."""
MOST_CALLS = 20_000_000
"""Largest number of calls of a run in which iterations are looked for."""
_VIEWS = 12
"""Number of drawn views that stay in memory."""
_PAUSE_S = 1.0
_REST = 4.0
"""Pause between two readings of a run that is being written.

It lasts at least _PAUSE_S seconds, and at least _REST times as long as the last reading took.
"""


class RunReading:
    """One reading of a run, with the searches, tiles and views that were computed from it."""

    def __init__(self, run: LiveRun, generation: int, again: Callable[[], Trace]) -> None:
        """Start from a prepared run.

        Args:
            run: The prepared run.
            generation: Number of this reading, from 0.
            again: Function that opens the run once more, as another trace.
        """
        self.run, self.generation = run, generation
        self.tiles, self.marker = Tiles(run), MarkFinder(run)
        self.iterations: Iterations | None = None
        self.looked_for_iterations = False
        self._hits: OrderedDict[CallSearch, SearchHits] = OrderedDict()
        self._searching = Lock()
        self._again = again
        self._views: views.ViewRun | None = None
        self._drawn: OrderedDict[Hashable, DrawnViews] = OrderedDict()
        self._drawing, self._keeping = Lock(), Lock()

    def hits(self, wanted: CallSearch) -> SearchHits | None:
        """Return the calls that a search finds. None: the search has no condition."""
        if not wanted.anything:
            return None
        with self._searching:
            if wanted not in self._hits:
                self._hits[wanted] = SearchHits(self.run, wanted)
                if len(self._hits) > _SEARCHES:
                    self._hits.popitem(last=False)
            self._hits.move_to_end(wanted)
            return self._hits[wanted]

    def drawn(self, key: Hashable, view: ViewFile) -> DrawnViews:
        """Return a view of the run, ready to be drawn. A trace of its own is read, so the run can be read meanwhile.

        Args:
            key: Key under which the drawn view stays in memory.
            view: The view.

        Raises:
            TracelibError: The run does not have the data that the view needs.
        """
        found = self._kept_view(key)
        if found is None:
            with self._drawing:  # only callers that need a new view wait for each other
                found = self._kept_view(key) or self._drawn_now(key, view)
        return found

    def _kept_view(self, key: Hashable) -> DrawnViews | None:
        with self._keeping:
            if key in self._drawn:
                self._drawn.move_to_end(key)
            return self._drawn.get(key)

    def _drawn_now(self, key: Hashable, view: ViewFile) -> DrawnViews:
        if self._views is None:
            self._views = views.ViewRun(self._again())
        made = DrawnViews(view, self._views, self.run.lanes)
        with self._keeping:
            self._drawn[key] = made
            if len(self._drawn) > _VIEWS:
                self._drawn.popitem(last=False)
        return made

    def close(self) -> None:
        """Close the run and its temporary files. A view that is still being computed is not waited for."""
        self.run.close()
        if self._drawing.acquire(blocking=False):
            self._drawn.clear()
            if self._views is not None:
                self._views.trace.close()
                self._views = None
            self._drawing.release()


class RunSession:
    """The newest reading of a run that may still be written.

    `now` is the newest reading. `follows` says whether the run is still being written.
    """

    def __init__(
        self, again: Callable[[], Trace], run: LiveRun, running: Callable[[Trace], bool] | None = None
    ) -> None:
        self._again, self._running = again, running
        self.now = RunReading(run, 0, again)
        self._before: RunReading | None = None
        self.follows = running is not None and running(run.trace)

    def start(self) -> None:
        """Start a background thread that follows the run while it is being written, and then looks for iterations."""
        Thread(target=self._beside, daemon=True).start()

    def _beside(self) -> None:
        while self.follows:
            began = time.monotonic()
            self.read_again()
            time.sleep(max(_PAUSE_S, _REST * (time.monotonic() - began)))
        self.find_iterations()

    def read_again(self) -> None:
        """Read the run in its present state. If that fails, the earlier reading stays."""
        with suppress(TracelibError, OSError):
            trace = self._again()
            follows = bool(self._running and self._running(trace))
            now = RunReading(LiveRun(trace), self.now.generation + 1, self._again)
            if self._before:
                self._before.close()
            self._before, self.now, self.follows = self.now, now, follows

    def find_iterations(self) -> None:
        """Find the iterations of the newest reading. A trace of its own is read, so the run can be viewed meanwhile."""
        reading = self.now
        with suppress(TracelibError, OSError):
            if reading.run.calls <= MOST_CALLS:
                trace = self._again()
                try:
                    main = structure(trace, Team(), IterationMethod.CALLS).main
                    reading.iterations = main.iterations if main else None
                finally:
                    trace.close()
        reading.looked_for_iterations = True

    def close(self) -> None:
        """Close both stored readings and remove their temporary files."""
        for reading in (self._before, self.now):
            if reading:
                reading.close()
