"""Rules of dialect dimemas-5.5 by hand: latency L = 10 us, 100 MB/s (of 2^20), so that a MB is 10 ms under way."""

import pytest

from analyzer.machine.description import Machine, Network, Node
from analyzer.program.model import Program
from analyzer.program.operation import OperationFlag, OperationKind, operations
from analyzer.replay.simulate import simulate

L, MB, WIRE = 10_000, 1 << 20, 10_000_000
BOTH = pytest.mark.parametrize("dialect", ["standard", "dimemas-5.5"])


def send(peer, burst=0, size=MB, tag=0, flags=OperationFlag.IMMEDIATE):
    return {"kind": OperationKind.SEND, "peer": peer, "burst": burst, "bytes": size, "tag": tag, "flags": flags}


def receive(peer, burst=0, size=MB, tag=0, kind=OperationKind.RECV, request=-1):
    return {"kind": kind, "peer": peer, "burst": burst, "bytes": size, "tag": tag, "request": request}


def run(streams, dialect="dimemas-5.5", buses=0, comms=((0, 1, 2, 3),), machine=None, **changes):
    node = changes.pop("node", Node(latency_s=L / 1e9))
    machine = machine or Machine(node=node, networks=(Network(100.0, buses),), mapping="round-robin", dialect=dialect)
    program = Program.from_streams([operations(*rows) for rows in streams], communicators=comms)
    return simulate(program, Machine(**(vars(machine) | changes)), times=True, transfers=True)


@BOTH
def test_a_rendezvous_starts_when_its_receive_is_posted(dialect):
    """The sender is ready at L and waits; posted at 50 us; the latency of the receive is spent in its wait."""
    wait = receive(0, 5, kind=OperationKind.WAIT, request=0)
    streams = [
        [send(1, flags=OperationFlag.RENDEZVOUS)],
        [receive(0, 50_000, kind=OperationKind.IRECV, request=0), wait],
    ]
    found = run(streams, dialect, comms=())
    assert found.transfers["start"][0] == 50_000
    assert found.times["end"].tolist() == [50_000, 50_000, 50_000 + WIRE]
    assert found.usage["overhead"].tolist() == [L, L]


@pytest.mark.parametrize("posted", [0, 50_000])
@pytest.mark.parametrize("dialect", ["standard", "dimemas-5.5"])
def test_the_sender_of_a_rendezvous_that_waits_for_its_link(dialect, posted):
    """The link is free at L + WIRE. Until then the sender waits; in dimemas-5.5 only for its receive to be posted."""
    node = Node(latency_s=L / 1e9, links_out=1)
    streams = [[send(1), send(2, flags=OperationFlag.RENDEZVOUS)], [receive(0)], [receive(0, posted)]]
    found = run(streams, dialect, comms=(), node=node)
    assert found.transfers["start"][1] == L + WIRE
    assert found.times["end"][1] == (L + WIRE if dialect == "standard" else max(2 * L, posted + L))


@BOTH
def test_a_wait_for_what_is_there_costs_its_latency(dialect):
    streams = [[send(1, size=0)], [receive(0, size=0, kind=OperationKind.IRECV, request=0),
                                   receive(0, 70_000, size=0, kind=OperationKind.WAIT, request=0)]]  # fmt: skip
    assert run(streams, dialect, comms=()).end_ns == 70_000 + L


def collective(sent, received, burst=0, root=-1, tag=9):
    return {
        "kind": OperationKind.COLLECTIVE,
        "tag": tag,
        "bytes": sent,
        "other": received,
        "burst": burst,
        "peer": root,
    }


@pytest.mark.parametrize("dialect, mb", [("standard", 3 + 4), ("dimemas-5.5", 1 + 2)])
def test_sizes_of_a_collective(dialect, mb):
    """Fan-in has the bytes sent, fan-out the bytes received: the most of any member, or the last one's to enter."""
    streams = [[collective(3 * MB, MB)], [collective(MB, 2 * MB, 7)], [collective(MB, 4 * MB, 5)]]
    assert run(streams, dialect, comms=((0, 1, 2),)).end_ns == 7 + 2 * L + mb * WIRE


@pytest.mark.parametrize("matching, ends", [("sending", [2 * L + 2 * WIRE] * 2), ("arrival", None)])
def test_a_small_message_overtakes_a_big_one(matching, ends):
    """2 MB leave at L, 0 bytes at 2 L: the first receive gets what comes first."""
    streams = [[send(1, size=2 * MB), send(1, size=0)], [receive(0, size=2 * MB), receive(0, size=0)]]
    found = run(streams, comms=(), matching=matching)
    first, second = found.times["end"].tolist()[2:]
    if matching == "sending":
        assert (first, second) == (L + 2 * WIRE, 2 * L + 2 * WIRE)
    else:
        assert (first, second) == (2 * L, L + 2 * WIRE)


def test_links_are_kept_while_a_message_waits_for_a_bus():
    """Ranks 0 and 1 send at once, and 0 once more to 3; on one bus. In the standard dialect what waits has nothing."""
    links = Node(latency_s=L / 1e9, links_in=1, links_out=1)
    streams = [
        [send(2), send(3)], [send(2, 1)], [receive(0), receive(1)], [receive(0)],
    ]  # fmt: skip
    taken = run(streams, "dimemas-5.5", 1, node=links, comms=()).transfers["arrival"]
    assert sorted(taken[[0, 1, 2]].tolist()) == [L + WIRE, L + 2 * WIRE, L + 3 * WIRE]


def test_who_waits_for_an_incoming_link_lends_the_outgoing_one():
    """Rank 1 sends to 2 first: rank 0 waits for the link into 2 with its own, which its message to 3 borrows."""
    links = Node(latency_s=L / 1e9, links_in=1, links_out=1)
    streams = [[send(2, 5), send(3)], [send(2)], [receive(1), receive(0)], [receive(0)]]
    found = run(streams, "dimemas-5.5", node=links, comms=()).transfers["start"].tolist()
    assert found[:3] == [2 * L + 5 + WIRE, 2 * L + 5, L]


@pytest.mark.parametrize("dialect, ends", [("standard", [200, 300]), ("dimemas-5.5", [300, 200])])
def test_bursts_give_way(dialect, ends):
    """Two bursts of 100 ns and one on one processor: between two bursts the other has its turn."""
    machine = Machine(nodes=(Node(cpus=1),), mapping=(0, 0), dialect=dialect)
    burst = {"kind": OperationKind.NONE, "burst": 100}
    assert run([[burst, burst], [burst]], machine=machine, comms=()).usage["end"].tolist() == ends


@pytest.mark.parametrize("dialect, first", [("standard", 0), ("dimemas-5.5", 1)])
def test_the_root_of_a_collective_wakes_last(dialect, first):
    """One processor has two ranks: the one that is not the root goes on first."""
    machine = Machine(nodes=(Node(cpus=1),), mapping=(0, 0), dialect=dialect)
    rest = {"kind": OperationKind.EVENT, "burst": 100}
    streams = [[collective(0, 0, root=0), rest], [collective(0, 0, 5), rest]]
    ends = run(streams, machine=machine, comms=((0, 1),)).usage["end"].tolist()
    assert ends.index(min(ends)) == first
