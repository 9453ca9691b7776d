"""One-sided communication in replays, by hand, in the dialect "thesis" unless another one is given.

There a message costs its sender 10 us, then takes bytes / (100 MB/s) to arrive; receives cost nothing.
"""

import numpy as np
import pytest
from synthetic import WORLD, call, request, write_run

from analyzer.errors import TracelibError
from analyzer.machine.description import Network, Node
from analyzer.opening import open_trace
from analyzer.program.model import Program
from analyzer.program.operation import OperationKind, operations
from analyzer.replay import Machine, program_of, simulate
from analyzer.replay.predicted import write_predicted
from analyzer.trace import Objects
from tracelib.schema import ACCESS_HAS_GROUP, RequestKind

MB = 1 << 20
L, WIRE = 10_000, 10_000_000
THESIS = Machine(node=Node(latency_s=1e-5), networks=(Network(bandwidth_mb=100.0),), dialect="thesis")
FREE = Machine.ideal()
WINDOW = (7, 0, 8, WORLD, 1, 1, 1, b"")
EXCLUSIVE, SHARED, NO_CHECK = 1, 2, 1024
FIRST_GROUP = 3  # row of `communicators`
FINALIZE = "MPI_Finalize"


# ---- Of the simulator itself.


def op(kind, burst=0, **columns):
    return {"kind": kind, "burst": burst, **columns}


def locked(target, kind=EXCLUSIVE, before=0, inside=0, window=0):
    return [
        op(OperationKind.LOCK, before, peer=target, tag=kind, comm=window),
        op(OperationKind.UNLOCK, inside, peer=target, comm=window),
    ]


def ends_of(*streams, on=FREE):
    return simulate(Program.from_streams([operations(*s) for s in streams]), on).usage["end"].tolist()


def test_exclusive_locks_of_a_target_exclude_each_other():
    assert ends_of(locked(2, inside=10), locked(2, before=3, inside=5), locked(2, before=1, inside=7)) == [10, 22, 17]


def test_those_of_other_targets_and_windows_do_not():
    assert ends_of(locked(0, inside=10), locked(1, inside=5), locked(0, inside=7, window=1)) == [10, 5, 7]


def test_shared_locks_go_together_and_wait_for_who_asked_before():
    """Two share it from 1 and 2 to 21 and 22; who wants it alone from 3 on has it from 22 to 27, then the last."""
    streams = [locked(0, SHARED, 1, 20), locked(0, SHARED, 2, 20), locked(0, EXCLUSIVE, 3, 5), locked(0, SHARED, 4, 6)]
    assert ends_of(*streams) == [21, 22, 27, 33]


def test_all_targets_are_shared():
    """From 11 to 16, when nobody has any target alone; who asks for one meanwhile waits."""
    streams = [locked(0, inside=10), locked(1, inside=11), locked(-1, SHARED, 1, 5), locked(1, EXCLUSIVE, 12, 3)]
    assert ends_of(*streams) == [10, 11, 16, 19]


def test_who_lets_go_of_what_it_never_took_goes_on():
    assert ends_of([op(OperationKind.UNLOCK, 5, peer=0)]) == [5]


def test_two_who_wait_for_each_others_locks_are_named():
    first = [op(OperationKind.LOCK, peer=0, tag=EXCLUSIVE), op(OperationKind.LOCK, 5, peer=1, tag=EXCLUSIVE)]
    second = [op(OperationKind.LOCK, peer=1, tag=EXCLUSIVE), op(OperationKind.LOCK, 5, peer=-1, tag=SHARED)]
    with pytest.raises(TracelibError) as caught:
        ends_of(first, second)
    assert "rank 0 in MPI_Win_lock of rank 1; rank 1 in MPI_Win_lock_all" in str(caught.value)


def test_a_flush_waits_for_its_target_and_window_only():
    """1 MB to rank 1, half to rank 2 in the same window, a quarter to rank 2 in another one, each L later."""

    def put(target, size, window=0):
        return op(OperationKind.PUT, peer=target, bytes=size, comm=window)

    puts = [put(1, MB), put(2, MB // 2), put(2, MB // 4, 1)]
    ends = {(2, 1): 3 * L + WIRE // 4, (2, 0): 2 * L + WIRE // 2, (1, 0): L + WIRE, (-1, 0): L + WIRE}
    for (target, window), end in ends.items():
        assert ends_of([*puts, op(OperationKind.ACCESSES_WAIT, peer=target, comm=window)], [], [], on=THESIS)[0] == end
    assert ends_of([*puts, op(OperationKind.ACCESSES_WAIT, peer=0)], [], [], on=THESIS)[0] == 3 * L


def test_the_request_of_a_put_is_complete_when_it_has_arrived():
    put = op(OperationKind.PUT, peer=1, bytes=MB, request=0)
    assert ends_of([put, op(OperationKind.WAIT, request=0)], [], on=THESIS)[0] == L + WIRE
    assert ends_of([put, op(OperationKind.WAIT, 2 * WIRE, request=0)], [], on=THESIS)[0] == L + 2 * WIRE


# ---- Of traces.


def assert_same_accesses(trace, predicted, rank):
    """On the same objects, by the same calls, of the same groups."""
    seen = []
    for one in (trace, predicted):
        rows, calls = (np.concatenate(list(of(rank))) for of in (one.extra(Objects).accesses, one.calls))
        groups = [one.extra(Objects).group(rank, group).tolist() if group else [] for group in rows["group"].tolist()]
        seen.append((rows[["offset", "object", "detail", "thread"]].tolist(), groups))
        assert np.isin(rows["enter"], calls["enter"]).all()
    assert seen[0] == seen[1]


@pytest.fixture
def replayed(tmp_path):
    """replayed(calls of rank 0, ..., groups=, requests=): when the ranks end. Each call is (row, detail, group). In the
    predicted run they are on the same window, and wait for the same in its replay."""

    def of(*ranks, groups=(), requests=None, on=THESIS):
        content = []
        for rank, steps in enumerate(ranks):
            rows = [row for row, *_ in steps] + [call(FINALIZE, steps[-1][0]["exit"], steps[-1][0]["exit"] + 1)]
            details = [
                {"enter": row["enter"], "offset": group if group else -1, "object": 1,
                 "detail": detail | (ACCESS_HAS_GROUP if group else 0), "thread": 0}
                for row, detail, group in steps
            ]  # fmt: skip
            content.append({"calls": rows, "accesses": details, "objects": [WINDOW]})
            content[-1]["requests"] = (requests or {}).get(rank, [])
        rows = [{"group": members} for members in groups]
        trace = open_trace(str(write_run(tmp_path, content, rows)))
        program = program_of(trace)
        found = simulate(program, on, times=True)
        path = tmp_path / "predicted.h5"
        write_predicted(trace, program, found, path, "test")
        predicted = open_trace(path)
        assert predicted.extra(Objects).known == trace.extra(Objects).known
        for rank in range(trace.size):
            assert_same_accesses(trace, predicted, rank)
        again = simulate(program_of(predicted), on).usage["end"]
        assert np.abs(again - found.usage["end"]).max() <= 2 * sum(map(len, ranks))  # calls that last 1 ns
        return found.usage["end"].tolist()

    return of


def on_window(name, enter, exit_, target=-1, detail=0, group=0, **more):
    return call(f"MPI_{name}", enter, exit_, comm=WORLD, peer=target, **more), detail, group


def group(number):
    return FIRST_GROUP + number


def epoch(start, put, complete, of=0, size=MB):
    """Return rank 0's calls of an epoch towards rank 1."""
    return [
        on_window("Win_start", *start, group=of),
        on_window("Put", *put, 1, sent=size),
        on_window("Win_complete", *complete),
    ]


def exposure(post, wait, of=0, ends="Win_wait"):
    return [on_window("Win_post", *post, group=of), on_window(ends, *wait)]


GROUPS = ([1], [0])
"""Groups of rank 0's starts and of rank 1's posts."""


@pytest.mark.parametrize("known", [True, False], ids=["groups", "without groups"])
@pytest.mark.parametrize("ends", ["Win_wait", "Win_test"])
def test_start_waits_for_the_post_and_wait_for_the_complete(replayed, known, ends):
    """Rank 1 computes 60 us and posts: 70; rank 0 puts (80), which arrives after WIRE, says so (10 more) and rank 1,
    which computed up to then, goes on."""
    origin = epoch((1000, 75000), (75000, 75100), (75100, 75200), group(0) if known else 0)
    target = exposure((60000, 60100), (60100, 80000), group(1) if known else 0, ends)
    ends = replayed(origin, target, groups=GROUPS)
    assert ends == [60000 + 3 * L + WIRE, 60000 + 3 * L + WIRE]


@pytest.mark.parametrize("known", [True, False], ids=["groups", "without groups"])
def test_half_the_bandwidth_doubles_the_transfer(replayed, known):
    origin = epoch((1000, 75000), (75000, 75100), (75100, 75200), group(0) if known else 0)
    target = exposure((60000, 60100), (60100, 80000), group(1) if known else 0)
    slow = Machine(node=Node(latency_s=1e-5), networks=(Network(bandwidth_mb=50.0),), dialect="thesis")
    assert replayed(origin, target, groups=GROUPS, on=slow)[1] == 60000 + 3 * L + 2 * WIRE


def test_where_start_returned_before_the_post_complete_waits(replayed):
    """Rank 0 computes 1 + 5 us and comes to MPI_Win_complete at 6, which waits for the post, at 70; only then the put
    leaves."""
    origin = epoch((1000, 1100), (1100, 1200), (6200, 75200), group(0))
    target = exposure((60000, 60100), (60100, 80000), group(1))
    assert replayed(origin, target, groups=GROUPS) == [60000 + 3 * L + WIRE] * 2


def test_what_is_put_early_travels_while_the_origin_computes(replayed):
    """The same, but MPI_Win_start waits: 2 WIRE of computation hide the transfer."""
    origin = epoch((1000, 75000), (75000, 75100), (75100 + 2 * WIRE, 75200 + 2 * WIRE), group(0))
    target = exposure((60000, 60100), (60100, 80000 + 2 * WIRE), group(1))
    assert replayed(origin, target, groups=GROUPS)[0] == 60000 + 3 * L + 2 * WIRE


def test_all_members_of_groups_are_waited_for(replayed):
    """Rank 0 and 1 put to rank 2 nothing; rank 2 posts at 0 to both (10, 20), rank 1 completes at 50 + 10."""
    both = [on_window("Win_start", 100, 200, group=group(0)), on_window("Win_complete", 200, 300)]
    late = [on_window("Win_start", 50000, 50100, group=group(0)), on_window("Win_complete", 50100, 50200)]
    target = [on_window("Win_post", 0, 10, group=group(1)), on_window("Win_wait", 10, 70000)]
    assert replayed(both, late, target, groups=([2], [0, 1])) == [2 * L, 50000 + L, 50000 + L]


def test_an_origin_that_never_starts_is_named(replayed):
    with pytest.raises(TracelibError) as caught:
        replayed([on_window("Win_fence", 1, 2)], exposure((60, 62), (62, 90), group(0)), groups=([0],))
    assert "rank 1 in MPI_Win_wait, for MPI_Win_complete of rank 0" in str(caught.value)


def test_a_target_that_never_posts_is_named(replayed):
    with pytest.raises(TracelibError) as caught:
        replayed(epoch((10, 65), (66, 70), (71, 75), group(0)), [on_window("Win_sync", 1, 2)], groups=([1],))
    assert "rank 0 in an access epoch, for MPI_Win_post of rank 1" in str(caught.value)


def held(enter, inside, detail=EXCLUSIVE, size=0):
    """Rank 0's part is locked from `enter`, `inside` ns are computed."""
    rows = [on_window("Win_lock", enter, enter + 10, 0, detail)]
    if size:
        rows.append(on_window("Put", enter + 10, enter + 10, 0, sent=size))
    return [*rows, on_window("Win_unlock", enter + 10 + inside, enter + 20 + inside, 0)]


def test_locks_of_a_trace_exclude_each_other(replayed):
    assert replayed([on_window("Win_sync", 0, 1)], held(100, 5000), held(200, 3000), on=FREE)[1:] == [5100, 8100]


def test_shared_locks_of_a_trace_do_not(replayed):
    ends = replayed([on_window("Win_sync", 0, 1)], held(100, 5000, SHARED), held(200, 3000, SHARED), on=FREE)
    assert ends[1:] == [5100, 3200]


def test_an_unlock_waits_for_the_bytes(replayed):
    """Each has the lock for 1 MB and its latency: the second one from then on."""
    ends = replayed([on_window("Win_sync", 0, 1)], held(100, 0, size=MB), held(200, 0, size=MB))
    assert ends[1:] == [100 + L + WIRE, 100 + 2 * (L + WIRE)]


def test_locks_that_need_no_check_wait_for_nobody(replayed):
    ends = replayed([on_window("Win_sync", 0, 1)], held(100, 5000, EXCLUSIVE | NO_CHECK), held(200, 3000), on=FREE)
    assert ends[1:] == [5100, 3200]


@pytest.mark.parametrize("name", ["Rput", "Raccumulate", "Rget", "Rget_accumulate"])
def test_the_wait_for_a_request_lasts_until_the_bytes_are_there(replayed, name):
    moved = {"received" if "get" in name else "sent": MB}
    origin = [
        on_window("Win_lock_all", 0, 10, detail=SHARED), on_window(name, 10, 20, 1, **moved),
    ]  # fmt: skip
    rows = [request(RequestKind.RMA_DONE, 10, 3020, peer=1, tag=-1, bytes=MB)]
    wait = call("MPI_Wait", 3000, 3020), 0, 0
    last = on_window("Win_unlock_all", 5000 + 3020, 8030)
    ends = replayed([*origin, wait, last], [on_window("Win_sync", 0, 1)], requests={0: rows})
    assert ends[0] == L + WIRE + 5000
