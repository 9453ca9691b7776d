"""Regions, iterations and places of a trace's rows, found once for all of its tables."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from analyzer.frames.blocks import NONE, Coded
from analyzer.parallel import Team
from analyzer.places import Places
from analyzer.structure.iterations import Iterations
from analyzer.structure.levels.run_structure import main_loop
from analyzer.trace import CallPaths, Losses, Trace
from analyzer.waits.region_paths import OUTSIDE, RegionPaths, path_at


class Where:
    """Lookup of the region, iteration and place of any row of one trace."""

    def __init__(self, trace: Trace, *, in_iterations: bool, iterations: Iterations | None = None) -> None:
        """Read the paths of regions of a trace.

        Args:
            trace: The trace.
            in_iterations: Whether rows have a column `iteration`. Finding iterations takes longer than all other work.
            iterations: Iterations to use. None: the iterations of the main loop, if there is a main loop.
        """
        self.trace, self._in_iterations, self._iterations = trace, in_iterations, iterations
        self.paths = RegionPaths(trace)
        self._changes: tuple[int, list[tuple[np.ndarray, np.ndarray]]] = (NONE, [])

    @property
    def ranks(self) -> list[int]:
        """Ranks whose data could be read."""
        missing = set(self.trace.extra(Losses).missing)
        return [rank for rank in range(self.trace.size) if rank not in missing]

    @cached_property
    def places(self) -> Places | None:
        """Names of the places of calls. None: the trace did not record the callers of calls."""
        paths = self.trace.extra(CallPaths)
        return paths.named() if paths.known else None

    @cached_property
    def place_texts(self) -> list[str]:
        """Text of each place, such as "exchange.c:212 in exchange". Place 0 is the unknown place; its text is empty."""
        places = self.places
        return ["", *(places.text(place) for place in range(1, len(places)))] if places else [""]

    @cached_property
    def iterations(self) -> Iterations | None:
        """Iterations of the given loop, or of the main loop that `analyze structure` finds.

        None: there is no main loop.
        """
        if self._iterations:
            return self._iterations
        main = main_loop(self.trace, Team(), by_signals=True)
        return main.iterations if main else None

    def place(self, path: np.ndarray) -> Coded:
        """Return the place of each call. `path` has the call paths, as row numbers of CallPaths.tables."""
        codes = self.places.place[path] if self.places else np.zeros(len(path), np.int64)
        return Coded(codes, self.place_texts)

    def region(self, rank: int, thread: np.ndarray, time: np.ndarray) -> Coded:
        """Return the path of nested regions that threads of one rank are in, such as "solve/exchange"; "": no region.

        Args:
            rank: The rank.
            thread: Thread number of each row, of shape (rows,).
            time: Time of each row in ns, of shape (rows,).
        """
        if self._changes[0] != rank:
            self._changes = rank, self.paths.changes(rank)
        found = np.full(len(time), OUTSIDE)
        for number, changes in enumerate(self._changes[1]):
            if len(changes[0]):
                mine = thread == number
                found[mine] = path_at(changes, time[mine])
        return Coded(found, self.paths.texts)

    def iteration(self, rank: int, time: np.ndarray) -> dict[str, np.ndarray]:
        """Return the column `iteration`: the iteration that contains each time of a rank. -1: no iteration.

        `time` is in ns, of shape (rows,). The result is an empty dictionary if no such column is wanted.
        """
        if not self._in_iterations:
            return {}
        found = self.iterations
        if found is None or not found.known[rank]:
            return {"iteration": np.full(len(time), NONE, np.int32)}
        number = np.searchsorted(found.edges[rank], time, "right") - 1
        return {"iteration": np.where(number < found.count, number, NONE).astype(np.int32)}
