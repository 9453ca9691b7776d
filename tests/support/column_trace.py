"""A trace held as the three sorted tables that the Paraver writer reads, with no calls behind them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analyzer.columns.sorted_runs import sort_rows
from analyzer.trace import CALL, EVENT, MESSAGE, REQUEST, STATE, Communicator, Nodes, Origin, Trace


class ColumnTrace(Trace):
    """States, events and messages in any order; one thread a rank and one node unless said otherwise. It is no run
    of ours: the writer adds nothing."""

    def __init__(
        self,
        states,
        events,
        messages,
        size,
        *,
        threads=None,
        cpus=None,
        window=None,
        date=None,
        applications=(),
        **attributes,
    ):
        self.path = "columns"
        self.size = size
        self.nodes = Nodes.on_one_node(size, cpus or size)
        self.origin = Origin(date=date, applications=applications, imported=True)
        self.threads = np.array(threads or [1] * size, np.int32)
        self.states_table = sort_rows(np.asarray(states, STATE), "begin", "rank", "thread")
        self.events_table = sort_rows(np.asarray(events, EVENT), "time", "rank", "thread")
        self.messages_table = sort_rows(np.asarray(messages, MESSAGE), "logical_send", "source")
        columns = [self.states_table["end"], self.events_table["time"]]
        columns += [self.messages_table[name] for name in MESSAGE.names[:4]]
        self.last = max((int(column.max()) for column in columns if len(column)), default=0)
        self.duration_ns = self.last
        self.communicators = (Communicator(1, tuple(range(size)), name="MPI_COMM_WORLD"),)
        self.procedures: tuple[str, ...] = ()
        self.problems = []
        self.event_labels = {}
        self._window = window
        for name, value in attributes.items():
            setattr(self, name, value)

    def span(self, rank: int) -> tuple[int, int]:
        return 0, self.duration_ns

    def windows(self, records: int = 262144) -> np.ndarray:
        pieces = max(1, len(self.states_table) // records)
        step = self._window or -(-(self.last + 1) // pieces)
        return np.arange(0, self.last + step + 1, step)

    def calls(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        yield np.zeros(0, CALL)

    def requests(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        yield np.zeros(0, REQUEST)

    def states(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        return _between(self.states_table, "begin", begin, end)

    def events(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        return _between(self.events_table, "time", begin, end)

    def messages(self, begin: int = 0, end: int | None = None) -> np.ndarray:
        return _between(self.messages_table, "logical_send", begin, end)


def _between(rows: np.ndarray, time: str, begin: int, end: int | None) -> np.ndarray:
    first, last = np.searchsorted(rows[time], (begin, 2**62 if end is None else end))
    return rows[first:last]


def ring(size: int, rounds: int, compute_ns: int = 900, call_ns: int = 100) -> ColumnTrace:
    """Each rank computes and calls MPI_Sendrecv with its neighbours, or in every fourth round MPI_Allreduce.

    One call a round: two states, two event lines, and a message in three rounds of four.
    """
    period = compute_ns + call_ns
    rounds_, ranks = (a.ravel() for a in np.meshgrid(np.arange(rounds), np.arange(size), indexing="ij"))
    start = rounds_ * period + ranks % 7
    collective = rounds_ % 4 == 3
    states = np.zeros((len(start), 2), STATE)
    states["rank"], states["cpu"] = ranks[:, None], ranks[:, None] + 1
    states["begin"][:, 0] = np.where(rounds_ == 0, 0, start)
    states["end"][:, 0] = states["begin"][:, 1] = start + compute_ns
    last = rounds_ == rounds - 1
    states["end"][:, 1] = np.where(last, rounds * period + 7, start + period)
    states["state"] = np.stack((np.ones(len(start)), np.where(collective, 13, 16)), axis=1)
    events = np.zeros((len(start), 6), EVENT)
    events["rank"], events["cpu"] = ranks[:, None], ranks[:, None] + 1
    events["time"] = (start + compute_ns)[:, None]
    events["time"][:, 5] += call_ns
    call_type = np.where(collective, 50000002, 50000001)
    events["type"][:, 0] = events["type"][:, 5] = call_type
    events["value"][:, 0] = np.where(collective, 10, 41)
    events["type"][:, 1:5] = np.arange(50100001, 50100005)
    events["value"][:, 1:5] = (8, 8, 0, 1)
    used = np.ones(events.shape, bool)
    used[:, 1:5] = collective[:, None]
    sends = ~collective
    messages = np.zeros(int(sends.sum()), MESSAGE)
    source = ranks[sends]
    target = (source + 1) % size
    messages["source"], messages["destination"] = source, target
    messages["source_cpu"], messages["destination_cpu"] = source + 1, target + 1
    sent = (start + compute_ns)[sends]
    posted = sent - source % 7 + target % 7
    messages["logical_send"] = messages["physical_send"] = sent
    messages["logical_receive"], messages["physical_receive"] = posted, np.maximum(posted, sent) + call_ns // 2
    messages["size"], messages["tag"] = 1024 + source, 5
    return ColumnTrace(states.ravel(), events[used], messages, size, procedures=("MPI_Sendrecv", "MPI_Allreduce"))
