"""The replay on the ideal network by one process and by several against the simulator."""

from random import Random

import numpy as np
import pytest
from random_replays import PlainWriter
from thread_team import by_team

from analyzer.errors import TracelibError
from analyzer.machine.description import Machine
from analyzer.parallel import Team
from analyzer.program.files import together
from analyzer.program.model import Program
from analyzer.program.operation import OperationFlag, OperationKind, operations
from analyzer.replay import ideal_network
from analyzer.replay.ideal_network import FallbackReason, ideal_times
from analyzer.replay.simulate import simulate


def part_of(program, first, last):
    """The streams of some ranks, with the communicators of all."""
    a, b = program.offsets[[first, last]].tolist()
    return Program(
        ops=program.ops[a:b],
        offsets=program.offsets[first : last + 1] - a,
        rank=program.rank[first:last],
        thread=program.thread[first:last],
        slots=program.slots[first:last],
        communicators=program.communicators,
        ranks=program.ranks,
    )


def by_members(program, cuts, eager_limit):
    """Return the result of each member of a team; member k has ranks [cuts[k], cuts[k + 1])."""
    return by_team(
        len(cuts) - 1,
        lambda team: ideal_times(part_of(program, cuts[team.rank], cuts[team.rank + 1]), team, eager_limit, times=True),
    )


@pytest.mark.parametrize("part", range(4))
def test_equals_the_simulator(part):
    """Begin and end of each operation, the end and the most computation, by one process and by up to four."""
    kinds, waited = set(), 0
    for k in range(60):
        random = Random(f"ideal {part} {k}")
        program = PlainWriter(random).program(random.randint(1, 60))
        limit = random.choice((0, 1, 2, 5, 100))
        expected = simulate(program, Machine.ideal(eager_limit=limit), times=True)
        cuts = sorted([0, program.ranks, *(random.randint(0, program.ranks) for _ in range(random.randint(0, 3)))])
        found = by_members(program, cuts, limit)
        for one in (ideal_times(program, Team(), limit, times=True), *found):
            assert (one.end_ns, one.most_computing_ns) == (expected.end_ns, expected.usage["computing"].max())
        assert np.concatenate([one.times for one in found]).tolist() == expected.times.tolist()
        kinds |= set(program.ops["kind"].tolist())
        waited += (expected.times["end"] > expected.times["begin"]).sum()
    assert kinds >= {
        OperationKind.SEND,
        OperationKind.RECV,
        OperationKind.IRECV,
        OperationKind.WAIT,
        OperationKind.COLLECTIVE,
        OperationKind.COLLECTIVE_START,
        OperationKind.PUT,
    }
    assert waited > 200


def ring(ranks, rounds, **message):
    """Return a program in which each rank in turn sends on the message of the rank before it."""
    streams = []
    for rank in range(ranks):
        send = {"kind": OperationKind.SEND, "peer": (rank + 1) % ranks, "burst": 3, **message}
        receive = {"kind": OperationKind.RECV, "peer": (rank - 1) % ranks, "burst": 1, **message}
        streams.append(operations(*([send, receive] if rank == 0 else [receive, send]) * rounds))
    return Program.from_streams(streams)


def test_operations_by_the_thousand(monkeypatch):
    """More than a rank does in one turn, and than a process between two meetings."""
    monkeypatch.setattr(ideal_network, "AT_ONCE", 5000)
    monkeypatch.setattr(ideal_network, "WORTH", 0)
    program = ring(2, 6000, bytes=8)
    expected = simulate(program, Machine.ideal(eager_limit=9)).end_ns
    assert expected == 6000 * 6
    assert [one.end_ns for one in by_members(program, [0, 1, 2], 9)] == [expected] * 2


def test_tags_that_come_once(monkeypatch):
    """Each message has a key of its own, which is forgotten again."""
    rows = [[{"kind": kind, "peer": 1 - rank, "tag": tag, "burst": 1} for tag in range(3000)]
            for rank, kind in enumerate((OperationKind.SEND, OperationKind.RECV))]  # fmt: skip
    program = Program.from_streams([operations(*of_rank) for of_rank in rows])
    monkeypatch.setattr(ideal_network, "WORTH", 0)
    assert [one.end_ns for one in by_members(program, [0, 1, 2], 1)] == [3000] * 2


def test_what_nobody_receives_takes_little_memory():
    """A rank that only sends lets its receiver go first, who talks to a third one. What never arrives is too much."""
    count = 600_000
    sends = np.repeat(operations({"kind": OperationKind.SEND, "peer": 1, "burst": 1}), count)
    talk = operations(
        {"kind": OperationKind.RECV, "peer": 0},
        {"kind": OperationKind.SEND, "peer": 2, "tag": 1},
        {"kind": OperationKind.RECV, "peer": 2, "tag": 2},
    )
    answer = operations(
        {"kind": OperationKind.RECV, "peer": 1, "tag": 1}, {"kind": OperationKind.SEND, "peer": 1, "tag": 2}
    )
    program = Program.from_streams([sends, np.tile(talk, count), np.tile(answer, count)])
    assert ideal_times(program, Team(), 1).end_ns == count
    assert (
        ideal_times(Program.from_streams([sends, np.tile(talk[:1], 1), np.tile(answer, 0)]), Team(), 1)
        == FallbackReason.TO_SIMULATOR
    )


def test_members_that_meet_too_often():
    """A message goes round: nobody does anything meanwhile."""
    assert by_members(ring(4, 40, bytes=8), [0, 1, 2, 3, 4], 9) == [FallbackReason.TO_ONE_PROCESS] * 4
    assert ideal_times(ring(4, 40, bytes=8), Team(), 9).end_ns == simulate(ring(4, 40), Machine.ideal()).end_ns


def test_a_limit_beyond_all_messages():
    assert ideal_times(ring(2, 3, bytes=8), Team(), 1 << 70).end_ns == 18


def test_all_members_fail_where_one_does():
    """Else the others would wait for it."""

    def member(team):
        def work():
            if team.rank:
                raise TracelibError("no room")

        with pytest.raises(TracelibError, match="no room"):
            together(team, work)

    by_team(3, member)


def both(*of_each):
    return Program.from_streams([operations(*rows) for rows in of_each])


def to_other(kind, **columns):
    return [{"kind": kind, "peer": 1 - rank, "bytes": 8, **columns} for rank in range(2)]


SEND, RECEIVE = to_other(OperationKind.SEND), to_other(OperationKind.RECV)
REFUSED = {
    "both send first": both([SEND[0], RECEIVE[0]], [SEND[1], RECEIVE[1]]),
    "a send that nobody receives": both([SEND[0]], []),
    "a receive that nobody sends": both([RECEIVE[0]], []),
    "unlike collectives": both(
        [{"kind": OperationKind.COLLECTIVE, "tag": 1}], [{"kind": OperationKind.COLLECTIVE, "tag": 2}]
    ),
    "a collective of one of two": both([{"kind": OperationKind.COLLECTIVE}], []),
    "no such communicator": both([{"kind": OperationKind.COLLECTIVE, "comm": 7}], []),
    "no such rank": both([{"kind": OperationKind.RECV, "peer": 9}], []),
    "no such target": both([{"kind": OperationKind.PUT, "peer": 9}], []),
    "fewer bytes than none": both([SEND[0] | {"bytes": -1}], [RECEIVE[1]]),
    "a wait for nothing": both([{"kind": OperationKind.WAIT, "request": 0}], []),
    "no such request": both([{"kind": OperationKind.WAIT, "request": -1}], []),
    "a lock": both([{"kind": OperationKind.LOCK, "peer": 1, "tag": 1}], []),
    "a request of the rank": both(
        [{"kind": OperationKind.IRECV, "peer": 1, "request": 0, "flags": OperationFlag.SHARED}], [SEND[1]]
    ),
    "a burst below 0": both([{"kind": OperationKind.NONE, "burst": -1}], []),
    "longer than a number holds": both([{"kind": OperationKind.NONE, "burst": 1 << 62}], []),
}


@pytest.mark.parametrize("what", REFUSED)
def test_is_left_to_the_simulator(what):
    """By one process and by two."""
    assert ideal_times(REFUSED[what], Team(), 8) == FallbackReason.TO_SIMULATOR
    assert by_members(REFUSED[what], [0, 1, 2], 8) == [FallbackReason.TO_SIMULATOR] * 2


def test_several_threads_are_left_to_the_simulator():
    program = both([], [])
    threads = np.array([0, 1], np.int32)
    two = Program(program.ops, program.offsets, np.zeros(2, np.int32), threads, program.slots, ((0,),), 1)
    assert ideal_times(two, Team(), 8) == FallbackReason.TO_SIMULATOR
