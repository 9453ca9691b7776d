"""Runs of tracelib as a `Trace`: run.h5 and the rank files that it links, read by windows of time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from analyzer.columns.sorted_runs import sort_rows
from analyzer.errors import TracelibError
from analyzer.pairing.call_paths import paths_of_calls
from analyzer.parallel import Team
from analyzer.recording.matching.messages import Matching
from analyzer.recording.rank_file.file import RankFile
from analyzer.recording.run.cuts import Lanes
from analyzer.recording.run.parts import RunParts
from analyzer.recording.run.run_extras import extras_of
from analyzer.recording.thread_records import records as lane_records
from analyzer.recording.thread_records.counters import counter_events
from analyzer.recording.thread_records.stored import Stored
from analyzer.recording.thread_records.thread import ThreadRecords
from analyzer.trace import EVENT, Repair, Trace
from analyzer.trace.system import events_of, with_events


class RunTrace(Trace):
    """Measured run as a trace. Its files are never changed.

    `open_run` makes the parts that it reads.
    """

    def __init__(self, parts: RunParts) -> None:
        self._parts = parts
        self.path, self.size, self.sizes = parts.path, parts.size, parts.sizes
        self.threads, self.nodes, self.duration_ns = parts.threads, parts.nodes, parts.duration_ns
        self.communicators, self.procedures = parts.shared.communicators, parts.shared.procedures
        self.problems = [*parts.half_done.ending, *parts.problems]
        self.event_labels, self.origin = dict(parts.event_labels), parts.origin
        self._lanes, self._cuts = parts.opened.lanes, parts.cuts
        self.put(*extras_of(parts, self, self, self.matching))

    @property
    def lanes(self) -> Lanes:
        """Threads of each rank that could be read, by rank."""
        return self._lanes

    def matching(self) -> Matching:
        """Return the matching of messages. At the first call all members of a team must call it, and match together."""
        return self._parts.matched.get(partial(paths_of_calls, self))

    def repaired(self, repair: Repair) -> RunTrace:
        """Return the same run with a description of the repair of its clocks."""
        return RunTrace(replace(self._parts, repair=repair))

    def _lanes_of(self, ranks: range | None) -> list[ThreadRecords]:
        chosen = range(self.size) if ranks is None else ranks
        return [lane for rank in chosen for lane in self._lanes.get(rank, ())]

    def span(self, rank: int) -> tuple[int, int]:
        return self._parts.spans.get(rank, (0, 0))

    def windows(self, records: int | None = None) -> np.ndarray:
        return self._cuts.windows(records)

    def windows_of(self, rank: int, records: int) -> np.ndarray:
        return self._cuts.windows(records, rank)

    def files_of(self, ranks: range) -> list[RankFile]:
        """Return the files of these ranks that could be read."""
        return [file for file in self._parts.files if file.rank in ranks]

    def share(self, team: Team) -> range:
        if team.size == self._parts.members:
            return self._parts.share
        return team.share(self.size, self._cuts.recorded if team.size > 1 else None)

    def parts(self, ranks: range, records: int) -> Iterator[tuple[range, np.ndarray]]:
        return self._cuts.parts(ranks, records)

    def only_lane(self, rank: int) -> ThreadRecords | None:
        lanes = self._lanes.get(rank, [])
        return lanes[0] if len(lanes) == 1 else None

    def raw_calls(
        self, rank: int, begin: int = 0, end: int | None = None
    ) -> Iterator[tuple[ThreadRecords, np.ndarray, np.ndarray]]:
        """Yield the raw rows of calls of a rank that has one thread, block by block. Yields nothing for other ranks.

        Args:
            rank: The rank.
            begin: Begin of the window, ns.
            end: End of the window, ns. None: the end of the run.

        Yields:
            The thread, raw rows of `calls`, and raw rows of folded polls.
        """
        lane = self.only_lane(rank)
        if not lane:
            return
        for low, high in self._cuts.blocks(rank, begin, end):
            yield lane, lane.rows("calls", low, high), lane.folded(low, high)

    def stored_lanes(self, ranks: range) -> Stored | None:
        """Return the threads of ranks for the kernels, which read the files themselves.

        None: a rank has several threads, or rows that kernels cannot read.
        """
        return self._parts.readers.stored.of(ranks)

    def forget(self, rank: int) -> None:
        for lane in self._lanes.get(rank, []):
            for table in lane.tables.values():
                table.forget()

    def calls(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        for low, high in self._cuts.blocks(rank, begin, end):
            block = lane_records.calls(self._lanes.get(rank, []), low, high)
            if len(block):
                yield block

    def requests(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        for low, high in self._cuts.blocks(rank, begin, end):
            for lane in self._lanes.get(rank, []):
                block = lane_records.requests(lane, low, high)
                if len(block):
                    yield block

    def rank_calls(self, ranks: range, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        found = self._parts.readers.stored.calls(ranks, begin, end) if self._is_whole(begin, end) else None
        return super().rank_calls(ranks, begin, end) if found is None else found

    def rank_requests(self, ranks: range, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        found = self._parts.readers.stored.requests(ranks, begin, end) if self._is_whole(begin, end) else None
        return super().rank_requests(ranks, begin, end) if found is None else found

    def _is_whole(self, begin: int, end: int) -> bool:
        """Return True if [begin, end) ns covers the whole run."""
        return begin <= 0 and end >= self._cuts.end(None)

    def states(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        chosen = range(self.size) if ranks is None else ranks
        if not self._parts.readers.windowed.are_stored(chosen):
            self._cuts.expect_windows()
        return self._parts.readers.windowed.states(chosen, begin, self._cuts.end(end))

    def rank_states(self, begin: int, end: int, ranks: range) -> np.ndarray:
        return self._parts.readers.windowed.states_by_rank(ranks, begin, end)

    def events(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        stop, chosen = self._cuts.end(end), range(self.size) if ranks is None else ranks
        recorded = self._with_counters(self._parts.readers.windowed.events(chosen, begin, stop), begin, stop, chosen)
        return with_events(recorded, self._node_events(begin, stop, chosen))

    def _with_counters(self, events: np.ndarray, begin: int, end: int, ranks: range) -> np.ndarray:
        counters = self._parts.counters
        if not counters:
            return events
        counted = [counter_events(lane, counters, begin, end) for lane in self._lanes_of(ranks)]
        return sort_rows(np.concatenate([events, *counted]), "time", "rank", "thread")

    def _node_events(self, begin: int, end: int, ranks: range) -> np.ndarray:
        """Return events (EVENT) of the samples of nodes whose first rank is one of `ranks`."""
        nodes = [node for node in self.nodes.samples if node.rank in ranks]
        parts = [events_of(node, begin, end, int(self._parts.first_cpu[node.rank])) for node in nodes]
        events = np.concatenate([np.zeros(0, EVENT), *parts])
        return events[np.lexsort((events["rank"], events["time"]))]

    def match(self) -> None:
        self.matching()

    def message_windows(self) -> np.ndarray:
        return self._parts.matched.windows()

    def messages(self, begin: int = 0, end: int | None = None) -> np.ndarray:
        return self.matching().messages(begin, self._cuts.end(end))

    def messages_of(self, ranks: range, begin: int, end: int) -> np.ndarray:
        if len(ranks) == self.size:
            return self.messages(begin, end)
        return self.matching().messages_of(ranks, begin, end)

    def unordered_messages(self, begin: int, end: int) -> np.ndarray:
        return self.matching().unordered(begin, end)

    def check_repairable(self) -> None:
        """Raise TracelibError if calls were lost: messages may then be matched wrongly."""
        if any(file.attributes["lost_calls"] or file.attributes["lost_rows"] for file in self._parts.files):
            text = f"{self.path}: calls were lost, so it is not sure which send belongs to which receive"
            raise TracelibError(text, "leave out --repair-clocks")

    def close(self) -> None:
        self._parts.matched.close()
        for file in self._parts.files:
            file.close()
