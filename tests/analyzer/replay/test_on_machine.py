"""On which CPU of the machine the threads of a replay are, in the predicted Paraver trace."""

import json
from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.cli import main
from analyzer.machine.description import CpuScheduling, Machine, Node
from analyzer.opening import open_trace
from analyzer.program.model import Program
from analyzer.program.operation import OperationKind, operations
from analyzer.replay import simulate
from analyzer.replay.on_machine import MachinePlacement

RUNNING = 1


def bursts(*ns):
    return operations(*({"kind": OperationKind.NONE, "burst": burst} for burst in ns))


def placed(programs, machine):
    prediction = simulate(programs, machine, times=True, cpu_waits=True)
    return MachinePlacement.of(programs, machine, prediction)


def rows(cpus):
    return list(zip(cpus.since.tolist(), cpus.cpu.tolist(), strict=True))


def test_round_robin_on_two_cpus_by_hand():
    """Three threads of 3 ns, slices of 2, two CPUs: at 2 the third takes the CPU of the first, which takes that of the
    second at once and gives it back at 3."""
    machine = Machine(nodes=(Node(cpus=2),), scheduling=CpuScheduling(slice_ns=2))
    there = placed([Program.from_streams([bursts(3)] * 3)], machine)
    found = [rows(there.cpus[0][rank, 0]) for rank in range(3)]
    assert found == [[(0, 1), (2, 2)], [(0, 2), (3, 2)], [(2, 1)]]
    assert all(cpus.shared for cpus in there.cpus[0].values())


def test_cpus_of_their_own():
    """In order of run, rank and thread; nodes number their CPUs one after the other."""
    programs = [Program.from_streams([bursts(1)] * 3), Program.from_streams([bursts(1)] * 2)]
    there = placed(programs, Machine(node=Node(cpus=2)))
    assert there.nodes.cpus == (2,) * 5 and there.nodes.of_rank.tolist() == [0, 0, 1, 1, 2]
    assert [rows(there.cpus[k][rank, 0])[0] for k, n in enumerate((3, 2)) for rank in range(n)] == [
        (0, 1), (0, 2), (0, 3), (0, 4), (0, 5),
    ]  # fmt: skip
    assert not any(cpus.shared for run in there.cpus for cpus in run.values())


@given(
    work=st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=3), min_size=1, max_size=6),
    cpus=st.integers(1, 3),
    slice_ns=st.integers(1, 4),
    switch_ns=st.integers(0, 2),
)
@settings(max_examples=40, deadline=None)
def test_a_cpu_has_one_thread_at_a_time(tmp_path_factory, work, cpus, slice_ns, switch_ns):
    """In the .prv, running threads are on different CPUs, and each thread's time equals its computation."""
    folder = tmp_path_factory.mktemp("on_machine")
    (folder / "m.toml").write_text(
        f'mapping = "fill"\n[[node]]\ncount = 1\ncpus = {cpus}\n[scheduling]\npolicy = "rr"\n'
        f"slice_us = {slice_ns}\ncontext_switch_us = {switch_ns}\n"
    )
    write_dim(folder / "w.dim", work)
    args = ["replay", str(folder / "w.dim"), "--machine", str(folder / "m.toml"), "-q", "-o", str(folder / "x.prv")]
    assert main(args) == 0
    trace = open_trace(folder / "x.prv")
    states = trace.states()
    running = states[states["state"] == RUNNING]
    assert trace.nodes.cpus == (cpus,) and (running["cpu"] > 0).all()
    by_cpu = defaultdict(list)
    for row in running:
        by_cpu[int(row["cpu"])].append((int(row["begin"]), int(row["end"])))
    assert set(by_cpu) <= set(range(1, cpus + 1))
    for spans in by_cpu.values():
        assert all(a[1] <= b[0] for a, b in pairwise(sorted(spans)))
    for rank, burst_us in enumerate(work):
        mine = running[running["rank"] == rank]
        moves = 5 + sum(burst_us) // slice_ns  # to another CPU without waiting: 1 ns each
        assert int((mine["end"] - mine["begin"]).sum()) == pytest.approx(1000 * sum(burst_us), abs=moves)
    if len(work) > cpus:
        assert not states["cpu"][np.isin(states["state"], (3, 7))].any()


def write_dim(path, work):
    """Tasks that compute, with an event after each burst."""
    streams = [
        f"1:{task}:0:0.0\n" + "".join(f"1:{task}:0:{us / 1e6:.9f}\n20:{task}:0:7:1\n" for us in mine)
        for task, mine in enumerate(work)
    ]
    ones = ",".join("1" for _ in work)
    members = ":".join(str(k) for k in range(len(work)))
    at = 0
    for _ in range(4):
        head = f'#DIMEMAS:"w":1,{at}:{len(work)}({ones}),1\nd:1:1:{len(work)}:{members}\n'
        at = len(head) + sum(map(len, streams))
    offsets, where = "", len(head)
    for task, text in enumerate(streams):
        offsets += f"s:{task}:{where}\n"
        where += len(text)
    path.write_text(head + "".join(streams) + offsets)


def test_the_view_by_cpu_reads_a_replay(tmp_path, capsys):
    write_dim(tmp_path / "w.dim", [[5], [5], [5]])
    (tmp_path / "m.toml").write_text('[[node]]\ncount = 1\ncpus = 2\n[scheduling]\npolicy = "rr"\nslice_us = 2\n')
    out = str(tmp_path / "x.prv")
    assert main(["replay", str(tmp_path / "w.dim"), "--machine", str(tmp_path / "m.toml"), "-q", "-o", out]) == 0
    capsys.readouterr()
    assert main(["views", out, "--view", "useful", "--level", "cpu", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)
