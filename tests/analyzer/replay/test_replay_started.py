"""Persistent and partitioned operations and fences in replays, by hand, in the dialect "thesis" by default.

There a message costs its sender 10 us, then takes bytes / (100 MB/s) to arrive; a constant collective takes L + S/BW.
"""

import pytest
from synthetic import WORLD, call, request, write_run

from analyzer.machine.description import Network, Node
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.program.operation import OperationKind
from analyzer.replay import Machine, program_of, simulate
from analyzer.writers.dim import write_dim
from tracelib.schema import Peer, RequestKind

MB = 1 << 20
L, WIRE = 10_000, 10_000_000
THESIS = Machine(node=Node(latency_s=1e-5), networks=(Network(bandwidth_mb=100.0),), dialect="thesis")
WINDOW = (7, 0, 8, WORLD, 1, 1, 1, b"")


@pytest.fixture
def opened(tmp_path):
    def open_(*ranks, **more):
        return open_trace(str(write_run(tmp_path, ranks, **more)))

    return open_


def ends(trace, on=THESIS):
    return simulate(program_of(trace), on).usage["end"].tolist()


def kinds(trace, rank):
    program = program_of(trace)
    return [OperationKind(kind) for kind in program.ops["kind"][program.stream(rank)]]


def dim_records(trace, folder, kind):
    """Records of a kind, task and all that follows."""
    write_dim(trace, folder / "x.dim", Team())
    lines = (folder / "x.dim").read_text().splitlines()
    return [line.removeprefix(f"{kind}:") for line in lines if line.startswith(f"{kind}:")]


def collectives(*names, begin, wait, rest=0, **what):
    """A rank that starts persistent collectives at `begin` and waits for them from `wait` on; then it computes."""
    starts = "MPI_Start" if len(names) == 1 else "MPI_Startall"
    alone = {"comm": WORLD, "sent": what["sent"], "received": what["received"]} if len(names) == 1 else {}
    calls = [
        *(call(name, 2 * k, 2 * k + 1, comm=WORLD) for k, name in enumerate(names)),
        call(starts, begin, begin + 1, **alone),
    ]
    calls += [call("MPI_Waitall", wait, wait + 5), call("MPI_Finalize", wait + 5 + rest, wait + 6 + rest)]
    procedures = [*dict.fromkeys(str(row["call"]) for row in calls)]
    requests = []
    for state, end in ((RequestKind.COLLECTIVE_STARTED, 0), (RequestKind.COLLECTIVE_DONE, wait + 5)):
        for name in names:
            row = request(state, begin, end, peer=what.get("root", Peer.NONE), tag=procedures.index(name))
            requests.append(row | {"bytes": what["sent"] + what["received"]})
    return {"calls": calls, "requests": requests, "procedures": procedures}


def test_a_persistent_collective_begins_at_its_start(opened, tmp_path):
    """Ranks start at 100 and 3000, so it ends at 3000 + L + WIRE, less the 1 ns that each of two calls took; the first
    has computed 20000 beside it, the second waits at once."""
    one = collectives("MPI_Allreduce_init", begin=100, wait=20_101, sent=MB, received=MB)
    two = collectives("MPI_Allreduce_init", begin=3000, wait=3001, rest=7, sent=MB, received=MB)
    trace = opened(one, two)
    assert OperationKind.COLLECTIVE_START in kinds(trace, 0)
    assert ends(trace) == [2999 + L + WIRE, 2999 + L + WIRE + 7]
    glop = f"11:1:0:0:{MB}:{MB}"
    assert dim_records(trace, tmp_path, "10") == [f"{rank}:0:{glop}:{how}" for rank in (0, 1) for how in (0, 2)]


def test_several_started_at_once(opened):
    """The trace has sums over a broadcast and a gather, in both directions: the rest follows from the operation."""
    two = ("MPI_Bcast_init", "MPI_Gather_init")
    trace = opened(*(collectives(*two, begin=50, wait=60, sent=300, received=0, root=0) for _ in range(2)))
    program = program_of(trace)
    started = program.ops[program.ops["kind"] == OperationKind.COLLECTIVE_START]
    assert started[["tag", "bytes", "other"]].tolist() == [(1, 300, 0), (2, 100, 200), (1, 0, 300), (2, 300, 0)]
    assert (program.ops["kind"] == OperationKind.WAIT).sum() == 4
    assert ends(trace, Machine.ideal()) == [50 - 2 + 9] * 2


def pready(at, size):
    return call("MPI_Pready", at, at, comm=WORLD, peer=1, tag=4, sent=size)


def partitioned(kind, done, started, *rest, peer, ordinal=0, finished):
    """A rank with a partitioned operation of 3 MB that is started at `started` and completed by the last call."""
    calls = [call("MPI_Start", started, started, comm=WORLD, peer=peer, tag=4), *rest]
    calls.append(call("MPI_Wait", finished, finished + 2))
    like = {"peer": peer, "tag": 4, "bytes": 3 * MB}
    what = [
        request(kind | ordinal << 8, started, 0, **like),
        request(done | ordinal << 8, started, finished + 2, **like),
    ]
    return {"calls": calls, "requests": what}


def test_a_partitioned_message_leaves_with_its_last_part(opened, tmp_path):
    """Parts are ready at 1000 and 5000; the receiver has started at 10 and waits at 20."""
    ready = [
        call("MPI_Pready", at, at, comm=WORLD, peer=1, tag=4, sent=size) for at, size in ((1000, MB), (5000, 2 * MB))
    ]
    one = partitioned(
        RequestKind.PARTITIONED_SEND_STARTED,
        RequestKind.PARTITIONED_SEND_DONE,
        100,
        *ready,
        peer=1,
        ordinal=3,
        finished=6000,
    )
    parrived = call("MPI_Parrived", 15, 15, comm=WORLD, peer=0, tag=4)
    two = partitioned(
        RequestKind.PARTITIONED_RECV_STARTED,
        RequestKind.PARTITIONED_RECV_DONE,
        10,
        parrived,
        peer=0,
        ordinal=3,
        finished=20,
    )
    trace = opened(one, two)
    assert ends(trace) == [6000 + L, 5000 + L + 3 * WIRE]
    sent, received = dim_records(trace, tmp_path, "2"), dim_records(trace, tmp_path, "3")
    channel = sent[0].split(":")[5]
    assert sent == [f"0:0:1:{3 * MB}:4:{channel}:2"]
    assert received == [f"1:0:0:{3 * MB}:4:{channel}:{how}" for how in (1, 2)]
    assert int(channel) not in {c.id for c in trace.communicators}


def test_a_partitioned_message_matches_none_but_its_own(opened):
    """Two alike and an ordinary message with the same tag, which are received in another order than they were sent."""
    sizes = {0: MB, 1: 2 * MB}
    calls = [call("MPI_Startall", 10, 10)]
    calls += [pready(20, MB), pready(30, 2 * MB)]
    calls += [call("MPI_Bsend", 40, 40, comm=WORLD, peer=1, tag=4, sent=8), call("MPI_Waitall", 50, 52)]
    what = [
        request(RequestKind.PARTITIONED_SEND_STARTED | k << 8, 10, 0, peer=1, tag=4, bytes=n) for k, n in sizes.items()
    ]
    what += [
        request(RequestKind.PARTITIONED_SEND_DONE | k << 8, 10, 52, peer=1, tag=4, bytes=n) for k, n in sizes.items()
    ]
    receiver = [call("MPI_Recv", 5, 60, comm=WORLD, peer=0, tag=4, received=8), call("MPI_Startall", 70, 70)]
    receiver.append(call("MPI_Waitall", 80, 82))
    took = [request(RequestKind.PARTITIONED_RECV_DONE | k << 8, 70, 82, peer=0, tag=4, bytes=sizes[k]) for k in (1, 0)]
    trace = opened({"calls": calls, "requests": what}, {"calls": receiver, "requests": took})
    found = simulate(program_of(trace), Machine.ideal(), transfers=True)
    ops = program_of(trace).ops
    pairs = [
        (int(ops["bytes"][k]), int(ops["bytes"][t["receive"]]))
        for k, t in enumerate(found.transfers)
        if t["receive"] >= 0
    ]
    assert sorted(pairs) == [(8, 8), (MB, MB), (2 * MB, 2 * MB)] and found.unreceived == 0


def fenced(*times, put_at=None):
    """A rank that fences its window at these times, and puts 1 MB to rank 1 at another."""
    calls = [call("MPI_Win_fence", at, at, comm=WORLD) for at in times]
    if put_at is not None:
        calls.append(call("MPI_Put", put_at, put_at, comm=WORLD, peer=1, sent=MB))
    calls.sort(key=lambda row: row["enter"])
    accesses = [{"enter": row["enter"], "offset": -1, "object": 1, "detail": 0, "thread": 0} for row in calls]
    return {"calls": calls, "accesses": accesses, "objects": [WINDOW]}


def test_a_fence_is_a_barrier_that_ends_accesses(opened, tmp_path):
    """Fenced at 900, the put comes 50 later; the second fence is over when that has arrived and a barrier, L, is."""
    trace = opened(fenced(100, 400, put_at=150), fenced(900, 1000))
    assert ends(trace) == [900 + L + 50 + L + WIRE + L] * 2
    assert ends(trace, Machine.ideal()) == [900 + 300] * 2
    assert [line.split(":")[2] for line in dim_records(trace, tmp_path, "10")] == ["0"] * 4


def test_fences_are_in_no_order_with_other_collectives(opened):
    """One rank fences before the nonblocking barrier of the same communicator, the other after it has begun it."""
    one, two = fenced(100), fenced(100)
    barrier = [call("MPI_Ibarrier", 0, 0, comm=WORLD), call("MPI_Wait", 300, 302)]
    one["calls"] = [one["calls"][0], {**barrier[0], "enter": 200, "exit": 200}, barrier[1]]
    two["calls"] = [{**barrier[0], "enter": 50, "exit": 50}, two["calls"][0], barrier[1]]
    for rank, posted in ((one, 200), (two, 50)):
        rank["requests"] = [request(RequestKind.COLLECTIVE_DONE, posted, 302, peer=Peer.NONE, tag=-1)]
    assert ends(opened(one, two), Machine.ideal()) == [300, 300]
