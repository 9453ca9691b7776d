"""The graph of a program (DP*Graph++): parts, what follows what, messages, and marks of what is heterogeneous."""

import json
import re
from collections import Counter
from contextlib import closing

import numpy as np
import pytest
from matplotlib.patches import Ellipse, FancyBboxPatch
from placed_runs import placed
from scipy.stats import f_oneway
from synthetic import WORLD, call, request, write_run
from thread_team import by_team

from analyzer.cli import main
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.report.pictures import program_graph as picture
from analyzer.structure.graph.program_graph import DifferingProperty, NodeKind, program_graph, times_differ
from analyzer.trace.read_sizes import ReadSizes
from tracelib.schema import RequestKind

MS = 1_000_000
STEPS = 5


def master(workers):
    """Broadcasts, and receives from every worker in turn; computes 1 ms after each step."""
    calls, chains, requests = [], [], []
    for step in range(STEPS):
        at = step * 40 * MS
        calls.append(call("MPI_Bcast", at + MS, at + 2 * MS, comm=WORLD, peer=0, sent=800, received=800))
        chains.append((("main", 1), ("master", 6)))
        for worker in range(1, workers + 1):
            begin, end = at + (1 + worker) * MS, at + (2 + worker) * MS if worker < workers else at + 35 * MS
            calls.append(call("MPI_Recv", begin, end, comm=WORLD, peer=worker, tag=7, received=80))
            requests.append(request(RequestKind.RECEIVED, begin, end, peer=worker, tag=7, bytes=80))
            chains.append((("main", 1), ("master", 7)))
    return placed({"calls": calls}, chains) | {"requests": requests}


def worker(rank, wiggle):
    """Computes 10 ms a step, rank 2 20 ms, and sends; a little more or less in turn."""
    calls, chains = [], []
    for step in range(STEPS):
        at = step * 40 * MS
        ready = at + 2 * MS + (20 if rank == 2 else 10) * MS + (step % 2) * wiggle
        calls.append(call("MPI_Bcast", at + MS, at + 2 * MS, comm=WORLD, peer=0, sent=800, received=800))
        calls.append(call("MPI_Send", ready, ready + MS, comm=WORLD, peer=0, tag=7, sent=80))
        chains += [(("main", 1), ("work", 13)), (("main", 1), ("work", 15))]
    return placed({"calls": calls}, chains)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    ranks = [master(3), *(worker(rank, MS // 10) for rank in (1, 2, 3))]
    return str(write_run(tmp_path_factory.mktemp("graph"), ranks))


@pytest.fixture
def found(run):
    with closing(open_trace(run)) as trace:
        yield program_graph(trace, Team())


def part(found, words):
    (node,) = [node for node in found.nodes if words in node.label]
    return node


def test_communications_and_who_executes_them(found):
    receive, send = part(found, "Recv master.py:7"), part(found, "Send work.py:15")
    assert receive.count.tolist() == [15, 0, 0, 0] and send.count.tolist() == [0, 5, 5, 5]
    assert receive.differs == (DifferingProperty.WHO,) and send.differs == (DifferingProperty.WHO,)
    assert [lane.tolist() for lane in found.lanes()] == [[0], [1, 2, 3]]


def test_computing_that_takes_longer_on_one_process(found):
    """10 ms on ranks 1 and 3, 20 ms on rank 2, between the broadcast and the send."""
    at = [
        k
        for k, node in enumerate(found.nodes)
        if node.kind == NodeKind.COMPUTING and DifferingProperty.SPEED in node.differs
    ]
    (number,) = [k for k in at if found.nodes[k].count.tolist() == [0, 5, 5, 5]]
    assert found.nodes[number].each_ns == pytest.approx([10.04 * MS, 20.04 * MS, 10.04 * MS])
    ways = {(edge.source, edge.target): edge.by_rank.tolist() for edge in found.flow}
    names = [node.label.split(" ")[0] for node in found.nodes]
    before, after = names.index("Bcast", names.index("Bcast") + 1), names.index("Send")
    assert ways[before, number] == ways[number, after] == [0, 5, 5, 5]


def test_messages_go_from_the_send_to_the_receive(found):
    (edge,) = found.messages
    assert found.nodes[edge.source].label.startswith("Send") and found.nodes[edge.target].label.startswith("Recv")
    assert edge.count == 15


def test_loops_lead_back(found):
    """From one receive to the next twice a step, and four times from the end of a step to the broadcasts."""
    back = [edge for edge in found.flow if edge.is_back]
    (receives,) = [edge for edge in back if edge.source == edge.target]
    assert receives.by_rank.tolist() == [10, 0, 0, 0]
    others = sum(edge.by_rank for edge in back if edge.source != edge.target)
    assert others.tolist() == [4, 4, 4, 4]


def test_what_goes_in_comes_out(found):
    """Each part is entered and left as often as it is executed, on every rank."""
    for number, node in enumerate(found.nodes):
        for end in ("source", "target"):
            through = sum(edge.by_rank for edge in found.flow if getattr(edge, end) == number)
            assert through.tolist() == node.count.tolist()


@pytest.mark.parametrize("size", [3, 7, 1000])
def test_parts_of_the_run_do_not_matter(run, found, size):
    """The same graph where a rank's calls are read a few at a time."""
    with closing(open_trace(run, sizes=ReadSizes(part_calls=size))) as trace:
        again = program_graph(trace, Team())
    assert [node.label for node in again.nodes] == [node.label for node in found.nodes]
    for one, other in zip(again.nodes, found.nodes, strict=True):
        assert one.count.tolist() == other.count.tolist() and one.ns.tolist() == other.ns.tolist()
    assert [(e.source, e.target, e.count) for e in again.flow] == [(e.source, e.target, e.count) for e in found.flow]


def test_processes_that_do_the_same_are_not_marked(tmp_path):
    """Equal work with noise of 5 %, the same calls: nothing differs, there is one column."""
    random, ranks = np.random.default_rng(3), []
    for _ in range(4):
        calls, at = [], 0
        for step in range(20):
            own = int(10 * MS * (1 + 0.05 * random.standard_normal()))
            calls.append(call("MPI_Allreduce", at + own, (step + 1) * 20 * MS, comm=WORLD, sent=8, received=8))
            at = (step + 1) * 20 * MS
        ranks.append({"calls": calls})
    with closing(open_trace(str(write_run(tmp_path, ranks)))) as trace:
        found = program_graph(trace, Team())
    assert len(found.lanes()) == 1
    assert {node.kind for node in found.nodes} == set(NodeKind)
    repeated = [node for node in found.nodes if node.count.min() > 1]
    assert repeated and not any(node.differs for node in repeated)


def test_more_executions_and_more_bytes_are_marked(tmp_path):
    ranks = []
    for rank in range(2):
        calls = [
            call("MPI_Allgather", k * MS, k * MS + 10, comm=WORLD, sent=100 * (1 + rank), received=100)
            for k in range(1, 5)
        ]
        calls += [call("MPI_Wtime", 5 * MS + k, 5 * MS + k + 1) for k in range(rank + 1)]
        calls += [call("MPI_Barrier", (6 + k) * MS, (6 + k) * MS + 10, comm=WORLD) for k in range(rank + 1)]
        ranks.append({"calls": calls})
    with closing(open_trace(str(write_run(tmp_path, ranks)))) as trace:
        found = program_graph(trace, Team())
    assert part(found, "Allgather").differs == (DifferingProperty.BYTES,) and part(found, "Barrier").differs == (
        DifferingProperty.TIMES,
    )
    assert not any("Wtime" in node.label for node in found.nodes)


def test_times_differ_as_an_analysis_of_variance_says():
    """Beside scipy's, on groups of which some differ."""
    random, seen = np.random.default_rng(5), Counter()
    for _ in range(300):
        means = 100 * (1 + random.choice([0.0, 0.3]) * np.arange(3))
        groups = [random.normal(mean, random.choice([5, 40]), 8) for mean in means]
        count, ns = np.full(3, 8.0), np.array([group.sum() for group in groups])
        squares = np.array([(group**2).sum() for group in groups])
        each = ns / count
        expected = bool(f_oneway(*groups).pvalue < 0.001 and each.max() > 1.1 * each.min())
        assert times_differ(count, ns, squares) == expected
        seen[expected] += 1
    assert min(seen.values()) > 30


def test_the_command(run, tmp_path, capsys):
    for name in ("a.svg", "a.png", "a.dot"):
        assert main(["structure", run, "--graph", str(tmp_path / name)]) == 0
    said = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert any(re.fullmatch(r"\d+ Recv master.py:7 in master 0 15 80 B who", line) for line in said), said
    assert any(re.fullmatch(r"\d+ computing 1-3 5 10.0 ms to 20.0 ms who, time", line) for line in said), said
    assert (tmp_path / "a.png").stat().st_size > 5000 and b"<svg" in (tmp_path / "a.svg").read_bytes()
    dot = (tmp_path / "a.dot").read_text()
    assert dot.startswith("digraph") and dot.count("style=dashed") == 1 and "shape=ellipse" in dot
    assert main(["structure", run, "--graph", str(tmp_path / "a.dot"), "--json"]) == 0
    graph = json.loads(capsys.readouterr().out)["graph"]
    assert graph["lanes"] == [[0], [1, 2, 3]] and len(graph["messages"]) == 1
    assert "who" in graph["parts"][[one["name"].split(" ")[0] for one in graph["parts"]].index("Recv")]["differs"]


def test_ranks_that_are_not_looked_at_are_not_missing(run, tmp_path, capsys):
    """With the workers alone, no part belongs to some ranks only."""
    assert main(["structure", run, "--ranks", "1-3", "--graph", str(tmp_path / "w.dot"), "--json"]) == 0
    graph = json.loads(capsys.readouterr().out)["graph"]
    assert graph["lanes"] == [[1, 2, 3]] and not any("who" in one["differs"] for one in graph["parts"])


def test_a_team_finds_the_same(run, found):
    def by(team):
        with closing(open_trace(run, team)) as trace:
            again = program_graph(trace, team)
            return [(node.label, node.count.tolist(), node.ns.tolist()) for node in again.nodes], len(again.messages)

    expected = [(node.label, node.count.tolist(), node.ns.tolist()) for node in found.nodes], len(found.messages)
    assert by_team(2, by) == [expected] * 2


def test_what_is_drawn(found, tmp_path, monkeypatch):
    """A box for each communication, an ellipse for each computing, marked ones in another colour."""
    drawn = []
    monkeypatch.setattr(picture, "save", lambda figure, path: drawn.append(figure))
    picture.draw_program(found, tmp_path / "a.png")
    (axes,) = drawn[0].axes
    for kind, shape in ((NodeKind.COMPUTING, Ellipse), (NodeKind.COMMUNICATION, FancyBboxPatch)):
        shapes = [patch for patch in axes.patches if type(patch) is shape]
        nodes = [node for node in found.nodes if node.kind == kind]
        assert len(shapes) == len(nodes)
        colours = Counter(tuple(np.round(patch.get_facecolor(), 3)) for patch in shapes)
        assert sorted(colours.values()) == sorted(Counter(bool(node.differs) for node in nodes).values())


@pytest.mark.parametrize(
    ("words", "reason"),
    [(["--graph", "a.pdf"], "its name ends in .svg, .png or .dot"), (["--graph", "no/a.svg"], "no")],
)
def test_mistakes(run, words, reason, capsys):
    assert main(["structure", run, *words]) == 1
    said = capsys.readouterr().err
    assert reason in said and len(said.splitlines()) == 1
