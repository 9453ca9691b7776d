"""Paraver traces made by others (Extrae's, and the forms of two theses), read as a Trace."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np

from analyzer.parallel import Team
from analyzer.paraver_regions import is_program_event
from analyzer.sources.paraver_body import Body, read_body
from analyzer.sources.paraver_calls import Calls, find_procedures
from analyzer.sources.paraver_labels import read_labels, read_nodes
from analyzer.sources.paraver_marks import MOST_REGIONS, marks_of, named_regions
from analyzer.sources.paraver_runs import INDEX_ROWS, RankRuns
from analyzer.trace import EVENT, FLUSH, Communicator, Problem, State, Trace, Unmatched
from tracelib.schema import REGION_TYPE, CpuWait

_ROWS_A_CALL = 5  # two states, two events and half a message: what a call becomes in a .prv


class ParaverTrace(Trace):
    """A .prv or .prv.gz with the .pcf and .row beside it. Times are ns, whatever the file's unit.

    Tasks of all applications are numbered through as ranks. `calls` and `requests` are rebuilt from events and
    messages at their first use; `flush_mode` is "keep", as the figures that others publish do.
    """

    flush_mode = "keep"

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._body = body = read_body(Path(path))
        header = body.header
        self.size = header.size
        self.threads = header.threads
        self.node_of = header.node_of
        self.duration_ns = max(header.duration_ns, body.last_ns)
        self.date = header.date
        self.predicted = bool(body.predicted)
        self.applications = header.applications if len(header.applications) > 1 else ()
        self.cpus = _cpus(body)
        self.communicators = _communicators(body)
        stem = Path(self.path.removesuffix(".gz"))
        self.event_labels, label_problems = read_labels(stem.with_suffix(".pcf"))
        self.nodes, node_problems = read_nodes(stem.with_suffix(".row"), len(self.cpus))
        self.problems = [*body.problems, *label_problems, *node_problems]
        if header.duration_ns < body.last_ns:
            text = f"the header ends the trace at {header.duration_ns} ns, its last record is at {body.last_ns} ns"
            self.problems.append(Problem(-1, text))
        self.procedures, self._procedure_table = find_procedures(body, self.event_labels)
        if REGION_TYPE in self.event_labels:
            self.region_names = named_regions(self.event_labels, self._regions())

    @cached_property
    def _calls(self) -> Calls:
        calls = Calls(self._body, self.procedures, self._procedure_table, self.windows())
        if calls.broken:
            self.problems.append(Problem(-1, f"{calls.broken} MPI events begin or end a call alone"))
        return calls

    @cached_property
    def _sample(self) -> np.ndarray:
        """Sorted times of one record in INDEX_ROWS."""
        tables = (self._body.states, self._body.events, self._body.messages)
        return np.sort(np.concatenate([table.sample() for table in tables]))

    def _end(self, end: int | None) -> int:
        return self.duration_ns + 1 if end is None else end

    def span(self, rank: int) -> tuple[int, int]:
        return int(self._body.begin[rank]), int(self._body.end[rank])

    def windows(self, records: int = 262144) -> np.ndarray:
        inner = self._sample[:: max(1, records * _ROWS_A_CALL // INDEX_ROWS)]
        return np.unique(np.concatenate(([0], inner, [self._end(None)])))

    def _blocks(self, begin: int, end: int | None) -> Iterator[tuple[int, int]]:
        bounds, stop = self.windows(), self._end(end)
        inner = bounds[(bounds > begin) & (bounds < stop)].tolist()
        edges = [begin, *inner, stop]
        return pairwise(edges)

    def calls(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        for window in self._blocks(begin, end):
            yield self._calls.calls.read(rank, *window)

    def requests(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        for window in self._blocks(begin, end):
            yield self._calls.requests.read(rank, *window)

    def flushes(self, rank: int) -> np.ndarray:
        flushes = self._intervals(rank, self._body.flushes)
        flushes["state"] = 0
        return flushes

    def cpu_waits(self, rank: int) -> np.ndarray:
        waits = self._intervals(rank, self._body.cpu_waits)
        outside = waits[waits["state"] == CpuWait.OUTSIDE]
        outside["state"] = State.SCHEDULING
        return outside

    def _intervals(self, rank: int, blocks: list[np.ndarray]) -> np.ndarray:
        """FLUSH in order, with the value of the event that begins each in place of a state."""
        last = int(self._body.end[rank])
        rows = [_pair_flushes(events, thread, last) for thread, events in _by_thread(rank, blocks)]
        flushes = np.concatenate([np.zeros(0, FLUSH), *rows])
        return flushes[np.argsort(flushes["begin"], kind="stable")]

    def states(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        return _of_ranks(self._body.states.read(begin, self._end(end)), ranks)

    def events(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        return _of_ranks(self._body.events.read(begin, self._end(end)), ranks)

    def program_events(self, rank: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        return self._program_events.read(rank, begin, self._end(end))

    def marks(self, rank: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        if not self.region_names:
            return super().marks(rank, begin, end)
        marks = marks_of(self.program_events(rank), int(self._body.end[rank]))
        return marks[(marks["time"] >= begin) & (marks["time"] < self._end(end))]

    def _regions(self) -> int:
        """How many regions there are: the largest number; 0 where the values are no numbers of regions."""
        largest = 0
        for rank in range(self.size):
            events = self.program_events(rank)
            largest = max(largest, int(events["value"][events["type"] == REGION_TYPE].max(initial=0)))
        return largest if largest <= MOST_REGIONS else 0

    @cached_property
    def _program_events(self) -> RankRuns:
        """By rank: a reader of one rank does not read the events of all others."""
        found = RankRuns(EVENT, "time", self.size)
        for begin, end in pairwise(self.windows().tolist()):
            events = self.events(begin, end)
            events = events[is_program_event(events["type"])]
            found.append(events, events["rank"])
        return found

    def messages(self, begin: int = 0, end: int | None = None) -> np.ndarray:
        return self._body.messages.read(begin, self._end(end))

    def unmatched(self) -> list[Unmatched]:
        """None: a .prv holds only what was matched."""
        return []

    def close(self) -> None:
        tables = (self._body.states, self._body.events, self._body.messages)
        for table in tables:
            table.close()
        for name in ("_calls", "_program_events"):
            if name in self.__dict__:
                self.__dict__[name].close()


def _cpus(body: Body) -> tuple[int, ...]:
    """CPUs of each node; where the header gave a plain number, as many more as the records name."""
    *others, last = body.header.cpus
    missing = body.largest_cpu - sum(body.header.cpus) if body.largest_cpu else 0
    return (*others, last + max(0, missing))


def _communicators(body: Body) -> tuple[Communicator, ...]:
    """The trace's communicators, with each application's world where it lists none."""
    first = 0
    for application, size in enumerate(body.header.applications):
        members = tuple(range(first, first + size))
        if not any(set(c.members) == set(members) for c in body.communicators):
            body.communicators.append(Communicator(_free_id(body, application), members))
            body.communicator_keys.append((application, body.communicators[-1].id))
        first += size
    return tuple(body.communicators)


def _free_id(body: Body, application: int) -> int:
    """1, as Extrae numbers the world, unless the trace uses it for another."""
    used = {number for owner, number in body.communicator_keys if owner == application}
    return 1 if 1 not in used else max(used) + 1


def _of_ranks(rows: np.ndarray, ranks: range | None) -> np.ndarray:
    if ranks is None or not len(rows):
        return rows
    return rows[(rows["rank"] >= ranks.start) & (rows["rank"] < ranks.stop)]


def _by_thread(rank: int, blocks: list[np.ndarray]) -> Iterator[tuple[int, np.ndarray]]:
    """The EVENT of each thread of a rank in order of time."""
    events = np.concatenate([np.zeros(0, EVENT), *(block[block["rank"] == rank] for block in blocks)])
    events = events[np.argsort(events["time"], kind="stable")]
    for thread in np.unique(events["thread"]).tolist():
        yield thread, events[events["thread"] == thread]


def _pair_flushes(events: np.ndarray, thread: int, last: int) -> np.ndarray:
    """Each begin with the next end of the thread; a flush that does not end lasts to the rank's end."""
    begins, ends = np.flatnonzero(events["value"] != 0), np.flatnonzero(events["value"] == 0)
    times = np.append(events["time"], max(last, int(events["time"].max(initial=0))))
    flushes = np.zeros(len(begins), FLUSH)
    flushes["begin"], flushes["thread"] = times[begins], thread
    flushes["state"] = events["value"][begins]
    flushes["end"] = times[np.append(ends, len(events))[np.searchsorted(ends, begins)]]
    return flushes


def open_prv(path: str | os.PathLike[str], team: Team | None = None) -> ParaverTrace:
    """Read a Paraver trace. Each member of a team reads the file itself, since text cannot be shared out unread.

    Raises TracelibError when the file is not a Paraver trace; malformed lines are in `problems`.
    """
    return ParaverTrace(path)
