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
    """Regions, iterations and places of one trace."""

    def __init__(self, trace: Trace, *, in_iterations: bool, iterations: Iterations | None = None) -> None:
        """Read the regions.

        `in_iterations`: rows have the iteration that they are in. Finding iterations takes longer than all other work.
        `iterations`: the iterations; None: the main loop's, if there is one.
        """
        self.trace, self._in_iterations, self._iterations = trace, in_iterations, iterations
        self.paths = RegionPaths(trace)
        self._changes: tuple[int, list[tuple[np.ndarray, np.ndarray]]] = (NONE, [])

    @property
    def ranks(self) -> list[int]:
        """Ranks that could be read."""
        missing = set(self.trace.extra(Losses).missing)
        return [rank for rank in range(self.trace.size) if rank not in missing]

    @cached_property
    def places(self) -> Places | None:
        """Names of places; None: the trace does not have the callers of calls."""
        paths = self.trace.extra(CallPaths)
        return paths.named() if paths.known else None

    @cached_property
    def place_texts(self) -> list[str]:
        """Text of each place, "exchange.c:212 in exchange"; of the first place, which is not known, an empty one."""
        places = self.places
        return ["", *(places.text(place) for place in range(1, len(places)))] if places else [""]

    @cached_property
    def iterations(self) -> Iterations | None:
        """Iterations that were given, else of the main loop in `analyze structure`; None: there is none."""
        if self._iterations:
            return self._iterations
        main = main_loop(self.trace, Team(), by_signals=True)
        return main.iterations if main else None

    def place(self, path: np.ndarray) -> Coded:
        """Return the place of each call path (row of CallPaths.tables)."""
        codes = self.places.place[path] if self.places else np.zeros(len(path), np.int64)
        return Coded(codes, self.place_texts)

    def region(self, rank: int, thread: np.ndarray, time: np.ndarray) -> Coded:
        """Return the regions around each time of threads of one rank: "solve/exchange"; empty: none."""
        if self._changes[0] != rank:
            self._changes = rank, self.paths.changes(rank)
        found = np.full(len(time), OUTSIDE)
        for number, changes in enumerate(self._changes[1]):
            if len(changes[0]):
                mine = thread == number
                found[mine] = path_at(changes, time[mine])
        return Coded(found, self.paths.texts)

    def iteration(self, rank: int, time: np.ndarray) -> dict[str, np.ndarray]:
        """Return the column of iterations, if it is wanted: the iteration of each time of a rank; -1: in none."""
        if not self._in_iterations:
            return {}
        found = self.iterations
        if found is None or not found.known[rank]:
            return {"iteration": np.full(len(time), NONE, np.int32)}
        number = np.searchsorted(found.edges[rank], time, "right") - 1
        return {"iteration": np.where(number < found.count, number, NONE).astype(np.int32)}
