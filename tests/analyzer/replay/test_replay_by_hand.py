"""The simulator against times computed by hand from the formulas of the Dimemas specification.

Each case says its dialect; `both` are those in which the two agree, or differ by what the case names.
"""

from dataclasses import replace

import numpy as np
import pytest

from analyzer.errors import TracelibError
from analyzer.machine.description import (
    COLLECTIVE_NAMES,
    SPIN,
    TABLE_9,
    CollectiveModel,
    CpuScheduling,
    GaussianNumber,
    Machine,
    Network,
    Node,
    PhaseModel,
    PhaseSize,
    PrioritySource,
    UniformNumber,
    simple_collectives,
)
from analyzer.program.model import Program
from analyzer.program.operation import OperationFlag, OperationKind, operations
from analyzer.replay.simulate import simulate

both = pytest.mark.parametrize("dialect", ("standard", "thesis"))
MB = 1 << 20
L = 10_000  # ns
WIRE = 10_000_000  # ns for 1 MB at 100 MB/s


def send(peer, burst=0, size=MB, tag=0, flags=0):
    return {"kind": OperationKind.SEND, "peer": peer, "burst": burst, "bytes": size, "tag": tag, "flags": flags}


def receive(peer, burst=0, size=MB, tag=0):
    return {"kind": OperationKind.RECV, "peer": peer, "burst": burst, "bytes": size, "tag": tag}


def compute(burst):
    return {"kind": OperationKind.NONE, "burst": burst}


def machine(dialect="thesis", **node):
    return Machine(
        node=Node(latency_s=L / 1e9, **node), networks=(Network(100.0),), mapping="round-robin", dialect=dialect
    )


def with_buses(buses, dialect="thesis", **node):
    return Machine(
        node=Node(latency_s=L / 1e9, **node), networks=(Network(100.0, buses),), mapping="round-robin", dialect=dialect
    )


def run(streams, on, **options):
    program = streams if isinstance(streams, Program) else Program.from_streams([operations(*s) for s in streams])
    return simulate(program, on, times=True, transfers=True, **options)


@both
def test_a_message_costs_latency_on_the_sender_then_the_wire(dialect):
    """Row 7: ta, tb, tc, te, tf, tg of Table 1, the receiver first."""
    found = run([[send(1, 1000), compute(500)], [receive(0, 200), compute(700)]], machine(dialect))
    assert found.times[0].tolist() == (1000, 1000 + L)
    assert found.transfers[0].tolist()[:2] == (1000 + L, 1000 + L + WIRE)
    assert found.times[1].tolist() == (1500 + L, 1500 + L)  # asynchronous: the sender went on
    assert found.times[2].tolist() == (200, 1000 + L + WIRE)
    assert found.end_ns == 1000 + L + WIRE + 700
    pays = L if dialect != "thesis" else 0
    assert found.usage["wait_message"][1] == 800 + L + WIRE - pays


@both
def test_a_late_receiver_does_not_wait(dialect):
    """But for its own latency in Dimemas 5.5."""
    found = run([[send(1)], [receive(0, 5 * WIRE)]], machine(dialect))
    assert found.times[1].tolist() == (5 * WIRE, 5 * WIRE + (L if dialect != "thesis" else 0))
    assert found.usage["late_receives"][1] == 1


def test_dimemas_measured_with_a_network_of_10_us_and_100_mb():
    """Runs of Dimemas 5.5.0: 1000000 bytes 9.546743 ms after the send; with a receiver at 50 ms and rendezvous
    59.546743 ms; 2^20 bytes 10.010 ms; a collective 2 (L + S/BW)."""
    on = machine("standard")
    assert run([[send(1, size=1_000_000)], [receive(0, size=1_000_000)]], on).end_ns == 9_546_743
    late = [send(1, size=1_000_000, flags=OperationFlag.RENDEZVOUS)], [receive(0, 50_000_000, 1_000_000)]
    assert run(late, on).end_ns == 59_546_743
    assert run([[send(1)], [receive(0)]], on).end_ns == 10_010_000
    reduce = {"kind": OperationKind.COLLECTIVE, "tag": 11, "bytes": MB, "other": MB}
    assert run([[reduce]] * 4, on).end_ns == 2 * (L + WIRE)


@both
@pytest.mark.parametrize("n, buses", [(5, 1), (5, 2), (5, 3), (5, 5), (7, 4), (5, 0)])
def test_buses(n, buses, dialect):
    """Row 8: n equal messages over NB buses take ceil(n / NB) transfers."""
    streams = [[send(n + k)] for k in range(n)] + [[receive(k)] for k in range(n)]
    rounds = -(-n // buses) if buses else 1
    found = run(streams, with_buses(buses, dialect))
    assert found.end_ns == L + rounds * WIRE
    assert found.most_waiting == (max(n - buses, 0) if buses else 0)
    waited = sum(n - k * buses for k in range(1, rounds)) * WIRE  # in round k all but those of rounds 1 to k wait
    assert found.mean_waiting == waited / (L + rounds * WIRE)


@both
@pytest.mark.parametrize("half, transfers", [(False, 1), (True, 2)])
def test_duplex(half, transfers, dialect):
    """Row 9: an exchange takes one transfer at full duplex, two at half."""
    found = run(
        [[send(1), receive(1)], [send(0), receive(0)]], machine(dialect, links_out=1, links_in=1, half_duplex=half)
    )
    assert found.end_ns == L + transfers * WIRE


@both
def test_a_later_message_passes_one_that_cannot_start(dialect):
    """Rank 0 sends to 1 twice over its one link; the message of rank 2 to 3 does not wait for them."""
    found = run(
        [[send(1), send(1)], [receive(0), receive(0)], [send(3)], [receive(2)]],
        machine(dialect, links_out=1, links_in=1),
    )
    assert found.times["end"].tolist() == [L, 2 * L, L + WIRE, L + 2 * WIRE, L, L + WIRE]


@both
def test_messages_inside_a_node_have_their_own_latency_and_bandwidth(dialect):
    """Row 10: no links, no buses."""
    node = {"cpus": 4, "intra_latency_s": 3e-6, "intra_bandwidth_mb": 200.0, "links_out": 1, "links_in": 1}
    on = Machine(nodes=(Node(latency_s=1, **node),), networks=(Network(1.0, 1),), dialect=dialect)
    found = run([[send(1)], [receive(0)], [send(3)], [receive(2)]], on)
    assert found.end_ns == 3000 + WIRE // 2


@both
def test_relative_speed_of_each_node(dialect):
    """Row 11: bursts are divided by the speed."""
    on = Machine(nodes=(Node(speed=2.0), Node(speed=0.5)), mapping=(0, 1), dialect=dialect)
    assert run([[compute(10_000_000)]] * 2, on).usage["end"].tolist() == [5_000_000, 20_000_000]


def test_who_waits_for_what_in_a_rendezvous():
    """Row 12: the sender goes on at delivery in the thesis, when the transfer starts in Dimemas 5.5."""
    streams = [[send(1, flags=OperationFlag.RENDEZVOUS), compute(0)], [receive(0, 50_000)]]
    assert run(streams, machine()).times["end"].tolist()[:2] == [50_000 + WIRE] * 2
    assert run(streams, machine("standard")).times["end"].tolist()[:2] == [50_000 + L] * 2
    immediate = [[send(1, flags=OperationFlag.RENDEZVOUS | OperationFlag.IMMEDIATE)], [receive(0, 50_000)]]
    assert run(immediate, machine()).times["end"].tolist() == [L, 50_000 + WIRE]


@both
def test_synchronous_sends_wait_for_delivery_and_the_eager_limit_decides(dialect):
    """In Dimemas 5.5 the latency of a rendezvous comes after the receive."""
    streams = [[send(1)], [receive(0, 1)]]
    pays = L if dialect != "thesis" else 0
    assert run(streams, replace(machine(dialect), synchronous=True)).times["end"][0] == L + WIRE
    late = [[send(1)], [receive(0, 50_000)]]
    assert run(late, replace(machine(dialect), eager_limit=MB)).end_ns == 50_000 + pays + WIRE
    assert run(late, replace(machine(dialect), eager_limit=MB + 1)).end_ns == L + WIRE


def collective(name_or_tag=0, sent=MB, received=MB, burst=0, root=-1, kind=OperationKind.COLLECTIVE, **more):
    return {
        "kind": kind, "tag": name_or_tag, "bytes": sent, "other": received, "burst": burst, "peer": root, **more,
    }  # fmt: skip


@both
@pytest.mark.parametrize("model, factor", [(PhaseModel.CONSTANT, 1), (PhaseModel.LINEAR, 9), (PhaseModel.LOG, 4)])
def test_simple_collectives(model, factor, dialect):
    """F2: (L + size / BW) * {1, P, ceil(log2 P)}; all wait for the last."""
    on = replace(machine(dialect), collectives=simple_collectives(model))
    streams = [[collective(1, sent=MB // 2, received=MB, burst=100 * k, root=3)] for k in range(9)]
    found = run(streams, on)
    assert set(found.times["end"].tolist()) == {800 + factor * (L + WIRE)}
    assert found.usage["wait_members"].tolist() == [800 - 100 * k for k in range(9)]
    assert set(found.usage["collective"].tolist()) == {factor * (L + WIRE)}


@both
@pytest.mark.parametrize(
    "ranks, buses, steps", [(8, 0, 3), (16, 5, 5), (32, 5, 9), (32, 16, 5), (9, 0, 4), (1, 0, 0), (2, 1, 1)]
)
def test_steps_of_the_logarithmic_model(ranks, buses, steps, dialect):
    """F4, worked examples of section 1.9."""
    models = {"Allreduce": CollectiveModel(PhaseModel.LOG, PhaseSize.MAX, PhaseModel.NONE, PhaseSize.MAX)}
    on = replace(with_buses(buses, dialect), collectives=models)
    intra = ranks == 1
    assert run([[collective(11)]] * ranks, on).end_ns == (0 if intra else steps * (L + WIRE))


TABLE_9_BY_HAND = {  # of 5 members: times L, and MB on the wire: 2 are sent by the root, 1 is received
    "Barrier": (5, 5 * 2), "Bcast": (3, 3 * 2), "Gather": (3, 3 * 1.5), "Gatherv": (2, 2 + 2), "Scatter": (3, 3 * 1.5),
    "Scatterv": (2, 2 + 2), "Allgather": (10, 5 + 5), "Allgatherv": (10, 5 + 5), "Alltoall": (10, 5 + 5),
    "Alltoallv": (2, 2 + 2), "Reduce": (3, 3 * 2), "Allreduce": (6, 3 * 2 + 3 * 2), "Reduce_scatter": (8, 3 * 2 + 5),
    "Scan": (6, 3 * 2 + 3 * 2), "Alltoallw": (2, 2 + 2), "Reduce_scatter_block": (8, 3 * 2 + 5),
}  # fmt: skip
"""LIN MAX is 5 (L + 2 MB), LOG MEAN 3 (L + 1.5 MB), CTE MAX L + 2 MB, LIN MIN 5 (L + 1 MB); the last two are ours."""


@both
@pytest.mark.parametrize("name", TABLE_9)
def test_rows_of_table_9(name, dialect):
    """Row 15: fan-in and fan-out by model and size, with a root that sends 2 MB and receives 1 MB."""
    latencies, mb = TABLE_9_BY_HAND[name]
    number = COLLECTIVE_NAMES.index(name)
    streams = [[collective(number, 2 * MB if rank == 2 else 7, MB, root=2)] for rank in range(5)]
    assert run(streams, replace(machine(dialect), collectives=TABLE_9)).end_ns == latencies * L + mb * WIRE


@both
@pytest.mark.parametrize(
    "which, size",
    [(PhaseSize.MAX, 3), (PhaseSize.MIN, 1), (PhaseSize.MEAN, 2), (PhaseSize.TWICE_MAX, 6), (PhaseSize.SUM, 4)],
)
def test_sizes_of_table_3(which, size, dialect):
    models = {"Gather": CollectiveModel(PhaseModel.CONSTANT, which, PhaseModel.NONE, PhaseSize.MAX)}
    streams = [[collective(2, MB, 3 * MB, root=0)], [collective(2, MB, 0, root=0)]]
    assert run(streams, replace(machine(dialect), collectives=models)).end_ns == L + size * WIRE


def test_a_collective_holds_the_network():
    """Row 16: a message in flight is waited for, one that comes later waits; nothing moves beside the collective."""
    barrier = [collective(0, 0, 0, comm=1)]
    streams = [[send(1)], [receive(0)], [compute(20_000), *barrier], barrier, [send(5, 30_000)], [receive(4)]]
    program = Program.from_streams([operations(*s) for s in streams], communicators=[range(6), (2, 3)])
    found = run(program, with_buses(9))
    ends = L + WIRE + L  # the first message, then the barrier: constant, one latency
    assert found.times["end"].tolist()[3:5] == [ends, ends]
    assert found.transfers["start"][5] == ends
    free = run(program, with_buses(0, "standard"))
    assert free.times["end"][3] == 20_000 + 2 * L


@both
def test_nonblocking_collectives_end_in_their_wait(dialect):
    """By default a collective is one L + S/BW in the thesis, two in Dimemas 5.5."""
    start = collective(11, kind=OperationKind.COLLECTIVE_START, request=0)
    wait = {"kind": OperationKind.WAIT, "request": 0, "burst": 4 * WIRE}
    lasts = (L + WIRE) * (2 if dialect != "thesis" else 1)
    found = run([[start, wait], [collective(11, burst=5000)]], machine(dialect))
    assert found.times["end"].tolist() == [0, 4 * WIRE, 5000 + lasts]
    early = run([[start, {**wait, "burst": 7}], [collective(11, burst=5000)]], machine(dialect))
    assert early.times["end"].tolist() == [0, 5000 + lasts, 5000 + lasts]


@both
def test_same_tag_is_received_in_the_order_of_sending(dialect):
    """A small second message does not overtake a big first one in matching."""
    found = run([[send(1, size=MB), send(1, size=0)], [receive(0), receive(0)]], machine(dialect))
    pays = L if dialect != "thesis" else 0
    assert found.times["end"].tolist()[2:] == [L + WIRE, L + WIRE + pays]


@both
def test_fcfs_on_one_cpu_and_context_switches(dialect):
    """Row 18: who blocks gives the CPU to the next; a switch costs only where the thread changes."""
    on = Machine(dialect=dialect, nodes=(Node(cpus=1),), scheduling=CpuScheduling(context_switch_ns=10), mapping=(0, 0))
    found = run([[compute(100), receive(1), compute(50)], [compute(300), send(0), compute(40)]], on)
    assert found.times["end"].tolist() == [100, 460, 510, 410, 410, 450]
    assert found.usage["switches"].sum() == 2
    assert found.usage["context_switch"].tolist() == [10, 10]


@both
def test_round_robin_takes_turns(dialect):
    on = Machine(dialect=dialect, nodes=(Node(cpus=1),), scheduling=CpuScheduling(slice_ns=100), mapping=(0, 0))
    found = run([[compute(250)], [compute(120)]], on)
    assert found.usage["end"].tolist() == [370, 320]


@both
def test_preemption_waits_for_the_least_run(dialect):
    policy = CpuScheduling(priority=PrioritySource.FIXED, preemptive=True, least_run_ns=500)
    on = Machine(dialect=dialect, nodes=(Node(cpus=1), Node()), mapping=(0, 0, 1), scheduling=policy)
    streams = [[receive(2), compute(100)], [compute(1000)], [compute(200), send(0)]]
    program = Program.from_streams([operations(*s) for s in streams], priority=np.array([0, 1, 0]))
    found = run(program, on)
    assert found.usage["end"].tolist() == [600, 1100, 200]


@both
def test_a_context_switch_is_finished_before_preemption(dialect):
    """Rank 1 has the processor since 100, with a switch of 50; rank 0, whose message is there at 120, gets it at 151
    and computes from 201 to 301. Then rank 1 has 999 left."""
    policy = CpuScheduling(priority=PrioritySource.FIXED, preemptive=True, context_switch_ns=50)
    on = Machine(dialect=dialect, nodes=(Node(cpus=1), Node()), mapping=(0, 0, 1), scheduling=policy)
    streams = [[receive(2, 100), compute(100)], [compute(1000)], [compute(120), send(0)]]
    found = run(Program.from_streams([operations(*s) for s in streams], priority=np.array([0, 1, 0])), on)
    assert found.usage["end"].tolist() == [301, 301 + 50 + 999, 120]
    assert found.usage["context_switch"].tolist() == [50, 100, 0]


def test_decaying_priorities_and_a_long_context_switch_come_to_an_end():
    """A computing thread has the worse priority from the next tick on: each computes 1 after a switch of 3."""
    policy = CpuScheduling(
        priority=PrioritySource.DECAY,
        preemptive=True,
        context_switch_ns=3,
        tick_ns=1,
        settle_ns=1,
        best=0,
        worst=2**31 - 1,
    )
    found = run([[compute(20)], [compute(20)]], Machine(node=Node(), mapping=(0, 0), scheduling=policy))
    assert found.usage["computing"].tolist() == [20, 20]
    assert found.end_ns == 40 + int(found.usage["context_switch"].sum())
    assert 20 <= found.usage["switches"].sum() <= 40


def test_who_waits_busily_above_all_others_is_named():
    """Rank 0 has the better priority and waits for rank 1, which never gets their processor."""
    policy = CpuScheduling(priority=PrioritySource.FIXED, slice_ns=10**6, busy_wait_ns=SPIN)
    program = replace(
        Program.from_streams([operations(receive(1)), operations(send(0, 20))]), priority=np.array([0, 1])
    )
    with pytest.raises(TracelibError, match="rank 0 in a receive from rank 1") as error:
        run(program, Machine(node=Node(), mapping=(0, 0), scheduling=policy))
    assert "busy_wait_us" in error.value.hint


@both
def test_busy_waiting_keeps_the_cpu(dialect):
    on = Machine(
        dialect=dialect, nodes=(Node(cpus=1), Node()), mapping=(0, 0, 1), scheduling=CpuScheduling(busy_wait_ns=300)
    )
    streams = [[receive(2), compute(100)], [compute(1000)], [compute(200), send(0)]]
    found = run(streams, on)
    assert found.usage["end"].tolist() == [300, 1300, 200]
    assert found.usage["busy_wait"].tolist() == [200, 0, 0]
    later = run([streams[0], streams[1], [compute(400), send(0)]], on)
    assert later.usage["end"].tolist() == [1400, 1300, 400]
    assert later.usage["busy_wait"].tolist() == [300, 0, 0]


@both
def test_spinning_takes_turns(dialect):
    """Rank 0 has its processor until 150 and waits on when it is not its turn; the message is there at 200."""
    policy = CpuScheduling(slice_ns=150, busy_wait_ns=SPIN)
    on = Machine(dialect=dialect, nodes=(Node(cpus=1), Node()), mapping=(0, 0, 1), scheduling=policy)
    found = run([[receive(2), compute(100)], [compute(1000)], [compute(200), send(0)]], on)
    assert found.usage["end"].tolist() == [400, 1250, 200]
    assert found.usage["busy_wait"].tolist() == [200, 0, 0]
    assert found.usage["wait_cpu"].tolist() == [100, 250, 0]


def test_who_spins_for_ever_is_a_deadlock():
    policy = CpuScheduling(slice_ns=150, busy_wait_ns=SPIN)
    on = Machine(nodes=(Node(cpus=1),), scheduling=policy)
    with pytest.raises(TracelibError, match=r"rank 0 in a receive from rank 1.*rank 1 in a receive from rank 0"):
        run([[receive(1)], [receive(0)]], on)


@both
def test_virtual_threads(dialect):
    """Row 4: n shares of c / n, in parallel on n CPUs, one after the other on one."""
    stream = [{"kind": OperationKind.PARALLEL, "burst": 1000, "other": 4}, compute(10)]
    for cpus, time in ((4, 250), (2, 500), (1, 1000), (8, 250)):
        assert run([stream], Machine(dialect=dialect, nodes=(Node(cpus=cpus),), mapping=(0,))).end_ns == time + 10


@both
def test_semaphores(dialect):
    """Row 13: two threads of a rank."""
    wait, signal = ({"kind": k, "tag": 5} for k in (OperationKind.SEM_WAIT, OperationKind.SEM_SIGNAL))
    first = operations(wait, compute(100))
    second = operations({**signal, "burst": 700}, compute(1))
    program = Program(
        ops=np.concatenate([first, second]), offsets=np.array([0, 2, 4]), rank=np.zeros(2, np.int32),
        thread=np.arange(2, dtype=np.int32), slots=np.zeros(2, np.int32), communicators=((0,),), ranks=1,
    )  # fmt: skip
    assert run(program, Machine(dialect=dialect, nodes=(Node(cpus=2),))).usage["end"].tolist() == [800, 701]


@both
def test_one_sided_operations_are_waited_for_together(dialect):
    """Row 13: the target does nothing."""
    put = {"kind": OperationKind.PUT, "peer": 1, "bytes": MB}
    found = run(
        [[put, put, {"kind": OperationKind.ACCESSES_WAIT}], [compute(5)]], machine(dialect, links_out=1, links_in=1)
    )
    assert found.times["end"].tolist()[:3] == [L, 2 * L, L + 2 * WIRE]


@both
def test_ports_between_applications(dialect):
    """Row 13 and row 6: two applications on one machine."""
    client = Program.from_streams(
        [operations({"kind": OperationKind.PORT_SEND, "comm": 1, "peer": 0, "tag": 9, "bytes": MB})]
    )
    server = Program.from_streams(
        [operations({"kind": OperationKind.PORT_RECV, "comm": 0, "peer": 0, "tag": 9, "bytes": MB})]
    )
    on = Machine(dialect=dialect, nodes=(Node(cpus=2, intra_bandwidth_mb=100.0),), mapping=(0,))
    assert simulate([client, server], on).end_ns == WIRE


@both
def test_closed_system_restarts_until_each_has_its_repetitions(dialect):
    """Row 38: a short application runs as often as it can while the long one runs twice."""
    long, short = (Program.from_streams([operations(compute(c))]) for c in (1000, 300))
    found = simulate([long, short], Machine(dialect=dialect, nodes=(Node(cpus=2),)), repetitions=2)
    ends = {a: found.runs["end"][found.runs["application"] == a].tolist() for a in (0, 1)}
    assert ends == {0: [1000, 2000], 1: [300, 600, 900, 1200, 1500, 1800]}


def test_random_parameters():
    """Row 22: no variance is the constant, to the bit; a seed repeats; the mean converges."""
    streams = [[send(1, flags=OperationFlag.IMMEDIATE)] * 4000, [receive(0)] * 4000]

    def latency(quantity, seed=1):
        on = Machine(node=Node(latency_s=quantity), dialect="thesis", mapping="round-robin", seed=seed)
        return run(streams, on).usage["end"][0]

    assert latency(UniformNumber(1e-5, 1e-5)) == latency(1e-5) == latency(GaussianNumber(1e-5, 0.0))
    spread = UniformNumber(0.5e-5, 1.5e-5)
    assert latency(spread) == latency(spread) != latency(spread, seed=2)
    assert latency(spread) == pytest.approx(latency(1e-5), rel=4 * (1e-5 / 12**0.5) / 1e-5 / 4000**0.5)


@both
def test_factors_of_blocks(dialect):
    """Row 21: factor f on a block changes a serial time by (f - 1) times the block's; negative: seconds."""
    stream = [{**compute(1000), "block": 1}, {**compute(500), "block": 2}, compute(10)]
    program = Program.from_streams([operations(*stream)], factors=np.array([1.0, 0.5, -3e-6]))
    assert run(program, Machine(dialect=dialect)).end_ns == 500 + 3000 + 10


def test_who_waits_for_ever_is_named():
    with pytest.raises(
        TracelibError, match="rank 0 in a receive from rank 1, tag 3; rank 1 in a send to rank 0, tag 4"
    ):
        run([[receive(1, tag=3)], [send(0, tag=4, flags=OperationFlag.RENDEZVOUS)]], machine())


def test_unlike_collectives_are_named():
    with pytest.raises(TracelibError, match="rank 1 in MPI_Bcast of ranks 0-1, rank 0 in MPI_Init or MPI_Barrier"):
        run([[collective(0)], [collective(1, burst=5)]], machine())


def test_messages_nobody_receives_are_counted():
    assert run([[send(1)] * 3, [receive(0)]], machine()).unreceived == 2


@pytest.mark.parametrize(
    "broken", [{"peer": 7}, {"bytes": -1}, {"burst": -1}, {"kind": 99}, {"kind": OperationKind.WAIT, "request": 3}]
)
def test_operations_that_make_no_sense_are_refused(broken):
    with pytest.raises(TracelibError, match="names something that does not exist"):
        run([[{**send(1), **broken}], [compute(1)]], machine())


def test_a_machine_that_does_not_fit_is_refused():
    with pytest.raises(TracelibError, match="names node 5"):
        run([[compute(1)]] * 2, Machine(nodes=(Node(),), mapping=(0, 5)))
    with pytest.raises(TracelibError, match="dialect"):
        run([[compute(1)]], Machine(dialect="extrae"))
