"""Each kind of wait state in a run of a few calls, to the nanosecond."""

import numpy as np
import pytest
from synthetic import FIRST, WORLD, call, event, request, write_run

from analyzer.metrics.profile import profile
from analyzer.parallel import Team
from analyzer.recording.run.opening import open_run
from analyzer.trace.read_options import ReadOptions
from analyzer.trace.read_sizes import ReadSizes
from analyzer.waits.analysis import analyze_waits
from analyzer.waits.kinds import WaitKind, length
from analyzer.waits.wait_states import WaitSearch, find_wait_states
from tracelib import schema
from tracelib.schema import RequestKind

ONE = Team()


@pytest.fixture
def found(tmp_path):
    """found(calls of rank 0, ..., requests={rank: rows}, ...): (kind, rank, cause, begin, ns) of each wait."""

    def of(*ranks, requests=None, communicators=(), **more):
        content = [{"calls": calls, "requests": (requests or {}).get(r, [])} for r, calls in enumerate(ranks)]
        for name, values in more.items():
            for rank, value in values.items():
                content[rank][name] = value
        trace = open_run(str(write_run(tmp_path, content, communicators)))
        every = find_wait_states(WaitSearch(trace)).waits
        rank = np.repeat(np.arange(trace.size), trace.threads)
        return [
            (WaitKind(int(w["kind"])), int(rank[w["lane"]]), int(rank[w["cause"]]), int(w["enter"]), int(ns))
            for w, ns in zip(every, length(every), strict=True)
        ]

    return of


def send(enter, exit_, peer=1, tag=1, name="MPI_Send", **more):
    return call(name, enter, exit_, comm=WORLD, peer=peer, tag=tag, sent=8, **more)


def receive(enter, exit_, peer=0, tag=1, **more):
    return call("MPI_Recv", enter, exit_, comm=WORLD, peer=peer, tag=tag, received=8, **more)


def collective(name, enter, exit_, root=-1, sent=8, received=8, comm=WORLD):
    return call(name, enter, exit_, comm=comm, peer=root, sent=sent, received=received)


def test_late_sender(found):
    assert found([send(70, 80)], [receive(20, 90)]) == [(WaitKind.LATE_SENDER, 1, 0, 20, 50)]


@pytest.mark.parametrize("sent", [10, 20])
def test_a_message_that_is_there_is_not_waited_for(found, sent):
    """Also where it is sent in the instant in which the receive begins."""
    assert found([send(sent, sent + 5)], [receive(20, 90)]) == []


def test_late_sender_in_the_wait_for_a_posted_receive(found):
    """Waiting begins with MPI_Wait, not with MPI_Irecv."""
    calls = [call("MPI_Irecv", 10, 15, comm=WORLD), call("MPI_Wait", 40, 90, comm=WORLD, peer=0, tag=1, received=8)]
    rows = [request(RequestKind.RECV_DONE, 10, 90, peer=0, tag=1, bytes=8)]
    assert found([send(70, 80)], calls, requests={1: rows}) == [(WaitKind.LATE_SENDER, 1, 0, 40, 30)]


def test_a_waitall_waits_once_and_for_the_last(found):
    calls = [call("MPI_Irecv", 10, 15, comm=WORLD), call("MPI_Irecv", 16, 18, comm=WORLD), call("MPI_Waitall", 40, 190)]
    rows = [request(RequestKind.RECV_DONE, at, 190, peer=peer, tag=1, bytes=8) for at, peer in ((10, 0), (16, 1))]
    waits = found([send(170, 180, peer=2)], [send(120, 130, peer=2)], calls, requests={2: rows})
    assert waits == [(WaitKind.LATE_SENDER, 2, 0, 40, 130)]


def test_a_successful_test_waits_too(found):
    calls = [call("MPI_Irecv", 10, 15, comm=WORLD), call("MPI_Test", 60, 90, comm=WORLD, peer=0, tag=1, received=8)]
    rows = [request(RequestKind.RECV_DONE, 10, 90, peer=0, tag=1, bytes=8)]
    assert found([send(70, 80)], calls, requests={1: rows}) == [(WaitKind.LATE_SENDER, 1, 0, 60, 10)]


def test_late_sender_wrong_order(found):
    """The message with tag 2 was sent first and could have been received while that with tag 1 was not there."""
    waits = found([send(30, 40, tag=2), send(70, 80)], [receive(20, 90), receive(91, 95, tag=2)])
    assert waits == [(WaitKind.WRONG_ORDER, 1, 0, 20, 50)]


def test_order_does_not_matter_where_both_are_late(found):
    waits = found([send(70, 80), send(85, 88, tag=2)], [receive(20, 90), receive(91, 95, tag=2)])
    assert waits == [(WaitKind.LATE_SENDER, 1, 0, 20, 50)]


def test_probes_wait_for_the_message_that_is_received_next(found):
    """MPI_Probe from any source, then its receive; MPI_Mprobe, whose receive is posted by itself; a probe of another
    message."""
    mprobe = call("MPI_Mprobe", 120, 180, comm=WORLD, peer=0, tag=2)
    mrecv = call("MPI_Mrecv", 181, 185, comm=WORLD, peer=0, tag=2, received=8)
    probes = [call("MPI_Probe", 20, 90, comm=WORLD, peer=0, tag=1), receive(92, 99), mprobe, mrecv]
    other = [call("MPI_Probe", 200, 260, comm=WORLD, peer=2, tag=5), receive(261, 290, tag=3)]
    rows = [request(RequestKind.RECEIVED, 120, 185, peer=0, tag=2, bytes=8)]
    calls = [send(70, 80), send(150, 155, tag=2), send(250, 255, tag=3)]
    waits = found(calls, [*probes, *other], [], requests={1: rows})
    assert waits == [(WaitKind.LATE_SENDER, 1, 0, 20, 50), (WaitKind.LATE_SENDER, 1, 0, 120, 30)]


def test_a_probe_before_a_matched_receive_waits(found):
    """As comm.probe() and comm.recv() of mpi4py: it is the first that waits."""
    calls = [
        call("MPI_Probe", 20, 90, comm=WORLD, peer=0, tag=1),
        call("MPI_Mprobe", 100, 110, comm=WORLD, peer=0, tag=1),
        call("MPI_Mrecv", 120, 130, comm=WORLD, peer=0, tag=1, received=8),
    ]
    rows = [request(RequestKind.RECEIVED, 100, 130, peer=0, tag=1, bytes=8)]
    assert found([send(70, 80)], calls, requests={1: rows}) == [(WaitKind.LATE_SENDER, 1, 0, 20, 50)]


@pytest.mark.parametrize("found_by", [{"peer": 0, "tag": 0}, {"peer": 2, "tag": 1}])
def test_a_probe_of_another_message_waits_for_no_other(found, found_by):
    """The message with tag 1 of rank 0 is received after a probe that found another sender's, or another tag's."""
    probe = call("MPI_Probe", 20, 60, comm=WORLD, **found_by)
    assert found([send(50, 55)], [probe, receive(61, 90)], []) == []


def test_late_receiver(found):
    assert found([send(10, 95)], [receive(60, 90)]) == [(WaitKind.LATE_RECEIVER, 0, 1, 10, 50)]


def test_a_buffered_message_delays_no_sender(found):
    assert found([send(10, 15)], [receive(60, 90)]) == []


def test_late_receiver_in_the_wait_for_a_send(found):
    calls = [send(10, 15, name="MPI_Isend"), call("MPI_Wait", 40, 95, comm=WORLD, peer=1, tag=1)]
    rows = [request(RequestKind.SEND_DONE, 10, 95, peer=1, tag=1, bytes=8)]
    assert found(calls, [receive(60, 90)], requests={0: rows}) == [(WaitKind.LATE_RECEIVER, 0, 1, 40, 20)]


def test_persistent_sends_of_one_start_are_told_apart(found):
    """Two sends of one MPI_Startall, completed by different calls."""
    calls = [call("MPI_Startall", 10, 15), call("MPI_Wait", 40, 95), call("MPI_Wait", 100, 200)]
    rows = [request(RequestKind.SEND_STARTED, 10, 0, peer=peer, tag=1, bytes=8) for peer in (1, 2)]
    rows += [request(RequestKind.SEND_DONE, 10, done, peer=peer, tag=1, bytes=8) for peer, done in ((2, 95), (1, 200))]
    waits = found(calls, [receive(160, 190)], [receive(60, 90)], requests={0: rows})
    assert waits == [(WaitKind.LATE_RECEIVER, 0, 2, 40, 20), (WaitKind.LATE_RECEIVER, 0, 1, 100, 60)]


def test_a_sendrecv_waits_for_the_later_of_its_two(found):
    def sendrecv(enter, exit_, to, from_, posted):
        both = call("MPI_Sendrecv", enter, exit_, comm=WORLD, peer=to, tag=1, sent=8, received=8)
        return [both], [request(RequestKind.RECEIVED, posted, exit_, peer=from_, tag=1, bytes=8)]

    parts = [sendrecv(10, 200, 1, 2, 10), sendrecv(50, 120, 2, 0, 50), sendrecv(90, 150, 0, 1, 90)]
    waits = found(*(calls for calls, _ in parts), requests={r: rows for r, (_, rows) in enumerate(parts)})
    assert waits == [(WaitKind.LATE_SENDER, 0, 2, 10, 80), (WaitKind.LATE_RECEIVER, 1, 2, 50, 40)]


def test_wait_at_barrier_and_its_completion(tmp_path):
    calls = [[collective("MPI_Barrier", b, e, sent=0, received=0)] for b, e in ((10, 100), (80, 95), (30, 98))]
    trace = open_run(str(write_run(tmp_path, [{"calls": c} for c in calls])))
    result = analyze_waits(trace, ONE, profile(trace, ONE))
    assert result.time_ns[:, WaitKind.BARRIER].tolist() == [70, 0, 50]
    assert result.barrier_completion_ns.tolist() == [5, 0, 3]
    assert result.n_to_n_completion_ns.tolist() == [0, 0, 0]
    assert (result.total_ns, result.share) == (120, 120 / 300)
    shared = analyze_waits(trace, ONE, profile(trace, ONE), causes=False)
    assert shared.barrier_completion_ns.tolist() == [5, 0, 3]
    assert (shared.time_ns == result.time_ns).all() and (shared.count == result.count).all()


def test_wait_at_n_to_n(found):
    calls = [[collective("MPI_Allreduce", b, e)] for b, e in ((10, 100), (80, 95))]
    assert found(*calls) == [(WaitKind.N_TO_N, 0, 1, 10, 70)]


def test_who_gives_nothing_delays_nobody(found):
    """MPI_Allgatherv with no data from the last: they wait for the one before it."""
    calls = [(10, 100, 8), (40, 95, 8), (80, 97, 0)]
    ranks = [[collective("MPI_Allgatherv", b, e, sent=sent)] for b, e, sent in calls]
    assert found(*ranks) == [(WaitKind.N_TO_N, 0, 1, 10, 30)]


def test_nonblocking_collectives_are_waited_for_where_they_are_completed(found):
    """MPI_Ireduce to rank 1, whose MPI_Wait waits for the last of two; an MPI_Ibarrier that rank 2 begins last."""

    def calls(begin, wait, done, began, left):
        reduce = call("MPI_Ireduce", begin, begin + 1, comm=WORLD, peer=1, sent=8, received=8)
        barrier = call("MPI_Ibarrier", began, began + 1, comm=WORLD)
        return [reduce, call("MPI_Wait", wait, done), barrier, call("MPI_Waitall", began + 2, left)]

    times = [(50, 52, 54, 100, 230), (10, 20, 95, 110, 240), (70, 72, 75, 200, 250)]
    rows = {
        r: [
            request(RequestKind.COLLECTIVE_DONE, begin, done, peer=-1),
            request(RequestKind.COLLECTIVE_DONE, began, left, peer=-1),
        ]
        for r, (begin, _, done, began, left) in enumerate(times)
    }
    assert found(*(calls(*t) for t in times), requests=rows) == [
        (WaitKind.BARRIER, 0, 2, 102, 98), (WaitKind.EARLY_REDUCE, 1, 2, 20, 50), (WaitKind.BARRIER, 1, 2, 112, 88)
    ]  # fmt: skip


def test_early_reduce(tmp_path):
    """The root waits for the last; until the first came, no data could have been sent at all."""
    calls = [[collective("MPI_Reduce", b, e, root=0, received=8 * (r == 0))]
             for r, (b, e) in enumerate(((10, 100), (80, 95), (30, 98)))]  # fmt: skip
    trace = open_run(str(write_run(tmp_path, [{"calls": c} for c in calls])))
    result = analyze_waits(trace, ONE, profile(trace, ONE))
    assert result.time_ns[:, WaitKind.EARLY_REDUCE].tolist() == [70, 0, 0]
    assert (result.total_ns, result.first_sender_ns) == (70, 20)


def test_early_reduce_that_is_nonblocking(tmp_path):
    """The root waits from 20 on, until the first of the others comes at 50, and the last at 70."""
    ranks = []
    for begin, wait, done in ((10, 20, 95), (50, 52, 54), (70, 72, 75)):
        calls = [
            call("MPI_Ireduce", begin, begin + 1, comm=WORLD, peer=0, sent=8, received=8 * (begin == 10)),
            call("MPI_Wait", wait, done),
        ]
        ranks.append({"calls": calls, "requests": [request(RequestKind.COLLECTIVE_DONE, begin, done, peer=-1)]})
    trace = open_run(str(write_run(tmp_path, ranks)))
    result = analyze_waits(trace, ONE, profile(trace, ONE))
    assert (result.total_ns, result.first_sender_ns) == (50, 30)


def test_who_gets_nothing_waits_for_nothing(found):
    """MPI_Scatterv with no data for rank 2."""
    calls = [[collective("MPI_Scatterv", b, e, root=1, sent=8 * (r == 1), received=8 * (r == 0))]
             for r, (b, e) in enumerate(((10, 100), (80, 95), (20, 98)))]  # fmt: skip
    assert found(*calls) == [(WaitKind.LATE_BROADCAST, 0, 1, 10, 70)]


def test_late_broadcast(found):
    calls = [[collective("MPI_Bcast", b, e, root=1, sent=8 * (r == 1), received=8 * (r != 1))]
             for r, (b, e) in enumerate(((10, 100), (80, 95), (85, 98)))]  # fmt: skip
    assert found(*calls) == [(WaitKind.LATE_BROADCAST, 0, 1, 10, 70)]


def test_early_scan(found):
    """Ranks of the communicator count: it is in the order 2, 0, 1."""
    calls = [[collective("MPI_Scan", b, e, comm=FIRST)] for b, e in ((30, 100), (10, 95), (50, 98))]
    waits = found(*calls, communicators=[[2, 0, 1]])
    assert waits == [(WaitKind.EARLY_SCAN, 0, 2, 30, 20), (WaitKind.EARLY_SCAN, 1, 2, 10, 40)]


def test_wait_at_fence(found):
    """Two windows; the last fence of the first one does not synchronize."""

    def fences(*times):
        return [call("MPI_Win_fence", b, e, comm=WORLD) for b, e in times]

    def accesses(times, windows):
        return [{"enter": b, "offset": -1, "object": w, "detail": 0, "thread": 0}
                for (b, _), w in zip(times, windows, strict=True)]  # fmt: skip

    zero, one = [(10, 60), (70, 90), (100, 105)], [(50, 60), (65, 90), (140, 150)]
    objects = [(7, 0, 8, WORLD, 1, 1, 1, b""), (8, 0, 8, WORLD, 1, 1, 1, b"")]
    waits = found(
        fences(*zero), fences(*one), objects={0: objects, 1: objects},
        accesses={0: accesses(zero, (1, 2, 1)), 1: accesses(one, (1, 2, 1))},
    )  # fmt: skip
    assert waits == [(WaitKind.FENCE, 0, 1, 10, 40), (WaitKind.FENCE, 1, 0, 65, 5)]


def test_fences_after_a_time_without_recording_are_not_brought_together(found):
    """Rank 0 recorded nothing from 100 to 120, rank 1 from 300 on: who knows which fences were there."""

    def off(begin, end):
        return [event(begin, schema.TRACING_TYPE, 0), event(end, schema.TRACING_TYPE, 1)]

    times = ((10, 60), (130, 180), (320, 380)), ((50, 60), (170, 180), (360, 380))
    calls = [[call("MPI_Put", 1, 2, comm=WORLD, peer=1 - r), *(call("MPI_Win_fence", b, e, comm=WORLD) for b, e in of)]
             for r, of in enumerate(times)]  # fmt: skip
    accesses = [[{"enter": b, "offset": -1, "object": 1, "detail": 0, "thread": 0} for b in (1, *(b for b, _ in of))]
                for of in times]  # fmt: skip
    waits = found(
        *calls, objects={r: [(7, 0, 8, WORLD, 1, 1, 1, b"")] for r in (0, 1)}, accesses=dict(enumerate(accesses)),
        events={0: off(100, 120), 1: off(300, 310)},
    )  # fmt: skip
    assert waits == [(WaitKind.FENCE, 0, 1, 10, 40)]


def test_a_fence_that_ends_as_the_last_member_enters_waited_for_it(found):
    calls = [[call("MPI_Win_fence", b, 60, comm=WORLD)] for b in (10, 60)]
    accesses = {r: [{"enter": b, "offset": -1, "object": 1, "detail": 0, "thread": 0}] for r, b in ((0, 10), (1, 60))}
    waits = found(*calls, objects={r: [(7, 0, 8, WORLD, 1, 1, 1, b"")] for r in (0, 1)}, accesses=accesses)
    assert waits == [(WaitKind.FENCE, 0, 1, 10, 50)]


def test_fences_of_an_unknown_window_are_not_brought_together(found):
    calls = [[call("MPI_Win_fence", b, 60, comm=WORLD)] for b in (10, 50)]
    assert found(*calls, objects={r: [(7, 0, 8, WORLD, 1, 1, 1, b"")] for r in (0, 1)}) == []


@pytest.mark.parametrize("name", ["MPI_Alltoallv", "MPI_Alltoallw", "MPI_Neighbor_alltoall", "MPI_Neighbor_allgatherv"])
def test_who_gets_data_of_whom_follows_from_the_times_only(found, name):
    """MPI_Alltoallv, neighbours: until the last that entered before the call returned. Rank 0 returns before rank 2
    enters, so it waited for rank 1 at most; rank 3 hands over nothing."""
    times = [(10, 60), (50, 120), (100, 125), (110, 130)]
    calls = [[collective(name, b, e, sent=8 * (r < 3))] for r, (b, e) in enumerate(times)]
    assert found(*calls) == [(WaitKind.N_TO_N, 0, 1, 10, 40), (WaitKind.N_TO_N, 1, 2, 50, 50)]


def test_the_only_one_with_data_is_waited_for(found):
    calls = [collective("MPI_Alltoallv", b, e, sent=8 * r) for r, (b, e) in enumerate(((10, 60), (50, 55)))]
    assert found(*([c] for c in calls)) == [(WaitKind.N_TO_N, 0, 1, 10, 40)]


@pytest.mark.parametrize("name", ["MPI_Ineighbor_alltoall", "MPI_Ialltoallw"])
def test_nonblocking_neighbours(found, name):
    """They wait where they are completed, until the last that began its own before that."""
    times = [(10, 20, 60), (50, 55, 120), (100, 105, 125)]
    calls = [[collective(name, b, b + 1), call("MPI_Wait", w, e)] for b, w, e in times]
    rows = {r: [request(RequestKind.COLLECTIVE_DONE, b, e, peer=-1)] for r, (b, _, e) in enumerate(times)}
    assert found(*calls, requests=rows) == [(WaitKind.N_TO_N, 0, 1, 20, 30), (WaitKind.N_TO_N, 1, 2, 55, 45)]


def test_persistent_collectives_wait_where_they_are_completed(tmp_path):
    """MPI_Bcast_init of root 1 and MPI_Barrier_init, each started twice; root and last member late in the second."""

    def rows(begins, done):
        found = []
        for tag, bytes_, peer in ((0, 8, 1), (1, 0, -1)):
            begin, end = begins[tag], done[tag]
            found.append(request(RequestKind.COLLECTIVE_STARTED, begin, 0, peer=peer, tag=tag, bytes=bytes_))
            found.append(request(RequestKind.COLLECTIVE_DONE, begin, end, peer=peer, tag=tag, bytes=bytes_))
        return found

    def rank(begins, waits, done):
        inits = [call("MPI_Bcast_init", 1, 2, comm=WORLD, peer=1), call("MPI_Barrier_init", 3, 4, comm=WORLD)]
        starts = [call("MPI_Start", begin, begin + 1, comm=WORLD) for begin in begins]
        ends = [call("MPI_Wait", wait, end) for wait, end in zip(waits, done, strict=True)]
        calls = sorted(inits + starts + ends, key=lambda row: row["enter"])
        return {
            "calls": calls,
            "requests": sorted(rows(begins, done), key=lambda row: row["completed"] or row["posted"]),
        }

    ranks = [
        rank((10, 210), (20, 220), (100, 290)),
        rank((80, 280), (90, 285), (95, 290)),
        rank((20, 230), (85, 231), (96, 291)),
    ]
    trace = open_run(str(write_run(tmp_path, ranks)))
    waits = find_wait_states(WaitSearch(trace)).waits
    assert [
        (WaitKind(int(w["kind"])), int(w["lane"]), int(w["cause"]), int(w["enter"]), int(w["end"])) for w in waits
    ] == [
        (WaitKind.LATE_BROADCAST, 0, 1, 20, 80),
        (WaitKind.BARRIER, 0, 1, 220, 280),
        (WaitKind.BARRIER, 2, 1, 231, 280),
    ]


def test_threads_wait_by_themselves(found):
    """Both threads of rank 1 receive from rank 0; what one receives later is no wrong order for the other."""
    calls = [receive(20, 90, thread=0), receive(30, 95, tag=2, thread=1)]
    waits = found([send(50, 55, tag=2), send(70, 80)], calls)
    assert waits == [(WaitKind.LATE_SENDER, 1, 0, 20, 50), (WaitKind.LATE_SENDER, 1, 0, 30, 20)]


def test_a_wait_ends_with_its_call(found):
    """Clocks that differ: received before it was sent."""
    assert found([send(100, 110)], [receive(20, 90)]) == [(WaitKind.LATE_SENDER, 1, 0, 20, 70)]


def test_waits_below_the_error_of_clocks_do_not_count(tmp_path):
    """Rank 1 reads another clock, which is known to 20 ns: of its waits of 10 and 50 ns one counts. Nobody waits in
    the barrier behind them."""

    def node(calls, **more):
        return {"calls": calls, **more}

    sync = [(5_000_000_000_000 + ns, 5_000_000_000_000 + ns, 200, 20) for ns in (0, 1000)]
    barrier = call("MPI_Barrier", 300, 310, comm=WORLD)
    ranks = [node([send(70, 80), send(210, 215), barrier]),
             node([receive(20, 90), receive(200, 220), barrier], host="node1", boot_id="other", sync=sync)]  # fmt: skip
    trace = open_run(str(write_run(tmp_path, ranks)))
    result = analyze_waits(trace, ONE, profile(trace, ONE))
    assert (result.total_ns, result.count.sum()) == (50, 1)
    assert (result.uncounted.count, result.uncounted.time_ns, result.uncounted.error_ns) == (1, 10, 20)


def test_messages_over_many_windows(tmp_path):
    """A wait that begins many windows before it ends, and orders across windows: the same in windows of any size."""
    results = []
    zero = [send(100 * k + 50, 100 * k + 60, tag=k % 3) for k in range(40)]
    one = [receive(10, 4950, tag=0), *(receive(5000 + 10 * k, 5008 + 10 * k, tag=k % 3) for k in range(1, 40))]
    path = write_run(tmp_path, [{"calls": zero}, {"calls": one}])
    for records in (4, 16, 262144):
        trace = open_run(str(path), options=ReadOptions(sizes=ReadSizes(block_calls=2, window_calls=records)))
        results.append(find_wait_states(WaitSearch(trace)).waits.tolist())
        trace.close()
    assert results[0] == results[1] == results[2]
    assert [row[:2] for row in results[0]] == [(10, 50)]
