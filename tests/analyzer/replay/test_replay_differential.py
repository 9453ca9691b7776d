"""The simulator against a slow, obviously right one, and against properties that any simulator has."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from random_replays import Writer, as_one, random_applications, random_machine, random_program, with_draws
from reference_replay import Reference
from reference_state import MOST_RUNS

from analyzer.errors import TracelibError
from analyzer.machine.description import (
    DIALECTS,
    CpuScheduling,
    ExponentialNumber,
    GaussianNumber,
    Machine,
    Network,
    Node,
    UniformNumber,
)
from analyzer.machine.drawn_numbers import with_counts
from analyzer.program import storage as spill
from analyzer.program.model import Program
from analyzer.program.operation import OperationKind, operations
from analyzer.program.storage import packed
from analyzer.replay.simulate import simulate

CASES_AHEAD = 100
PLACES = spill.lib.PACK_PLACES


def alone_on(program, machine):
    """The ranks whose nodes have a CPU for each of their threads, virtual ones, too: the simulator names no CPUs."""
    made = with_counts(machine, program.ranks)
    place, threads = made.place(program.ranks), Counter(program.rank.tolist())
    virtual = max(program.most_virtual_threads(), 1)
    load = Counter()
    for rank, node in enumerate(place):
        load[node] += threads[rank] * virtual
    most = max(threads.values())
    return {rank for rank, node in enumerate(place) if load[node] <= (made.nodes[node].cpus or most)}


def assert_same(program, machine):
    """Begin and end of each operation, start and arrival of each message, and when threads waited for a processor,
    equal to the nanosecond; the queue, too."""
    expected = Reference(program, machine).run()
    found = simulate(program, machine, times=True, transfers=True, cpu_waits=True)
    assert found.times["begin"].tolist() == expected.begin
    assert found.times["end"].tolist() == expected.end
    assert found.transfers["acted"].tolist() == expected.acted
    sent = sorted(expected.messages)
    assert found.transfers["start"][sent].tolist() == [expected.messages[k].start for k in sent]
    assert found.transfers["arrival"][sent].tolist() == [expected.messages[k].arrival for k in sent]
    assert found.end_ns == expected.over
    assert (found.most_waiting, found.mean_waiting) == expected.queue_lengths()
    alone = alone_on(program, machine)
    for stream, (rank, thread) in enumerate(zip(program.rank, program.thread, strict=True)):
        waits = zip(*(side.tolist() for side in found.cpu_waits.of_stream(stream)), strict=True)
        assert list(waits) == expected.cpu_waits.get((rank, thread, 0), [])
        if rank not in alone:
            cpus = zip(*(side.tolist() for side in found.cpu_waits.cpus_of_stream(stream)), strict=True)
            assert list(cpus) == expected.cpus.get((rank, thread, 0), [])
    return expected


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("part", range(5))
def test_equals_the_reference(dialect, part):
    """Over all of them every kind of operation, contention and processors that threads wait for."""
    kinds, ends, queues, cpu_waits, at_files = set(), 0, 0, 0, 0
    for k in range(130):
        random = Random(f"{dialect} {part} {k}")
        program = random_program(random)
        expected = assert_same(program, random_machine(random, program.ranks, dialect))
        kinds |= set(program.ops["kind"].tolist())
        ends += any(m.start > expected.end[m.op] for m in expected.messages.values())
        queues += expected.queue_lengths()[0] > 1
        cpu_waits += sum(map(len, expected.cpu_waits.values()))
        at_files += expected.file_waits
    assert kinds == set(map(int, OperationKind)) - {OperationKind.PORT_SEND, OperationKind.PORT_RECV}
    assert ends > 12
    assert queues > 2 and cpu_waits > 600 and at_files > 3


@pytest.mark.parametrize("dialect", DIALECTS)
def test_random_parameters_equal_the_reference(dialect):
    """Row 22: each draw, as docs/machine.md says; another seed is another run."""
    others = 0
    for k in range(100):
        random = Random(f"draws {dialect} {k}")
        program = random_program(random)
        machine = with_draws(random, random_machine(random, program.ranks, dialect))
        expected = assert_same(program, machine)
        other = simulate(program, replace(machine, seed=machine.seed + 1), times=True).times
        others += other["end"].tolist() != expected.end
    assert others > 65


def test_long_streams_equal_the_reference():
    """The simulator keeps what operations are to their streams; here they have more different ones than it keeps."""
    longest = 0
    for k in range(24):
        random = Random(f"long {k}")
        program = Writer(random).program(random.randint(100, 600))
        assert_same(program, random_machine(random, program.ranks, DIALECTS[k % 3]))
        kept = program.ops.copy()
        kept["burst"] = 0
        longest = max(longest, *(len(np.unique(kept[a:b])) for a, b in pairwise(program.offsets)))
    assert longest > 2 * PLACES


@pytest.mark.parametrize("dialect", DIALECTS)
def test_several_applications_equal_the_reference(dialect):
    """Rows 6, 13 and 38: applications on one machine, ports between them, and closed runs of them."""
    ports = 0
    for k in range(60):
        random = Random(f"applications {dialect} {k}")
        programs = random_applications(random)
        together, ranks = as_one(programs), [p.ranks for p in programs]
        machine = random_machine(random, max(ranks), dialect)
        machine = with_draws(random, machine, counted=False) if random.random() < 0.4 else machine
        places = [machine.place(n, max(ranks), sum(ranks[:a])) for a, n in enumerate(ranks)]
        merged = replace(machine, mapping=tuple(node for place in places for node in place))
        expected = Reference(together, merged, ranks).run()
        packed_too = [replace(p, ops=packed(p.ops)) if random.random() < 0.5 else p for p in programs]
        found = simulate(packed_too, machine, times=True, transfers=True)
        assert found.times["begin"].tolist() == expected.begin
        assert found.times["end"].tolist() == expected.end
        again = random.randint(1, 3)
        closed = Reference(together, merged, ranks, again)
        try:
            repeated = simulate(programs, machine, repetitions=again, runs_room=MOST_RUNS)
        except TracelibError as error:
            assert "never ends, because others" in str(error)
            with pytest.raises(RuntimeError, match="one starves"):
                closed.run()
        else:
            assert [(r["application"], r["begin"], r["end"]) for r in repeated.runs] == closed.run().runs
            parts = np.array([repeated.usage[name] for name in PARTS])
            assert (parts >= 0).all() and (parts.sum(axis=0)[plain(programs)] <= repeated.end_ns).all()
        ports += sum(int((p.ops["kind"] == OperationKind.PORT_SEND).sum()) for p in programs)
    assert ports > 50


def plain(programs):
    """Which streams never compute as several virtual threads at once."""
    return [
        not (p.ops[p.stream(k)]["kind"] == OperationKind.PARALLEL).any() for p in programs for k in range(len(p.rank))
    ]


def some(number, dialect="dimemas-5.5", **changes):
    """A random program and machine, and what becomes of it."""
    random = Random(f"property {number}")
    program = random_program(random)
    machine = replace(random_machine(random, program.ranks, dialect), **changes)
    return program, machine, simulate(program, machine, times=True, transfers=True)


PARTS = (
    "computing", "overhead", "context_switch", "busy_wait", "wait_message", "wait_send", "wait_cpu",
    "wait_semaphore", "wait_access", "wait_members", "collective", "wait_file",
)  # fmt: skip


def without_virtual_threads(program):
    ops = program.ops.copy()
    ops["kind"][ops["kind"] == OperationKind.PARALLEL] = OperationKind.NONE
    return replace(program, ops=ops)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_time_is_conserved(dialect):
    """A thread computes, waits or pays at each moment until its end."""
    for number in range(150):
        program, machine, _ = some(number, dialect)
        usage = simulate(without_virtual_threads(program), machine).usage
        assert sum(usage[name] for name in PARTS).tolist() == usage["end"].tolist(), number


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_overhead_of_operations_is_that_of_their_thread(dialect):
    """From where an operation begins until it acts its thread pays latency, or waits for a processor."""
    for number in range(150):
        random = Random(f"property {number}")
        program = random_program(random)
        machine = random_machine(random, program.ranks, dialect)
        found = simulate(program, machine, times=True, transfers=True, cpu_waits=True)
        for stream in range(len(program.rank)):
            begin, acted = (
                found.times["begin"][program.stream(stream)],
                found.transfers["acted"][program.stream(stream)],
            )
            without = [
                max(min(until, stop) - max(since, start), 0)
                for since, until in zip(*(side.tolist() for side in found.cpu_waits.of_stream(stream)), strict=True)
                for start, stop in zip(begin.tolist(), acted.tolist(), strict=True)
            ]
            assert (acted - begin).sum() - sum(without) == found.usage["overhead"][stream], number


@pytest.mark.parametrize("dialect", DIALECTS)
def test_messages_are_never_early_and_links_never_overbooked(dialect):
    """No more messages hold a link or a bus at once than there are; none arrives before it was sent."""
    for number in range(100):
        program, machine, found = some(number, dialect, networks=(Network(900.0, buses=1),) * 2, eager_limit=10**6)
        expected = Reference(program, machine).run()
        holders = {}
        for op, m in expected.messages.items():
            start = int(found.transfers["start"][op])
            assert found.times["begin"][op] <= start <= found.transfers["arrival"][op]
            for name in m.needs:
                holders.setdefault(name, []).extend([(start, 1), (start + m.hold, -1)])
        for name, changes in holders.items():
            held = np.cumsum([change for _, change in sorted(changes)])
            assert held.max(initial=0) <= expected.costs.room[name]


def test_less_latency_is_never_slower_where_nothing_is_scarce():
    """Also more bandwidth and faster processors; with contention it need not hold."""
    for number in range(100):
        program, _, _ = some(number)
        ends = [
            simulate(program, Machine(node=Node(cpus=8, latency_s=k * 1e-9), networks=(Network(b),))).end_ns
            for k, b in ((7, 100.0), (4, 100.0), (4, 300.0), (0, 300.0), (0, 0.0))
        ]
        assert ends == sorted(ends, reverse=True)


def test_no_variance_is_the_constant_to_the_bit():
    for number in range(60):
        program, machine, constant = some(number)
        for law in (
            lambda x: UniformNumber(x, x),
            lambda x: GaussianNumber(x, 0.0),
            lambda x: ExponentialNumber(x, 0.0),
        ):
            nodes = tuple(
                replace(n, latency_s=law(n.latency_s), intra_latency_s=law(n.intra_latency_s), speed=law(n.speed))
                for n in machine.nodes
            )
            found = simulate(program, replace(machine, nodes=nodes), times=True, transfers=True)
            assert found.times.tobytes() == constant.times.tobytes()
            assert found.transfers.tobytes() == constant.transfers.tobytes()


def test_numbers_of_nodes_mean_nothing():
    """The same machine with its nodes in another order."""
    for number in range(100):
        program, machine, found = some(number)
        order = list(range(len(machine.nodes)))
        Random(number).shuffle(order)
        place = machine.place(program.ranks)
        moved = replace(
            machine,
            nodes=tuple(machine.nodes[k] for k in order),
            mapping=tuple(order.index(place[rank]) for rank in range(program.ranks)),
        )
        again = simulate(program, moved, times=True, transfers=True)
        assert again.times.tobytes() == found.times.tobytes()
        assert again.transfers.tobytes() == found.transfers.tobytes()


@pytest.mark.parametrize("processes, quantum", [(2, 10), (3, 7), (6, 100)])
def test_the_wait_of_round_robin_is_bounded(processes, quantum):
    """F20: after its message arrived a process waits at most quantum * (processes - 1), and sometimes that long."""
    longest = 0
    for late in range(1, 4 * quantum * processes, max(1, quantum // 3)):
        streams = [[{"kind": OperationKind.RECV, "peer": processes}]]
        streams += [[{"kind": OperationKind.NONE, "burst": 20 * quantum * processes}]] * (processes - 1)
        streams += [[{"kind": OperationKind.SEND, "peer": 0, "burst": late}]]
        machine = Machine(
            nodes=(Node(), Node()), mapping=(0,) * processes + (1,), scheduling=CpuScheduling(slice_ns=quantum)
        )
        found = simulate(Program.from_streams([operations(*s) for s in streams]), machine, times=True)
        longest = max(longest, int(found.times["end"][0]) - late)
        assert found.times["end"][0] - late <= quantum * (processes - 1)
    assert longest > quantum * (processes - 2)


def test_a_slice_that_ends_nowhere_does_not_keep_a_busy_waiter():
    """Found by the comparison: with slices, busy waiting went on for ever where nobody was ready when it ended."""
    streams = [
        [{"kind": OperationKind.RECV, "peer": 1, "bytes": 1}],
        [
            {"kind": OperationKind.COLLECTIVE, "comm": 1, "burst": 20},
            {"kind": OperationKind.SEND, "peer": 0, "bytes": 1},
        ],
        [{"kind": OperationKind.COLLECTIVE, "comm": 1, "burst": 90}],
    ]
    program = Program.from_streams([operations(*s) for s in streams], communicators=[range(3), (1, 2)])
    machine = Machine(
        nodes=(Node(), Node()),
        mapping=(0, 0, 1),
        scheduling=CpuScheduling(slice_ns=3, busy_wait_ns=5),
        dialect="thesis",
    )
    found = simulate(program, machine, times=True)
    assert found.times["end"].tolist() == [90, 90, 90, 90]
    assert found.usage["busy_wait"].tolist() == [3, 0, 0]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_threads_ahead_of_the_clock_equal_the_reference(dialect):
    """Threads with a processor of their own need fewer events, but not in a closed run.

    There, too, each rank spends its time on the same, and as many receives are late.
    """
    fewer = late = 0
    for k in range(CASES_AHEAD):
        random = Random(f"ahead {dialect} {k}")
        program = random_program(random)
        machine = random_machine(random, program.ranks, dialect)
        nodes = tuple(replace(node, cpus=99) for node in machine.nodes)
        machine = replace(machine, nodes=nodes, scheduling=CpuScheduling())
        assert_same(program, machine)
        one, closed = simulate(program, machine, transfers=True), simulate(program, machine, repetitions=1)
        assert one.usage.tolist() == closed.usage.tolist()
        fewer += one.events < closed.events
        late += one.usage["late_receives"].any()
    assert fewer > CASES_AHEAD // 2
    assert late > CASES_AHEAD // 8
