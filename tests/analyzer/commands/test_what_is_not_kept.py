"""A command reports in one line what it cannot keep of a Paraver trace: arrows, several applications, computing."""

from __future__ import annotations

import pytest
from synthetic import call, flush, write_run

from analyzer.cli import main

ARROWS = """\
#Paraver (01/01/2026 at 00:00):1000_ns:1(2):1:2(2:1,1:1),1
c:1:1:2:1:2
1:1:1:1:1:0:400:1
1:2:1:2:1:0:300:1
2:1:1:1:1:400:50000001:1
1:1:1:1:1:400:500:4
2:2:1:2:1:300:50000001:2
1:2:1:2:1:300:520:3
3:1:1:1:1:400:410:2:1:2:1:300:520:8:5
2:1:1:1:1:500:50000001:0
2:2:1:2:1:520:50000001:0
1:1:1:1:1:500:1000:1
1:2:1:2:1:520:1000:1
"""
ARROW = "3:1:1:1:1:600:600:1:1:1:2:{at}:{at}:64:9\n"
TWO = """\
#Paraver (01/01/2026 at 00:00):1000_ns:1(4):2:2(1:1,1:1):2(1:1,1:1),2
c:1:1:2:1:2
c:2:2:2:1:2
1:1:1:1:1:0:400:1
1:2:1:2:1:0:300:1
1:3:2:1:1:0:500:1
1:4:2:2:1:0:600:1
2:2:1:2:1:300:50000001:2
1:2:1:2:1:300:520:3
2:1:1:1:1:400:50000001:1
1:1:1:1:1:400:500:4
3:1:1:1:1:400:410:2:1:2:1:300:520:8:5
2:1:1:1:1:500:50000001:0
1:1:1:1:1:500:1000:1
2:3:2:1:1:500:50000001:1
1:3:2:1:1:500:600:4
3:3:2:1:1:500:510:4:2:2:1:600:690:8:5
2:2:1:2:1:520:50000001:0
1:2:1:2:1:520:1000:1
2:3:2:1:1:600:50000001:0
1:3:2:1:1:600:1000:1
2:4:2:2:1:600:50000001:2
1:4:2:2:1:600:700:3
2:4:2:2:1:700:50000001:0
1:4:2:2:1:700:1000:1
"""
EVENTS = "#Paraver (01/01/2026 at 00:00):400_ns:1(2):1:1(1:1)\n2:1:1:1:1:100:90000:1\n2:1:1:1:1:400:90000:0\n"
COMMANDS = [
    ["cut", "--from", "0", "--to", "0.000001", "-o", "cut.h5"],
    ["export", "--to", "chrome", "-o", "exported"],
    ["view", "--print"],
    ["replay", "-o", "predicted.prv"],
]


def run(folder, monkeypatch, text, words):
    (folder / "run.prv").write_text(text)
    monkeypatch.chdir(folder)
    return main([words[0], "run.prv", *words[1:]])


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize(("count", "said"), [(1, "1 arrow inside a task is"), (3, "3 arrows inside a task are")])
def test_arrows_that_are_left_out_are_counted(tmp_path, monkeypatch, capsys, words, count, said):
    arrows = "".join(ARROW.format(at=700 + k) for k in range(count))
    assert run(tmp_path, monkeypatch, ARROWS + arrows, words) == 0
    assert f"run.prv: {said} left out (analyze prv keeps them)" in capsys.readouterr().err


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_without_arrows_nothing_is_said(tmp_path, monkeypatch, capsys, words):
    assert run(tmp_path, monkeypatch, ARROWS, words) == 0
    assert "arrow" not in capsys.readouterr().err


def test_a_prediction_for_paraver_keeps_applications_apart(tmp_path, monkeypatch, capsys):
    assert run(tmp_path, monkeypatch, TWO, ["replay", "-o", "predicted.prv"]) == 0
    header, *lines = (tmp_path / "predicted.prv").read_text().splitlines()
    assert header.split(":", 4)[4].startswith("2:2(1:1,1:2):2(1:3,1:4),")
    messages = [line.split(":") for line in lines if line.startswith("3:")]
    assert [(m[2:5], m[8:11]) for m in messages] == [
        (["1", "1", "1"], ["1", "2", "1"]),
        (["2", "1", "1"], ["2", "2", "1"]),
    ]
    members = [line.split(":") for line in lines if line.startswith("c:")]
    assert [line[4:] for line in members if line[3] == "2"] == [["1", "2"]] * 2
    assert all(len(line[4:]) == len(set(line[4:])) == int(line[3]) for line in members)
    assert "applications" not in capsys.readouterr().err


def test_two_predictions_of_several_applications_each(tmp_path, monkeypatch):
    assert run(tmp_path, monkeypatch, TWO, ["replay", "--app", "run.prv", "-o", "predicted.prv"]) == 0
    header = (tmp_path / "predicted.prv").read_text().splitlines()[0]
    assert header.split(":", 4)[4].startswith("4:2(1:1,1:2):2(1:3,1:4):2(1:5,1:6):2(1:7,1:8),")


@pytest.mark.parametrize("words", [["replay", "-o", "predicted.h5"], COMMANDS[0]], ids=lambda words: words[0])
def test_applications_that_become_one_are_counted(tmp_path, monkeypatch, capsys, words):
    assert run(tmp_path, monkeypatch, TWO, words) == 0
    assert "run.prv: its 2 applications are written as one" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["views", "--view", "useful"], ["view", "--print"]], ids=lambda words: words[0])
def test_views_say_that_nobody_knows_what_computes(tmp_path, monkeypatch, capsys, words):
    line = "run.prv: it is not known what is computing: the trace has events only, no states"
    assert run(tmp_path, monkeypatch, EVENTS, words) == 0
    assert line in capsys.readouterr().err
    assert run(tmp_path, monkeypatch, ARROWS, words) == 0
    assert line not in capsys.readouterr().err


def test_an_archive_does_not_tell_the_tracers_time_from_computing(tmp_path, capsys):
    """The tracer wrote its buffer for 150 ns and 40 ns."""
    calls = [call("MPI_Init", 0, 10), call("MPI_Finalize", 900, 910)]
    ranks = [{"calls": calls, "events": flush(100, 250)}, {"calls": calls, "events": flush(100, 140)}]
    run = write_run(tmp_path, ranks)
    words = ["export", str(run), "--to", "otf2", "-o"]
    assert main([*words, str(tmp_path / "one")]) == 0
    assert "run.h5: the tracer's own time (190 ns) is not told from the program's there" in capsys.readouterr().err
    plain = write_run(tmp_path, [{"calls": calls}], name="plain")
    assert main(["export", str(plain), "--to", "otf2", "-o", str(tmp_path / "two")]) == 0
    assert "tracer" not in capsys.readouterr().err
