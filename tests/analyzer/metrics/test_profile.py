"""How many threads compute at each instant: by hand, against each instant of small replays and runs, and as files."""

import csv
import json
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_trace import MemoryTrace
from paths import EPOCH
from random_replays import random_machine, random_program

from analyzer.cli import main
from analyzer.machine.description import DIALECTS, CpuScheduling, Machine, Network, Node
from analyzer.metrics.parallelism import COLLECTIVES, COMPUTING, MESSAGES, QUEUE, STATES, parallelism
from analyzer.parallel import Team
from analyzer.program.model import Program
from analyzer.program.operation import OperationKind, operations
from analyzer.replay.parallelism import replayed_parallelism
from analyzer.replay.simulate import simulate
from analyzer.trace import State

EACH_NS = 10**9
"""Bins enough that each is 1 ns."""


def compute(burst):
    return {"kind": OperationKind.NONE, "burst": burst}


def program(*streams):
    return Program.from_streams([operations(*stream) for stream in streams])


def series(name, *args):
    return replayed_parallelism(*args, EACH_NS).series[name].tolist()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_with_a_processor(dialect):
    """Bursts of 3, 1 and 2 ns; a block of 6 ns for 3 threads; 4 ns on a CPU of double speed."""
    on = Machine(dialect=dialect)
    assert series(COMPUTING, program([compute(3)], [compute(1)], [compute(2)]), on) == [3, 2, 1]
    block = program([{"kind": OperationKind.PARALLEL, "burst": 6, "other": 3}, compute(1)])
    assert series(COMPUTING, block, Machine(node=Node(cpus=3), dialect=dialect)) == [3, 3, 1]
    assert series(COMPUTING, program([compute(4)]), Machine(node=Node(speed=2.0), dialect=dialect)) == [1, 1]


@pytest.mark.parametrize("dialect", ("standard", "thesis"))
def test_threads_that_share_a_processor(dialect):
    """Turns of 3 ns with a switch of 1: rank 0 has 5 to do, rank 1 4, a third waits and is never there."""
    policy = CpuScheduling(slice_ns=3, context_switch_ns=1)
    on = Machine(nodes=(Node(cpus=1),), mapping=(0, 0), scheduling=policy, dialect=dialect)
    found = series(COMPUTING, program([compute(5)], [compute(4)]), on)
    assert found == [1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 0, 1]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_messages_that_wait_for_the_bus(dialect):
    """Three messages of 4 ns over one bus, after 1 ns of computation and 2 of latency: two wait, then one."""
    size = 4
    on = Machine(node=Node(latency_s=2e-9), networks=(Network(1e9 / 2**20, 1),), mapping="round-robin", dialect=dialect)
    senders = [[{"kind": OperationKind.SEND, "peer": 3 + k, "bytes": size, "burst": 1}] for k in range(3)]
    receivers = [[{"kind": OperationKind.RECV, "peer": k, "bytes": size}] for k in range(3)]
    found = replayed_parallelism(program(*senders, *receivers), on, EACH_NS).series
    assert found[QUEUE].tolist() == [0, 0, 0, *[2] * 4, *[1] * 4, *[0] * 4]
    assert found[COMPUTING].tolist() == [3, *[0] * 14]
    assert found[MESSAGES].tolist() == [3, 6, 6, *[3] * 4, *[2] * 4, *[1] * 4]


@pytest.mark.parametrize("dialect, ends", [("thesis", 5), ("standard", 7), ("dimemas-5.5", 7)])
def test_collectives(dialect, ends):
    """Rank 1 comes at 3; then one latency of 2 ns, two in Dimemas 5.5."""
    barrier = {"kind": OperationKind.COLLECTIVE, "tag": 0}
    on = Machine(node=Node(latency_s=2e-9), dialect=dialect, mapping="round-robin")
    found = replayed_parallelism(program([{**barrier, "burst": 1}], [{**barrier, "burst": 3}]), on, EACH_NS).series
    assert found[COMPUTING].tolist() == [2, 1, 1, *[0] * (ends - 3)]
    assert found[COLLECTIVES].tolist() == [0, 1, 1, *[2] * (ends - 3)]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_nothing_is_counted_twice_or_lost(dialect):
    """In random programs and machines, no more threads compute at an instant than there are CPUs.

    Sums equal the replay's, and wide bins hold the sums of their instants.
    """
    shared = 0
    for k in range(40):
        random = Random(f"profile {dialect} {k}")
        some = random_program(random)
        machine = random_machine(random, some.ranks, dialect)
        prediction = simulate(some, machine)
        usage, end = prediction.usage, prediction.end_ns
        if not end:
            continue
        fine, wide = (replayed_parallelism(some, machine, bins) for bins in (EACH_NS, random.randint(1, 9)))
        assert (fine.width_ns, fine.end_ns, len(fine.series[COMPUTING])) == (1, end, end)
        sums = {name: int(values.sum()) for name, values in fine.series.items()}
        waits = usage["overhead"] + usage["wait_message"] + usage["wait_send"]
        assert sums[COMPUTING] == usage["computing"].sum() and sums[MESSAGES] == waits.sum()
        assert sums[COLLECTIVES] == (usage["wait_members"] + usage["collective"]).sum()
        assert sums[QUEUE] == pytest.approx(prediction.mean_waiting * end)
        assert fine.series[QUEUE].max() == prediction.most_waiting
        assert fine.series[COMPUTING].max() <= sum(node.cpus for node in machine.nodes)
        shared += bool(usage["wait_cpu"].any())
        for name, values in fine.series.items():
            assert values.min() >= 0
            edges = wide.edges.tolist()
            means = [values[a:b].mean() for a, b in pairwise(edges)]
            assert wide.series[name].tolist() == pytest.approx(means)
    assert shared > 5


intervals = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 9), st.sampled_from([1, 3, 5, 9, 13])), max_size=8)


@settings(max_examples=60)
@given(st.lists(intervals, min_size=1, max_size=3), st.integers(1, 60))
def test_a_measured_run(ranks, bins):
    """Its states, counted at each ns."""
    end = 50
    rows = [(a, a + n, rank, 0, s) for rank, rank_rows in enumerate(ranks) for a, n, s in rank_rows]
    trace = MemoryTrace([[] for _ in ranks], states=sorted(rows), duration_ns=end)
    found = parallelism(trace, Team(), bins)
    edges = found.edges.tolist()
    for name, of in STATES.items():
        at = [sum(a <= t < b and s in of for a, b, _, _, s in rows) for t in range(end)]
        means = [sum(at[a:b]) / (b - a) for a, b in pairwise(edges)]
        assert found.series[name].tolist() == pytest.approx(means)
    assert found.mean() == pytest.approx(sum(b - a for a, b, _, _, s in rows if s == State.RUNNING) / end)


def test_dips_by_hand():
    """Four threads: all compute but for 40 to 60, where three are in a barrier, and 90 to 100, where two wait."""
    states = [(0, 40, 0, 0, 1), (40, 60, 0, 0, 13), (60, 100, 0, 0, 1)]
    states = [(a, b, rank, 0, s) for rank in range(3) for a, b, _, _, s in states]
    states = [row for row in states if not (row[2] and row[0] == 60)]
    states += [(60, 90, rank, 0, 1) for rank in (1, 2)] + [(90, 100, rank, 0, 3) for rank in (1, 2)]
    states += [(0, 90, 3, 0, 1), (90, 100, 3, 0, 3)]
    found = parallelism(MemoryTrace([[]] * 4, states=sorted(states), duration_ns=100), Team(), 10)
    assert found.series[COMPUTING].tolist() == [4] * 4 + [1] * 2 + [4] * 3 + [1]
    assert found.mean() == 3.1 and found.utilisation == pytest.approx(0.775)
    first, second = found.dips()
    assert (first.begin_ns, first.end_ns, first.computing, first.mostly) == (40, 60, 1, COLLECTIVES)
    assert (second.begin_ns, second.end_ns, second.computing, second.mostly) == (90, 100, 1, MESSAGES)
    assert (first.lost_ns, second.lost_ns) == pytest.approx((42, 21))
    assert found.dips(1) == [first]


def test_nothing_at_all():
    found = parallelism(MemoryTrace([[]], duration_ns=0), Team(), 5)
    assert (found.mean(), found.utilisation, found.dips()) == (0, 0, [])
    assert replayed_parallelism(program([compute(0)]), Machine(), 5).series[COMPUTING].tolist() == [0]


@pytest.mark.skipif(not EPOCH.is_dir(), reason="the EPOCH traces are not here")
def test_the_command(tmp_path, capsys):
    """A published trace's ideal replay takes the time by Dimemas, and computes the trace's useful time."""
    trace = str(EPOCH / "epoch_4proc.prv.gz")
    assert (
        main(["profile", trace, "--machine", "ideal", "--eager-limit", "32k", "--json", "-o", f"{tmp_path}/ideal"]) == 0
    )
    ideal = json.loads(capsys.readouterr().out)
    assert ideal["end_s"] == 6.051059081 and ideal["replayed"]
    assert main(["replay", trace, "--eager-limit", "32k", "--json"]) == 0
    replayed = json.loads(capsys.readouterr().out)
    assert ideal["utilisation"] == pytest.approx(replayed["utilisation"])
    assert main(["profile", trace, "--bins", "100", "-o", f"{tmp_path}/run"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "On average 3.89 of 4 threads compute (97.3 %); in intervals of 60.8 ms" in said
    assert "where ranks wait for each other in collectives" in said
    with (tmp_path / "run.profile.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 100 and list(rows[0]) == ["begin_ns", "end_ns", *STATES]
    area = sum((int(r["end_ns"]) - int(r["begin_ns"])) * float(r[COMPUTING]) for r in rows)
    assert area / 1e3 == pytest.approx(23684668.07, rel=1e-5)  # us: paramedir's sum of state Running
    assert all((tmp_path / f"{name}.profile.png").read_bytes().startswith(b"\x89PNG") for name in ("run", "ideal"))
