"""Latency and bandwidth from a traced ping-pong, against what the program timed itself."""

import json
import statistics

import pytest

pytestmark = pytest.mark.timed


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_a_traced_ping_pong(name, request, compiled, traced, analyze):
    """Half a round trip is one way and what each rank needs from a receive to the next send, which is little."""
    leg = request.getfixturevalue(name)
    run = traced(leg, compiled(leg, "ping_pong.c"), "200", ranks=2)
    lines = [line.split() for line in run.finished.stdout.splitlines() if line and line[0].isdigit()]
    own = {int(size): float(time) for size, time in lines}
    found = json.loads(analyze("loggp", "--json", run.run).check().stdout)["messages"]
    assert [way["where"] for way in found] == ["intra"]
    (way,) = found
    assert (way["messages"], way["backwards"], way["clock_error_s"]) == (2 * 200 * len(own), 0, 0)
    assert sum(c["messages"] for c in way["sizes"]) == way["messages"]
    by_size = {c["size_bytes"]: c for c in way["sizes"] if c["trust"] != "no"}
    assert len(by_size) >= 2
    times = {size: c["time_s"] for size, c in by_size.items()}
    assert all(time["low"] <= time["value"] <= time["high"] for time in times.values())
    assert 0.5 < statistics.median(own[size] / time["value"] for size, time in times.items()) < 2.5
    shown = analyze("loggp", run.run).check().stdout
    assert "Latency" in shown
