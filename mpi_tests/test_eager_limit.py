"""Programs that count on MPI to buffer what they send: runs that ended do not block in the replay."""

import json

import pytest


@pytest.fixture(params=["openmpi", "mpich"])
def leg(request):
    return request.getfixturevalue(request.param)


def test_a_run_that_ended_does_not_block(leg, compiled, traced, analyze):
    """Each rank of a ring sends before it receives, which the run shows to have been buffered."""
    made = traced(leg, compiled(leg, "unsafe.c"), ranks=2)
    size = int(made.finished.stdout) // 2
    found = json.loads(analyze("replay", made.run, "--json").check().stdout)
    assert [eager["from"] for eager in found["eager"]] == ["run"]
    assert found["eager"][0]["waits_from_bytes"] > size
    assert json.loads(analyze("efficiency", made.run, "--json").check().stdout)["not_replayed"] is None
    blocked = analyze("replay", made.run, "--eager", str(size))
    assert blocked.returncode == 1 and "in a send to rank" in blocked.stderr
