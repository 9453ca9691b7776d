"""`analyze loggp` of a run: the table, the JSON, and what it says where there is too little."""

import json

import pytest
from synthetic import WORLD, call, write_run

from analyzer.cli import main
from analyzer.loggp.model import LoOgGP


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
    assert "Latency 1.00us (1.00us to 1.00us), from messages of 8 B." in shown
    assert "Bandwidth 3.73 GiB/s, from messages of 64.0 KiB." in shown


def test_too_few(tmp_path, capsys):
    assert main(["loggp", str(write_run(tmp_path, exchange(31)))]) == 0
    assert "Latency and bandwidth are not known: too few messages of a size (32 needed)." in capsys.readouterr().out


def test_no_messages(tmp_path, capsys):
    assert main(["loggp", str(write_run(tmp_path, [{"calls": [call("MPI_Barrier", 0, 10, comm=WORLD)]}]))]) == 0
    assert "There are no messages" in capsys.readouterr().out


def test_a_model(tmp_path, capsys):
    run = write_run(tmp_path, exchange(40))
    for _ in range(2):  # what it wrote itself is replaced
        assert main(["loggp", str(run), "-q", "-o", str(tmp_path / "net")]) == 0
        assert capsys.readouterr().out == ""
    assert sorted(path.name for path in tmp_path.glob("net*")) == ["net.intra.json"]
    model = LoOgGP.read(tmp_path / "net.intra.json")
    assert model.about["where"] == "intra"
    assert model.time([8, 65536]).tolist() == pytest.approx([1e-6, 17.382e-6])


def test_nothing_is_written_unless_asked_for(tmp_path, capsys):
    run = write_run(tmp_path, exchange(40))
    before = sorted(tmp_path.iterdir())
    assert main(["loggp", str(run)]) == 0
    assert sorted(tmp_path.iterdir()) == before


def test_a_model_that_cannot_be(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = write_run(tmp_path, exchange(40))
    (tmp_path / "net.intra.json").write_text("not ours")
    assert main(["loggp", str(run), "-q", "-o", "net"]) == 1
    assert "net.intra.json" in capsys.readouterr().err
    assert (tmp_path / "net.intra.json").read_text() == "not ours"
    assert main(["loggp", str(run), "-q", "-o", "nowhere/net"]) == 1
    assert "cannot write" in capsys.readouterr().err


def test_few_messages_make_no_model(tmp_path, capsys):
    assert main(["loggp", str(write_run(tmp_path, exchange(20))), "-q", "-o", str(tmp_path / "net")]) == 1
    assert "not enough for a model" in capsys.readouterr().err
