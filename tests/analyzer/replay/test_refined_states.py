"""Latency, and waiting for links, semaphores and CPUs, as states of the predicted Paraver trace."""

import gzip
import json
from collections import Counter

import numpy as np
import pytest
from paths import SHARED

from analyzer.cli import main
from analyzer.opening import open_trace
from analyzer.program.operation import OperationFlag, OperationKind, operations
from analyzer.replay.carried import refined
from analyzer.replay.simulate import TIME, TRANSFER
from analyzer.trace import STATE, State

DATA = SHARED / "dimemas"
MACHINES = ("lat5", "bus2", "bus1slow", "two_a_node", "one_cpu_for_two")


def rows(*parts):
    found = np.zeros(len(parts), STATE)
    for row, (begin, end, state) in zip(found, parts, strict=True):
        row["begin"], row["end"], row["state"] = begin, end, state
    return found


def spans(states):
    return [(int(s["begin"]), int(s["end"]), State(int(s["state"]))) for s in states]


def test_a_send_by_hand():
    """It computes until 100, pays latency until 110 but for a wait for a CPU from 103 to 107, waits from 110 for the
    receive that is posted at 150, then for links until 180, and waits for a CPU until 190."""
    ops = operations({"kind": OperationKind.SEND, "burst": 100, "flags": OperationFlag.RENDEZVOUS})
    times = np.array([(100, 190)], TIME)
    transfers = np.array([(180, 400, 150, 0, 110)], TRANSFER)
    call = State.BLOCKING_SEND
    before = rows(
        (0, 100, State.RUNNING), (100, 103, call), (103, 107, State.SCHEDULING), (107, 180, call),
        (180, 190, State.SCHEDULING), (190, 200, State.RUNNING),
    )  # fmt: skip
    assert spans(refined(before, ops, times, transfers)) == [
        (0, 100, State.RUNNING), (100, 103, State.STARTUP_LATENCY), (103, 107, State.SCHEDULING),
        (107, 110, State.STARTUP_LATENCY), (110, 150, call), (150, 180, State.WAITING_LINKS),
        (180, 190, State.SCHEDULING), (190, 200, State.RUNNING),
    ]  # fmt: skip


def test_an_immediate_send_waits_for_no_link():
    ops = operations(
        {"kind": OperationKind.SEND, "burst": 5, "flags": OperationFlag.IMMEDIATE | OperationFlag.RENDEZVOUS}
    )
    found = refined(
        rows((0, 5, State.RUNNING), (5, 8, State.IMMEDIATE_SEND)),
        ops, np.array([(5, 7)], TIME), np.array([(90, 99, 6, 0, 7)], TRANSFER),
    )  # fmt: skip
    assert spans(found)[1:] == [(5, 7, State.STARTUP_LATENCY), (7, 8, State.IMMEDIATE_SEND)]


def test_a_semaphore_is_waited_for_outside_calls():
    ops = operations({"kind": OperationKind.SEM_WAIT, "burst": 5, "flags": OperationFlag.BETWEEN_CALLS})
    found = refined(
        rows((0, 5, State.RUNNING), (5, 9, State.RUNNING), (9, 12, State.SCHEDULING)),
        ops, np.array([(5, 12)], TIME), np.array([(-1, -1, -1, -1, 5)], TRANSFER),
    )  # fmt: skip
    assert spans(found) == [(0, 5, State.RUNNING), (5, 9, State.BLOCKED), (9, 12, State.SCHEDULING)]


def test_sends_that_wait_for_links_and_for_receives(tmp_path, capsys):
    """In rendezvous on one slow bus, where a sender waits until it has it."""
    if not DATA.is_dir():
        pytest.skip("the programs are not here")
    trace, out = tmp_path / "mg.dim", tmp_path / "x.prv"
    trace.write_bytes(gzip.decompress((DATA / "mg.dim.gz").read_bytes()))
    args = [
        "replay",
        str(trace),
        "--machine",
        str(DATA / "bus1slow.cfg"),
        "--eager-limit",
        "1",
        "--dialect",
        "standard",
    ]
    assert main([*args, "-q", "-o", str(out)]) == 0
    capsys.readouterr()
    assert main([*args, "--json"]) == 0
    parts = json.loads(capsys.readouterr().out)["parts_s"]
    states = open_trace(out).states()
    links, sends, alone = (
        (states["end"] - states["begin"])[states["state"] == state].sum() / 1e9
        for state in (State.WAITING_LINKS, State.BLOCKING_SEND, State.STARTUP_LATENCY)
    )
    assert links > 10 * sends > 0
    assert links + sends == pytest.approx(parts["wait_send"], abs=4000e-9)
    assert alone == pytest.approx(parts["overhead"])


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("program", ["cg", "is", "mg", "bt"])
def test_states_sum_up_to_what_the_replay_says(program, machine, tmp_path, capsys):
    """States of each rank, read back from the .prv; calls that take no time are 1 ns there."""
    if not DATA.is_dir():
        pytest.skip("the programs are not here")
    trace, out = tmp_path / f"{program}.dim", tmp_path / "x.prv"
    trace.write_bytes(gzip.decompress((DATA / f"{program}.dim.gz").read_bytes()))
    config = str(DATA / f"{machine}.cfg")
    args = ["replay", str(trace), "--machine", config, "--eager-limit", "32k"]
    assert main([*args, "-q", "-o", str(out)]) == 0
    capsys.readouterr()
    assert main([*args, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    labels = out.with_suffix(".pcf").read_text()
    assert "26   Startup latency\n" in labels and "27   Waiting links\n" in labels
    assert "7    Waiting for a CPU\n" in labels
    read = open_trace(out)
    states, slack = read.states(), Counter()
    for rank in range(read.size):
        slack[rank] = sum(len(block) for block in read.calls(rank))
    for rank, of in enumerate(said["ranks"]):
        sums = Counter()
        for row in states[states["rank"] == rank]:
            sums[int(row["state"])] += int(row["end"] - row["begin"])
        waiting = ("wait_message", "wait_send", "wait_members", "collective", "busy_wait")
        expected = {
            "computing": (of["computing"], sums[State.RUNNING]),
            "latency": (of["overhead"], sums[State.STARTUP_LATENCY]),
            "cpu": (of["wait_cpu"] + of["context_switch"], sums[State.SCHEDULING]),
            "waiting": (sum(of[name] for name in waiting), sum(sums.values()) - sum(
                sums[state] for state in (State.RUNNING, State.STARTUP_LATENCY, State.SCHEDULING)
            )),
        }  # fmt: skip
        for name, (seconds, ns) in expected.items():
            assert ns == pytest.approx(seconds * 1e9, abs=2 * slack[rank]), (name, rank)
