"""The section that a prediction is compared with: between MPI_Init and MPI_Finalize; programs in files."""

import numpy as np
import pytest
from memory_trace import MemoryTrace
from synthetic import call, event, label, write_run

from analyzer.efficiency.ideal import replayed_visits
from analyzer.parallel import Team
from analyzer.program.files import load_program, save_program
from analyzer.program.model import Program
from analyzer.program.operation import OperationKind, operations
from analyzer.recording.run.opening import open_run
from analyzer.replay import Machine, simulate
from analyzer.replay.section import section_of
from analyzer.validation import measured_parts
from tracelib.schema import REGION_TYPE, LabelKind

WORLD = {"comm": 0}


def two_ranks(init=True, finalize=True, events=()):
    """Ranks leave MPI_Init at 100 and 130, compute 50 and 10, meet in a barrier until 200, compute 7 and 9, enter
    MPI_Finalize, and end 40 after it."""
    calls = []
    for left, work, rest in ((100, 50, 7), (130, 10, 9)):
        rows = [("MPI_Init", 5, left, {})] if init else []
        rows.append(("MPI_Barrier", left + work, 200, WORLD))
        calls.append(rows + ([("MPI_Finalize", 200 + rest, 300, {})] if finalize else []))
    return MemoryTrace(calls, spans=[(2, 340), (2, 340)], events=events)


@pytest.mark.parametrize("block", [1, 2, 1 << 20])
def test_by_hand(block, monkeypatch):
    """Counted from the first rank's exit of MPI_Init, 100: the barrier is entered at 50 and 40; the rest is 7 and 9."""
    monkeypatch.setattr("analyzer.replay.section._BLOCK", block)
    section = section_of(two_ranks())
    assert section.measured_ns == 109 and section.ends_ns.tolist() == [107, 109]
    found = simulate(section.program, Machine.ideal(), times=True)
    assert found.usage["end"].tolist() == [57, 59]
    barrier = np.flatnonzero(section.program.ops["kind"] == OperationKind.COLLECTIVE)
    assert found.times["begin"][barrier].tolist() == [50, 40]
    parts, counts = measured_parts(two_ranks(), section, Team())
    assert parts.in_mpi.tolist() == [50, 60] and parts.outside.tolist() == [57, 49]
    assert parts.procedures == {"MPI_Barrier": 110} and counts == {"MPI_Barrier": 2}


def test_without_init_or_finalize():
    """The whole run then, on that side; bursts begin at the start of the process, 2."""
    section = section_of(two_ranks(init=False))
    assert (section.begin.tolist(), section.end.tolist()) == ([2, 2], [207, 209])
    assert simulate(section.program, Machine.ideal()).usage["end"].tolist() == [155, 157]
    section = section_of(two_ranks(finalize=False))
    assert (section.begin.tolist(), section.end.tolist()) == ([100, 130], [340, 340])
    assert simulate(section.program, Machine.ideal()).usage["end"].tolist() == [190, 190]


def test_nothing_after_init():
    """Ranks leave it at 100 and 130, and end."""
    trace = MemoryTrace([[("MPI_Init", 5, left, {})] for left in (100, 130)])
    section = section_of(trace)
    assert (section.begin.tolist(), section.end.tolist()) == ([100, 130], [100, 130])
    assert simulate(section.program, Machine.ideal()).usage["end"].tolist() == section.ends_ns.tolist() == [0, 30]


@pytest.mark.parametrize("init", [True, False])
def test_another_thread_may_begin_and_end_it(init, tmp_path):
    """Thread 1's work before its MPI_Init and after its MPI_Finalize takes no time; all of thread 0 counts."""
    calls = [call("MPI_Comm_rank", 2, 3), call("MPI_Comm_rank", 50, 51), call("MPI_Comm_rank", 950, 951)]
    calls += [call("MPI_Comm_size", 20, 21, thread=1), call("MPI_Comm_size", 300, 301, thread=1)]
    calls += [call("MPI_Init", 30, 100, thread=1)] if init else []
    calls += [call("MPI_Finalize", 700, 710, thread=1), call("MPI_Get_version", 990, 999, thread=1)]
    section = section_of(open_run(str(write_run(tmp_path, [{"calls": sorted(calls, key=lambda row: row["enter"])}]))))
    assert section.measured_ns == (600 if init else 700)
    program = section.program
    computed = [program.ops["burst"][program.stream(program.stream_of(0, thread))].sum() for thread in (0, 1)]
    assert computed == [999 - 3, 200 + 399 if init else 279 + 399]


def test_measured_regions(tmp_path):
    """The main thread's visits count between MPI_Init and MPI_Finalize, 100 to 900: 50-300 and 400-700.

    The visit inside the latter does not count once more; thread 1 is in the region from 200 to 800.
    """
    edges = [(50, 1, 0), (200, 1, 1), (300, 2, 0), (400, 1, 0), (450, 1, 0), (500, 2, 0), (700, 2, 0), (800, 2, 1)]
    rank = {
        "calls": [call("MPI_Init", 5, 100), call("MPI_Comm_size", 190, 191, thread=1), call("MPI_Finalize", 900, 910)],
        "events": [event(time, REGION_TYPE, 1, flags=flags, thread=thread) for time, flags, thread in edges],
        "labels": [label(LabelKind.REGION, 1, "solve")],
    }
    trace = open_run(str(write_run(tmp_path, [rank])))
    parts, _ = measured_parts(trace, section_of(trace), Team())
    assert parts.regions == {"solve": 200 + 300}


def test_events_outside_stay_and_take_no_time():
    """A region around the whole program begins before MPI_Init and ends after MPI_Finalize."""
    around = [(time, value, REGION_TYPE, 0, 0) for time, value in ((3, 1), (120, 2), (130, 0), (320, 0))]
    section = section_of(two_ranks(events=around))
    ops = section.program.ops[: section.program.offsets[1]]
    wanted = [
        (OperationKind.EVENT, 0),
        (OperationKind.NONE, 0),
        (OperationKind.EVENT, 20),
        (OperationKind.EVENT, 10),
        (OperationKind.COLLECTIVE, 20),
    ]
    wanted += [(OperationKind.NONE, 7), (OperationKind.EVENT, 0), (OperationKind.NONE, 0)]
    assert ops[["kind", "burst"]].tolist() == wanted
    visits = replayed_visits(section.program, simulate(section.program, Machine.ideal(), times=True).times)
    assert visits[["region", "time"]].tolist() == [(1, 10), (0, 57)]


def test_a_program_in_files_is_the_same(tmp_path):
    streams = [
        operations({"kind": OperationKind.SEND, "peer": 1, "bytes": 8, "burst": 5}),
        operations({"kind": OperationKind.RECV}),
    ]
    for k, program in enumerate(
        (
            Program.from_streams(
                streams, [(0, 1), (1,), ()], name="x", priority=np.array([3, 1]), factors=np.array([1.0, 2.5])
            ),
            Program.from_streams([operations(), operations()]),
        )
    ):
        save_program(program, tmp_path / str(k))
        read = load_program(tmp_path / str(k))
        assert np.array_equal(read.ops[:], program.ops)
        for name in ("offsets", "rank", "thread", "slots", "factors"):
            assert np.array_equal(getattr(read, name), getattr(program, name)), name
        assert read.priority is None if program.priority is None else read.priority.tolist() == [3, 1]
        assert (read.communicators, read.ranks, read.name) == (program.communicators, program.ranks, program.name)
