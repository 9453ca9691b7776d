"""Efficiencies of regions and visits: planted imbalance by hand, and properties over any nesting."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from marked import LABELS, LAST, begin, end, threads
from synthetic import call, flush, label, write_run

from analyzer.cli import main
from analyzer.efficiency.by_region import region_efficiencies, visit_efficiencies
from analyzer.metrics.regions import region_sums
from analyzer.parallel import Team
from analyzer.recording.run.opening import open_run
from tracelib.schema import LabelKind

ONE = Team()


def barrier(enter, leave):
    return call("MPI_Barrier", enter, leave, comm=1)


@pytest.fixture
def run(tmp_path):
    """solve: rank 0 computes 80 (less a flush of 10) and 30 ns, rank 1 40 and 50; exchange: all in even measure; rank 2
    is in no region."""
    zero = [begin(10, 1), *flush(20, 30), end(110, 1), begin(120, 2), end(140, 2), begin(200, 1), end(260, 1)]
    one = [begin(10, 1), end(110, 1), begin(120, 2), end(140, 2), begin(205, 1), end(260, 1)]
    ranks = [
        {"labels": LABELS, "events": zero, "calls": [barrier(90, 110), barrier(230, 260)]},
        {"labels": LABELS, "events": one, "calls": [barrier(50, 110), barrier(255, 260)]},
        {"calls": [barrier(1, 300)]},
    ]
    return write_run(tmp_path, ranks)


def values(e):
    return [e.parallel_efficiency, e.load_balance, e.communication_efficiency]


def test_planted_imbalance(run):
    trace = open_run(str(run))
    solve, exchange = region_efficiencies(trace, ONE)
    assert (solve.name, solve.visits, solve.threads, solve.efficiency.runtime_ns) == ("solve", 4, 2, 155)
    assert values(solve.efficiency) == pytest.approx([95 / 155, 95 / 100, 100 / 155])
    assert (exchange.name, exchange.visits, exchange.threads) == ("exchange", 2, 2)
    assert values(exchange.efficiency) == [1, 1, 1]
    first, second = visit_efficiencies(trace, "solve", ONE)
    assert (first.number, first.threads, first.efficiency.runtime_ns) == (1, 2, 100)
    assert values(first.efficiency) == pytest.approx([55 / 100, 55 / 70, 70 / 100])
    assert (second.number, second.end_ns - second.begin_ns, second.efficiency.runtime_ns) == (2, 60, 60)
    assert values(second.efficiency) == pytest.approx([40 / 60, 40 / 50, 50 / 60])
    assert visit_efficiencies(trace, "never", ONE) == []


def out(capsys, *arguments):
    assert main([str(argument) for argument in arguments]) == 0
    return capsys.readouterr().out


def test_command(run, capsys):
    found = json.loads(out(capsys, "efficiency", run, "--region", "solve", "--json"))
    assert [one["name"] for one in found["regions"]] == ["solve"]
    assert found["regions"][0]["load_balance"] == pytest.approx(0.95)
    assert [visit["visit"] for visit in found["visits"]] == [1, 2]
    text = out(capsys, "efficiency", run, "--by", "region")
    assert [line.split()[:3] for line in text.splitlines() if "solve" in line] == [["solve", "4", "2"]]
    assert "visit " not in text
    assert len(out(capsys, "efficiency", run, "--region", "solve").split("\n\n")) == 5


def iterations(computing):
    """Build a rank that computes this time in each visit, and waits in a barrier for the longest of `LONGEST`."""
    events, calls, now = [], [], 10
    for own, longest in zip(computing, LONGEST, strict=True):
        events += [begin(now, 1), end(now + longest + 20, 1)]
        calls.append(barrier(now + own, now + longest + 20))
        now += longest + 30
    return {"labels": LABELS, "events": events, "calls": calls}


USUAL = [100] * 60
LONGEST = [*USUAL[:7], 900, *USUAL[8:29], 400, *USUAL[30:]]


def test_visits_that_lost_most_time_come_first(tmp_path, capsys):
    """Among 60 iterations of 120 ns, the 8th takes 800 ns more on rank 1 alone, the 30th 300 ns more on both ranks.

    All others have bad efficiency, since rank 0 computes half as long.
    """
    usual = [50] * 60
    zero = [*usual[:29], 400, *usual[30:]]
    path = write_run(tmp_path, [iterations(zero), iterations(LONGEST)])
    visits = json.loads(out(capsys, "efficiency", path, "--region", "solve", "--json"))["visits"]
    assert [one["visit"] for one in visits] == list(range(1, 61))
    lost = {one["visit"]: one["lost_s"] for one in visits}
    assert (lost.pop(8), lost.pop(30)) == (pytest.approx(2 * 800e-9), pytest.approx(2 * 300e-9))
    assert set(lost.values()) == {0.0}
    text = out(capsys, "efficiency", path, "--region", "solve")
    rows = [line.split() for line in text.split("visit ")[1].splitlines()[1:]]
    assert [row[0] for row in rows[:4]] == ["8", "30", "1", "2"]
    assert rows[40] == ["20", "more"]
    assert "Visit 8 lost most: it takes 920 ns, 7.67 times the median of 120 ns." in " ".join(text.split())


def test_each_visit_on_an_ideal_network(tmp_path, capsys):
    """First both compute, 40 and 90 of 100 ns, and meet in a barrier, which costs nothing there: 90 of 90. Then rank 1
    waits for what rank 0 sends after 30 ns, and computes 50 of 100: 50 of 80."""
    edges = [begin(10, 1), end(110, 1), begin(200, 1)]
    ranks = [
        {"labels": LABELS, "events": [*edges, end(240, 1)],
         "calls": [barrier(40, 100), call("MPI_Send", 230, 235, comm=1, peer=1, tag=1, sent=8)]},
        {"labels": LABELS, "events": [*edges, end(300, 1)],
         "calls": [barrier(90, 100), call("MPI_Recv", 200, 250, comm=1, peer=0, tag=1, received=8)]},
    ]  # fmt: skip
    found = json.loads(out(capsys, "efficiency", write_run(tmp_path, ranks), "--region", "solve", "--json"))
    first, second = found["visits"]
    names = ("communication_efficiency", "serialization_efficiency", "transfer_efficiency")
    assert [first[name] for name in names] == pytest.approx([90 / 100, 1, 0.9])
    assert [second[name] for name in names] == pytest.approx([50 / 100, 50 / 80, 0.8])
    region = found["regions"][0]
    assert [region[name] for name in names] == pytest.approx([140 / 200, 140 / 170, 140 / 200 / (140 / 170)])


def test_unknown_regions(run, tmp_path, capsys):
    (tmp_path / "none").mkdir()
    without = write_run(tmp_path / "none", [{"calls": [barrier(1, 2)]}])
    for file, region, said in ((run, "sovle", "has no region 'sovle' (it has solve"), (without, "solve", "no regions")):
        assert main(["efficiency", str(file), "--region", region]) == 1
        printed = capsys.readouterr()
        assert (printed.out, printed.err.count("\n")) == ("", 1)
        assert said in printed.err


def test_names_that_look_like_markup(tmp_path, capsys):
    ranks = [{"labels": [label(LabelKind.REGION, 1, "[red]x[/red]")], "events": [begin(1, 1), end(9, 1)]}]
    assert "[red]x[/red]" in out(capsys, "efficiency", write_run(tmp_path, ranks), "--by", "region")


@settings(max_examples=40)
@given(threads(0), threads(1))
def test_visits_add_up_to_the_region(first, second):
    rows = {"labels": LABELS, "start": 0, "clock": [(0, 0), (LAST, LAST)]}
    for position, name in enumerate(("calls", "polls", "events")):
        rows[name] = first[position] + second[position]
    rows["events"] = sorted(rows["events"], key=lambda row: row["thread"])
    with tempfile.TemporaryDirectory() as folder:
        trace = open_run(str(write_run(Path(folder), [rows])))
        sums = region_sums(trace, ONE)
        found = {one.name: one for one in region_efficiencies(trace, ONE)}
        for region, name in enumerate(sums.names):
            visits = visit_efficiencies(trace, name, ONE)
            useful = sum((v.efficiency.parallel_efficiency or 0) * v.efficiency.runtime_ns * v.threads for v in visits)
            assert useful == pytest.approx(sums.useful_ns[:, region].sum(), abs=1e-6)
            for one in [*visits, *([found[name]] if name in found else [])]:
                e = one.efficiency
                if e.parallel_efficiency is not None:
                    assert e.parallel_efficiency == pytest.approx(e.load_balance * e.communication_efficiency)
                    assert 0 < e.parallel_efficiency <= e.communication_efficiency + 1e-12 <= 1 + 2e-12
        trace.close()
