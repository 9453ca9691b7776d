"""Waits in one-sided communication: late posts, early waits, locks that others have; each to the nanosecond."""

from pathlib import Path
from tempfile import mkdtemp

import pytest
from synthetic import WORLD, call, poll, request, write_run

from analyzer.critical.path import critical_path
from analyzer.pairing.epochs import EpochReader
from analyzer.recording.run.opening import open_run
from analyzer.waits.kinds import WaitKind, length
from analyzer.waits.one_sided import FenceCalls
from analyzer.waits.wait_states import NOT_FOR_MESSAGES, WaitSearch, find_wait_states
from tracelib.schema import ACCESS_HAS_GROUP, RequestKind

EXCLUSIVE, SHARED = 1, 2
FIRST_GROUP = 3  # row of `communicators`
WINDOW = (7, 0, 8, WORLD, 1, 1, 1, b"")


@pytest.fixture
def found(tmp_path):
    """found(calls of rank 0, ...): (kind, rank, cause, begin, ns, call) of each wait. All calls are on one window; with
    `polls` of a rank; `groups` are those that calls name by their place, from 1 on, instead of a lock."""

    def of(*ranks, polls=None, groups=()):
        content = []
        for rank, steps in enumerate(ranks):
            calls = [row for row, _ in steps]
            detail = [
                {"enter": row["enter"], "offset": -1, "object": 1, "detail": lock, "thread": 0}
                | ({"offset": FIRST_GROUP + lock - 1, "detail": ACCESS_HAS_GROUP} if groups and lock else {})
                for row, lock in steps
            ]
            content.append(
                {"calls": calls, "accesses": detail, "objects": [WINDOW], "polls": (polls or {}).get(rank, [])}
            )
        rows = [{"group": members} for members in groups]
        trace = open_run(str(write_run(Path(mkdtemp(dir=tmp_path)), content, rows)))
        waits = find_wait_states(WaitSearch(trace)).waits
        names = [trace.procedures[call] for call in waits["call"]]
        return [
            (WaitKind(int(w["kind"])), int(w["lane"]), int(w["cause"]), int(w["enter"]), int(ns), name)
            for w, ns, name in zip(waits, length(waits), names, strict=True)
        ]

    return of


def on_window(name, enter, exit_, target=-1, lock=0):
    return call(f"MPI_{name}", enter, exit_, comm=WORLD, peer=target), lock


def access(start, put, complete, target=1):
    """An access epoch of three calls, each (enter, exit)."""
    return [on_window("Win_start", *start), on_window("Put", *put, target), on_window("Win_complete", *complete)]


def exposure(post, wait, last="Win_wait"):
    return [on_window("Win_post", *post), on_window(last, *wait)]


def test_a_start_that_blocks_waits_for_the_post(found):
    waits = found(access((10, 65), (66, 70), (71, 75)), exposure((60, 62), (80, 85)))
    assert waits == [(WaitKind.LATE_POST, 0, 1, 10, 50, "MPI_Win_start")]


def test_a_complete_waits_for_the_post_where_start_does_not(found):
    waits = found(access((10, 12), (13, 15), (20, 70)), exposure((60, 62), (63, 85)))
    assert waits == [(WaitKind.LATE_POST, 0, 1, 20, 40, "MPI_Win_complete")]


def test_other_calls_do_not_wait_for_the_post(found):
    """The target posts while the origin is in a call that is none on the window."""
    steps = access((10, 12), (13, 15), (71, 75))
    steps.insert(2, on_window("Comm_rank", 20, 70))
    assert found(steps, exposure((60, 62), (80, 85))) == []


def test_an_operation_that_blocks_waits_for_the_post(found):
    waits = found(access((10, 12), (13, 65), (66, 70)), exposure((60, 62), (67, 72)))
    assert waits == [(WaitKind.LATE_POST, 0, 1, 13, 47, "MPI_Put")]


def test_who_computes_when_the_post_comes_does_not_wait(found):
    assert found(access((10, 12), (13, 15), (80, 82)), exposure((60, 62), (81, 85))) == []


def test_the_target_waits_for_the_last_origin_to_complete(found):
    waits = found(
        access((10, 12), (13, 15), (90, 95)), exposure((5, 6), (20, 120)), access((10, 12), (13, 15), (70, 75))
    )
    assert waits == [(WaitKind.EARLY_WAIT, 1, 0, 20, 70, "MPI_Win_wait")]


def test_epochs_are_told_apart(found):
    """Two epochs of as many exposures: the second post is late, though the first exposure goes on when the second
    epoch begins."""
    first, second = access((10, 12), (13, 15), (16, 18)), access((20, 22), (23, 25), (30, 75))
    target = [*exposure((5, 6), (28, 40)), *exposure((70, 71), (72, 80))]
    assert found(first + second, target) == [(WaitKind.LATE_POST, 0, 1, 30, 40, "MPI_Win_complete")]


def test_an_exposure_to_another_origin_is_not_waited_for(found):
    """Rank 1 exposes first to rank 2 alone: rank 0 waits for the second one."""
    zero = access((10, 12), (41, 43), (45, 95))
    one = [*exposure((5, 6), (20, 40)), *exposure((90, 91), (92, 99))]
    assert found(zero, one, access((7, 8), (9, 10), (30, 32))) == [
        (WaitKind.LATE_POST, 0, 1, 45, 45, "MPI_Win_complete"),
        (WaitKind.EARLY_WAIT, 1, 2, 20, 10, "MPI_Win_wait"),
    ]


def test_polling_with_win_test_is_an_early_wait(found):
    one = exposure((5, 6), (90, 95), last="Win_test")
    waits = found(
        access((10, 12), (13, 15), (70, 75)), one, polls={1: [poll("MPI_Win_test", 20, 80, inside=60, count=6)]}
    )
    assert waits == [(WaitKind.EARLY_WAIT, 1, 0, 20, 50, "MPI_Win_test")]


def locked(lock, put, unlock, kind=EXCLUSIVE, target=2):
    return [
        on_window("Win_lock", *lock, target, kind),
        on_window("Put", *put, target),
        on_window("Win_unlock", *unlock, target),
    ]


def test_a_lock_waits_for_who_has_it(found):
    """As MPI has it, in the lock or in the unlock."""
    holder = locked((10, 12), (13, 15), (60, 65))
    assert found(holder, locked((20, 66), (67, 68), (70, 75)), []) == [
        (WaitKind.LOCK_CONTENTION, 1, 0, 20, 40, "MPI_Win_lock")
    ]
    assert found(holder, locked((20, 21), (22, 23), (30, 75)), []) == [
        (WaitKind.LOCK_CONTENTION, 1, 0, 30, 30, "MPI_Win_unlock")
    ]


def test_locks_that_do_not_exclude_each_other(found):
    holder = locked((10, 12), (13, 15), (60, 65), kind=SHARED)
    assert found(holder, locked((20, 66), (67, 68), (70, 75), kind=SHARED), []) == []
    for other in (0, 1):
        assert found(holder, locked((20, 66), (67, 68), (70, 75), target=other), []) == []
        alone = locked((10, 12), (13, 15), (60, 65))
        assert found(alone, locked((20, 66), (67, 68), (70, 75), target=other), []) == []
    assert found(holder, locked((20, 66), (67, 68), (70, 75)), []) == [
        (WaitKind.LOCK_CONTENTION, 1, 0, 20, 40, "MPI_Win_lock")
    ]


def test_lock_all_excludes_an_exclusive_lock(found):
    holder = [on_window("Win_lock_all", 10, 12), on_window("Get", 13, 15, 2), on_window("Win_unlock_all", 60, 65)]
    assert found(holder, locked((20, 66), (67, 68), (70, 75)), []) == [
        (WaitKind.LOCK_CONTENTION, 1, 0, 20, 40, "MPI_Win_lock")
    ]


def test_who_got_the_lock_first_did_not_wait(found):
    """Rank 1 has it already when rank 0 asks, and is still inside its put when rank 0 enters MPI_Win_unlock."""
    assert found(locked((20, 21), (22, 23), (30, 90)), locked((10, 12), (13, 45), (50, 55)), []) == [
        (WaitKind.LOCK_CONTENTION, 0, 1, 30, 20, "MPI_Win_unlock")
    ]


def test_all_members_of_a_group_are_waited_for(found):
    """Rank 0 puts to nobody, and starts for both; rank 2, the last to post, waits for it."""
    start = [on_window("Win_start", 10, 65, lock=1), on_window("Win_complete", 71, 75)]
    posts = [[on_window("Win_post", t, t + 1, lock=2), on_window("Win_wait", *wait)] for t, wait in POSTS]
    assert found(start, *posts, groups=([1, 2], [0])) == [
        (WaitKind.LATE_POST, 0, 2, 10, 50, "MPI_Win_start"),
        (WaitKind.EARLY_WAIT, 2, 0, 70, 1, "MPI_Win_wait"),
    ]


POSTS = [(20, (80, 85)), (60, (70, 85))]


def test_groups_say_which_exposure_an_epoch_belongs_to(found):
    """Rank 1 is exposed to rank 2 until 90, then to rank 0; by time alone the first would be rank 0's, too."""
    target = [
        on_window("Win_post", 5, 6, lock=2), on_window("Win_wait", 80, 90),
        on_window("Win_post", 95, 96, lock=3), on_window("Win_wait", 150, 160),
    ]  # fmt: skip
    first = [on_window("Win_start", 10, 98, lock=1), on_window("Win_complete", 110, 115)]
    other = [on_window("Win_start", 20, 30, lock=1), on_window("Win_complete", 85, 88)]
    assert found(first, target, other, groups=([1], [2], [0])) == [
        (WaitKind.LATE_POST, 0, 1, 10, 85, "MPI_Win_start"),
        (WaitKind.EARLY_WAIT, 1, 2, 80, 5, "MPI_Win_wait"),
    ]


def test_waits_for_messages_are_the_same_where_only_these_matter(tmp_path):
    """The failing polls of MPI_Test belong to MPI_Win_complete, not to the message that MPI_Wait receives later."""
    messages = {"requests": [request(RequestKind.RECV_DONE, 5, 200, peer=1, tag=3, bytes=8)]}
    start, complete = on_window("Win_start", 10, 12), on_window("Win_complete", 61, 75)
    origin = [start, on_window("Put", 13, 15, 1), complete, (call("MPI_Irecv", 5, 6, comm=WORLD, peer=1, tag=3), None)]
    origin.append((call("MPI_Wait", 80, 200), None))
    target = [on_window("Win_post", 70, 71), on_window("Win_wait", 76, 78)]
    target.append((call("MPI_Send", 150, 190, comm=WORLD, peer=0, tag=3, sent=8), None))
    content = []
    for steps in (origin, target):
        detail = [
            {"enter": row["enter"], "offset": -1, "object": 1, "detail": lock, "thread": 0}
            for row, lock in steps
            if lock is not None
        ]
        rows = sorted((row for row, _ in steps), key=lambda row: row["enter"])
        content.append({"calls": rows, "accesses": detail, "objects": [WINDOW]})
    content[0] |= messages | {"polls": [poll("MPI_Test", 16, 60, inside=40, count=4)]}
    trace = open_run(str(write_run(tmp_path, content)))
    of_messages = []
    for used in (None, frozenset(trace.procedures) - NOT_FOR_MESSAGES):
        waits = find_wait_states(WaitSearch(trace, used=used)).waits
        of_messages.append(waits[waits["kind"] <= WaitKind.WRONG_ORDER].tolist())
    assert of_messages[0] == of_messages[1] and len(of_messages[0]) == 1


def test_without_a_window_no_rank_is_read_for_epochs(tmp_path, monkeypatch):
    """A run names every procedure that there is, whatever it calls."""
    calls = {"procedures": ["MPI_Barrier", "MPI_Win_start", "MPI_Win_fence"], "calls": [call("MPI_Barrier", 10, 20)]}
    trace = open_run(str(write_run(tmp_path, [calls] * 2)))
    assert not EpochReader(trace).has_any
    monkeypatch.setattr(EpochReader, "of", None)
    monkeypatch.setattr(FenceCalls, "_calls", None)
    assert find_wait_states(WaitSearch(trace)).waits.tolist() == []
    assert critical_path(trace).length_ns > 0
