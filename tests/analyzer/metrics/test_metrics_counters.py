"""Sums of counters by hand: in computation, in MPI, and instructions a cycle."""

import json

import numpy as np
import pytest
from synthetic import call, write_run

from analyzer.cli import main
from analyzer.metrics.counters import counted
from analyzer.opening import open_trace
from analyzer.parallel import Team
from tracelib import schema

FAULTS = (2, 0, 44000001, 2, b"perf::PAGE-FAULTS")
SETS = [(1, 0, 42000050, 4, b"PAPI_TOT_INS"), (1, 1, 42000059, 4, b"PAPI_TOT_CYC"), FAULTS]


def block(calls, counts, set, first_call=0, first_count=0):
    row = np.zeros(1, schema.BLOCK)
    row["first"][0, [0, 6]], row["count"][0, [0, 6]], row["set"] = (first_call, first_count), (calls, counts), set
    return row


@pytest.fixture
def run(tmp_path):
    """Rank 0: set 1 for three calls, then set 2 for one. Rank 1: nothing counted."""
    calls = [call("MPI_Barrier", t, t + 10) for t in (100, 200, 300, 400)]
    counts = [7, 9, 10, 20, 110, 70, 115, 80, 215, 130, 220, 135, 5, 8]
    blocks = np.concatenate([block(3, 12, 1), block(1, 2, 2, 3, 12)])
    ranks = [{"calls": calls, "counts": counts, "counters": SETS, "blocks": blocks}, {"calls": calls}]
    return write_run(tmp_path, ranks)


def test_sums(run):
    """Bursts: 100 instructions in 50 cycles, 100 in 50, 5 faults; the first burst is not known."""
    sums = counted(open_trace(str(run)), Team())
    assert sums.useful.tolist() == [[200, 100, 5], [0, 0, 0]]
    assert sums.inside.tolist() == [[3 + 5 + 5, 11 + 10 + 5, 3], [0, 0, 0]]
    assert sums.bursts.tolist() == [[2, 2, 1], [0, 0, 0]]
    assert sums.ipc == 2.0
    assert sums.ipc_by_rank == [2.0, None]


def test_look_and_json(run, capsys):
    assert main(["look", "--no-files", "--json", str(run)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ipc"] == {"all": 2.0, "by_rank": [2.0, None]}
    assert found["counters"]["perf::PAGE-FAULTS"] == {
        "event_type": 44000001, "useful": 5, "useful_by_rank": [5, 0], "mpi": 3, "covered": 1 / 8,
    }  # fmt: skip
    assert main(["look", "--no-files", str(run)]) == 0
    text = capsys.readouterr().out
    assert "2.00 instructions per cycle" in text
    assert "PAPI_TOT_INS" in text


def test_without_counters_nothing_is_made_up(tmp_path, capsys):
    """No ratio of 0 or 1, no section."""
    run = write_run(tmp_path, [{"calls": [call("MPI_Barrier", 100, 200)]}])
    sums = counted(open_trace(str(run)), Team())
    assert sums.ipc is None
    assert sums.useful.shape == (1, 0)
    assert main(["look", "--no-files", "--json", str(run)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ipc"] == {"all": None, "by_rank": [None]}
    assert found["counters"] == {}
    assert main(["look", "--no-files", str(run)]) == 0
    assert "Counters" not in capsys.readouterr().out


def test_counters_of_another_tool_give_the_same_everywhere(tmp_path, capsys):
    """Extrae's events: 900 instructions in 600 cycles of computing; what is counted in the call does not matter."""
    (tmp_path / "x.prv").write_text(
        "#Paraver (01/02/2020 at 10:00):900_ns:1(1):1:1(1:1),1\nc:1:1:1:1\n"
        "1:1:1:1:1:0:300:1\n1:1:1:1:1:300:500:13\n1:1:1:1:1:500:900:1\n"
        "2:1:1:1:1:300:50000002:10:42000050:300:42000059:200\n"
        "2:1:1:1:1:500:50000002:0:42000050:70:42000059:90\n"
        "2:1:1:1:1:900:40000001:0:42000050:600:42000059:400\n"
    )
    found = {}
    for command in ("info", "efficiency"):
        assert main([command, "--json", str(tmp_path / "x.prv")]) == 0
        found[command] = json.loads(capsys.readouterr().out)
    assert found["info"]["ipc"] == {"all": 1.5, "by_rank": [1.5]}
    assert found["efficiency"]["ipc"] == 1.5
