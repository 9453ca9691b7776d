"""Messages of a replay that cannot go on, with the way out that they name; runs with a part that cannot be read."""

import json
import tomllib
from dataclasses import replace

import pytest
from memory_trace import MemoryTrace
from synthetic import WORLD as ALL
from synthetic import call, write_run

from analyzer.cli import main
from analyzer.efficiency.ideal import ideal_replay
from analyzer.errors import TracelibError
from analyzer.machine.description import AS_CALLS
from analyzer.machine.parameters import vary
from analyzer.machine.read_cfg import read_cfg
from analyzer.machine.read_toml import machine_of, read_toml
from analyzer.machine.write_cfg import cfg_text
from analyzer.machine.write_toml import machine_text
from analyzer.metrics.eager import shown_eager_limit
from analyzer.metrics.unrecorded import unrecorded
from analyzer.parallel import Team
from analyzer.replay import Machine, program_of, replay, simulate
from analyzer.report.words.eager import Eager
from tracelib.schema import RequestKind

WORLD = {"comm": 0, "sent": 8, "received": 8}
SEND, RECEIVE = ("MPI_Send", "MPI_Recv")


def each_sends_first():
    """Right only where MPI buffers small messages: both send, then both receive."""
    rows = []
    for peer in (1, 0):
        more = WORLD | {"peer": peer, "tag": 1}
        rows.append([(SEND, 5, 6, more), (RECEIVE, 7, 8, more)])
    return program_of(MemoryTrace(rows))


def test_sends_that_wait_for_each_other_need_an_eager_limit():
    with pytest.raises(TracelibError, match="rank 0 in a send to rank 1, tag 1") as caught:
        simulate([each_sends_first()], Machine.ideal())
    assert "--eager-limit 32k" in caught.value.hint
    assert simulate([each_sends_first()], Machine(eager_limit=1024)).end_ns == 6


def test_those_that_wait_whatever_the_limit_do_not():
    """The message is larger than the limit; or nobody sends."""
    with pytest.raises(TracelibError) as caught:
        simulate([each_sends_first()], Machine(eager_limit=8))
    assert "--eager-limit" not in caught.value.hint
    receives = MemoryTrace([[(RECEIVE, 7, 8, WORLD | {"peer": 1, "tag": 1})], []])
    with pytest.raises(TracelibError) as caught:
        simulate([program_of(receives)], Machine.ideal())
    assert "--eager-limit" not in caught.value.hint


def test_what_is_waited_for_is_named():
    """A receive that was posted, a nonblocking collective that rank 2 does not make, and who made all of its calls."""
    posted = [("MPI_Irecv", 5, 6, {}), ("MPI_Wait", 7, 8, {})]
    begun = [("MPI_Iallreduce", 5, 6, WORLD), ("MPI_Wait", 7, 8, {})]
    requests = {0: [(RequestKind.RECV_DONE, 5, 8, 8, 2, 7, 0)], 1: [(RequestKind.COLLECTIVE_DONE, 5, 8, 8, -1, -1, 0)]}
    with pytest.raises(TracelibError) as caught:
        simulate([program_of(MemoryTrace([posted, begun, []], requests=requests))], Machine.ideal())
    assert str(caught.value).endswith(
        "rank 0 in a wait for its receive from rank 2, tag 7 (call 2); "
        "rank 1 in a wait for MPI_Allreduce of ranks 0-2 (call 2); rank 2 ended"
    )


@pytest.mark.parametrize(
    "command",
    [
        ["what-if", "--machine", "ideal", "--by", "calls"],
        ["monte-carlo", "--vary", "latency=1us..5us", "--samples", "2"],
    ],
)
def test_threads_that_call_mpi_are_replayed(command, tmp_path, capsys):
    """They are streams of their own: what is asked of such a run is answered, for the whole of it."""
    barrier = call("MPI_Barrier", 20, 30, comm=ALL)
    calls = [call("MPI_Init", 0, 10), barrier, call("MPI_Finalize", 90, 99)]
    rank = {"calls": [*calls, call("MPI_Comm_rank", 40, 41, thread=1), call("MPI_Comm_rank", 60, 61, thread=1)]}
    assert main([*command, str(write_run(tmp_path, [rank, rank]))]) == 0
    assert "whole run" not in capsys.readouterr().out


@pytest.mark.parametrize("command", [["replay"], ["limits", "--quick", "--machine", "ideal"], ["what-if"]])
def test_the_rank_that_is_missing_is_named(command, tmp_path, capsys):
    calls = [call("MPI_Init", 0, 10), call("MPI_Barrier", 20, 30), call("MPI_Finalize", 40, 50)]
    path = write_run(tmp_path, [{"calls": calls}] * 2, missing=[1])
    assert main([*command, str(path)]) == 1
    *notes, error = capsys.readouterr().err.splitlines()
    assert error.startswith("Error: ") and "(likely reason in run.h5: rank 1 could not be read)" in error
    assert not any(note.startswith("Error: ") for note in notes)


def test_a_line_that_cannot_be_read_is_said(tmp_path, capsys):
    path = tmp_path / "run.prv"
    path.write_text("#Paraver (01/01/2020 at 00:00):100_ns:1(1):1:1(1:1)\n1:1:1:1:1:0:100:1\n2:what\n")
    assert main(["replay", str(path)]) == 0
    assert "This is not a replay of the whole run: line 3: not a whole number where one is expected." in " ".join(
        capsys.readouterr().out.split()
    )
    assert main(["replay", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["incomplete"].startswith("line 3")


@pytest.mark.parametrize("speed", ["0", '"inf"', "inf"])
def test_processors_as_fast_as_wanted(speed, tmp_path):
    """Bursts of 5 and 1 take no time."""
    (tmp_path / "m.toml").write_text(f"eager_limit = 1024\n[node]\nspeed = {speed}\n")
    assert simulate([each_sends_first()], read_toml(tmp_path / "m.toml")).end_ns == 0


def pairs(size, first=(5, 6, 7), second=(5, 6, 7)):
    """The same with messages of a size, sent and over, and asked for, at these times by each rank."""
    calls, messages = [], []
    times = first, second
    for rank, (sent, over, asked) in enumerate(times):
        more = {"comm": 0, "peer": 1 - rank, "tag": 1}
        calls.append([(SEND, sent, over, more | {"sent": size}), (RECEIVE, asked, 50, more | {"received": size})])
        messages.append((rank, 1 - rank, size, 1, sent, times[1 - rank][2]))
    return MemoryTrace(calls, messages=messages)


def test_a_run_that_was_over_does_not_block():
    """One of two messages shows that MPI buffered it: the limit is at least its size. Both are replayed at 5."""
    trace = pairs(50_000, first=(5, 40, 41), second=(5, 6, 7))
    assert shown_eager_limit(trace) == 50_000
    with pytest.raises(TracelibError):
        simulate([program_of(trace)], Machine.ideal())
    assert program_of(trace, buffered=True).buffered == 50_000
    assert replay(trace, Machine.ideal()).end_ns == 5 + 1
    with pytest.raises(TracelibError):
        replay(trace, Machine.ideal(eager_limit=50_000))
    with pytest.raises(TracelibError):
        replay(trace, Machine.ideal(eager_limit=AS_CALLS))


def one_way(name, size, shown):
    """Rank 0 sends `size` bytes at 10, asked for at 50, after a message of `shown` that was over before it was."""
    calls = [
        [("MPI_Sendrecv", 0, 1, {"comm": 0, "peer": 1, "tag": 1, "sent": shown}),
         (name, 11, 60, {"comm": 0, "peer": 1, "tag": 2, "sent": size})],
        [(RECEIVE, 5, 6, {"comm": 0, "peer": 0, "tag": 1, "received": shown}),
         (RECEIVE, 56, 60, {"comm": 0, "peer": 0, "tag": 2, "received": size})],
    ]  # fmt: skip
    return MemoryTrace(calls, messages=[(0, 1, shown, 1, 0, 5), (0, 1, size, 2, 11, 56)])


@pytest.mark.parametrize(
    ("name", "size", "shown", "waits"),
    [
        ("MPI_Send", 5000, 5000, False),
        ("MPI_Send", 5001, 5000, True),
        ("MPI_Send", 1024, 8, False),  # as in every MPI
        ("MPI_Send", 1025, 8, True),
        ("MPI_Ssend", 5000, 5000, True),  # whatever MPI could buffer
        ("MPI_Isend", 5001, 5000, False),
    ],
)
def test_standard_sends_wait_from_the_size_on_that_the_run_shows(name, size, shown, waits):
    """Rank 0 ends after its 10 ns of computation, or when rank 1, which computes 55, asks for the message."""
    found = replay(one_way(name, size, shown), Machine.ideal())
    assert found.usage["end"].tolist() == [55 if waits else 10, 55]


def test_nobody_waits_for_itself():
    more = {"comm": 0, "peer": 0, "tag": 1}
    calls = [[(SEND, 5, 6, more | {"sent": 9999}), (RECEIVE, 7, 8, more | {"received": 9999})]]
    assert replay(MemoryTrace(calls, messages=[(0, 0, 9999, 1, 5, 7)]), Machine.ideal()).end_ns == 6


def test_the_ideal_network_of_efficiencies_buffers_what_mpi_did(tmp_path, capsys):
    """32 KiB is the usual limit, with which this run could not have ended."""
    for size, limit, shown in ((40_000, 40_001, True), (30_000, 32768, False)):
        trace = pairs(size)
        found = ideal_replay(trace, unrecorded(trace, Team()), Team())
        assert (found.runtime_ns, found.eager_limit, found.eager_shown, found.reason) == (6, limit, shown, "")
    blocked = ideal_replay(pairs(40_000), unrecorded(trace, Team()), Team(), 32768)
    assert blocked.runtime_ns is None and "rank 0 in a send" in blocked.reason


@pytest.mark.parametrize(
    ("machine", "program", "says", "data"),
    [
        (Machine(), 4000, "of up to 3.91 KiB does not wait for its receive: the run shows this.", ("run", 4001)),
        (Machine(), 1024, "every MPI buffers that much, and the run does not show", ("run", 1025)),
        (Machine(), -1, "Every MPI_Send waits for its receive.", ("calls", None)),
        (Machine(eager_limit=AS_CALLS), 4000, "Every MPI_Send waits for its receive.", ("calls", None)),
        (Machine(eager_limit=32768), 4000, "Sends of 32.0 KiB or more wait for their receive: the machine says so.",
         ("machine", 32768)),
        (vary(Machine(), {"eager": float("inf")}), 4000, "No send waits", ("machine", None)),
    ],
)  # fmt: skip
def test_the_limit_is_said(machine, program, says, data):
    found = Eager.from_replay(machine, replace(each_sends_first(), buffered=program))
    assert says in found.text
    assert tuple(found.as_json().values()) == data


def test_a_configuration_of_dimemas_keeps_its_meaning(tmp_path):
    path = tmp_path / "m.cfg"
    path.write_text(cfg_text(Machine(), 2)[0])
    (tmp_path / "collectives.cfg").write_text(cfg_text(Machine(), 2)[1])
    assert read_cfg(path).machine.eager_limit is None, "as the records of a .dim say, and they say what the run shows"
    for text, limit in (("as-run", None), ("as-calls", AS_CALLS)):
        machine = machine_of({"eager_limit": text})
        assert machine.eager_limit == limit
        assert machine_of(tomllib.loads(machine_text(machine))).eager_limit == limit


def test_an_eager_limit_unblocks_operations_that_block_by_themselves(tmp_path, capsys):
    """No ideal machine is mentioned, which nobody asked for."""
    head_on = '#DIMEMAS:"x":0:2(1,1),0\n1:0:0:0.001\n2:0:0:1:5:0:0:1\n3:0:0:1:5:0:0:0\n'
    head_on += "1:1:0:0.002\n2:1:0:0:5:0:0:1\n3:1:0:0:5:0:0:0\n"
    (tmp_path / "x.dim").write_text(head_on)
    assert main(["replay", str(tmp_path / "x.dim"), "--eager-limit", "32k", "--json"]) == 0
    said = capsys.readouterr()
    assert (json.loads(said.out)["predicted_s"], said.err) == (0.002, "")
    assert main(["replay", str(tmp_path / "x.dim")]) == 1
    said = capsys.readouterr().err
    assert said.count("cannot go on") == 1 and "rank 1 in a send to rank 0, tag 0 (call 1)" in said
