"""Filters by place, region and iteration, and views of regions, iterations and counters."""

import pytest
from marked import LABELS, begin, end
from placed_runs import placed
from synthetic import WORLD, call, request, write_run
from view_trace import ViewTrace, bursts_of

import analyzer
from analyzer import views
from analyzer.errors import TracelibError
from analyzer.opening import open_trace
from analyzer.views import Filter, View
from benchmarks.synthetic.run import write_run as write_pattern
from tracelib.schema import RequestKind

REGIONS = "solve", "exchange"


@pytest.fixture(scope="module")
def by_hand(tmp_path_factory):
    """Rank 0 sends in exchange, in solve, and calls a barrier outside; rank 1 receives in no region."""
    first = [call("MPI_Send", 120, 150, comm=WORLD, peer=1, tag=5, sent=80), call("MPI_Barrier", 160, 170, comm=WORLD)]
    first += [call("MPI_Barrier", 210, 300, comm=WORLD)]
    second = [call("MPI_Recv", 100, 155, comm=WORLD, peer=0, tag=5, received=80)]
    second += [call("MPI_Barrier", 160, 170, comm=WORLD), call("MPI_Barrier", 210, 300, comm=WORLD)]
    events = [begin(110, 1), begin(115, 2), end(150, 2), end(200, 1)]
    ranks = [
        {"calls": first, "events": events, "labels": LABELS},
        {"calls": second, "requests": [request(RequestKind.RECV_DONE, 100, 155, peer=0, tag=5, bytes=80)]},
    ]
    ranks[0] = placed(ranks[0], [(("main", 1), ("swap", 7)), (("main", 1), ("wait", 9)), (("main", 2),)])
    ranks[1] = placed(ranks[1], [(("main", 1), ("swap", 8)), (("main", 1), ("wait", 9)), (("main", 2),)])
    return open_trace(write_run(tmp_path_factory.mktemp("where"), ranks))


def inside_ns(trace, **wanted):
    found = views.measures(trace, View("in call", filter=Filter(**wanted)), ["integral"]).columns["integral"]
    return (found * 1e9).round().tolist()


def test_calls_by_region(by_hand):
    assert inside_ns(by_hand) == [130, 155]
    assert inside_ns(by_hand, region="solve") == [40, 0]
    assert inside_ns(by_hand, region="exchange") == inside_ns(by_hand, region="solve/exchange") == [30, 0]
    with pytest.raises(TracelibError, match="no region 'solver'") as error:
        inside_ns(by_hand, region="solver")
    assert "exchange, solve" in error.value.hint


def test_calls_by_place(by_hand):
    assert inside_ns(by_hand, place="swap") == [30, 55]
    assert inside_ns(by_hand, place=r"main\.py:1") == [40, 65]
    assert inside_ns(by_hand, place="wait", calls="MPI_Barrier") == [10, 10]
    with pytest.raises(TracelibError, match="no call of"):
        inside_ns(by_hand, place="nowhere")


def test_messages_by_region(by_hand):
    for region, sends in (("exchange", [1, 0]), ("solve", [1, 0])):
        found = views.measures(by_hand, View(filter=Filter(region=region)), ["sends"]).columns["sends"]
        assert found.tolist() == sends


def test_the_time_in_regions(by_hand):
    table = views.histogram(by_hand, "region", "time").filled()
    named = dict(zip(table.columns, (table.values[0, 0] * 1e9).round().tolist(), strict=True))
    assert {name: named[name] for name in REGIONS} == {"solve": 5 + 50, "exchange": 35}


def test_iterations(tmp_path):
    run = views.ViewRun(open_trace(write_pattern(tmp_path, "halo", 4, 300).path))
    frame = analyzer.Tables(run.trace).calls.to_pandas()
    for wanted in ("0", "2-4"):
        first, last = (int(text) for text in (wanted.split("-") * 2)[:2])
        mine = frame[(frame["iteration"] >= first) & (frame["iteration"] <= last)]
        expected = mine.groupby("rank")["mpi_s"].sum() * 1e9
        assert inside_ns(run, iterations=wanted) == pytest.approx(expected.tolist(), abs=1)
    table = views.histogram(run, View("in call", level="task"), "integral", by="iteration", columns=(1, 5, 1))
    of_fifth = frame[frame["iteration"] == 4].groupby("rank")["mpi_s"].sum()
    assert table.columns == ("1", "2", "3", "4", "5")
    edges = analyzer.Tables(run.trace).iterations.to_pandas()
    fifth = edges[edges["iteration"] == 4]
    crossing = sum(((frame["enter_s"] < t) & (frame["exit_s"] > t)).sum() for t in (*fifth["begin_s"], *fifth["end_s"]))
    if not crossing:
        assert table.values[0, :, 4].tolist() == pytest.approx(of_fifth.tolist())


INSTRUCTIONS, CYCLES = 42000050, 42000059


def test_instructions_a_cycle():
    """20 instructions in 10 cycles until 30, 90 in 60 until 90; computing until 50."""
    events = [
        (30, 20, INSTRUCTIONS, 0, 0),
        (30, 10, CYCLES, 0, 0),
        (90, 90, INSTRUCTIONS, 0, 0),
        (90, 60, CYCLES, 0, 0),
    ]
    trace = ViewTrace(100, events=events, states=[(0, 50, 0, 0, 1)])
    with pytest.raises(TracelibError, match="no event type 'instructions'"):
        bursts_of(trace, views.api.view_named("ipc"))
    trace.event_labels = {INSTRUCTIONS: ("PAPI_TOT_INS", {}), CYCLES: ("PAPI_TOT_CYC", {})}
    assert bursts_of(trace, views.api.view_named("ipc")) == [(0, 30, 2), (30, 90, 1.5), (90, 100, 0)]
    assert bursts_of(trace, views.api.view_named("useful-ipc")) == [(0, 30, 2), (30, 50, 1.5), (50, 100, 0)]
    assert bursts_of(trace, views.api.view_named("mips")) == [
        (0, 30, pytest.approx(20 / 0.03)), (30, 90, pytest.approx(90 / 0.06)), (90, 100, 0)
    ]  # fmt: skip
