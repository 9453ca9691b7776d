"""The critical path as changes of priority in a .dim: by hand, and of the ring, which knows its own."""

import numpy as np
import pytest
from synthetic import WORLD, call, request, write_run

from analyzer.cli import main
from analyzer.critical.exports import path_priorities
from analyzer.critical.path import critical_path
from analyzer.opening import open_trace
from analyzer.program.operation import OperationKind
from analyzer.replay import program_of
from analyzer.scheduling.ring import PriorityRecords, RingProgram
from tracelib.schema import RequestKind

DATA = {"comm": WORLD, "sent": 8}


def send(enter, exit_, peer):
    return call("MPI_Send", enter, exit_, peer=peer, tag=1, **DATA)


def receive(enter, exit_, peer):
    return call("MPI_Recv", enter, exit_, comm=WORLD, peer=peer, tag=1, received=8)


def changes(trace):
    found = path_priorities(critical_path(trace))
    return [(row["time"], row["rank"], row["value"]) for row in found]


def test_by_hand(tmp_path):
    """Rank 0 computes until 100 and sends; rank 1, in its receive since 30, is on the path from then on to 300, when it
    sends; rank 0 waits for that in MPI_Recv since 200."""
    ranks = [
        {"calls": [send(100, 110, 1), receive(200, 315, 1), call("MPI_Finalize", 400, 410)]},
        {"calls": [receive(30, 115, 0), send(300, 310, 0), call("MPI_Finalize", 320, 330)]},
    ]
    trace = open_trace(write_run(tmp_path, ranks))
    assert changes(trace) == [(0, 0, 0), (0, 1, 1), (30, 1, 0), (110, 0, 1), (200, 0, 0), (310, 1, 1)]
    assert main(["critical-path", str(tmp_path / "run.h5"), "-o", str(tmp_path / "path.dim"), "-q"]) == 0
    program = open_trace(str(tmp_path / "path.dim")).program
    assert program is not None
    seen = [
        [
            (OperationKind(op["kind"]).name, int(op["burst"]), int(op["other"]))
            for op in program.ops[program.stream(rank)]
        ]
        for rank in (0, 1)
    ]
    assert seen[0][:5] == [
        ("PRIORITY", 0, 0),
        ("SEND", 100, 0),
        ("PRIORITY", 0, 1),
        ("PRIORITY", 90, 0),
        ("RECV", 0, 0),
    ]
    assert [op for op in seen[1] if op[0] == "PRIORITY"] == [
        ("PRIORITY", 0, 1),
        ("PRIORITY", 30, 0),
        ("PRIORITY", 0, 1),
    ]
    without = program_of(trace)
    for rank in (0, 1):
        bursts = program.ops["burst"][program.stream(rank)].sum()
        assert bursts == without.ops["burst"][without.stream(rank)].sum()


def test_a_path_that_comes_back_into_a_call_has_not_left(tmp_path):
    """Rank 0 sends in MPI_Sendrecv at 100 and waits there for the answer: it is favoured throughout."""
    both = call("MPI_Sendrecv", 100, 250, peer=1, tag=1, **DATA)
    half = request(RequestKind.RECEIVED, 100, 250, comm=WORLD, peer=1, tag=1, bytes=8)
    ranks = [
        {"calls": [both, call("MPI_Finalize", 400, 410)], "requests": [half]},
        {"calls": [receive(10, 105, 0), send(240, 245, 0), call("MPI_Finalize", 260, 270)]},
    ]
    trace = open_trace(write_run(tmp_path, ranks))
    assert changes(trace) == [(0, 0, 0), (0, 1, 1), (10, 1, 0), (245, 1, 1)]


@pytest.mark.parametrize("tasks", [2, 5])
def test_of_the_ring_they_are_its_own(tmp_path, tasks):
    """`analyze ring` writes the priorities that the study describes; the path of its run without them finds the same,
    but for the last round, after which nobody waits."""
    ring = RingProgram(compute_us=40, demand=60, tasks=tasks, iterations=12)
    options = ["--compute", "40us", "--demand", "60", "--tasks", str(tasks), "--iterations", "12"]
    assert main(["ring", *options, "-o", str(tmp_path / "alone.h5"), "-q"]) == 0
    assert main(["critical-path", str(tmp_path / "alone.h5"), "-o", str(tmp_path / "path.dim"), "-q"]) == 0
    found, own = open_trace(str(tmp_path / "path.dim")).program, ring.program()
    assert found is not None and ring.records is PriorityRecords.PATH
    kinds = [OperationKind.PRIORITY, OperationKind.RECV, OperationKind.SEND]

    def steps(program, task):
        ops = program.ops[program.stream(task)]
        ops = ops[np.isin(ops["kind"], kinds)]
        return [(int(k), int(v) if k == OperationKind.PRIORITY else 0) for k, v in ops[["kind", "other"]].tolist()]

    for task in range(tasks):
        expected = steps(own, task)[: 4 * 10]
        said = steps(found, task)
        first = said.index(expected[0])
        assert said[first : first + len(expected)] == expected, task


def test_a_dim_has_no_path_of_its_own(tmp_path, capsys):
    assert main(["ring", "--iterations", "3", "-o", str(tmp_path / "ring.dim"), "-q"]) == 0
    assert main(["critical-path", str(tmp_path / "ring.dim"), "-o", str(tmp_path / "path.dim"), "-q"]) == 1
    assert "has no times of its own" in capsys.readouterr().err
    assert not (tmp_path / "path.dim").exists()
