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
    blocked = analyze("replay", made.run, "--eager-limit", str(size))
    assert blocked.returncode == 1 and "in a send to rank" in blocked.stderr


def test_the_dim_of_a_run_replays_as_the_run(leg, compiled, traced, analyze):
    """Without an option, to the nanosecond; it names the size up to which the run shows that MPI buffered."""
    made = traced(leg, compiled(leg, "unsafe.c"), ranks=2)
    size = int(made.finished.stdout) // 2
    says = analyze("dim", made.run).check().stdout
    found = []
    for file in (made.run, made.run.with_suffix(".dim")):
        found.append(json.loads(analyze("replay", file, "--json").check().stdout))
    run, dim = found
    assert run["predicted_s"] == dim["predicted_s"]
    assert run["ranks"] == dim["ranks"]
    assert run["eager"] == dim["eager"]
    limit = run["eager"][0]["waits_from_bytes"]
    assert limit > size and f"Dimemas -S {limit} sets" in " ".join(says.split())
