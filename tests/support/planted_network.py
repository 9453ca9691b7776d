"""Messages of a network whose latency and bandwidth are known."""

import numpy as np
from memory_trace import MemoryTrace

from analyzer.loggp.observed import observe
from analyzer.parallel import Team
from analyzer.trace import MESSAGE, Clocks, NodeClock

LATENCY_NS, NS_PER_BYTE, SEND_NS = 2000, 0.25, 300


class Planted:
    """Ranks on an own clock each exchange messages; every message takes LATENCY_NS + NS_PER_BYTE a byte at least."""

    def __init__(self, nodes=(0, 0), ahead_ns=(0, 0), seed=1):
        self.nodes, self.ahead = nodes, ahead_ns
        self.calls = [[] for _ in nodes]
        self.rows = []
        self.now = 10_000_000
        self.random = np.random.default_rng(seed)

    def send(self, source, target, size, *, slower_ns=0, posted_ns=1000, waits=True, posts_first=True):
        """One message. The receive is posted `posted_ns` before (or after) the send; a receiver that does not wait
        posts at once and asks later."""
        start = self.now
        end = start + LATENCY_NS + round(NS_PER_BYTE * size) + slower_ns
        posted = start - posted_ns if posts_first else start + posted_ns
        self._call(source, "MPI_Send", start, start + SEND_NS + size // 10)
        if waits:
            self._call(target, "MPI_Recv", posted, end)
        else:
            self._call(target, "MPI_Irecv", posted, posted + 100)
            self._call(target, "MPI_Wait", end - 10, end)
        self._message(source, target, size, start, posted, end)
        self.now = end + 10_000

    def _call(self, rank, name, enter, leave):
        self.calls[rank].append((name, enter + self.ahead[rank], leave + self.ahead[rank], {}))

    def _message(self, source, target, size, sent, posted, received):
        row = np.zeros(1, MESSAGE)[0]
        row["source"], row["destination"], row["size"] = source, target, size
        row["logical_send"] = row["physical_send"] = sent + self.ahead[source]
        row["logical_receive"] = posted + self.ahead[target]
        row["physical_receive"] = received + self.ahead[target]
        self.rows.append(row)

    def many(self, source, target, size, number):
        """Messages most of which are delayed a little; one in eight is not."""
        for k in range(number):
            delay = 0 if k % 8 == 0 else int(self.random.integers(1, 100))
            self.send(source, target, size, slower_ns=delay)

    def trace(self, clocks=(), window=None, **options):
        names = [f"node{n}" for n in range(max(self.nodes) + 1)]
        trace = MemoryTrace(
            self.calls, node_of=list(self.nodes), nodes=names, window=window, duration_ns=self.now, **options
        )
        trace._messages = np.sort(np.array(self.rows, MESSAGE), order="logical_send")
        trace.put(Clocks(clocks))
        return trace


def both_ways(planted, sizes=(8, 4096, 1 << 20), number=64):
    for size in sizes:
        for k in range(number):
            planted.send(k % 2, 1 - k % 2, size, slower_ns=0 if k % 8 < 2 else 50)
    return planted


def nodes(ahead, accuracy, bound=None, one_way=False, posted_ns=9000):
    planted = Planted(nodes=(0, 1), ahead_ns=(0, ahead))
    for _ in range(64):
        planted.send(0, 1, 8, posted_ns=posted_ns)
        if not one_way:
            planted.send(1, 0, 8, posted_ns=posted_ns)
    clock = NodeClock((1,), 0, 0.0, accuracy, bound, 2)
    (way,) = observe(planted.trace(clocks=(clock,)), Team())
    assert way.where == "inter"
    return way
