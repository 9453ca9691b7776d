"""Regions of a Paraver trace: Extrae's user functions, and our own regions read back from the .prv."""

import json

import pytest
from synthetic import WORLD, call, event, label, write_run

import analyzer
from analyzer.cli import main
from analyzer.opening import open_trace
from analyzer.trace import Regions
from tracelib.schema import REGION_TYPE, LabelKind

PCF = "EVENT_TYPE\n9 60000019 User function\nVALUES\n0 End\n1 outer\n3 inner\n"


def of_one_rank(tmp_path, *events, pcf=PCF, end=100):
    """A trace of one rank that computes to its end, with these (time, value) of type 60000019."""
    lines = [f"#Paraver (20/11/2026 at 15:00):{end}_ns:1(1):1:1(1:1),1", "c:1:1:1:1", f"1:1:1:1:1:0:{end}:1"]
    lines += [f"2:1:1:1:1:{time}:{REGION_TYPE}:{value}" for time, value in events]
    path = tmp_path / "made.prv"
    path.write_text("\n".join([*lines, f"2:1:1:1:1:{end}:40000001:0"]) + "\n")
    if pcf:
        path.with_suffix(".pcf").write_text(pcf)
    return path


def visits(path):
    rows = analyzer.regions_frame(open_trace(path))[["rank", "region", "begin", "end", "depth"]]
    return sorted(map(tuple, rows.to_numpy().tolist()))


def test_they_nest(tmp_path):
    """Value 0 ends the innermost; a value without a name is called by its number."""
    path = of_one_rank(tmp_path, (10, 1), (20, 3), (30, 3), (40, 0), (50, 0), (60, 2), (70, 0), (80, 0))
    expected = [(0, "outer", 10, 80, 0), (0, "inner", 20, 50, 1), (0, "inner", 30, 40, 2), (0, "region 2", 60, 70, 1)]
    assert visits(path) == sorted(expected)


def test_what_has_no_begin_or_no_end(tmp_path):
    """An end of nothing is left out; what is open is ended with the rank."""
    path = of_one_rank(tmp_path, (5, 0), (10, 1), (15, 0), (20, 1), (30, 3))
    assert visits(path) == [(0, "inner", 30, 100, 1), (0, "outer", 10, 15, 0), (0, "outer", 20, 100, 0)]


@pytest.mark.parametrize("pcf, value", [("", 1), (PCF, 2**40)], ids=["no .pcf", "addresses"])
def test_without_numbers_or_names_there_are_none(tmp_path, pcf, value):
    trace = open_trace(of_one_rank(tmp_path, (10, value), (20, 0), pcf=pcf))
    assert trace.extra(Regions).names == ()
    assert len(trace.extra(Regions).marks(0)) == 0


def test_our_own_are_read_back(tmp_path):
    """Two ranks with regions in regions: the .prv has the same visits as the run, and analyses find the same."""

    def of_rank(late):
        begins, ends = [(1, 1), (2, 20), (1, 40), (1, 61)], [(2, 30), (1, 50), (1, 60), (1, 70 + late)]
        events = [event(t, REGION_TYPE, n, flags=1) for n, t in begins]
        events += [event(t, REGION_TYPE, n, flags=2) for n, t in ends]
        reduce = call("MPI_Allreduce", 80 + late, 95, comm=WORLD, sent=8, received=8)
        labels = [label(LabelKind.REGION, n, name) for n, name in ((1, "solve"), (2, "pack"))]
        return {"calls": [reduce], "events": sorted(events, key=lambda e: e["time"]), "labels": labels}

    run = write_run(tmp_path, [of_rank(0), of_rank(9)])
    assert main(["prv", str(run), "-q"]) == 0
    assert visits(run) == visits(run.with_suffix(".prv")) != []


def test_a_region_of_an_imported_trace_made_faster(tmp_path, capsys):
    """In 100 ns, 40 are in `inner`: half of these is 20 ns less."""
    path = of_one_rank(tmp_path, (10, 1), (30, 3), (70, 0), (90, 0))
    assert main(["what-if", str(path), "--machine", "ideal", "--region", "inner", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["before_s"], found["after_s"], found["inside_s"]) == (100e-9, 80e-9, 40e-9)
    assert main(["efficiency", str(path), "--by", "region", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(r["name"], r["visits"], r["load_balance"]) for r in found["regions"]] == [("outer", 1, 1), ("inner", 1, 1)]
