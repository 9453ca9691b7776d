"""When predicted threads wait for a CPU: by hand, through files and back, and against the sums of the replay."""

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from grammar import check_prv
from random_replays import random_program
from synthetic import WORLD, call, write_run

from analyzer.cli import main
from analyzer.columns.rows import PIECE, Rows
from analyzer.errors import TracelibError
from analyzer.machine.description import CpuScheduling, Machine, Node, PrioritySource
from analyzer.machine.options import read_machine
from analyzer.opening import open_trace
from analyzer.operations.program import program_of
from analyzer.program.model import Program
from analyzer.program.operation import OperationKind, operations
from analyzer.replay.cpu_waits import wait_events
from analyzer.replay.predicted import TimeMap, write_predicted
from analyzer.replay.simulate import simulate
from analyzer.sources.dimemas.reader import communicators_of
from analyzer.sources.dimemas.trace import ProgramTrace
from analyzer.trace import CALL, CpuWaits, State

MACHINE = """
mapping = [0, 0]
[[node]]
count = 1
cpus = 1
[scheduling]
policy = "rr"
slice_us = 0.1
context_switch_us = 0.007
"""


def compute(burst, **more):
    return {"kind": OperationKind.NONE, "burst": burst, **more}


def on_one_cpu(*streams, **policy):
    machine = Machine(nodes=(Node(cpus=1),), mapping=(0,) * len(streams), scheduling=CpuScheduling(**policy))
    return simulate(Program.from_streams([operations(*s) for s in streams]), machine, cpu_waits=True)


def waits(prediction, stream):
    return list(zip(*(side.tolist() for side in prediction.cpu_waits.of_stream(stream)), strict=True))


def test_turns_by_hand():
    """Turns of 3 ns with a switch of 1: rank 0 has 5 ns to compute, rank 1 has 4."""
    found = on_one_cpu([compute(5)], [compute(4)], slice_ns=3, context_switch_ns=1)
    assert waits(found, 0) == [(3, 8)]
    assert waits(found, 1) == [(0, 4), (7, 11)]
    assert (found.usage["wait_cpu"] + found.usage["context_switch"]).tolist() == [5, 8]


def test_more_waits_than_the_buffer_holds():
    """Turns of 1 ns: rank 0 waits at each odd instant, rank 1 at each even one, until the burst of rank 0 is over."""
    n = PIECE + 10
    found = on_one_cpu([compute(n)], [compute(n)], slice_ns=1)
    assert waits(found, 0) == [(t, t + 1) for t in range(1, 2 * n - 1, 2)]
    assert waits(found, 1) == [(t, t + 1) for t in range(0, 2 * n, 2)]
    assert not on_one_cpu([compute(n)]).cpu_waits.rows


def test_no_room_for_them(monkeypatch):
    with Path("/dev/full").open("wb") as full:
        monkeypatch.setattr(Rows, "fileno", lambda self: full.fileno())
        with pytest.raises(TracelibError, match="a temporary file cannot be written"):
            on_one_cpu([compute(5)], [compute(4)])


def test_of_several_applications():
    """Each has its own, its streams counted from 0."""
    programs = [Program.from_streams([operations(compute(burst))]) for burst in (5, 4)]
    machine = Machine(nodes=(Node(cpus=1),), mapping=(0,))
    found = simulate(programs, machine, cpu_waits=True)
    assert [waits(found.of(programs, k), 0) for k in (0, 1)] == [[], [(0, 5)]]


def test_what_a_file_says_of_them():
    """Two calls, the second of which took no time and is made 1 ns long; waits before, in, between and after them."""
    calls = np.array([10, 30]), np.array([20, 30])
    moved = np.array([10, 29]), np.array([20, 30])
    at = np.array([2, 15, 24, 40]), np.array([5, 20, 30, 50])
    events = wait_events(at, calls, moved, 3)
    rows = [(2, 1), (5, 0), (15, 2), (20, 0), (24, 1), (29, 0), (40, 1), (50, 0)]
    assert events[["time", "value"]].tolist() == rows
    assert set(events["thread"].tolist()) == {3} and set(events["type"].tolist()) == {49000006}


def test_regions_are_where_the_burst_had_come_to():
    """90 ns of computation between calls are predicted to last from 10 to 80, with waits from 20 to 30 and from 50 on:
    three times as fast."""
    calls = np.zeros(2, CALL)
    calls["enter"], calls["exit"] = [0, 100], [10, 110]
    moved = np.array([0, 80]), np.array([10, 90])
    map_ = TimeMap(calls, *moved, {0: (np.array([20, 50]), np.array([30, 80]))})
    times = np.array([10, 25, 40, 70, 97, 100, 105])
    assert map_.between(times, np.zeros(7, np.int64)).tolist() == [10, 15, 30, 40, 49, 80, 85]


@pytest.fixture
def files(tmp_path):
    """A run of two ranks, and what is predicted for it on one CPU, as a run and for Paraver."""
    first = [call("MPI_Send", 510, 520, comm=WORLD, peer=1, tag=1, sent=8)]
    first += [call("MPI_Recv", 530, 2000, comm=WORLD, peer=1, tag=1, received=8)]
    second = [call("MPI_Recv", 410, 1000, comm=WORLD, peer=0, tag=1, received=8)]
    second += [call("MPI_Send", 1500, 1600, comm=WORLD, peer=0, tag=1, sent=8)]
    ends = call("MPI_Init", 0, 10), call("MPI_Finalize", 3000, 3010)
    run = write_run(tmp_path, [{"calls": [ends[0], *rows, ends[1]]} for rows in (first, second)])
    (tmp_path / "m.toml").write_text(MACHINE)
    for name in ("p.h5", "p.prv"):
        assert main(["replay", str(run), "--machine", f"{tmp_path}/m.toml", "-o", f"{tmp_path}/{name}", "-q"]) == 0
    return run, tmp_path / "p.h5", tmp_path / "p.prv"


def sums(trace):
    """ns of each rank in each state."""
    states = trace.states()
    found = np.zeros((trace.size, 40), np.int64)
    np.add.at(found, (states["rank"], states["state"]), states["end"] - states["begin"])
    return found


def test_both_files_say_the_same(files):
    """States of a rank fill its time; computing and waiting equal the replay's but for calls of 1 ns."""
    h5, prv = (open_trace(path) for path in files[1:])
    what = ["begin", "end", "rank", "thread", "state"]  # the .prv has the CPUs of the machine
    assert h5.states()[what].tolist() == prv.states()[what].tolist()
    assert not check_prv(files[2])
    machine = read_machine(str(files[0].parent / "m.toml")).machine
    usage = simulate(program_of(open_trace(files[0]), buffered=True), machine).usage
    found = sums(h5)
    assert found.sum(axis=1).tolist() == [h5.span(rank)[1] for rank in (0, 1)]
    for rank, own in enumerate(usage):
        assert h5.extra(CpuWaits).of(rank).tolist() == prv.extra(CpuWaits).of(rank).tolist()
        assert 0 <= own["wait_cpu"] + own["context_switch"] - found[rank, State.SCHEDULING] <= 4
        assert abs(own["computing"] - found[rank, State.RUNNING]) <= 4
        outside = h5.extra(CpuWaits).of(rank)
        assert 0 < (outside["end"] - outside["begin"]).sum() < found[rank, State.SCHEDULING]


def test_what_analyses_say_of_them(files, capsys):
    """The first look adds up; the path goes through them; who is waited for has no CPU; the replay leaves them out."""
    for path in files[1:]:
        looks = {}
        for command in ("info", "critical-path", "waits", "efficiency"):
            assert main([command, str(path), "--json"]) == 0
            looks[command] = json.loads(capsys.readouterr().out)
        trace = open_trace(path)
        waited = sum(int((w["end"] - w["begin"]).sum()) for w in map(trace.extra(CpuWaits).of, (0, 1)))
        assert looks["info"]["cpu_waits_s"] == pytest.approx(waited / 1e9)
        on_path = {row["kind"]: row["path_s"] for row in looks["critical-path"]["functions"] if row["kind"] != "call"}
        assert on_path["cpu"] > 0 and set(on_path) == {"computation", "cpu"}
        computed = sums(trace)[:, State.RUNNING].sum()
        efficiency = looks["efficiency"]["parallel_efficiency"]
        assert efficiency == pytest.approx(computed / 2 / trace.duration_ns)
        causes = {row["what"] for row in looks["waits"]["causes"] if row["direct_s"] > 0}
        assert "waiting for a CPU" in causes
    programs = [program_of(open_trace(path)) for path in files[:2]]
    first, second = (simulate(program, Machine.ideal()).usage["computing"] for program in programs)
    assert np.abs(first - second).max() <= 4


@pytest.mark.parametrize("dialect", ["thesis", "standard"])
def test_random_programs(tmp_path, dialect):
    """Times of any policy, through the file: nothing is lost, nothing counted twice."""
    waited = 0
    for k in range(20):
        random = Random(f"cpu waits {dialect} {k}")
        program = random_program(random)
        program = replace(program, ops=program.ops.copy())
        program.ops["kind"][program.ops["kind"] == OperationKind.PARALLEL] = OperationKind.NONE
        program.ops["burst"] *= 1000
        scheduling = CpuScheduling(
            priority=random.choice((PrioritySource.NONE, PrioritySource.RECORDS)), preemptive=True,
            slice_ns=random.choice((0, 700)), context_switch_ns=random.choice((0, 90)),
        )  # fmt: skip
        node = Node(cpus=random.randint(1, 2))
        machine = Machine(nodes=(node,), mapping=(0,) * program.ranks, scheduling=scheduling, dialect=dialect)
        prediction = simulate(program, machine, times=True, cpu_waits=True)
        communicators = communicators_of(dict(enumerate(program.communicators, 1)), program.ranks)
        trace = ProgramTrace(program, communicators, "random.dim")
        write_predicted(trace, program, prediction, tmp_path / f"{k}.h5", "test")
        found = sums(open_trace(tmp_path / f"{k}.h5"))
        near = 2 * len(program.ops)  # calls last 1 ns, and what is between them moves
        alone = np.bincount(program.rank)[program.rank] == 1  # a main thread lasts as long as its others
        for rank, own in zip(program.rank[alone], prediction.usage[alone], strict=True):
            assert abs(found[rank, State.SCHEDULING] - own["wait_cpu"] - own["context_switch"]) <= near
            outside = own["computing"] + own["wait_semaphore"] + own["wait_access"]  # of MPI: in no call
            assert abs(found[rank, State.RUNNING] - outside) <= near
            waited += own["wait_cpu"] > 0
    assert waited > 10
