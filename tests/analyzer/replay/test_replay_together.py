"""Predictions of one run or of several on one machine, as Paraver sees them: two arrows for each message."""

from pathlib import Path

import numpy as np
import pytest
from column_trace import ColumnTrace
from memory_trace import MemoryTrace
from paths import EPOCH

from analyzer.cli import main
from analyzer.machine.description import Network, Node
from analyzer.opening import open_trace
from analyzer.replay import Machine, program_of, simulate
from analyzer.replay.together import JoinedRuns
from analyzer.trace import MESSAGE, Communicator, Leftovers, Nodes, Problem, TracerTime, Unmatched

MACHINE = """
dialect = "{dialect}"
[network]
bandwidth_mb = 100
buses = 1
[[node]]
count = 4
cpus = 1
latency_us = 10
"""
HEAD = '#DIMEMAS:"pair":1,{at}:2(1,1),1\nd:1:1:2:0:1\n'
BODY = """1:0:0:{burst}
2:0:0:1:1048576:7:1:0
1:1:0:0.000000000
3:1:0:0:1048576:7:1:0
"""


def write_pair(path, burst):
    """Task 0 computes, and sends 2^20 bytes to task 1."""
    body = BODY.format(burst=burst)
    at = 0
    while len(HEAD.format(at=at)) + len(body) != at:
        at = len(HEAD.format(at=at)) + len(body)
    second = at - len(body) + body.index("1:1:0")
    path.write_text(HEAD.format(at=at) + body + f"s:0:{at - len(body)}\ns:1:{second}\n")
    return str(path)


@pytest.mark.parametrize("dialect", ["thesis", "standard"])
def test_two_lists_and_two_arrows(dialect, tmp_path):
    """Rows 6 and 7, both dialects: the second application's message is ready at 12 us, and has the one bus when the
    first one's, which took it at 11 us, is there: 10 ms later."""
    first, second = (write_pair(tmp_path / f"{k}.dim", f"0.00000{k}000") for k in (1, 2))
    (tmp_path / "m.toml").write_text(MACHINE.format(dialect=dialect))
    out = str(tmp_path / "both.prv")
    assert main(["replay", first, "--app", second, "--machine", str(tmp_path / "m.toml"), "-o", out, "-q"]) == 0
    lines = Path(out).read_text().splitlines()
    assert lines[0].endswith(":20011000_ns:4(1,1,1,1):2:2(1:1,1:2):2(1:3,1:4),6")
    assert [line for line in lines if line.startswith("3:")] == [
        "3:1:1:1:1:1000:11000:2:1:2:1:0:10011000:1048576:7",
        "3:3:2:1:1:2000:10011000:4:2:2:1:0:20011000:1048576:7",
    ]
    assert "1:3:2:1:1:0:2000:1" in lines  # running
    assert {p.suffix for p in tmp_path.iterdir()} == {".dim", ".toml", ".prv", ".pcf", ".row"}
    again = open_trace(out)
    assert again.origin.applications == (2, 2) and again.size == 4 and not again.problems


def columns(rank_count, first, **attributes):
    """Return a run of `rank_count` ranks, each on its own CPU.

    Each rank computes at `first`, names a region, and sends to the next.
    """
    ranks = range(rank_count)
    states = [(first + rank, first + rank + 5, rank, 0, 1, rank + 3) for rank in ranks]
    events = [(first + 2 * rank, 7, 60000019, rank, 0, rank + 3) for rank in ranks]
    messages = np.zeros(rank_count, MESSAGE)
    messages["logical_send"] = first + np.arange(rank_count)
    messages["source"], messages["destination"] = ranks, (np.arange(rank_count) + 1) % rank_count
    messages["source_cpu"] = messages["destination_cpu"] = 4
    return ColumnTrace(states, events, messages, rank_count, **attributes)


@pytest.fixture
def together():
    """Two ranks and three, on nodes of two CPUs and of one."""
    calls = [[("MPI_Init", 1, 2 + rank, {})] for rank in range(3)]
    problems, unmatched = [Problem(2, "late"), Problem(-1, "cut")], [Unmatched(1, "MPI_Send", 2, 7, 0, 8, 1, "send")]
    spans = [(0, 9), (1, 9), (2, 30)]
    second = MemoryTrace(calls, flushes={2: [(4, 6)]}, spans=spans, problems=problems, unmatched=unmatched)
    second.communicators = (Communicator(1, (0, 1, 2)), Communicator(5, (2,), (0, 1)))
    labels = (
        {60000019: ("User function", {0: "End", 1: "solve", 2: "write"})},
        {60000019: ("User function", {1: "init"})},
    )
    first = columns(2, 100, event_labels=labels[0], procedures=("MPI_Init", "MPI_Send"))
    second.event_labels = labels[1]
    return JoinedRuns([first, second], Nodes(("a", "b"), (2, 3), np.array([0, 0, 1, 1, 1], np.int32)))


def test_ranks_are_one_after_the_other(together):
    """A rank's data come from its own run."""
    assert together.origin.predicted and together.size == 5 and together.origin.applications == (2, 3)
    assert together.duration_ns == 106
    assert [together.span(rank) for rank in range(5)] == [(0, 106), (0, 106), (0, 9), (1, 9), (2, 30)]
    exits = [[row["exit"] for rows in together.calls(rank) for row in rows] for rank in range(5)]
    assert exits == [[], [], [2], [3], [4]]
    assert [len(together.extra(TracerTime).flushes(rank)) for rank in range(5)] == [0, 0, 0, 0, 1]
    assert [sum(map(len, together.requests(rank))) for rank in range(5)] == [0] * 5
    found = [(c.id, c.members, c.remote) for c in together.communicators]
    assert found == [(1, (0, 1), ()), (1, (2, 3, 4), ()), (5, (4,), (2, 3))]
    assert [(problem.rank, problem.text) for problem in together.problems] == [(4, "late"), (-1, "cut")]
    assert [(found.rank, found.peer) for found in together.extra(Leftovers).unmatched()] == [(3, 4)]
    assert together.procedures == ("MPI_Init", "MPI_Send")


def test_labels_of_all_runs(together):
    """Region 1 is not the same in both."""
    names = {0: "End", 1: "solve / init", 2: "write"}
    assert together.event_labels == {60000019: ("User function", names)}


def test_rows_of_all_runs(together):
    """In order of time, with the ranks of all, and on their CPUs; the runs' own rows are as they were."""
    other = columns(3, 101)
    together._runs[1] = other
    assert together.states()[["begin", "rank", "cpu"]].tolist() == [
        (100, 0, 3), (101, 1, 4), (101, 2, 3), (102, 3, 4), (103, 4, 5),
    ]  # fmt: skip
    assert together.events()[["time", "rank", "cpu"]].tolist() == [
        (100, 0, 3), (101, 2, 3), (102, 1, 4), (103, 3, 4), (105, 4, 5),
    ]  # fmt: skip
    assert together.messages()[["logical_send", "source", "destination", "source_cpu"]].tolist() == [
        (100, 0, 1, 4), (101, 1, 0, 4), (101, 2, 3, 4), (102, 3, 4, 4), (103, 4, 2, 4),
    ]  # fmt: skip
    assert together.states(101, 103)["begin"].tolist() == [101, 101, 102]
    assert together.events(102)["time"].tolist() == [102, 103, 105]
    assert together.states(ranks=range(1, 3))["rank"].tolist() == [1, 2]
    assert together.events(ranks=range(2, 4))["rank"].tolist() == [2, 3]
    assert together.states(ranks=range(0))["rank"].tolist() == []
    assert other.states_table["rank"].tolist() == [0, 1, 2] and other.states_table["cpu"].tolist() == [3, 4, 5]
    assert other.messages_table["destination"].tolist() == [1, 2, 0]


def test_windows_share_the_room(monkeypatch):
    """Each run's windows bound a window of all; of two runs each has half of the rows, and at least one."""
    runs = [columns(2, 100, window=40), columns(2, 120, window=60)]
    asked = []
    for run in runs:
        of_run = run.windows
        monkeypatch.setattr(run, "windows", lambda records, of_run=of_run: (asked.append(records), of_run(records))[1])
    both = JoinedRuns(runs, Nodes(("a",), (4,), np.zeros(4, np.int32)))
    assert both.windows(10).tolist() == [0, 40, 60, 80, 120, 180]
    assert both.windows(1).tolist() == both.windows(10).tolist()
    assert asked == [5, 5, 1, 1, 5, 5]


@pytest.mark.skipif(not EPOCH.is_dir(), reason="the EPOCH traces are not here")
def test_each_message_leaves_when_it_had_its_links(tmp_path):
    """A published trace has the simulator's starts, one for each message, and none before its call."""
    trace = EPOCH / "epoch_4proc.prv.gz"
    options = ["--latency", "20us", "--bandwidth", "100MB/s", "--buses", "1", "--links", "1", "--eager-limit", "32k"]
    assert main(["replay", str(trace), *options, "-o", str(tmp_path / "x.prv"), "-q"]) == 0
    found = open_trace(tmp_path / "x.prv").messages()
    node = Node(latency_s=20e-6, links_in=1, links_out=1)
    machine = Machine(node=node, networks=(Network(100.0, 1),), eager_limit=32768)
    carried = simulate(program_of(open_trace(trace)), machine, transfers=True).transfers
    assert sorted(found["physical_send"].tolist()) == sorted(carried["start"][carried["start"] >= 0].tolist())
    assert (found["physical_send"] > found["logical_send"]).all()
    assert ((found["physical_send"] < found["physical_receive"]) | (found["size"] == 0)).all()
