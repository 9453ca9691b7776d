"""`analyze prv --waits`: wait states as events of a type of their own, their names, and a window that shows them."""

import re
from itertools import pairwise

import numpy as np
import pytest
from synthetic import WORLD, call, write_run

from analyzer.cli import main
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.trace.read_sizes import ReadSizes
from analyzer.waits.annotated import WithWaits
from analyzer.waits.kinds import LABELS, WaitKind

TYPE = 49000020


@pytest.fixture
def run(tmp_path):
    """Rank 1 waits from 40 to 100 for a message, and rank 0 from 120 to 190 at a barrier, which begins there."""

    def barrier(enter, exit_):
        return call("MPI_Barrier", enter, exit_, comm=WORLD)

    zero = [call("MPI_Send", 100, 105, comm=WORLD, peer=1, tag=1, sent=8), barrier(120, 200)]
    one = [call("MPI_Recv", 40, 110, comm=WORLD, peer=0, tag=1, received=8), barrier(190, 200)]
    return write_run(tmp_path, [{"calls": zero}, {"calls": one}])


def events_of(path):
    trace = open_trace(str(path))
    events = trace.events()
    return [(int(e["rank"]), int(e["time"]), int(e["value"])) for e in events[events["type"] == TYPE]], trace


def test_each_wait_begins_and_ends(run, tmp_path):
    assert main(["prv", str(run), "--waits", "-q"]) == 0
    found, trace = events_of(tmp_path / "run.prv")
    late, barrier = WaitKind.LATE_SENDER + 1, WaitKind.BARRIER + 1
    assert found == [(1, 40, late), (1, 100, 0), (0, 120, barrier), (0, 190, 0)]
    assert trace.event_labels[TYPE][1] == {0: "No wait"} | {
        kind + 1: LABELS[kind][0].upper() + LABELS[kind][1:] for kind in WaitKind
    }


def test_one_wait_ends_where_the_next_one_begins(tmp_path):
    """A barrier that rank 1 leaves, by the clocks, before rank 0 comes; then a receive at once."""
    barriers = [call("MPI_Barrier", *times, comm=WORLD) for times in ((100, 105), (20, 90))]
    zero = [barriers[0], call("MPI_Send", 140, 145, comm=WORLD, peer=1, tag=1, sent=8)]
    one = [barriers[1], call("MPI_Recv", 90, 150, comm=WORLD, peer=0, tag=1, received=8)]
    events = WithWaits(open_trace(str(write_run(tmp_path, [{"calls": zero}, {"calls": one}]))), Team()).events()
    found = [(int(e["time"]), int(e["value"])) for e in events[events["type"] == TYPE]]
    assert found == [(20, WaitKind.BARRIER + 1), (90, 0), (90, WaitKind.LATE_SENDER + 1), (140, 0)]


def test_the_rest_of_the_trace_is_the_same(run, tmp_path):
    assert main(["prv", str(run), "-o", str(tmp_path / "plain"), "-q"]) == 0
    assert main(["prv", str(run), "--waits", "-q"]) == 0
    plain, marked = ((tmp_path / name).read_text() for name in ("plain.prv", "run.prv"))
    lines = [re.sub(f":{TYPE}:\\d+", "", line) for line in marked.splitlines()]
    assert [line for line in lines if line.count(":") > 5 or not line.startswith("2:")] == plain.splitlines()
    assert not (tmp_path / "plain.waits.cfg").exists()


def test_windows_of_any_size_give_the_same_events(run, monkeypatch):
    trace = open_trace(str(run), sizes=ReadSizes(block_calls=2))
    whole = WithWaits(trace, Team()).events()
    cut = trace.windows
    monkeypatch.setattr(trace, "windows", lambda records=1: cut(1))
    annotated = WithWaits(trace, Team())
    bounds = annotated.windows().tolist()
    assert len(bounds) > 3
    parts = [annotated.events(begin, end) for begin, end in pairwise(bounds)]
    assert np.concatenate(parts).tolist() == whole.tolist()


def test_a_window_that_shows_them(run, tmp_path):
    """All tags that Paraver's loader needs to show the last value of one event type; counts before lists are right."""
    assert main(["prv", str(run), "--waits", "-q"]) == 0
    text = (tmp_path / "run.waits.cfg").read_text()
    tags = dict(line.split(" ", 1) for line in text.splitlines() if line.startswith("window_"))
    assert text.startswith("#ParaverCFG\nConfigFile.Version: 3.4\nConfigFile.NumWindows: 1\n")
    assert text.count("< NEW DISPLAYING WINDOW ") == 1 and tags["window_type"] == "single"
    assert f"window_filter_module evt_type 1 {TYPE}\n" in text
    assert "{thread, Last Evt Val}" in tags["window_selected_functions"]
    assert float(tags["window_maximum_y"]) == len(WaitKind)
    for name in ("window_selected_functions", "window_compose_functions"):
        count, items = re.fullmatch(r"\{ (\d+), \{ (.*) \} \}", tags[name]).groups()
        assert len(re.findall(r"\{[^{}]+\}", items)) == int(count)


def test_a_file_of_another_kind_is_kept(run, tmp_path, capsys):
    (tmp_path / "run.waits.cfg").write_text("mine")
    assert main(["prv", str(run), "--waits", "-q"]) != 0
    assert "run.waits.cfg exists and is not a .cfg file" in capsys.readouterr().err
    assert (tmp_path / "run.waits.cfg").read_text() == "mine"
    assert not (tmp_path / "run.prv").exists()
