"""Random runs, of rows as the runtime would write them: folded rows, looks at the clock, counters, flushes, measured
clocks, recording that stops and goes on, regions, polling for a message, several threads, the tracer's own time."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from hypothesis import strategies as st
from synthetic import SELF, WORLD, Row, call, event, label, poll, request

from tracelib import schema
from tracelib.schema import LabelKind, RequestKind

FOLDED = "MPI_Comm_size", "MPI_Test", "MPI_Iprobe", "MPI_Wtime", "MPI_Get_count"
PLAIN = "MPI_Type_size", "MPI_Comm_rank", "MPI_Wtime", "MPI_Wtick", "MPI_Test"
REGIONS = "solve", "write"
KINDS = "plain", "folded", "polled", "flush", "clocks", "off", "region"
LONGEST_NS = 300
COUNTERS = [(1, 0, 42000050, 4, b"PAPI_TOT_INS"), (1, 1, 42000059, 4, b"PAPI_TOT_CYC")]
RATES = 2, 3
"""How many of each are counted in a ns."""

Action = tuple[str, int, int, int, int]
"""Kind, ns before it, ns that it takes, a share in percent, a number of calls."""

_length = st.integers(0, LONGEST_NS)
_actions = st.lists(st.tuples(st.sampled_from(KINDS), _length, _length, st.integers(0, 99), st.integers(2, 40)))


@st.composite
def runs(draw: st.DrawFn, *, most_threads: int = 2) -> tuple[list[dict], int | None]:
    """The ranks for `synthetic.write_run`, which meet in as many barriers, and their `tsc_per_us`."""
    rounds, overhead = draw(st.integers(1, 3)), draw(st.integers(2, 60))
    tsc_per_us = draw(st.sampled_from([None, None, 2500, 3333]))
    counted = draw(st.booleans())
    ranks = []
    for rank in range(draw(st.integers(1, 3))):
        rows = _Rank(rank, draw(st.integers(0, LONGEST_NS)) if rank else 0, overhead)
        rows.init()
        for _ in range(rounds):
            rows.act(draw(_actions))
            rows.call("MPI_Barrier", draw(_length), comm=WORLD)
        for thread in range(1, draw(st.integers(1, most_threads))):
            rows.other_thread(thread, draw(_length), draw(_actions))
        rows.act(draw(_actions))
        ticks = overhead if tsc_per_us is None else overhead * tsc_per_us // 1000
        ranks.append(rows.content(counted) | {"overhead_ticks": ticks})
    return ranks, tsc_per_us


class _Rank:
    """Makes the rows of one rank, one thing after the other."""

    def __init__(self, rank: int, start: int, overhead: int) -> None:
        self._rank, self._start, self._overhead = rank, start, overhead
        self._now, self._thread = start, 0
        self._latest = start  # end of the other threads
        self._rows: dict[str, list[Row]] = {"calls": [], "polls": [], "events": [], "requests": []}
        self._open: list[int] = []

    def act(self, actions: Iterable[Action]) -> None:
        """Do all of these, and end the regions that they begin."""
        for kind, pause, length, share, count in actions:
            self._now += pause
            getattr(self, f"_{kind}")(length, share, count)
        while self._open:
            self._event(schema.REGION_TYPE, self._open.pop(), 2)

    def init(self) -> None:
        """As every program begins, with some computation before and after."""
        self._now += 1
        self.call("MPI_Init", 30)
        self._now += self._overhead + 1

    def call(self, name: str, length: int, **columns: int) -> int:
        """Make a call; returns when it was entered. None takes no time: the clock is read twice."""
        enter, self._now = self._now, self._now + max(length, 1)
        self._rows["calls"].append(call(name, enter, self._now, thread=self._thread, **columns))
        return enter

    def other_thread(self, thread: int, pause: int, actions: Iterable[Action]) -> None:
        """Calls of another thread, from `pause` ns after the process began on."""
        now, self._now, self._thread = self._now, self._start + pause, thread
        self.call("MPI_Initialized", 10)
        self.act(actions)
        self._latest = max(self._latest, self._now)
        self._now, self._thread = now, 0

    def content(self, counted: bool) -> dict:
        """The rank as `write_run` takes it; its main thread ends last. Where it has no other, counters are read at its
        calls if wanted."""
        self._now = max(self._now, self._latest)
        self.call("MPI_Finalize", 20)
        rows = {name: sorted(table, key=lambda row: row["thread"]) for name, table in self._rows.items()}
        labels = [label(LabelKind.REGION, number, name) for number, name in enumerate(REGIONS, start=1)]
        found = {**rows, "labels": labels, "start": self._start}
        if counted and not rows["calls"][-1]["thread"]:
            found["counters"] = COUNTERS
            times = [int(row[name]) - self._start for row in rows["calls"] for name in ("enter", "exit")]
            found["counts"] = [rate * time for time in times for rate in RATES]
            found["blocks"] = np.zeros(1, schema.BLOCK)
            found["blocks"]["count"] = [len(found.get(name, ())) for name in schema.BUFFERED]
            found["blocks"]["flags"] = found["blocks"]["set"] = 1
        return found

    def _event(self, kind: int, value: int, flags: int = 0) -> None:
        self._rows["events"].append(event(self._now, kind, value, thread=self._thread, flags=flags))

    def _between(self, kind: int, first: int, length: int) -> None:
        """Something that is not the program's: longer than the tracer takes after a call, as it is."""
        self._event(kind, first)
        self._now += length + self._overhead
        self._event(kind, 1 - first)

    def _fold(self, name: str, length: int, share: int, count: int) -> None:
        length = max(length, 1)
        enter, self._now = self._now, self._now + length * count
        inside = length * count * share // 100
        self._rows["polls"].append(poll(name, enter, self._now, inside=inside, count=count, thread=self._thread))

    def _plain(self, length: int, share: int, count: int) -> None:
        self.call(PLAIN[count % len(PLAIN)], length)

    def _folded(self, length: int, share: int, count: int) -> None:
        self._fold(FOLDED[count % len(FOLDED)], length, share, count)

    def _polled(self, length: int, share: int, count: int) -> None:
        """A message to itself, which is asked for several times before it is there."""
        posted = self.call("MPI_Irecv", 5)
        self.call("MPI_Send", length, comm=SELF, peer=0, tag=self._thread, sent=8)
        self._now += share
        self._fold("MPI_Test", length, share, count)
        self._now += share
        self.call("MPI_Test", 7, comm=SELF, peer=0, tag=self._thread, received=8)
        done = {"comm": SELF, "peer": 0, "tag": self._thread, "bytes": 8, "thread": self._thread}
        self._rows["requests"].append(request(RequestKind.RECV_DONE, posted, self._now, **done))

    def _flush(self, length: int, share: int, count: int) -> None:
        self._between(schema.FLUSH_TYPE, 1, length)

    def _clocks(self, length: int, share: int, count: int) -> None:
        self._between(schema.PATHS_TYPE if share % 2 else schema.SYNC_TYPE, 1, length)

    def _off(self, length: int, share: int, count: int) -> None:
        self._between(schema.TRACING_TYPE, 0, length)

    def _region(self, length: int, share: int, count: int) -> None:
        if self._open and share % 2:
            self._event(schema.REGION_TYPE, self._open.pop(), 2)
        else:
            self._open.append(1 + share // 2 % len(REGIONS))
            self._event(schema.REGION_TYPE, self._open[-1], 1)
