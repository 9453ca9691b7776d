"""`analyze loggp` of a run: the table, the JSON, and what it says where there is too little."""

import json

import pytest
from synthetic import WORLD, call, write_run

from analyzer.cli import main


def exchange(number):
    """Rank 0 sends 8 B, then 65536 B, `number` times: 1 us, and 1 us and 0.25 ns a byte; the receiver waits."""
    ranks = [], []
    now = 1000
    for _ in range(number):
        for size in (8, 65536):
            end = now + 1000 + (size - 8) // 4
            ranks[0].append(call("MPI_Send", now, now + 200, comm=WORLD, peer=1, tag=1, sent=size))
            ranks[1].append(call("MPI_Recv", now - 500, end, comm=WORLD, peer=0, tag=1, received=size))
            now = end + 1000
    return [{"calls": calls} for calls in ranks]


def test_numbers(tmp_path, capsys):
    run = write_run(tmp_path, exchange(40))
    assert main(["loggp", str(run), "--json"]) == 0
    (way,) = json.loads(capsys.readouterr().out)["messages"]
    small, large = way["sizes"]
    assert (way["where"], way["messages"], way["used"]) == ("intra", 80, 80)
    assert small["time_s"] == pytest.approx({"value": 1e-6, "low": 1e-6, "high": 1e-6})
    assert (small["bandwidth_bytes_per_s"], small["send_s"]["value"]) == (None, pytest.approx(200e-9))
    assert large["time_s"]["value"] == pytest.approx(17.382e-6)
    assert large["bandwidth_bytes_per_s"]["value"] == pytest.approx(4e9)


def test_words(tmp_path, capsys):
    assert main(["loggp", str(write_run(tmp_path, exchange(40)))]) == 0
    shown = capsys.readouterr().out
    assert "Messages within nodes: 80, 80 used" in shown
    assert "Latency 1.00us (1.00us to 1.00us), by messages of 8 B." in shown
    assert "Bandwidth 3.73 GiB/s, by messages of 64.0 KiB." in shown


def test_too_few(tmp_path, capsys):
    assert main(["loggp", str(write_run(tmp_path, exchange(31)))]) == 0
    assert "They tell no latency and bandwidth (too few of a size: 32 are needed)" in capsys.readouterr().out


def test_no_messages(tmp_path, capsys):
    assert main(["loggp", str(write_run(tmp_path, [{"calls": [call("MPI_Barrier", 0, 10, comm=WORLD)]}]))]) == 0
    assert "No messages" in capsys.readouterr().out
