"""Synthetic runs are what their patterns say, and could have happened. Read with h5py, counted rank by rank."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from read_runs import read_ranks

from analyzer.cli import main
from analyzer.opening import open_trace
from benchmarks.synthetic import world
from benchmarks.synthetic.halo import SIZE, grid
from benchmarks.synthetic.irregular import MOST_NEIGHBOURS
from benchmarks.synthetic.run import PATTERNS, TICKS_A_NS, write_run
from benchmarks.synthetic.workers import RESULT, STOP, WORK
from tracelib.schema import RequestKind

RANKS, CALLS = 96, 120  # 8 x 12; two nodes


@pytest.fixture(scope="module", params=PATTERNS)
def pattern(request):
    return request.param


@pytest.fixture(scope="module")
def written(pattern, tmp_path_factory):
    return write_run(tmp_path_factory.mktemp(pattern), pattern, RANKS, CALLS)


@pytest.fixture(scope="module")
def ranks(written):
    return read_ranks(written.path)


def messages_of(ranks):
    """Return the sends and receives of each channel (source, destination, tag) in order: (begin, end, bytes)."""
    sent, received = defaultdict(list), defaultdict(list)
    for me, rank in enumerate(ranks):
        for call in rank.of("MPI_Send", "MPI_Isend"):
            sent[me, int(call["peer"]), int(call["tag"])].append((call["enter"], call["exit"], call["sent"]))
        for call in rank.of("MPI_Recv"):
            received[int(call["peer"]), me, int(call["tag"])].append((call["enter"], call["exit"], call["received"]))
        for row in rank.requests[rank.requests["what"] == RequestKind.RECV_DONE]:
            received[int(row["peer"]), me, int(row["tag"])].append((row["posted"], row["completed"], row["bytes"]))
    return sent, received


def test_check_finds_nothing(written, capsys):
    assert main(["check", str(written.path)]) == 0
    assert f": good, {RANKS} ranks" in capsys.readouterr().out


def test_every_message_is_received_after_it_was_sent(ranks):
    sent, received = messages_of(ranks)
    assert {channel: len(found) for channel, found in sent.items()} == {c: len(found) for c, found in received.items()}
    for channel, sends in sent.items():
        for (_, left, size), (_, end, taken) in zip(sends, received[channel], strict=True):
            assert size == taken
            assert end >= left + world.LATENCY_ON_NODE_NS * TICKS_A_NS


def test_the_analyzer_matches_all_messages(written, ranks):
    sent, _ = messages_of(ranks)
    trace = open_trace(str(written.path))
    found = trace.messages()
    counted = Counter(zip(found["source"].tolist(), found["destination"].tolist(), found["tag"].tolist(), strict=True))
    trace.close()
    assert counted == {channel: len(sends) for channel, sends in sent.items()}


def test_members_leave_a_collective_after_the_last_has_entered(ranks):
    meetings = defaultdict(list)
    for rank in ranks:
        comms, met = rank.tables["communicators"], Counter()
        for call, name in zip(rank.calls, rank.names, strict=True):
            if name in ("MPI_Init", "MPI_Finalize", "MPI_Comm_split", "MPI_Allreduce", "MPI_Alltoallv"):
                comm = comms[max(int(call["comm"]), world.WORLD)]
                meetings[int(comm["id"]), met[int(comm["id"])]].append((name, int(comm["size"]), call))
                met[int(comm["id"])] += 1
    for members in meetings.values():
        assert len({name for name, *_ in members}) == 1
        assert {size for _, size, _ in members} == {len(members)}
        assert min(call["exit"] for *_, call in members) > max(call["enter"] for *_, call in members)
        assert sum(call["sent"] for *_, call in members) == sum(call["received"] for *_, call in members)


def test_calls_follow_each_other(written, ranks):
    assert written.calls == sum(len(rank.calls) for rank in ranks)
    for rank in ranks:
        assert rank.names[0] == "MPI_Init"
        assert rank.names[-1] == "MPI_Finalize"
        assert (rank.calls["exit"] >= rank.calls["enter"]).all()
        assert (rank.calls["enter"][1:] > rank.calls["exit"][:-1]).all()
        assert rank.attributes["start_ticks"] < rank.calls["enter"][0]


def test_requests_are_those_of_their_calls(ranks):
    """Each nonblocking call has a row, which the next MPI_Waitall completes."""
    for rank in ranks:
        waits = rank.of("MPI_Waitall")["exit"]
        posts = rank.of("MPI_Irecv", "MPI_Isend")
        rows = np.sort(rank.requests, order="posted")
        for column, of_call in (("posted", "enter"), ("comm", "comm"), ("peer", "peer"), ("tag", "tag")):
            assert (rows[column] == posts[of_call]).all()
        assert (rows["completed"] == waits[np.searchsorted(waits, posts["enter"])]).all()
        is_send = rank.names[np.isin(rank.names, ("MPI_Irecv", "MPI_Isend"))] == "MPI_Isend"
        assert ((rows["what"] == RequestKind.SEND_DONE) == is_send).all()
        assert (rows["bytes"][is_send] == posts["sent"][is_send]).all()
        assert (np.diff(rank.requests["completed"].astype(np.int64)) >= 0).all()


def test_about_as_many_calls_as_asked_for(pattern, written):
    share = 0.4 if pattern == "irregular" else 0.1  # a draw
    assert written.calls / RANKS == pytest.approx(CALLS, rel=share)


def test_nodes_and_communicators(pattern, written):
    trace = open_trace(str(written.path))
    assert trace.nodes.names == ("node0000", "node0001")
    groups = {comm.members for comm in trace.communicators if comm.name == ""}
    rows, columns = grid(RANKS)
    expected = {tuple(range(r * columns, (r + 1) * columns)) for r in range(rows)}
    expected |= {tuple(range(c, RANKS, columns)) for c in range(columns)}
    assert groups == (expected if pattern == "alltoall" else set())
    trace.close()


def of_pattern(name):
    return pytest.mark.parametrize("pattern", [name], indirect=True, scope="module")


@pytest.mark.parametrize("pattern", ["ring", "halo"], indirect=True, scope="module")
def test_neighbours_exchange_once_a_step(pattern, ranks):
    """Neighbours follow from the coordinates of each rank; one message each way in every step."""
    rows, columns = (1, RANKS) if pattern == "ring" else grid(RANKS)
    steps = {len(rank.of("MPI_Waitall")) for rank in ranks}
    assert len(steps) == 1
    number = steps.pop()
    expected = Counter()
    for me in range(RANKS):
        row, column = divmod(me, columns)
        beside = [(row, column + 1), (row, column - 1)] + ([(row + 1, column), (row - 1, column)] if rows > 1 else [])
        for r, c in beside:
            expected[me, r % rows * columns + c % columns] += number
    sent, _ = messages_of(ranks)
    found = Counter()
    for (source, destination, _), sends in sent.items():
        found[source, destination] += len(sends)
        assert {size for *_, size in sends} == {SIZE}
    assert found == expected
    assert {len(rank.of("MPI_Allreduce")) for rank in ranks} == {number // 10}


@of_pattern("workers")
def test_each_worker_answers_all_its_work_and_is_stopped_once(ranks):
    """A task is two messages: (120 - 2) x 96 / 2 messages, less one stop of each worker, are 2784 tasks."""
    sent, _ = messages_of(ranks)
    number = dict.fromkeys((WORK, RESULT, STOP), 0)
    for worker in range(1, RANKS):
        assert len(sent[0, worker, WORK]) == len(sent[worker, 0, RESULT])
        assert len(sent[0, worker, STOP]) == 1
    for (_, _, tag), sends in sent.items():
        number[tag] += len(sends)
    tasks = round((118 * 48 - 95) / 2)
    assert number == {WORK: tasks, RESULT: tasks, STOP: 95}
    assert {size for (*_, tag), sends in sent.items() for *_, size in sends if tag == RESULT} == {256}


@of_pattern("workers")
def test_the_master_takes_results_as_they_arrive(ranks):
    """A result arrives 0.4 us after it was sent on the master's node, 1.5 us elsewhere, and 0.1 ns a byte later."""
    sent, _ = messages_of(ranks)
    taken, arrivals = Counter(), []
    for call in ranks[0].of("MPI_Recv"):
        worker = int(call["peer"])
        left = sent[worker, 0, RESULT][taken[worker]][1] // TICKS_A_NS
        arrivals.append(left + (400 if worker < 64 else 1500) + 25)
        taken[worker] += 1
    assert arrivals == sorted(arrivals)


@of_pattern("alltoall")
def test_a_member_sends_the_same_to_all(ranks):
    """A member receives the sum of what each member sends to one."""
    meetings = defaultdict(list)
    for rank in ranks:
        assert not len(rank.of("MPI_Send", "MPI_Isend"))
        comms, met = rank.tables["communicators"], Counter()
        for call in rank.of("MPI_Alltoallv"):
            comm = comms[int(call["comm"])]
            meetings[int(comm["id"]), met[int(comm["id"])]].append((int(comm["size"]), call))
            met[int(comm["id"])] += 1
    assert {size for members in meetings.values() for size, _ in members} == set(grid(RANKS))
    for members in meetings.values():
        to_one = sum(int(call["sent"]) // size for size, call in members)
        assert {int(call["received"]) for _, call in members} == {to_one}
        assert all(call["sent"] % (64 * size) == 0 and call["sent"] <= 8 * 64 * size for size, call in members)


@of_pattern("irregular")
def test_neighbours_send_to_each_other_and_few_are_busy(ranks):
    sent, _ = messages_of(ranks)
    assert all(sizes(sends) == sizes(sent[b, a, tag]) for (a, b, tag), sends in sent.items())
    neighbours = Counter(a for a, *_ in sent)
    assert max(neighbours.values()) <= MOST_NEIGHBOURS
    calls = np.sort([len(rank.calls) for rank in ranks])
    assert calls[-10:].sum() > 0.3 * calls.sum()
    assert np.median(calls) < calls.mean()


def sizes(sends):
    return [int(size) for *_, size in sends]


@pytest.mark.parametrize("pattern", ["ring", "halo", "alltoall"], indirect=True, scope="module")
def test_the_slow_ranks_compute_longest(ranks):
    computing = [int((rank.calls["enter"][1:] - rank.calls["exit"][:-1]).sum()) for rank in ranks]
    assert sorted(np.argsort(computing)[-3:].tolist()) == world.slow_ranks(RANKS)
