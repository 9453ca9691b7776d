"""Where in the run something is: regions, iterations, places. Looked up once for all tables of a trace."""

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
    """Of one trace."""

    def __init__(self, trace: Trace, *, in_iterations: bool, iterations: Iterations | None = None) -> None:
        """`in_iterations`: rows say in which iteration they are. To find these takes longer than all else. iterations:
        these; None: those of the main loop, if there is one."""
        self.trace, self._in_iterations, self._iterations = trace, in_iterations, iterations
        self.paths = RegionPaths(trace)
        self._changes: tuple[int, list[tuple[np.ndarray, np.ndarray]]] = (NONE, [])

    @property
    def ranks(self) -> list[int]:
        """Those that could be read."""
        missing = set(self.trace.extra(Losses).missing)
        return [rank for rank in range(self.trace.size) if rank not in missing]

    @cached_property
    def places(self) -> Places | None:
        """Names of places; None: the trace does not know where calls come from."""
        paths = self.trace.extra(CallPaths)
        return paths.named() if paths.known else None

    @cached_property
    def place_texts(self) -> list[str]:
        """Of each place "exchange.c:212 in exchange"; of the first, which is not known, an empty one."""
        places = self.places
        return ["", *(places.text(place) for place in range(1, len(places)))] if places else [""]

    @cached_property
    def iterations(self) -> Iterations | None:
        """Those that were given, else those of the loop that `analyze structure` calls the main one; None: there is
        none."""
        if self._iterations:
            return self._iterations
        main = main_loop(self.trace, Team(), by_signals=True)
        return main.iterations if main else None

    def place(self, path: np.ndarray) -> Coded:
        """Of each call path (row of CallPaths.tables) its place."""
        codes = self.places.place[path] if self.places else np.zeros(len(path), np.int64)
        return Coded(codes, self.place_texts)

    def region(self, rank: int, thread: np.ndarray, time: np.ndarray) -> Coded:
        """The regions around each time of threads of one rank: "solve/exchange"; empty: none."""
        if self._changes[0] != rank:
            self._changes = rank, self.paths.changes(rank)
        found = np.full(len(time), OUTSIDE)
        for number, changes in enumerate(self._changes[1]):
            if len(changes[0]):
                mine = thread == number
                found[mine] = path_at(changes, time[mine])
        return Coded(found, self.paths.texts)

    def iteration(self, rank: int, time: np.ndarray) -> dict[str, np.ndarray]:
        """The column of iterations, if it is wanted: that in which each time of a rank lies, from 0; -1: in none."""
        if not self._in_iterations:
            return {}
        found = self.iterations
        if found is None or not found.known[rank]:
            return {"iteration": np.full(len(time), NONE, np.int32)}
        number = np.searchsorted(found.edges[rank], time, "right") - 1
        return {"iteration": np.where(number < found.count, number, NONE).astype(np.int32)}
