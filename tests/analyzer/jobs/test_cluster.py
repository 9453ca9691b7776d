"""Policies of batch schedulers, by hand and beside a second implementation."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference_jobs import starts

from analyzer.errors import TracelibError
from analyzer.jobs.cluster import QueuePolicy, schedule
from analyzer.jobs.workload import Workload


def workload(jobs):
    submit, width, run, estimate = np.array(jobs, float).reshape(-1, 4).T
    return Workload(submit, width.astype(np.int64), run), estimate


def start_times(jobs, nodes, policy):
    work, estimate = workload(jobs)
    return schedule(work, nodes, policy, estimate).start_s.tolist()


#  0 holds 2 of 3 nodes until 10, and 1 wants all. 2 to 4 want one: 2 for longer than until 10, 3 just until 10.
JOBS = [(0, 2, 10, 10), (1, 3, 5, 5), (2, 1, 12, 12), (3, 1, 7, 7), (4, 1, 2, 2)]


@pytest.mark.parametrize(
    "policy, expected",
    [
        (QueuePolicy.FCFS, [0, 10, 15, 15, 15]),
        (QueuePolicy.FIRST_FIT, [0, 17, 2, 10, 10]),
        (QueuePolicy.EASY, [0, 10, 15, 3, 15]),
        (QueuePolicy.BACKFILL_FIRST_FIT, [0, 10, 15, 3, 15]),
        (QueuePolicy.BACKFILL_PREDICTIVE, [0, 10, 15, 3, 15]),
    ],
)
def test_by_hand(policy, expected):
    assert start_times(JOBS, 3, policy) == expected


def test_easy_delays_others_than_the_head():
    """0 holds 2 of 4 nodes until 10. 1 waits for 3 nodes; 2 wants all four. 3 takes a spare node for long: by EASY it
    starts at once, and 2 waits until it ends; the backfillings keep 2's promise of 15."""
    jobs = [(0, 2, 10, 10), (0, 3, 5, 5), (0, 4, 5, 5), (1, 1, 30, 30)]
    assert start_times(jobs, 4, QueuePolicy.EASY) == [0, 10, 31, 1]
    assert start_times(jobs, 4, QueuePolicy.BACKFILL_FIRST_FIT) == [0, 10, 15, 20]
    assert start_times(jobs, 4, QueuePolicy.BACKFILL_PREDICTIVE) == [0, 10, 15, 20]


def test_cancelled_at_the_estimate():
    work, estimate = workload([(0, 2, 10, 4), (0, 2, 3, 3)])
    found = schedule(work, 2, QueuePolicy.FCFS, estimate)
    assert found.start_s.tolist() == [0, 4] and found.end_s.tolist() == [4, 7]
    assert found.cancelled.tolist() == [True, False]
    assert found.cancelled_share == pytest.approx(8 / 14) and found.finished_share == pytest.approx(6 / 14)
    assert found.idle_share == pytest.approx(0) and found.wait_s.tolist() == [0, 4]


NODES = 4
JOB = st.tuples(st.integers(0, 12), st.integers(1, NODES), st.integers(0, 9), st.integers(1, 9))


@given(st.lists(JOB, min_size=1, max_size=14), st.sampled_from([policy.value for policy in QueuePolicy]))
@settings(max_examples=400)
def test_second_implementation(jobs, policy):
    jobs = sorted(jobs, key=lambda job: job[0])
    assert start_times(jobs, NODES, QueuePolicy(policy)) == starts(jobs, NODES, policy)


@given(st.lists(JOB, min_size=1, max_size=40), st.sampled_from(list(QueuePolicy)))
@settings(max_examples=150)
def test_never_more_nodes_than_there_are(jobs, policy):
    work, estimate = workload(sorted(jobs, key=lambda job: job[0]))
    found = schedule(work, NODES, policy, estimate)
    instants = np.concatenate([found.start_s, found.end_s])
    busy = [int(work.nodes[(found.start_s <= now) & (now < found.end_s)].sum()) for now in instants]
    assert max(busy) <= NODES and (found.wait_s >= 0).all()
    assert (found.used_s <= estimate).all()


@given(st.lists(JOB, min_size=1, max_size=25))
@example([(0, 1, 0, 1), (0, 4, 0, 1), (0, 1, 1, 1)])
@settings(max_examples=150)
def test_a_promise_is_kept(jobs):
    """First fit: nobody starts later than if no job came after it, and no job that runs when it comes ended early. One
    that begins and ends in that instant still runs."""
    jobs = sorted(jobs, key=lambda job: job[0])
    begins = start_times(jobs, NODES, QueuePolicy.BACKFILL_FIRST_FIT)
    ends = [begin + min(job[2:]) for begin, job in zip(begins, jobs, strict=True)]
    for last, (comes, *_) in enumerate(jobs):
        known = zip(jobs[: last + 1], begins, ends, strict=False)
        as_promised = [(*job[:2], job[2] if begin < comes >= end else job[3], job[3]) for job, begin, end in known]
        assert begins[last] <= start_times(as_promised, NODES, QueuePolicy.BACKFILL_FIRST_FIT)[last]


def test_too_wide_and_too_long():
    work, estimate = workload([(0, 8, 1, 1)])
    with pytest.raises(TracelibError, match="a job needs 8 nodes, and the cluster has 7"):
        schedule(work, 7, QueuePolicy.FCFS, estimate)
    many = Workload(np.zeros(8), np.ones(8, np.int64), np.full(8, 1e12))
    with pytest.raises(TracelibError, match="longer than can be simulated"):
        schedule(many, 1, QueuePolicy.FCFS)
    with pytest.raises(TracelibError, match="beyond"):
        Workload(np.zeros(1), np.ones(1, np.int64), np.array([np.nan]))


def test_no_jobs():
    found = schedule(Workload(np.zeros(0), np.zeros(0, np.int64), np.zeros(0)), 3, QueuePolicy.EASY)
    assert found.length_s == 0 and found.idle_share == 1
