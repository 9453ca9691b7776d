"""Rows translated straight into packed operations give what the records of the trace give, step by step."""

import tracemalloc
from collections import Counter
from contextlib import closing

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from synthetic import FIRST, NONE, SELF, WORLD, call, event, flush, poll, request, write_run

from analyzer.opening import open_trace
from analyzer.operations.program import program_of
from analyzer.operations.walk import RankOperations
from analyzer.program import storage as spill
from analyzer.program.operation import OperationFlag, OperationKind
from analyzer.program.storage import OperationSpill, packed
from analyzer.recording.rank_file.file import RankFile
from analyzer.recording.run.extras import RunLeftovers
from analyzer.trace import Leftovers
from analyzer.trace.read_sizes import DEFAULT_SIZES, ReadSizes
from analyzer.writers.packed import pack_run
from benchmarks import halo
from benchmarks.halo import write_halo
from tracelib import schema
from tracelib.schema import WHAT_ORDINAL_SHIFT, RequestKind

PROCEDURES = (
    "MPI_Isend", "MPI_Irecv", "MPI_Waitall", "MPI_Send", "MPI_Recv", "MPI_Ssend", "MPI_Allreduce", "MPI_Ibcast",
    "MPI_Sendrecv", "MPI_Start", "MPI_Barrier_init", "MPI_Pready", "MPI_File_write_all", "MPI_Comm_rank", "MPI_Barrier",
    "MPI_File_iread_at", "MPI_File_iwrite_at_all", "MPI_File_read_all_begin", "MPI_File_read_all_end", "MPI_File_sync",
)  # fmt: skip
FILES = tuple((7 + comm, 0, 0, comm, 2, 1, 0, b"file") for comm in (WORLD, FIRST))
ORDINAL = 1 << WHAT_ORDINAL_SHIFT
COMMUNICATORS = ([1, 0], ([0], [1]))


def random_rank(rng, n, late, odd):
    """Rows of a rank: requests are completed up to `late` calls after they are posted, in any order or none; some are
    posted and completed `odd` ns later than a call says."""
    edges = np.sort(rng.choice(40 * n, 2 * n, replace=False)) + 100
    enter, exit_ = edges[::2].tolist(), edges[1::2].tolist()
    numbers = lambda k: rng.integers(0, k, n).tolist()  # noqa: E731
    rows = zip(enter, exit_, numbers(len(PROCEDURES)), numbers(5), numbers(3), numbers(3), numbers(100), strict=True)
    calls = [
        call(PROCEDURES[name], begin, end, comm=(WORLD, SELF, FIRST, FIRST + 1, NONE)[comm], peer=peer - 1, tag=tag,
             sent=size, received=size * 2)
        for begin, end, name, comm, peer, tag, size in rows
    ]  # fmt: skip
    done = []
    for k in rng.integers(0, n, 2 * n).tolist():
        what = int(rng.choice([*range(1, 15), *range(16, 20), 4, 4, 4, 3, 16 + ORDINAL, 18 + ORDINAL, 500]))
        started = what in (RequestKind.SEND_STARTED, RequestKind.RECV_STARTED)
        end = 0 if started else exit_[min(k + int(rng.integers(0, late)), n - 1)] + int(rng.choice([-1, 0, 0, odd]))
        comm = (WORLD, FIRST, FIRST + 1)[int(rng.integers(0, 3))]
        posted = enter[k] + int(rng.choice([0, 0, odd]))
        end = end and max(end, posted)  # nothing is completed before it is posted
        peer = int(rng.integers(-1, 3))
        done.append(request(RequestKind.RECV_DONE, posted, end, comm=comm, peer=peer, tag=1, bytes=k))
        done[-1]["what"] = what
    done.sort(key=lambda row: row["completed"] or row["posted"])
    gaps = [(a, b) for a, b in zip(exit_, enter[1:], strict=False) if b - a > 6]
    chosen = [gaps[k] for k in rng.integers(0, len(gaps), len(gaps) // 3)] if gaps else []
    polls = [poll("MPI_Test", a + 1, b - 1, inside=2, count=3) for a, b in sorted(set(chosen))[::2]]
    flushes = [row for a, b in sorted(set(chosen))[1::2] for row in flush(a + 1, b - 1)]
    said = [event(int(t), 7, 1) for t in rng.choice(40 * n, n // 4)]
    events = sorted([*flushes, *said], key=lambda row: row["time"])
    return {"calls": calls, "requests": done, "polls": polls, "events": events, "objects": FILES}


SHORT_BLOCKS = ReadSizes(stream_rows=32)


def programs(path, monkeypatch, sizes=DEFAULT_SIZES):
    """Return the program of a run by the short way, with numbers of operations of its ranks, and by the long way.

    Ranks that are translated together have the same program as one by one.
    """
    found, straight = [], RankOperations.append_to
    counts = []

    def counted(self, spill, rank):
        counts.append(straight(self, spill, rank))
        return counts[-1]

    for way, together in ((straight, True), (counted, False), (lambda *_: None, False)):
        with monkeypatch.context() as patch, closing(open_trace(str(path), sizes=sizes)) as trace:
            patch.setattr(RankOperations, "append_to", way)
            if not together:
                patch.setattr(RankOperations, "append_ranks", lambda *_: np.zeros((2, 0), np.int64))
            found.append(program_of(trace))
    assert_equal(*found[:2])
    return found[1:], [count for count in counts if count is not None]


def assert_equal(one, other):
    assert one.ops[:].tobytes() == other.ops[:].tobytes()
    assert one.offsets.tolist() == other.offsets.tolist()
    assert one.slots.tolist() == other.slots.tolist()
    assert one.communicators == other.communicators


def assert_slots_are_told_apart(program):
    """Assert that waits are for open slots, that no slot is opened twice, and that there are as many as needed."""
    for first, last, slots in zip(
        program.offsets[:-1].tolist(), program.offsets[1:].tolist(), program.slots, strict=True
    ):
        opened, most = {}, 0
        for op in program.ops[:][first:last]:
            said = tuple(op[["peer", "tag", "comm"]].tolist())
            starts = op["kind"] == OperationKind.FILE and op["request"] >= 0 and not op["flags"] & OperationFlag.OF_FILE
            if op["flags"] & OperationFlag.OF_FILE:
                said = ()  # the wait says who is waited for, and when, not what
            if op["kind"] == OperationKind.FILE and op["flags"] & OperationFlag.OF_FILE:
                assert opened.pop(int(op["request"])) == "file"
            elif starts:
                assert int(op["request"]) not in opened and (opened or op["request"] == 0)
                opened[int(op["request"])] = "file"
                most = max(most, len(opened))
            elif (
                op["kind"] == OperationKind.WAIT
                and op["flags"] & OperationFlag.OF_FILE
                and not op["flags"] & OperationFlag.OF_COLLECTIVE
            ):
                assert opened.pop(int(op["request"])) == "file"
            elif op["kind"] in (OperationKind.IRECV, OperationKind.COLLECTIVE_START):
                assert int(op["request"]) not in opened and (opened or op["request"] == 0)
                opened[int(op["request"])] = said
                most = max(most, len(opened))
            elif op["kind"] == OperationKind.WAIT:
                assert opened.pop(int(op["request"])) == said
        assert slots == most


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 2**32),
    n=st.integers(2, 60),
    late=st.integers(1, 30),
    window=st.integers(2, 40),
    block=st.integers(1, 40),
    room=st.integers(0, 5),
    odd=st.sampled_from([0, 0, 200]),
    overhead=st.integers(0, 9),
    tsc=st.sampled_from([None, 700, 2300]),
)
def test_any_rows(seed, n, late, window, block, room, odd, overhead, tsc, tmp_path_factory):
    rng = np.random.default_rng(seed)
    ranks = [random_rank(rng, n, late, odd) | {"tsc_per_us": tsc, "overhead_ticks": overhead} for _ in range(2)]
    path = write_run(tmp_path_factory.mktemp("run"), ranks, communicators=COMMUNICATORS)
    sizes = ReadSizes(rank_window_calls=window, stream_rows=block, stream_room=room)
    with pytest.MonkeyPatch.context() as monkeypatch:
        found, straight = programs(path, monkeypatch, sizes)
    assert len(straight) == 2
    assert_equal(*found)
    assert_slots_are_told_apart(found[0])


@pytest.fixture
def one_sided(monkeypatch):
    """Messages of which the run holds one side only are translated, too."""
    monkeypatch.setattr(RunLeftovers, "leave_out", lambda self: None)


def several_ranks(kinds):
    """Ranks of few calls of these kinds: what one call reads, and what it leaves to others."""
    ranks, other = [], {"comm": WORLD, "peer": -1}
    for k, kind in enumerate(kinds):
        calls = [call("MPI_Barrier", 100 + k, 200 + k, **other), call("MPI_Ssend", 300, 400 + k, comm=WORLD, peer=0)]
        rows = {"calls": calls, "events": flush(220 + k, 250)}
        if kind == "events":
            rows["events"] = [*rows["events"], event(260, 7, 1)]
        elif kind == "fence":
            calls.append(call("MPI_Win_fence", 500, 501))
        elif kind == "threads":
            calls.append(call("MPI_Barrier", 150, 160, thread=1, **other))
        elif kind == "nothing":
            rows = {"calls": []}
        ranks.append(rows)
    return ranks


KINDS = "plain", "plain", "plain", "events", "fence", "threads", "nothing"


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=8), together=st.integers(1, 5))
def test_ranks_together_are_as_one_by_one(kinds, together, tmp_path_factory):
    path = write_run(tmp_path_factory.mktemp("run"), several_ranks(kinds))
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr("analyzer.operations.program._TOGETHER", together)
        assert_equal(*programs(path, monkeypatch)[0])


@pytest.mark.usefixtures("one_sided")
def test_plain_ranks_are_read_together(tmp_path, monkeypatch):
    path = write_run(tmp_path, several_ranks(["plain"] * 3 + ["fence"] + ["plain"]))
    counts = []
    straight = RankOperations.append_ranks
    monkeypatch.setattr(RankOperations, "append_ranks", lambda *a: counts.append(straight(*a)) or counts[-1])
    with closing(open_trace(str(path))) as trace:
        program_of(trace)
    assert [len(lengths) for lengths, _ in counts] == [3]


@pytest.mark.usefixtures("one_sided")
def test_many_rows_in_batches(tmp_path, monkeypatch):
    """More of everything than is read, walked over and packed at a time, and one call that completes 500 requests."""
    calls, done = [], []
    for k in range(500):
        calls.append(call("MPI_Irecv", 10 + 10 * k, 15 + 10 * k, comm=WORLD, peer=1, tag=k))
        done.append(request(RequestKind.RECV_DONE, 10 + 10 * k, 6000, peer=1, tag=k, bytes=k))
    calls.append(call("MPI_Waitall", 5500, 6000))
    calls += [call("MPI_Barrier", 6010 + 20 * k, 6015 + 20 * k, comm=WORLD, peer=-1) for k in range(3000)]
    other = [call("MPI_Barrier", 6010 + 20 * k, 6015 + 20 * k, comm=WORLD, peer=-1) for k in range(3000)]
    rng = np.random.default_rng(3)
    mixed = [done[k] for k in rng.permutation(500)]
    for requests in (done, mixed):
        folder = tmp_path / str(requests is mixed)
        folder.mkdir()
        path = write_run(folder, [{"calls": calls, "requests": requests}, {"calls": other}])
        found, straight = programs(path, monkeypatch)
        assert straight == [4001, 3001]
        assert_equal(*found)
        assert_slots_are_told_apart(found[0])
        assert b"".join(packed(found[0].ops).parts()) == b"".join(packed(found[1].ops).parts())


@pytest.mark.parametrize(
    "unusual",
    [
        {"calls": [call("MPI_Win_fence", 5, 6)]},
        {
            "calls": [call("MPI_Barrier_init", 1, 2, comm=WORLD), call("MPI_Start", 5, 6)],
            "requests": [request(RequestKind.COLLECTIVE_STARTED, 5, 0, peer=-1)],
        },
        {"calls": [call("MPI_Barrier", 5, 6, comm=WORLD), call("MPI_Barrier", 7, 8, comm=WORLD, thread=1)]},
    ],
)
def test_what_rows_do_not_say_all_of_goes_the_long_way(tmp_path, monkeypatch, unusual):
    found, straight = programs(write_run(tmp_path, [unusual, unusual]), monkeypatch)
    assert not straight
    assert_equal(*found)


def rows_read(run, monkeypatch):
    """How many rows of each table there are, and were read to make the program, besides first and last ones."""
    there, found, read = Counter(), Counter(), RankFile.read

    def counted(self, table, first, last, into=None):
        if into is not None or last - first > 1:
            found[table] += last - first
        return read(self, table, first, last, into)

    with monkeypatch.context() as patch, closing(open_trace(str(run), sizes=SHORT_BLOCKS)) as trace:
        patch.setattr(RankOperations, "append_ranks", lambda *_: np.zeros((2, 0), np.int64))
        trace.extra(Leftovers).unpaired()  # matching reads them once, too
        patch.setattr(RankFile, "read", counted)
        patch.setattr(RankFile, "sample", None)
        program_of(trace)
        for rank in range(trace.size):
            there.update({name: len(table) for name, table in trace.only_lane(rank).tables.items()})
    return there, found


@pytest.mark.parametrize("is_packed", [False, True])
def test_each_row_is_read_once(tmp_path, monkeypatch, is_packed):
    """However long the run is: one block of rows of each rank, or many; the runtime's files name all procedures."""
    monkeypatch.setattr("benchmarks.halo.PROCEDURES", (*halo.PROCEDURES, "MPI_Win_fence", "MPI_Barrier_init"))
    for steps in (2, 400):
        run = write_halo(tmp_path / str(steps), 2, 2 * 5 * steps)
        if is_packed:
            pack_run(str(run), packed_run := tmp_path / f"{steps}.h5")
            run = packed_run
        there, found = rows_read(run, monkeypatch)
        assert there["calls"] == 10 * steps and there["requests"] == 8 * steps
        assert found == {name: count for name, count in there.items() if count}


def returns(monkeypatch):
    """How many operations were kept each time that a rank was begun again."""
    found, return_to = [], OperationSpill.return_to

    def noted(self, mark):
        found.append(mark.operations)
        return_to(self, mark)

    monkeypatch.setattr(OperationSpill, "return_to", noted)
    return found


@pytest.mark.parametrize("in_memory", [0, 1 << 22])
def test_a_rank_that_is_unusual_from_late_on_is_begun_again(tmp_path, monkeypatch, in_memory):
    """The first is translated, of the second much when it is met, of the third none. Neighbourhood collectives, which
    nothing replays, are counted once."""
    barriers = [call("MPI_Barrier", 10 * k + 5, 10 * k + 8, comm=WORLD) for k in range(1500)]
    barriers[7]["call"] = "MPI_Neighbor_alltoall"
    fence = [call("MPI_Win_fence", 16000, 16001)]
    run = write_run(tmp_path, [{"calls": barriers}, {"calls": barriers + fence}, {"calls": barriers + fence}])
    monkeypatch.setattr(spill, "IN_MEMORY", in_memory)
    returned = returns(monkeypatch)
    found, straight = programs(run, monkeypatch, SHORT_BLOCKS)
    assert len(straight) == 1 and returned == 2 * straight  # ranks together leave such ones to be read one by one
    assert_equal(*found)
    with closing(open_trace(str(run), sizes=SHORT_BLOCKS)) as trace:
        walk, into = RankOperations(trace, by_thread=True), OperationSpill()
        for rank in range(3):
            assert (walk.append_to(into, rank) is None) == (rank > 0)
        assert walk.left_out[0][trace.procedures.index("MPI_Neighbor_alltoall")] == 1


@pytest.mark.usefixtures("one_sided")
def test_a_receive_that_is_open_all_the_time(tmp_path, monkeypatch):
    """It is found where it is completed, many blocks later, and its rank begun again; of the next one it is known."""
    n = 500
    calls = [call("MPI_Irecv", 10, 15, comm=WORLD, peer=1, tag=9)]
    requests = []
    for k in range(n):
        calls.append(call("MPI_Irecv", 100 + 10 * k, 102 + 10 * k, comm=WORLD, peer=1, tag=k))
        calls.append(call("MPI_Wait", 104 + 10 * k, 108 + 10 * k))
        requests.append(request(RequestKind.RECV_DONE, 100 + 10 * k, 108 + 10 * k, peer=1, tag=k, bytes=k))
    calls.append(call("MPI_Wait", 9000, 9010))
    requests.append(request(RequestKind.RECV_DONE, 10, 9010, peer=1, tag=9, bytes=7))
    run = write_run(tmp_path, [{"calls": calls, "requests": requests}] * 2)
    returned = returns(monkeypatch)
    found, straight = programs(run, monkeypatch, SHORT_BLOCKS)
    assert straight == [2 * n + 3] * 2 and returned == [0, 0]
    assert_equal(*found)
    first = found[0].ops[:][0]
    assert first["kind"] == OperationKind.IRECV and first["tag"] == 9 and first["bytes"] == 7


def test_memory_does_not_grow_with_the_run(tmp_path, monkeypatch):
    """Operations lie in a file; of the rows a few blocks are kept."""
    monkeypatch.setattr(spill, "IN_MEMORY", 0)
    peaks, few, many = [], 20_000, 160_000
    for calls in (few, many):
        run = write_halo(tmp_path / str(calls), 2, calls)
        with closing(open_trace(str(run), sizes=ReadSizes(stream_rows=1024))) as trace:
            trace.extra(Leftovers).unpaired()  # matching is tested elsewhere
            tracemalloc.start()
            program_of(trace)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    assert peaks[0] > 1024 * (schema.CALL.itemsize + schema.REQUEST.itemsize)
    assert peaks[1] - peaks[0] < 2 * (many - few)
