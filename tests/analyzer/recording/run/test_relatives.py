"""Which runs belong together, decided by hand: times in s, one launcher unless said otherwise."""

import pytest

from analyzer.recording.run.relatives import Meeting, World, family, relatives

S = 10**9
JOB = "pmix 183369729"


def spawn(begin, end, here=2, there=2, rank=0):
    return Meeting(True, int(begin * S), int(end * S), rank, here, there)


def world(name, *meetings, size=2, parent_size=0, started=0.0, job=JOB):
    return World(name, job, size, parent_size, int(started * S), meetings)


def child(name, started, **more):
    return world(name, **({"parent_size": 2, "started": started, "job": "pmix 183369730"} | more))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("pmix 183369729", "pmix 183369730", True),  # Open MPI 4: what mpirun is called is in the upper 16 bits
        ("pmix 183369729", "pmix 183435265", False),
        ("pmix prterun-vm-26168@1", "pmix prterun-vm-26168@2", True),
        ("pmix prterun-vm-26168@1", "pmix prterun-vm-2616@2", False),
        (f"pmix {'9' * 5000}", "pmix \u00b2", False),  # damaged
        ("hydra vm:43521 0", "hydra vm:43521 1", True),
        ("hydra vm:43521 0", "hydra vm:43522 0", False),
        ("slurm 17.0", "slurm 17.1", True),
        ("slurm 17.0", "slurm 18.0", False),
        ("process vm 812 3391", "process vm 812 3391", True),
        ("process vm 812 3391", "process vm 812 3392", False),
    ],
)
def test_jobs_of_one_launcher(one, other, same):
    assert (family(one) == family(other)) == same


def names(own, *others):
    return [(found.what, found.name) for found in relatives(own, others)]


def test_a_parent_and_its_child_name_each_other():
    parent, spawned = world("run.h5", spawn(10, 12)), child("run-2.h5", 10.5)
    assert names(parent, spawned) == [("spawned", "run-2.h5")]
    assert names(spawned, parent) == [("was spawned by", "run.h5")]
    assert relatives(parent, [spawned])[0].text == "rank 0 spawned 2 processes: run-2.h5"


@pytest.mark.parametrize(
    "stranger",
    [
        child("x.h5", 5), child("x.h5", 14), child("x.h5", 11, size=3), child("x.h5", 11, parent_size=3),
        child("x.h5", 11, parent_size=0), child("x.h5", 11, job="pmix 7"), child("x.h5", 11, job=""),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_no_child(stranger):
    (found,) = relatives(world("run.h5", spawn(10, 12)), [stranger])
    assert found.text == "rank 0 spawned 2 processes: not traced, or their run is not in this folder"


def test_children_of_calls_one_after_the_other_and_their_children():
    """run spawns a and c, a spawns b: all of them with two processes."""
    a, b, c = child("a.h5", 10.1), child("b.h5", 20.1, job="pmix 183369731"), child("c.h5", 30.1)
    a = World(a.name, a.job, 2, 2, a.started_ns, (spawn(20, 21),))
    run = world("run.h5", spawn(10, 11), spawn(30, 31))
    assert names(run, a, b, c) == [("spawned", "a.h5"), ("spawned", "c.h5")]
    assert names(b, a, c, run) == [("was spawned by", "a.h5")]
    assert names(a, b, c, run) == [("was spawned by", "run.h5"), ("spawned", "b.h5")]


def test_two_runs_that_connect_are_likely_one_meeting():
    here, there = (Meeting(False, begin * S, 12 * S, 0, *sizes) for begin, sizes in ((10, (2, 1)), (11, (1, 2))))
    server, client = world("server.h5", here), world("client.h5", there, size=1, job="pmix 7")
    assert names(server, client) == [("connected with", "likely client.h5")]
    other = Meeting(False, 11 * S, 12 * S, 0, 2, 2)
    assert names(server, world("other.h5", other, job="pmix 7")) == [("connected with", "")]
    assert names(world("alone.h5")) == []
