"""Matches the sends and receives of all ranks to messages, window by window, as MPI orders them.

In each channel (communicator, source, destination, tag) the k-th send in order of the sending calls' entries belongs to
the k-th receive in order of posting (MPI 4.1, section 3.5). The row of a receive is written when the receive completes.
So receives that complete in a later window than they were posted in are first written to a temporary file by window, so
that each window has all its postings. Messages that took place while a rank did not record are known by number only
(`ghosts`), and are counted with the others.

In a team each member reads some ranks. After each window the members exchange the sends to each other's ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.c_arrays import pointer
from analyzer.columns.arrays import distinct, joined
from analyzer.columns.spill import Spill
from analyzer.errors import TracelibError
from analyzer.parallel import Team
from analyzer.recording.matching.ghosts import NO_GHOSTS, Ghosts
from analyzer.recording.matching.half_message import HALF, OUTGOING
from analyzer.recording.matching.leftovers import CUT_OFF, Leftovers, PathsAt, Reach, cut_off, no_paths
from analyzer.recording.matching.rank_sides import StoredRanks, WindowRows, halves_of, receives_of, sends_of
from analyzer.recording.thread_records.records import merge_runs
from analyzer.recording.thread_records.stored import StoredThreads
from analyzer.recording.thread_records.thread import ThreadRecords
from analyzer.signal_handling import discard
from analyzer.temporary_files import temporary_folder
from analyzer.trace import MESSAGE, Unmatched
from tracelib import schema

_EARLIEST, _LATEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max

_MOST_COMPLETE = 1 << 18
"""Number of complete messages after which they are written to a temporary file."""


class Matching:
    """Messages of a run, matched on construction.

    The members of a team share the ranks; each member can read all messages.

    Args:
        lanes: Threads of each rank whose file exists.
        ghosts: Messages that ranks did not record, by rank; only ranks that have some.
        bounds: Bounds of the windows (ns) in which messages are read.
        cuts: Bounds of the windows (ns) in which messages are matched. They may be longer, as only waiting sends and
            receives are in memory.
        first_cpu: Number of the first CPU of each rank, int32 of shape (ranks,).
        team: Processes that share the ranks; all must construct this.
        folder: Folder for files that all members of the team can read.
        reach: Ranks with whom a message may lack its other side.
        share: Ranks of this member; shares are in order of members.
        stored: Threads that the C kernel may read itself.
        paths_at: Returns the call paths of unmatched sends and receives.
    """

    def __init__(
        self,
        lanes: Mapping[int, Sequence[ThreadRecords]],
        ghosts: Mapping[int, Ghosts],
        bounds: np.ndarray,
        cuts: np.ndarray,
        first_cpu: np.ndarray,
        team: Team,
        folder: Path,
        reach: Reach,
        share: range,
        stored: StoredThreads,
        paths_at: PathsAt = no_paths,
    ) -> None:
        self._ghosts, self._bounds, self._reach = ghosts, bounds, reach
        self._mine = {rank: lanes[rank] for rank in share if rank in lanes}
        self._present = np.isin(np.arange(len(first_cpu)), list(lanes)).astype(np.uint8)
        self._cuts = cuts
        self._edges: dict[
            ThreadRecords, np.ndarray
        ] = {}  # of threads that the kernel does not read: bounds of the windows, ticks
        self._recent: tuple[int, np.ndarray] | None = None
        self._leftovers, self._elsewhere, self._unchosen = (
            Leftovers(paths_at=paths_at),
            Leftovers("another run", paths_at),
            0,
        )
        self._cut_off, self._unpaired = [np.zeros(0, CUT_OFF)], [np.zeros(0, CUT_OFF)]
        self._paired = 0
        self._first_cpu = np.ascontiguousarray(first_cpu, np.int32)
        self._matcher = ffi.gc(self._new_matcher(share), lib.match_free)
        exchange = _Exchange(team, folder)
        usual = (rank for rank in self._mine if not len(self._ghosts_of(rank)))
        ranks = StoredRanks(self._matcher, stored, usual, self._cuts, len(self._first_cpu))
        self._match(exchange.own, _Sends(self._matcher, team, share), ranks)
        self._spills = exchange.all()
        self._leftovers.merge(team)
        self._elsewhere.merge(team)
        self.cut_off: np.ndarray = np.concatenate(team.allgather(np.concatenate(self._cut_off)))
        """Sends and receives without other side (CUT_OFF), if one of both ranks did not end in order."""
        self.unpaired: np.ndarray = np.concatenate(team.allgather(np.concatenate(self._unpaired)))
        """Sends and receives without other side (CUT_OFF), although both ranks ended in order."""
        self.paired: int = sum(team.allgather(self._paired))
        """Number of matched messages."""
        self.unchosen: int = sum(team.allgather(self._unchosen))
        """Number of sends and receives whose other side is a rank that was not chosen."""
        self.alone: int = sum(team.allgather(int(lib.match_alone(self._matcher))))
        """Number of recorded sends and receives whose other side took place while its rank did not record."""

    def messages(self, begin: int, end: int) -> np.ndarray:
        """Return the messages (MESSAGE) with logical_send in [begin, end) ns.

        They are in order of (logical_send, source, order of sending).
        """
        parts = [np.zeros(0, MESSAGE)]
        for window in self._windows(begin, end):
            messages = self._window(window)
            low, high = np.searchsorted(messages["logical_send"], [begin, end])
            parts.append(messages[low:high])
        return parts[1] if len(parts) == 2 else np.concatenate(parts)

    def messages_of(self, ranks: range, begin: int, end: int) -> np.ndarray:
        """Return messages as `messages`, but only those that one of these ranks sends or receives."""
        parts = [np.zeros(0, MESSAGE)]
        for window in self._windows(begin, end):
            mine = [_of_ranks(spill.read(window), ranks) for spill in self._spills]
            messages = _in_order(joined(mine, MESSAGE))
            low, high = np.searchsorted(messages["logical_send"], [begin, end])
            parts.append(messages[low:high])
        return joined(parts, MESSAGE)

    def unordered(self, begin: int, end: int) -> np.ndarray:
        """Return the messages (MESSAGE) with logical_send in [begin, end) ns, in any order."""
        found = joined([spill.read(window) for window in self._windows(begin, end) for spill in self._spills], MESSAGE)
        found["reserved"] = 0
        sent = found["logical_send"]
        inside = (sent >= begin) & (sent < end)
        return found if inside.all() else found.compress(inside)

    def _windows(self, begin: int, end: int) -> range:
        """Return the numbers of the windows in which messages were sent in [begin, end)."""
        first = max(int(np.searchsorted(self._bounds, begin, side="right")) - 1, 0)
        return range(first, min(int(np.searchsorted(self._bounds, end, side="left")), len(self._bounds) - 1))

    def unmatched(self, procedures: Sequence[str], chain: Callable[[int], str] = lambda _: "") -> list[Unmatched]:
        """Return sends and receives without other side, summed by rank, call, peer, tag, communicator and path.

        Args:
            procedures: Names of the MPI procedures, by number.
            chain: Function that returns a path as text.
        """
        return self._leftovers.table(procedures, chain)

    def elsewhere(self, procedures: Sequence[str], chain: Callable[[int], str] = lambda _: "") -> list[Unmatched]:
        """Return messages with processes of other runs, summed and with arguments as in `unmatched`."""
        return self._elsewhere.table(procedures, chain)

    def close(self) -> None:
        """Close the temporary files of messages."""
        for spill in self._spills:
            spill.close()

    def _new_matcher(self, share: range) -> Any:
        by_rank = pointer(self._first_cpu, "int32_t *"), pointer(self._present, "uint8_t *")
        matcher = lib.match_new(share.start, share.stop, len(self._first_cpu), *by_rank)
        if matcher == ffi.NULL:
            raise MemoryError
        return matcher

    def _window(self, window: int) -> np.ndarray:
        """Return the messages sent in a window, in order. The latest window is kept in memory."""
        if self._recent is None or self._recent[0] != window:
            parts = [spill.read(window) for spill in self._spills]
            self._recent = window, _in_order(joined(parts, MESSAGE))
        return self._recent[1]

    def _match(self, spill: Spill, sends: _Sends, stored: StoredRanks) -> None:
        """Match all windows, and write the messages to `spill` by the window in which they were sent."""
        others = sorted(self._mine.keys() - {rank for group in stored.groups for rank in group})
        late = self._put_late_aside(others)
        for window in range(len(self._cuts) - 1):
            for group in stored.groups:
                for unusual in stored.add(group, window, _MOST_COMPLETE):
                    if unusual is None:
                        self._keep(spill)
                    else:
                        rank, rows = unusual
                        self._add(rank, [self._rows(self._mine[rank][0], window, rows)])
            for rank in others:
                lanes = self._mine[rank]
                found = [self._rows(lane, window, late.read((rank, lane.thread, window))) for lane in lanes]
                if not self._is_usual(rank, found):
                    self._add(rank, found)
                if lib.match_found(self._matcher) > _MOST_COMPLETE:
                    self._keep(spill)
            sends.exchange()
            self._keep(spill)
        late.close()
        stored.close()
        self._count_waiting()

    def _ghosts_of(self, rank: int) -> Ghosts:
        return self._ghosts.get(rank, NO_GHOSTS)

    def _is_usual(self, rank: int, rows: Sequence[WindowRows]) -> bool:
        """Let the kernel add a rank's rows of a window. Return False if it cannot read them; then nothing was added."""
        one = rows[0]
        if len(rows) > 1 or len(self._ghosts_of(rank)):
            return False
        requests = one.all_requests()
        answer = lib.match_add_rows(
            self._matcher, one.lane.struct, pointer(one.calls), len(one.calls), pointer(requests), len(one.requests),
            len(one.late), *one.times,
        )  # fmt: skip
        _check(answer)
        return answer == lib.MATCH_ADDED

    def _add(self, rank: int, rows: Sequence[WindowRows]) -> None:
        """Add a rank's sends and receives of a window."""
        ghosts = self._ghosts_of(rank)
        sends = self._known(rank, sends_of(rows, ghosts), is_send=True)
        _check(lib.match_add_sends(self._matcher, rank, halves_of(sends), len(sends)))
        receives = self._known(rank, receives_of(rows, ghosts), is_send=False)
        _check(lib.match_add_receives(self._matcher, rank, halves_of(receives), len(receives)))

    def _edges_of(self, lane: ThreadRecords) -> np.ndarray:
        """Return the bounds of the windows in the thread's ticks, uint64.

        The first and the last include all times outside.
        """
        if lane in self._edges:
            return self._edges[lane]
        inner = [lane.clock.ticks(ns) for ns in self._cuts[1:-1].tolist()]
        for table in ("calls", "requests") if inner else ():
            lane.tables[table].expect(inner)
        self._edges[lane] = np.array([0, *inner, 2**64 - 1], np.uint64)
        return self._edges[lane]

    def _put_late_aside(self, ranks: Sequence[int]) -> Spill:
        """Write requests that were posted in an earlier window to a temporary file, by (rank, thread, that window)."""
        late = Spill(schema.REQUEST)
        for lane in (lane for rank in ranks for lane in self._mine[rank]):
            edges, table = self._edges_of(lane), lane.tables["requests"]
            for window in range(1, len(edges) - 1) if len(table) else ():
                edge = int(edges[window])
                rows = table.window(edge, int(edges[window + 1]))
                found = np.empty(lib.match_late(pointer(rows), len(rows), edge, ffi.NULL), schema.REQUEST)
                if not len(found):
                    continue
                lib.match_late(pointer(rows), len(rows), edge, pointer(found))
                posted = np.searchsorted(edges, found["posted"], side="right") - 1
                for earlier in distinct(posted):
                    late.append((lane.rank, lane.thread, int(earlier)), found.compress(posted == earlier))
        return late

    def _rows(self, lane: ThreadRecords, window: int, late: np.ndarray) -> WindowRows:
        begin, end = (int(edge) for edge in self._edges_of(lane)[window : window + 2])
        calls, requests = (lane.tables[table].window(begin, end) for table in ("calls", "requests"))
        first, last = self._cuts[window : window + 2].tolist()
        times = first if window else _EARLIEST, last if window + 2 < len(self._cuts) else _LATEST
        return WindowRows(lane, begin, end, times, calls, requests, late)

    def _known(self, rank: int, halves: np.ndarray, is_send: bool) -> np.ndarray:
        """Return the halves whose communicator is known and whose peer has a file. Count the others as unmatched."""
        peer = halves["peer"]
        known = (halves["comm"] >= 0) & (peer >= 0) & (self._present[np.clip(peer, 0, len(self._present) - 1)] > 0)
        if known.all():
            return halves
        missed = halves[~known & (halves["ghost"] == 0)]
        unchosen = self._reach.is_unchosen(missed)
        self._unchosen += int(unchosen.sum())
        missed = missed[~unchosen]
        away = self._reach.is_elsewhere(missed)
        self._elsewhere.add(np.full(int(away.sum()), rank), is_send, missed[away])
        self._leave_over(np.full(int((~away).sum()), rank), is_send, missed[~away])
        return halves[known]

    def _keep(self, spill: Spill) -> None:
        """Write the complete messages to `spill`, by the window in which they were sent."""
        messages = np.empty(lib.match_found(self._matcher), MESSAGE)
        lib.match_take(self._matcher, pointer(messages))
        self._paired += len(messages)
        windows = np.searchsorted(self._bounds, messages["logical_send"], side="right") - 1
        spill.append_each(windows.clip(0, len(self._bounds) - 2), messages)

    def _count_waiting(self) -> None:
        """Count the sends and receives that still wait after the last window."""
        count = lib.match_waiting(self._matcher, 0, ffi.NULL, ffi.NULL, ffi.NULL)
        ranks, sends, halves = np.zeros(count, np.int32), np.zeros(count, np.int32), np.zeros(count, HALF)
        places = pointer(ranks, "int32_t *"), pointer(sends, "int32_t *"), halves_of(halves)
        lib.match_waiting(self._matcher, count, *places)
        for is_send in (True, False):
            chosen = sends == is_send
            waiting, of = halves[chosen], ranks[chosen]
            cut = self._reach.is_cut_off(of, waiting["peer"])
            self._cut_off.append(cut_off(of[cut], is_send, waiting[cut]))
            self._leave_over(of[~cut], is_send, waiting[~cut])

    def _leave_over(self, ranks: np.ndarray, is_send: bool, halves: np.ndarray) -> None:
        self._leftovers.add(ranks, is_send, halves)
        self._unpaired.append(cut_off(ranks, is_send, halves))


def _check(answer: int) -> None:
    if answer == lib.MATCH_NO_MEMORY:
        raise MemoryError


def _of_ranks(messages: np.ndarray, ranks: range) -> np.ndarray:
    """Select the messages that these ranks send or receive."""
    source, destination = messages["source"], messages["destination"]
    sent = (source >= ranks.start) & (source < ranks.stop)
    return messages.compress(sent | (destination >= ranks.start) & (destination < ranks.stop))


def _in_order(messages: np.ndarray) -> np.ndarray:
    """Sort a window's messages by (logical_send, source, order of sending); `reserved` numbers a source's sends."""
    by_source = messages.take(np.lexsort((messages["reserved"], messages["source"])))
    by_source["reserved"] = 0
    cuts = np.flatnonzero(np.diff(by_source["source"])) + 1
    return merge_runs(by_source, np.concatenate([[0], cuts, [len(by_source)]]).astype(np.int64))


class _Sends:
    """Exchange of sends between the ranks of a matcher and the ranks of other members of a team."""

    def __init__(self, matcher: Any, team: Team, share: range) -> None:
        self._matcher, self._team = matcher, team
        self._begins = np.array(team.allgather(share.start), np.int64)  # first rank of each member

    def exchange(self) -> None:
        """Send the waiting sends to the members that read their receivers, and add those from other members.

        All members of the team must call this method.
        """
        if self._team.size == 1:
            return
        going = np.empty(lib.match_going(self._matcher), OUTGOING)
        lib.match_take_going(self._matcher, _outgoing(going))
        to = np.searchsorted(self._begins, going["half"]["peer"], side="right") - 1
        for rows in self._team.alltoall([going.compress(to == member) for member in range(self._team.size)]):
            _check(lib.match_add_coming(self._matcher, _outgoing(rows), len(rows)))


def _outgoing(rows: np.ndarray) -> Any:
    return pointer(rows, "struct outgoing *")


class _Exchange:
    """Temporary files of messages, one for each member of a team, readable by all members."""

    def __init__(self, team: Team, folder: Path) -> None:
        self._team = team
        self._folder: Path | None = None
        if team.size > 1:
            self._folder = Path(team.bcast(_make_folder(folder) if team.rank == 0 else None))
            if not self._folder.is_dir():
                raise TracelibError(
                    f"{self._folder}, through which the processes exchange files, is not on this node",
                    "put the trace into a folder that all nodes share and can write, or name such a folder in TMPDIR",
                )
        self.own = Spill(MESSAGE, self._folder and self._folder / str(team.rank))

    def all(self) -> list[Spill]:
        """Return the files of all members, once all are complete. All members must call this method.

        The files are unlinked at once, so that none can be left behind.
        """
        if self._folder is None:
            return [self.own]
        self.own.close()  # before the others open it, so that a network file system shows them all of it
        extents = self._team.allgather(self.own.extents)
        spills = [Spill(MESSAGE, self._folder / str(member), known) for member, known in enumerate(extents)]
        self._team.barrier()
        if self._team.rank == 0:
            discard(self._folder)
        return spills


def _make_folder(folder: Path) -> str:
    """Create a folder that all processes can see: beside the trace, or in TMPDIR if that is not allowed."""
    return str(temporary_folder(".analyze-", beside=folder))
