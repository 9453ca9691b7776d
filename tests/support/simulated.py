"""Messages of random programs, matched as MPI does, one after the other."""

from dataclasses import dataclass, field

from hypothesis import strategies as st
from synthetic import FIRST, WORLD, call, request

from tracelib.schema import Peer, RequestKind

COMMUNICATORS = [[2, 0, 1], ([0, 2], [1])]


COLUMNS = ["logical_send", "logical_receive", "physical_receive", "size", "source", "destination", "tag", "comm"]


ANY = -1


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
    world: int = ANY  # rank of the source
    message: Message | None = None
    freed: bool = False  # its request, while it was active


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
        actions = [
            self.send,
            self.send,
            self.post,
            self.post,
            self.complete,
            self.complete,
            self.receive,
            self.cancel,
            self.free,
        ]
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
            me.requests.append(request(RequestKind.SEND_STARTED, posted, 0, bytes=size, **where))
        else:
            me.calls.append(call(how, posted, posted + 1, sent=size, **where))
        if how == "cancelled":
            me.unfinished.append(request(RequestKind.SEND_CANCELLED, posted, 0, bytes=0, **where))
        else:
            self.arrive(Message(rank, peers[peer], own, comm, tag, size, posted, how == "MPI_Start"))

    def arrive(self, message):
        target = self.ranks[message.peer]
        for receive in target.posted:
            if receive.message is None and fits(receive, message):
                receive.message = message
                if receive.freed:
                    target.posted.remove(receive)
                    self.record(message.peer, message, receive.posted, message.posted)
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
        receive = Receive(comm, source, tag, posted, peers.get(source, ANY))
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
        row = request(
            RequestKind.RECV_DONE, receive.posted, exit, comm=m.comm, peer=m.source_in_comm, tag=m.tag, bytes=m.size
        )
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
            me.requests.append(request(RequestKind.RECEIVED, enter, enter + 3, bytes=m.size, **where))
        self.record(rank, m, enter, enter + 3)

    def cancel(self, rank):
        me = self.ranks[rank]
        open_ones = [r for r in me.posted if r.message is None and not r.freed]
        if open_ones:
            receive = self.pick(st.sampled_from(open_ones))
            me.posted.remove(receive)
            enter = self.tick()
            me.calls.append(call("MPI_Wait", enter, enter + 1))
            row = request(RequestKind.RECV_CANCELLED, receive.posted, enter + 1, comm=receive.comm, peer=-1)
            me.requests.append(row)

    def free(self, rank):
        """MPI_Request_free of a receive, with its message or without one. Of which message a wildcard takes afterwards
        no row can tell."""
        me = self.ranks[rank]
        mine = [r for r in me.posted if not r.freed and (r.message or ANY not in (r.source, r.tag))]
        if mine:
            enter = self.tick()
            me.calls.append(call("MPI_Request_free", enter, enter + 1))
            self.give_up(rank, self.pick(st.sampled_from(mine)), enter + 1)

    def give_up(self, rank, receive, exit):
        """The runtime's row of a receive that nobody will complete."""
        if receive.message is not None:
            self.done(rank, receive, exit)
            return
        receive.freed = True
        where = {"comm": receive.comm, "peer": receive.source, "tag": receive.tag}
        self.ranks[rank].requests.append(request(RequestKind.RECV_FREED, receive.posted, exit, bytes=0, **where))

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
            for receive in [r for r in me.posted if not r.freed and ANY not in (r.source, r.tag)]:
                self.give_up(rank, receive, self.tick())  # in MPI_Finalize
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


def send(t, peer, tag=0, size=1, name="MPI_Send", comm=WORLD):
    return call(name, t, t + 1, comm=comm, peer=peer, tag=tag, sent=size)


def receive(t, end, peer, tag=0, size=1, comm=WORLD):
    return call("MPI_Recv", t, end, comm=comm, peer=peer, tag=tag, received=size)
