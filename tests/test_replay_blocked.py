"""What a replay that cannot go on says, and the way out that it names; runs of which a part cannot be read."""

import json

import pytest
from memory_trace import MemoryTrace
from synthetic import call, write_run

from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.replay import Machine, program_of, simulate
from analyzer.replay.machine import Node
from analyzer.replay.machine_toml import read_toml

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
    assert "--eager 32k" in caught.value.hint
    assert simulate([each_sends_first()], Machine(eager_limit=1024)).end_ns == 6


def test_those_that_wait_whatever_the_limit_do_not():
    """The message is larger than the limit; or nobody sends."""
    with pytest.raises(TracelibError) as caught:
        simulate([each_sends_first()], Machine(eager_limit=8))
    assert "--eager" not in caught.value.hint
    receives = MemoryTrace([[(RECEIVE, 7, 8, WORLD | {"peer": 1, "tag": 1})], []])
    with pytest.raises(TracelibError) as caught:
        simulate([program_of(receives)], Machine.ideal())
    assert "--eager" not in caught.value.hint


@pytest.mark.parametrize("command", [["replay"], ["limits", "--quick", "--machine", "ideal"], ["what-if"]])
def test_the_rank_that_is_missing_is_named(command, tmp_path, capsys):
    calls = [call("MPI_Init", 0, 10), call("MPI_Barrier", 20, 30), call("MPI_Finalize", 40, 50)]
    path = write_run(tmp_path, [{"calls": calls}] * 2, missing=[1])
    assert main([*command, str(path)]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "(of run.h5, rank 1 could not be read)" in error


def test_a_line_that_cannot_be_read_is_said(tmp_path, capsys):
    path = tmp_path / "run.prv"
    path.write_text("#Paraver (01/01/2020 at 00:00):100_ns:1(1):1:1(1:1)\n1:1:1:1:1:0:100:1\n2:what\n")
    assert main(["replay", str(path)]) == 0
    assert "But line 3: not a number where one is due: this is not a replay of the whole run." in " ".join(
        capsys.readouterr().out.split()
    )
    assert main(["replay", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["incomplete"].startswith("line 3")


@pytest.mark.parametrize("speed", ["0", '"inf"', "inf"])
def test_processors_as_fast_as_wanted(speed, tmp_path):
    """Bursts of 5 and 1 take no time."""
    (tmp_path / "m.toml").write_text(f"eager_limit = 1024\n[node]\nspeed = {speed}\n")
    assert simulate([each_sends_first()], read_toml(tmp_path / "m.toml")).end_ns == 0


def test_a_time_that_no_number_holds():
    machine = Machine(eager_limit=1024, node=Node(speed=1e-300))
    with pytest.raises(TracelibError, match="longer than 292 years"):
        simulate([each_sends_first()], machine)
