"""Files in replays: times computed by hand, and a second simulator."""

from contextlib import closing
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_replay import Reference
from synthetic import WORLD, call, request, write_run
from thread_team import by_team

import analyzer
from analyzer.efficiency.ideal import ideal_replay
from analyzer.machine.description import FileSystem, Machine, Node
from analyzer.metrics.unrecorded import unrecorded
from analyzer.opening import open_trace
from analyzer.operations.program import program_of
from analyzer.parallel import Team
from analyzer.program.model import Program
from analyzer.program.operation import FileAccess, OperationFlag, OperationKind, operations
from analyzer.replay.ideal_network import ideal_times
from analyzer.replay.predicted import write_predicted
from analyzer.replay.simulate import simulate
from tracelib.schema import RequestKind

MB = 1 << 20
L = 10_000  # ns
MOVE = 10_000_000  # ns for 1 MB at 100 MB/s
SERVED = L + MOVE
FILE = (9, 0, 0, WORLD, 2, 1, 32, b"data")
FILES = FileSystem(latency_s=L / 1e9, read_bandwidth_mb=200.0, write_bandwidth_mb=100.0)


def on(**more):
    """A machine with an ideal network."""
    return Machine(files=replace(FILES, **more))


def moves(tag, burst=0, size=MB, **more):
    return {"kind": OperationKind.FILE, "tag": tag, "burst": burst, "bytes": size, **more}


def write(burst=0, size=MB, **more):
    return moves(FileAccess.WRITE, burst, size, **more)


def ends(streams, machine, **more):
    found = simulate(Program.from_streams([operations(*rows) for rows in streams], **more), machine)
    return found.usage["end"].tolist()


# ---- Of the simulator itself.


def test_one_rank_pays_latency_and_bytes_over_bandwidth():
    assert ends([[write()]], on()) == [L + MOVE]
    assert ends([[moves(FileAccess.READ)]], on()) == [L + MOVE // 2]
    assert ends([[write(burst=70), write(size=0), moves(FileAccess.READ, size=MB // 2)]], on()) == [
        70 + L + MOVE + L + L + MOVE // 4
    ]


@pytest.mark.parametrize("servers", [0, 1, 2, 3, 9])
@pytest.mark.parametrize("ranks", [1, 2, 5, 7])
def test_ranks_queue_at_servers(ranks, servers):
    """All ask at 0: of s servers each serves every s-th rank, one after the other."""
    found = ends([[write()]] * ranks, on(servers=servers))
    assert found == [(k // (servers or ranks) + 1) * SERVED for k in range(ranks)]


def test_who_asks_first_is_served_first():
    """There is one server: rank 2 asks it at 1, rank 1 at 2, rank 0 at 3."""
    assert ends([[write(burst=3)], [write(burst=2)], [write(burst=1)]], on(servers=1)) == [
        1 + 3 * SERVED, 1 + 2 * SERVED, 1 + SERVED
    ]  # fmt: skip


def test_nodes_share_the_servers():
    """On one node or each on its own; a slow node does not make files slower."""
    streams = [[write()], [write()]]
    for machine in (on(servers=1), replace(on(servers=1), nodes=(Node(cpus=2, speed=0.1),))):
        assert ends(streams, machine) == [SERVED, 2 * SERVED]


def test_whole_blocks_are_moved():
    """1 byte more than half a MB takes two blocks of half a MB."""
    assert ends([[write(size=MB // 2 + 1)]], on(block_bytes=MB // 2)) == [SERVED]
    assert ends([[write(size=0)]], on(block_bytes=MB // 2)) == [L]


def test_opening_closing_and_syncing_have_times_of_their_own():
    """The clients of one server come one after the other; what takes no time does not wait for it."""
    rows = [moves(tag, size=0) for tag in (FileAccess.OPEN, FileAccess.SYNC, FileAccess.CLOSE, FileAccess.LOCAL)]
    machine = on(servers=1, open_s=3e-6, sync_s=5e-6, close_s=7e-6)
    assert ends([rows], machine) == [15000]
    assert ends([rows[:1]] * 3, machine) == [3000, 6000, 9000]
    assert ends([[write()], [moves(FileAccess.OPEN, burst=1, size=0)]], on(servers=1)) == [SERVED, 1]


@pytest.mark.parametrize("computed", [MOVE // 2, 3 * MOVE])
def test_a_request_goes_on_while_its_rank_computes(computed):
    rows = [
        write(request=0),
        {"kind": OperationKind.WAIT, "request": 0, "flags": OperationFlag.OF_FILE, "burst": computed},
    ]
    assert ends([rows], on()) == [max(SERVED, computed)]


@pytest.mark.parametrize("computed", [MOVE // 2, 3 * MOVE])
def test_a_split_collective_is_asked_for_where_it_begins(computed):
    rows = [
        moves(FileAccess.BEGIN, burst=5, size=0, request=0),
        write(burst=computed, request=0, flags=OperationFlag.OF_FILE),
    ]
    assert ends([rows], on()) == [5 + max(SERVED, computed)]


def test_usage_says_how_long_ranks_were_at_files():
    found = simulate(Program.from_streams([operations(write(burst=7))] * 2), on(servers=1))
    assert found.usage["wait_file"].tolist() == [SERVED, 2 * SERVED]
    assert found.usage["computing"].tolist() == [7, 7]


def test_a_time_that_no_number_holds():
    with pytest.raises(analyzer.TracelibError, match="73 years"):
        ends([[write()] * 3], on(latency_s=2e9))


def test_who_waits_for_ever_for_others_of_a_file():
    met = {"kind": OperationKind.COLLECTIVE, "flags": OperationFlag.OF_FILE | OperationFlag.FIRST}
    with pytest.raises(analyzer.TracelibError, match="rank 0 in a collective call on a file of ranks 0-1"):
        ends([[met, write()], [write()]], on())


# ---- Of traces.


def rank(*calls, requests=(), end=None):
    last = calls[-1]["exit"] if end is None else end
    accesses = [
        {"enter": row["enter"], "offset": -1, "object": 1, "detail": 0, "thread": 0}
        for row in calls
        if "File" in row["call"]
    ]
    rows = [*calls, call("MPI_Finalize", last, last + 1)]
    return {"calls": rows, "accesses": accesses, "objects": [FILE], "requests": list(requests)}


def on_file(name, enter, exit_, **more):
    return call(f"MPI_File_{name}", enter, exit_, comm=WORLD, **more)


def replayed(tmp_path, ranks, machine):
    """When the ranks end; the replay of the predicted run on the same machine ends then, too, but for calls that take
    no time and last 1 ns."""
    with closing(open_trace(str(write_run(tmp_path, ranks)))) as trace:
        program = program_of(trace)
        found = simulate(program, machine, times=True)
        path = tmp_path / "predicted.h5"
        write_predicted(trace, program, found, path, "test")
        with closing(open_trace(path)) as predicted:
            again = simulate(program_of(predicted), replace(machine, node=Node())).usage["end"]
    calls = sum(len(of["calls"]) for of in ranks)
    assert np.abs(again - found.usage["end"]).max() <= 2 * calls
    return found.usage["end"].tolist()


def test_without_a_file_system_files_take_as_long_as_in_the_run(tmp_path):
    """1 us to 9 us in the call, then 4 us of computing."""
    ranks = [rank(on_file("write_at", 1000, 9000, sent=MB), end=13000)]
    assert replayed(tmp_path, ranks, Machine()) == [13000]


def test_faster_processors_do_not_make_files_faster(tmp_path):
    ranks = [rank(on_file("read", 1000, 9000, received=MB), end=13000)]
    assert replayed(tmp_path, ranks, Machine(node=Node(speed=2.0))) == [500 + 8000 + 2000]


COLLECTIVE = [
    rank(on_file("write_at_all", 1000, 30000, sent=MB), end=31000),
    rank(on_file("write_at_all", 20000, 26000, sent=MB), end=31000),
]
"""Rank 0 waits 19 us for rank 1, and 10 more for the file; rank 1 is there for 6."""


def test_a_collective_call_waits_for_others_anew(tmp_path):
    """At twice the speed rank 1 comes at 10 us: 10 + 10, and 10 + 6; then half of what they computed after it."""
    assert replayed(tmp_path, COLLECTIVE, Machine(node=Node(speed=2.0))) == [20000 + 500, 16000 + 2500]


def test_in_the_machine_of_the_run_a_collective_call_takes_what_it_took(tmp_path):
    assert replayed(tmp_path, COLLECTIVE, Machine()) == [31000, 31000]


def test_ranks_of_a_collective_call_meet_and_queue(tmp_path):
    """Both ask when rank 1 is there; one server."""
    assert replayed(tmp_path, COLLECTIVE, on(servers=1)) == [20000 + SERVED + 1000, 20000 + 2 * SERVED + 5000]


def test_who_has_no_part_of_a_collective_call_asks_for_nothing(tmp_path):
    ranks = [rank(on_file("read_all", 1000, 3000, received=0)), rank(on_file("read_all", 1500, 3000, received=MB))]
    assert replayed(tmp_path, ranks, on(servers=1)) == [1500, 1500 + L + MOVE // 2]


def test_calls_on_files_are_in_no_order_with_collectives(tmp_path):
    """Rank 0 starts a barrier before it opens the file, rank 1 after."""
    barrier = lambda enter: call("MPI_Ibarrier", enter, enter + 10, comm=WORLD)  # noqa: E731
    opened = lambda enter: on_file("open", enter, 5000)  # noqa: E731
    ranks = [rank(barrier(1000), opened(2000), end=6000), rank(opened(3000), barrier(5500), end=6000)]
    assert replayed(tmp_path, ranks, on(open_s=1e-6)) == [3000 + 1000 + 1000, 3000 + 1000 + 500 + 490]


NONBLOCKING = [
    call("MPI_File_iread_at", 1000, 2000, comm=WORLD),
    call("MPI_File_iwrite_at", 2000, 3000, comm=WORLD, sent=MB),
    call("MPI_Waitall", 5000, 9000),
]
REQUESTS = [
    request(RequestKind.READ_DONE, 1000, 9000, peer=-1, tag=-1, bytes=2 * MB),
    request(RequestKind.WRITE_DONE, 2000, 9000, peer=-1, tag=-1, bytes=MB),
]


def test_a_request_has_the_bytes_that_it_moved(tmp_path):
    """Both are asked for at 1 us, for the calls themselves take no time: one server reads 2 MB, then writes."""
    ranks = [rank(*NONBLOCKING, requests=REQUESTS)]
    assert replayed(tmp_path, ranks, on(servers=1)) == [1000 + 2 * SERVED]


def test_a_wait_for_requests_takes_as_long_as_in_the_run_once(tmp_path):
    ranks = [rank(*NONBLOCKING, requests=REQUESTS, end=9500)]
    assert replayed(tmp_path, ranks, Machine()) == [9500]


def test_requests_of_all_are_complete_when_all_have_started(tmp_path):
    """Rank 1 starts at 50 us; rank 0 waits from 3 us on, in the run for 57 us of which 47 are for rank 1."""
    start = lambda at: on_file("iwrite_at_all", at, at + 1000, sent=MB)  # noqa: E731
    done = lambda at, end: [request(RequestKind.WRITE_DONE, at, end, peer=-1, tag=-1, bytes=MB)]  # noqa: E731
    first = rank(start(1000), call("MPI_Wait", 3000, 60000), requests=done(1000, 60000))
    second = rank(start(50000), call("MPI_Wait", 51000, 60000), requests=done(50000, 60000))
    assert replayed(tmp_path, [first, second], Machine()) == [60000, 60000]
    (tmp_path / "model").mkdir()
    fast = on(latency_s=1e-6, write_bandwidth_mb=0.0)
    assert replayed(tmp_path / "model", [first, second], fast) == [50000, 51000]


def split(begin, end, size=MB):
    return on_file("write_all_begin", *begin), on_file("write_all_end", *end, sent=size)


def test_split_collectives(tmp_path):
    """Asked for at 1 and 5 us, though rank 1, which ends its call first, is served first; the call that begins takes
    no time."""
    ranks = [rank(*split((1000, 2000), (41000, 45000))), rank(*split((5000, 6000), (7000, 45000)))]
    assert replayed(tmp_path, ranks, Machine()) == [45000, 45000]
    (tmp_path / "model").mkdir()
    assert replayed(tmp_path / "model", ranks, on(servers=1)) == [5000 + 2 * SERVED, 5000 + SERVED]


# ---- Two implementations, and processes of a team.


@st.composite
def file_programs(draw):
    """Ranks that read and write in all ways, alone and together."""
    ranks = draw(st.integers(1, 4))
    small = st.integers(0, 4)
    streams, slots = [[] for _ in range(ranks)], [0] * ranks
    for _ in range(draw(st.integers(1, 12))):
        together = draw(st.booleans())
        starts = draw(st.booleans())
        for k in range(ranks) if together else [draw(st.integers(0, ranks - 1))]:
            burst, access = draw(small), draw(st.sampled_from([FileAccess.READ, FileAccess.WRITE, FileAccess.SYNC]))
            columns = {"tag": access, "bytes": draw(small), "other": draw(small)}
            met, wait = {"comm": 0, "flags": OperationFlag.OF_FILE, "other": draw(small), "burst": burst}, []
            if together and starts:
                streams[k].append({"kind": OperationKind.COLLECTIVE_START, "request": slots[k], **met})
                flags = OperationFlag.OF_FILE | OperationFlag.OF_COLLECTIVE
                wait = [{"kind": OperationKind.WAIT, "request": slots[k], "flags": flags, "other": draw(small)}]
                slots[k] += 1
            elif together:
                streams[k].append({"kind": OperationKind.COLLECTIVE, **met})
            if starts:
                streams[k].append(
                    {"kind": OperationKind.FILE, "request": slots[k], **columns, "other": 0, "burst": burst}
                )
                ends_ = {
                    "kind": OperationKind.WAIT,
                    "request": slots[k],
                    "flags": OperationFlag.OF_FILE,
                    "other": draw(small),
                }
                streams[k] += [*wait, {**ends_, "burst": draw(small)}]
                slots[k] += 1
            else:
                streams[k].append({"kind": OperationKind.FILE, "burst": burst, **columns})
    return Program.from_streams(
        [operations(*rows) if rows else operations({"kind": OperationKind.NONE}) for rows in streams]
    )


BYTE_A_NS = 1e9 / 2**20


@settings(max_examples=300, deadline=None)
@given(file_programs(), st.integers(0, 3), st.integers(0, 3), st.integers(0, 2), st.booleans())
def test_equals_the_reference(program, servers, latency, block, known):
    files = FileSystem(latency * 1e-9, BYTE_A_NS, BYTE_A_NS / 2, servers, block, sync_s=2e-9)
    machine = Machine(node=Node(cpus=1), files=files if known else None)
    found = simulate(program, machine, times=True)
    expected = Reference(program, machine).run()
    assert found.times["begin"].tolist() == expected.begin
    assert found.times["end"].tolist() == expected.end


@settings(max_examples=100, deadline=None)
@given(file_programs(), st.lists(st.integers(0, 4), max_size=2))
def test_the_ideal_network_keeps_the_times_of_files_in_a_team_of_any_size(program, cuts):
    expected = simulate(program, Machine(), times=True)
    cuts = sorted([0, *(min(cut, program.ranks) for cut in cuts), program.ranks])

    def part(team):
        first, last = cuts[team.rank], cuts[team.rank + 1]
        a, b = program.offsets[[first, last]].tolist()
        own = replace(
            program, ops=program.ops[a:b], offsets=program.offsets[first : last + 1] - a, rank=program.rank[first:last],
            thread=program.thread[first:last], slots=program.slots[first:last],
        )  # fmt: skip
        return ideal_times(own, team, 1 << 30, times=True)

    for found in ([ideal_times(program, Team(), 1 << 30, times=True)], by_team(len(cuts) - 1, part)):
        assert np.concatenate([one.times for one in found]).tolist() == expected.times.tolist()
        assert {one.end_ns for one in found} == {expected.end_ns}


@pytest.mark.parametrize("members", [1, 2])
def test_the_ideal_network_of_a_run(tmp_path, members):
    """Rank 0 computes 1 + 1, rank 1 20 + 5 us; the file takes 10 us after they met."""
    path = str(write_run(tmp_path, COLLECTIVE))

    def ideal(team):
        with closing(open_trace(path, team)) as trace:
            found = ideal_replay(trace, unrecorded(trace, team), team)
            return found.runtime_ns, found.useful_ns, found.has_files

    assert set(by_team(members, ideal)) == {(31000, 25000, True)}


def test_each_operation_names_its_communicator_once_more(tmp_path):
    """The file's ranks meet in a communicator of their own, after the trace's communicators."""
    with closing(open_trace(str(write_run(tmp_path, COLLECTIVE)))) as trace:
        program = program_of(trace)
        assert program.communicators[-1] == (0, 1)
        assert len(program.communicators) == 2 + len(trace.communicators)
        first = program.ops[program.stream(0)]
    kinds = [(OperationKind(row["kind"]), row["comm"]) for row in first if row["kind"] != OperationKind.NONE]
    assert kinds == [(OperationKind.COLLECTIVE, len(program.communicators) - 1), (OperationKind.FILE, 0)]
    assert all(a <= b for a, b in pairwise(program.offsets))
