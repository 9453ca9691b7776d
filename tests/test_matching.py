"""Matching against a simulation of MPI's own rules, and cases worked out by hand."""

import tempfile
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import FIRST, SELF, WORLD, call, request, write_run

from analyzer.errors import TracelibError
from analyzer.parallel import Team
from analyzer.sources import index
from analyzer.sources.ghosts import Ghosts
from analyzer.sources.matching import Matching
from analyzer.sources.run import open_run
from tracelib.schema import Peer, What

COMMUNICATORS = [[2, 0, 1], ([0, 2], [1])]
COLUMNS = ["logical_send", "logical_receive", "physical_receive", "size", "source", "destination", "tag", "comm"]
ANY = -1


@pytest.fixture(autouse=True)
def small_steps(monkeypatch):
    monkeypatch.setattr(index, "STEP", 3)


def matched(ranks, communicators=(), records=4, missing=(), team=None):
    """Messages as tuples, and what is unmatched, by windows of a few records."""
    with tempfile.TemporaryDirectory() as folder:
        trace = open_run(str(write_run(Path(folder), ranks, communicators, missing=missing)))
        bounds = trace.windows(records)
        ghosts = {file.rank: Ghosts(file, trace._lanes[file.rank][0]) for file in trace._files}
        args = trace._lanes, ghosts, bounds, trace._first_cpu
        matching = Matching(*args, team or Team(), Path(folder))
        messages = matching.messages(0, trace.duration_ns + 1)
        windows = [matching.messages(a, b) for a, b in pairwise(bounds)]
        assert (np.concatenate([messages[:0], *windows]) == messages).all()
        whole = trace.messages()
        assert (whole == messages).all()
        left = matching.unmatched(trace.procedures)
        assert left == trace.unmatched()
        return messages[COLUMNS].tolist(), left


@dataclass
class Message:
    """A send in the simulation."""

    source: int
    peer: int  # rank of the destination in comm
    source_in_comm: int
    comm: int
    tag: int
    size: int
    posted: int
    persistent: bool


@dataclass
class Receive:
    """A posted receive; source ANY, tag ANY."""

    comm: int
    source: int
    tag: int
    posted: int
    message: Message | None = None


@dataclass
class Simulated:
    """One rank: its rows, the receives posted, the messages that came unexpected, in order."""

    calls: list = field(default_factory=list)
    requests: list = field(default_factory=list)
    posted: list = field(default_factory=list)
    unexpected: list = field(default_factory=list)
    unfinished: list = field(default_factory=list)


class Mpi:
    """Three ranks with messages that arrive at once: MPI 4.1, section 3.5, word by word."""

    def __init__(self, draw):
        self.draw, self.now, self.truth = draw, 0, []
        self.ranks = [Simulated() for _ in range(3)]

    def pick(self, strategy):
        return self.draw(strategy)

    def tick(self):
        self.now += 10
        return self.now

    def step(self):
        rank = self.pick(st.integers(0, 2))
        actions = [self.send, self.send, self.post, self.post, self.complete, self.complete, self.receive, self.cancel]
        self.pick(st.sampled_from(actions))(rank)

    def place(self, rank):
        """A communicator, the rank's peers there and its own number: (comm, {peer: world}, own)."""
        comm = self.pick(st.sampled_from([WORLD, FIRST, FIRST + 1]))
        if comm == WORLD:
            return comm, {0: 0, 1: 1, 2: 2}, rank
        if comm == FIRST:
            return comm, {0: 2, 1: 0, 2: 1}, [2, 0, 1].index(rank)
        return (comm, {0: 0, 1: 2}, 0) if rank == 1 else (comm, {0: 1}, [0, 2].index(rank))

    def send(self, rank):
        comm, peers, own = self.place(rank)
        peer = self.pick(st.sampled_from(sorted(peers)))
        tag, size = self.pick(st.integers(0, 1)), self.pick(st.integers(0, 5))
        how = self.pick(st.sampled_from(["MPI_Send", "MPI_Isend", "MPI_Start", "cancelled"]))
        posted = self.tick()
        me = self.ranks[rank]
        where = {"comm": comm, "peer": peer, "tag": tag}
        if how in ("MPI_Start", "cancelled"):
            me.calls.append(call("MPI_Start", posted, posted + 1))
            me.requests.append(request(What.SEND_STARTED, posted, 0, bytes=size, **where))
        else:
            me.calls.append(call(how, posted, posted + 1, sent=size, **where))
        if how == "cancelled":
            me.unfinished.append(request(What.SEND_CANCELLED, posted, 0, bytes=0, **where))
        else:
            self.arrive(Message(rank, peers[peer], own, comm, tag, size, posted, how == "MPI_Start"))

    def arrive(self, message):
        target = self.ranks[message.peer]
        for receive in target.posted:
            if receive.message is None and fits(receive, message):
                receive.message = message
                return
        target.unexpected.append(message)

    def post(self, rank):
        comm, peers, _ = self.place(rank)
        source = self.pick(st.sampled_from([ANY, *sorted(peers)]))
        tag = self.pick(st.sampled_from([ANY, 0, 1]))
        posted = self.tick()
        me = self.ranks[rank]
        shown = Peer.ANY_SOURCE if source == ANY else source
        me.calls.append(call("MPI_Irecv", posted, posted + 1, comm=comm, peer=shown, tag=tag))
        receive = Receive(comm, source, tag, posted)
        receive.message = next((m for m in me.unexpected if fits(receive, m)), None)
        if receive.message is not None:
            me.unexpected.remove(receive.message)
        me.posted.append(receive)

    def complete(self, rank):
        """Wait for any receive that has its message, not the first by preference; or let a cancelled send end."""
        me = self.ranks[rank]
        enter = self.tick()
        me.calls.append(call("MPI_Waitany", enter, enter + 2))
        if me.unfinished:
            me.requests.append(me.unfinished.pop() | {"completed": enter + 2})
        ready = [r for r in me.posted if r.message is not None]
        if ready:
            self.done(rank, self.pick(st.sampled_from(ready)), enter + 2)

    def done(self, rank, receive, exit):
        m = receive.message
        self.ranks[rank].posted.remove(receive)
        row = request(What.RECV_DONE, receive.posted, exit, comm=m.comm, peer=m.source_in_comm, tag=m.tag, bytes=m.size)
        self.ranks[rank].requests.append(row)
        self.record(rank, m, receive.posted, exit)

    def receive(self, rank):
        """A blocking receive of an unexpected message, as MPI_Recv or the half of a Sendrecv with nobody."""
        me = self.ranks[rank]
        if not me.unexpected:
            return
        m = me.unexpected[0]
        blocking = self.pick(st.booleans())
        me.unexpected.remove(m)
        enter = self.tick()
        where = {"comm": m.comm, "peer": m.source_in_comm, "tag": m.tag}
        if blocking:
            me.calls.append(call("MPI_Recv", enter, enter + 3, received=m.size, **where))
        else:
            me.calls.append(call("MPI_Sendrecv", enter, enter + 3, comm=m.comm, peer=Peer.PROC_NULL, tag=1))
            me.requests.append(request(What.RECEIVED, enter, enter + 3, bytes=m.size, **where))
        self.record(rank, m, enter, enter + 3)

    def cancel(self, rank):
        me = self.ranks[rank]
        open_ones = [r for r in me.posted if r.message is None]
        if open_ones:
            receive = self.pick(st.sampled_from(open_ones))
            me.posted.remove(receive)
            enter = self.tick()
            me.calls.append(call("MPI_Wait", enter, enter + 1))
            row = request(What.RECV_CANCELLED, receive.posted, enter + 1, comm=receive.comm, peer=-1)
            me.requests.append(row)

    def record(self, rank, m, posted, exit):
        comm = {WORLD: 0, FIRST: 4, FIRST + 1: 5}[m.comm]
        self.truth.append((m.posted, posted, exit, m.size, m.source, rank, m.tag, comm))

    def finish(self):
        """Complete what can be, so that what is left has no receive at all."""
        for rank, me in enumerate(self.ranks):
            for receive in [r for r in me.posted if r.message is not None]:
                enter = self.tick()
                me.calls.append(call("MPI_Wait", enter, enter + 2))
                self.done(rank, receive, enter + 2)
            for row in me.unfinished:
                enter = self.tick()
                me.calls.append(call("MPI_Wait", enter, enter + 2))
                me.requests.append(row | {"completed": enter + 2})


def fits(receive, message):
    return (
        receive.comm == message.comm
        and receive.source in (ANY, message.source_in_comm)
        and receive.tag in (ANY, message.tag)
    )


@st.composite
def simulations(draw):
    mpi = Mpi(draw)
    for _ in range(draw(st.integers(0, 40))):
        mpi.step()
    mpi.finish()
    return mpi


@settings(max_examples=200, deadline=None)
@given(simulations(), st.integers(1, 12))
def test_messages_are_those_that_mpi_would_deliver(mpi, records):
    ranks = [{"calls": r.calls, "requests": r.requests} for r in mpi.ranks]
    messages, left = matched(ranks, COMMUNICATORS, records)
    assert messages == sorted(mpi.truth)
    lost = Counter()
    for m in (m for r in mpi.ranks for m in r.unexpected):
        lost[m.source, m.peer, m.tag] += 1
    found = Counter()
    for row in left:
        found[row.rank, row.peer, row.tag] += row.count
    assert found == lost


def send(t, peer, tag=0, size=1, name="MPI_Send", comm=WORLD):
    return call(name, t, t + 1, comm=comm, peer=peer, tag=tag, sent=size)


def receive(t, end, peer, tag=0, size=1, comm=WORLD):
    return call("MPI_Recv", t, end, comm=comm, peer=peer, tag=tag, received=size)


def test_order_of_posting_decides_not_order_of_completion():
    waits = [call("MPI_Irecv", 1, 2, comm=WORLD, peer=Peer.ANY_SOURCE), call("MPI_Irecv", 3, 4, comm=WORLD, peer=0)]
    done = [
        request(What.RECV_DONE, 3, 30, peer=0, bytes=8),
        request(What.RECV_DONE, 1, 40, peer=0, bytes=4),
    ]
    ends = [call("MPI_Wait", 20, 30), call("MPI_Wait", 35, 40)]
    ranks = [{"calls": [send(10, 1, size=4), send(12, 1, size=8)]}, {"calls": waits + ends, "requests": done}]
    messages, left = matched(ranks)
    assert [(m[0], m[1], m[2], m[3]) for m in messages] == [(10, 1, 40, 4), (12, 3, 30, 8)]
    assert not left


def test_several_persistent_sends_started_at_once_and_one_cancelled():
    started = [request(What.SEND_STARTED, 10, 0, peer=1, tag=t, bytes=t) for t in (1, 2, 2)]
    ended = [request(What.SEND_DONE, 10, 30, peer=1, tag=1), request(What.SEND_CANCELLED, 10, 30, peer=1, tag=2)]
    ended += [request(What.SEND_DONE, 10, 30, peer=1, tag=2)]
    ranks = [
        {"calls": [call("MPI_Startall", 10, 12), call("MPI_Waitall", 20, 30)], "requests": started + ended},
        {"calls": [receive(11, 15, 0, tag=2, size=2), receive(16, 18, 0, tag=1, size=1)]},
    ]
    messages, left = matched(ranks)
    assert [(m[0], m[1], m[6]) for m in messages] == [(10, 16, 1), (10, 11, 2)]
    assert not left


def test_nobody_self_and_zero_bytes():
    ranks = [
        {
            "calls": [
                send(1, Peer.PROC_NULL),
                call("MPI_Recv", 3, 4, comm=WORLD, peer=Peer.PROC_NULL),
                send(5, 0, size=0, name="MPI_Isend", comm=SELF),
                receive(7, 8, 0, size=0, comm=SELF),
            ]
        }
    ]
    messages, left = matched(ranks)
    assert [(m[0], m[1], m[3], m[4], m[5], m[7]) for m in messages] == [(5, 7, 0, 0, 0, 1)]
    assert not left


def test_what_has_no_other_side_is_summed_by_rank_call_and_peer():
    ranks = [
        {"calls": [send(1, 1, tag=9, size=5), send(3, 1, tag=9, size=7), send(5, 2)]},
        {
            "calls": [call("MPI_Irecv", 2, 3, comm=WORLD, peer=0, tag=8), call("MPI_Wait", 4, 6)],
            "requests": [request(What.RECV_DONE, 2, 6, peer=0, tag=8, bytes=3)],
        },
        {},
    ]
    messages, left = matched(ranks, missing=[2])
    assert not messages
    rows = [(u.rank, u.call, u.peer, u.tag, u.comm, u.bytes, u.count) for u in left]
    assert rows == [
        (0, "MPI_Send", 1, 9, 0, 12, 2),
        (0, "MPI_Send", 2, 0, 0, 1, 1),
        (1, "MPI_Irecv", 0, 8, 0, 3, 1),
    ]


def test_an_unknown_communicator_stays_unmatched():
    unknown = {"id": 0, "members": [0, 1]}
    ranks = [{"calls": [send(1, 1, comm=FIRST)]}, {"calls": [receive(1, 5, 0, comm=FIRST)]}]
    messages, left = matched(ranks, [unknown])
    assert not messages
    assert [(u.rank, u.call, u.comm, u.count) for u in left] == [(0, "MPI_Send", -1, 1), (1, "MPI_Recv", -1, 1)]


def test_the_same_time_is_no_reason_to_mix_ranks_or_sends():
    ranks = [{"calls": [send(10, 2, tag=t)]} for t in (5, 3)]
    ranks.append({"calls": [receive(20, 30, 1, tag=3), receive(31, 40, 0, tag=5)]})
    messages, _ = matched(ranks)
    assert [(m[4], m[6]) for m in messages] == [(0, 5), (1, 3)]


def test_many_keys_come_and_go():
    n = 3000
    first = {"calls": [send(10 * k + 1, 1, tag=k, size=k) for k in range(n)]}
    order = np.random.default_rng(3).permutation(n).tolist()
    start = 10 * n
    second = {"calls": [receive(start + 10 * i, start + 10 * i + 5, 0, tag=k, size=k) for i, k in enumerate(order)]}
    messages, left = matched([first, second], records=500)
    assert [(m[0], m[1]) for m in messages] == sorted((10 * k + 1, start + 10 * i) for i, k in enumerate(order))
    assert not left


class Away(Team):
    """The second process, on a node that does not see the folder that the first one made."""

    rank, size = 1, 2

    def bcast(self, value):
        return "/not/here"


def test_who_does_not_see_the_shared_folder_says_so():
    """It is not the trace that is missing."""
    with pytest.raises(TracelibError, match="where the processes meet") as error:
        Matching({}, {}, np.zeros(1, np.int64), np.zeros(2, np.int32), Away(), Path())
    assert "TMPDIR" in error.value.hint
