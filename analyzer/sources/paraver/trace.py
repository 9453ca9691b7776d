"""Paraver traces as a `Trace`: of tracelib, of Extrae, and in the forms of two theses."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np

from analyzer.columns.sorted_runs import SortedRuns
from analyzer.parallel import Team
from analyzer.sources.paraver.arrows import ParaverArrows, SortedArrows, sort_out
from analyzer.sources.paraver.body import TraceBody, read_body
from analyzer.sources.paraver.callers import ParaverCallers, ParaverCallPaths
from analyzer.sources.paraver.calls import ParaverCalls, find_procedures
from analyzer.sources.paraver.extras import (
    NotedEvents,
    ParaverChosen,
    ParaverCpuWaits,
    ParaverLosses,
    ParaverRegions,
    ParaverTracerTime,
    named_regions,
)
from analyzer.sources.paraver.labels import read_labels, read_nodes, with_presets
from analyzer.trace import MESSAGE, Communicator, Losses, Nodes, Origin, Problem, Trace
from analyzer.trace.chosen import Choice
from analyzer.trace.read_sizes import DEFAULT_SIZES, ReadSizes
from analyzer.trace.trace import NOT_KNOWN
from tracelib.schema import REGION_TYPE

_MUCH = 0.01
"""Share of the trace's duration up to which a gap between its last record and the end in its header is not reported.

Most tools write the time of the last record into the header.
"""
_ROWS_A_CALL = 5  # two states, two events and half a message: the records of a call in a .prv


class ParaverTrace(Trace):
    """Trace from a .prv or .prv.gz, with the .pcf and .row beside it. All times are ns, whatever the file's unit.

    Ranks are the tasks of all applications, numbered through. Calls and requests are rebuilt from events and messages
    at their first use. In traces of other tools, times include the tracer's time, as in published figures. A trace of
    tracelib is known by an event (EventType.ORIGIN) or by its states of the tracer (State.TRACER); its times are those
    of the run that it was made of.
    """

    def __init__(
        self, path: str | os.PathLike[str], choice: Choice | None = None, sizes: ReadSizes = DEFAULT_SIZES
    ) -> None:
        self.path, self.sizes = os.fspath(path), sizes
        self._body = body = read_body(Path(path), choice, sizes)
        header = body.header
        self.size = header.size
        self.threads = header.threads
        whole = body.chosen is None
        self.duration_ns = max(header.duration_ns, body.last_ns) if whole else int(body.end.max())
        self.origin = Origin(
            date=header.date,
            applications=header.applications if len(header.applications) > 1 else (),
            imported=True,
            predicted=bool(body.predicted),
            has_states=bool(body.states.rows),
            tracer_times=bool(body.origin or body.tracer_states),
        )
        self.communicators = _communicators(body)
        stem = Path(self.path.removesuffix(".gz"))
        labels, label_problems = read_labels(stem.with_suffix(".pcf"))
        self.event_labels = with_presets(labels, body.presets)
        cpus = _cpus(body)
        names, node_problems = read_nodes(stem.with_suffix(".row"), len(cpus))
        self.nodes = Nodes(names, cpus, header.node_of)
        self.problems = [*body.problems, *label_problems, *node_problems]
        if header.duration_ns < body.last_ns:
            text = f"the header ends the trace at {header.duration_ns} ns, its last record is at {body.last_ns} ns"
            self.problems.append(Problem(-1, text))
        if not self.origin.has_states:
            self.problems.append(Problem(-1, f"{NOT_KNOWN}: the trace has events only, no states", note=True))
        self.procedures, self._procedure_table = find_procedures(body, self.event_labels)
        noted = NotedEvents(self._body, self.windows(), self.size)
        names = named_regions(self.event_labels, noted.regions()) if REGION_TYPE in self.event_labels else ()
        self.put(
            ParaverRegions(names, noted=noted, last=body.end),
            ParaverTracerTime(body=body, ours=self.origin.tracer_times),
            ParaverCpuWaits(body=body),
        )
        missing = () if body.chosen is None else tuple(np.flatnonzero(~body.chosen).tolist())
        after_ns = max(header.duration_ns - body.last_ns, 0) if whole else 0
        said = f"the trace ends at {body.last_ns} ns, its header says {header.duration_ns} ns"
        if after_ns <= self.duration_ns * _MUCH:
            after_ns, said = 0, ""
        if self.origin.tracer_times:
            self.put(ParaverLosses(missing, left_out=said, after_ns=after_ns, body=body))
        elif missing or after_ns:
            self.put(Losses(missing, left_out=said, after_ns=after_ns))
        if body.inside_tasks:
            self.put(ParaverArrows(runs=lambda: self._sorted.arrows, body=body))
        if body.chosen is not None:
            self.put(ParaverChosen(tuple(np.flatnonzero(body.chosen).tolist()), body=body))
        self._noted = noted
        self._callers = ParaverCallers(body, self.event_labels, self.windows)
        self.put(ParaverCallPaths(body.callers, callers=self._callers, calls=self.calls))

    @cached_property
    def _sorted(self) -> SortedArrows:
        """Messages, and arrows that tools draw inside a task."""
        if not self._body.inside_tasks:
            return SortedArrows(self._body.messages, SortedRuns(MESSAGE, "logical_send", step=self.sizes.sorted_step))
        return sort_out(self._body, self.windows())

    @cached_property
    def _calls(self) -> ParaverCalls:
        calls = ParaverCalls(self._body, self._sorted.messages, self.procedures, self._procedure_table, self.windows())
        if calls.broken:
            self.problems.append(
                Problem(
                    -1,
                    f"{calls.broken} MPI events have no partner: a call only begins, or only ends",
                )
            )
        return calls

    @cached_property
    def _sample(self) -> np.ndarray:
        """Times of every `sorted_step`-th record, ascending."""
        tables = (self._body.states, self._body.events, self._body.messages)
        return np.sort(np.concatenate([table.sample() for table in tables]))

    def _end(self, end: int | None) -> int:
        return self.duration_ns + 1 if end is None else end

    def span(self, rank: int) -> tuple[int, int]:
        return int(self._body.begin[rank]), int(self._body.end[rank])

    def windows(self, records: int = 262144) -> np.ndarray:
        inner = self._sample[:: max(1, records * _ROWS_A_CALL // self.sizes.sorted_step)]
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

    def states(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        return _of_ranks(self._body.states.read(begin, self._end(end)), ranks)

    def events(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        return _of_ranks(self._body.events.read(begin, self._end(end)), ranks)

    def messages(self, begin: int = 0, end: int | None = None) -> np.ndarray:
        rows, chosen = self._sorted.messages.read(begin, self._end(end)), self._body.chosen
        return rows if chosen is None else rows[chosen[rows["source"]] & chosen[rows["destination"]]]

    def close(self) -> None:
        tables = (self._body.states, self._body.events, self._body.messages)
        for table in tables:
            table.close()
        self._noted.close()
        self._callers.close()
        if "_sorted" in self.__dict__:
            self._sorted.close()
        if "_calls" in self.__dict__:
            self._calls.close()


def _cpus(body: TraceBody) -> tuple[int, ...]:
    """Return the number of CPUs of each node. If the header has no list, CPUs that only records name are added."""
    *others, last = body.header.cpus
    missing = body.largest_cpu - sum(body.header.cpus) if body.largest_cpu else 0
    return (*others, last + max(0, missing))


def _communicators(body: TraceBody) -> tuple[Communicator, ...]:
    """Return the trace's communicators, and each application's world where the trace lists none."""
    first = 0
    for application, size in enumerate(body.header.applications):
        members = tuple(range(first, first + size))
        if not any(set(c.members) == set(members) for c in body.communicators):
            body.communicators.append(Communicator(_free_id(body, application), members))
            body.communicator_keys.append((application, body.communicators[-1].id))
        first += size
    return tuple(body.communicators)


def _free_id(body: TraceBody, application: int) -> int:
    """Return 1, as Extrae numbers the world, unless the trace uses it for another communicator."""
    used = {number for owner, number in body.communicator_keys if owner == application}
    return 1 if 1 not in used else max(used) + 1


def _of_ranks(rows: np.ndarray, ranks: range | None) -> np.ndarray:
    if ranks is None or not len(rows):
        return rows
    return rows[(rows["rank"] >= ranks.start) & (rows["rank"] < ranks.stop)]


def open_prv(
    path: str | os.PathLike[str],
    team: Team | None = None,
    choice: Choice | None = None,
    sizes: ReadSizes = DEFAULT_SIZES,
) -> ParaverTrace:
    """Open a Paraver trace. Malformed lines are listed in `problems`.

    Args:
        path: The file.
        team: Not used. Each member of a team reads the whole file, because text cannot be divided before it is read.
        choice: Ranks to read. None: all.
        sizes: Amounts in which the file is read.

    Raises:
        TracelibError: The file is not a Paraver trace, or has no rank of the choice.
    """
    return ParaverTrace(path, choice, sizes)
