"""Graph of a parallel program from a traced run, with marks where processes differ (DP*Graph++).

Source: PEMPIs-Het, section 3.1, figures 2 and 3: parts of the program that heterogeneity touches have symbols of
another colour. In such a part, only some processes execute it, or some execute it more often or with more bytes, or
(computing) take longer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

import numpy as np
from scipy.special import fdtrc

from analyzer.metrics.sums import add_up
from analyzer.parallel import Team
from analyzer.structure.graph.steps import ENDS, ProgramSteps, StepSums
from analyzer.trace import CallPaths, Trace
from analyzer.trace.trace import check_computing

_LEAST_COMPUTING = 0.005
"""Computing between two communications is a part of the graph if a rank spends this share of the run in it."""
_DIFFERS = 1.1
"""Ranks may differ if the longest mean time is more than this times the shortest."""
_SURE = 0.001
"""Ranks differ if equal ranks would show such a difference with less than this probability (analysis of variance)."""


class NodeKind(Enum):
    """Kind of a part of a program: computing or communication."""

    COMPUTING = "computing"
    COMMUNICATION = "communication"


class DifferingProperty(Enum):
    """Property in which processes differ in a part of the program."""

    WHO = "only some execute it"
    TIMES = "some execute it more often"
    BYTES = "some communicate more"
    SPEED = "some take longer"


@dataclass(frozen=True)
class GraphNode:
    """Part of a program: a communication at one place, or the computing between two communications.

    Attributes:
        kind: Computing or communication.
        label: Procedure and place of a communication. "": computing.
        count: Number of executions of each rank, shape (ranks,).
        ns: Time of each rank, computing or inside MPI, shape (ranks,).
        bytes: Bytes that each rank sent and received, shape (ranks,).
        first_ns: Begin of the first execution, mean of the ranks.
        differs: Properties in which the ranks differ.
    """

    kind: NodeKind
    label: str  # of a communication: the procedure and its place; of computing: ""
    count: np.ndarray  # executions
    ns: np.ndarray  # computed, or inside MPI
    bytes: np.ndarray  # of a communication: sent and received
    first_ns: float  # when it first begins, mean of the ranks
    differs: tuple[DifferingProperty, ...]

    @property
    def each_ns(self) -> np.ndarray:
        """Mean time of one execution, ns, for each rank that executes the part."""
        there = self.count > 0
        return self.ns[there] / self.count[there]


@dataclass(frozen=True)
class GraphEdge:
    """Edge from one part of the program to the next, or messages from one communication to another.

    Attributes:
        source: Index of the node where the edge begins. -1: the begin of the program.
        target: Index of the node where the edge ends. -1: the end of the program.
        by_rank: Number of passes of each rank; for messages, one number for all ranks.
    """

    source: int
    target: int
    by_rank: np.ndarray  # how often; of a message one number, of all ranks

    @property
    def count(self) -> int:
        """Number of passes, or of messages, of all ranks."""
        return int(self.by_rank.sum())

    @property
    def is_back(self) -> bool:
        """True if the edge leads to an earlier part or to the same part, which is a loop."""
        return self.target != ENDS and self.source != ENDS and self.target <= self.source


@dataclass(frozen=True)
class ProgramGraph:
    """Graph of a program. Its nodes are in order of their first execution.

    Attributes:
        file: Path of the run.
        ranks: Number of ranks.
        seen: Ranks that were analyzed.
        nodes: Parts of the program.
        flow: Edges from each part to the next.
        messages: Messages from one communication to another.
        without_messages: Whether there were too many calls to find where messages begin and end.
    """

    file: str
    ranks: int
    seen: np.ndarray  # the ranks that were looked at, of all
    nodes: list[GraphNode]
    flow: list[GraphEdge]
    messages: list[GraphEdge]
    without_messages: bool  # there were too many calls to say where messages begin and end

    def lanes(self) -> list[np.ndarray]:
        """Return the groups of ranks that execute the same parts, the group with the lowest rank first."""
        executed = np.array([node.count > 0 for node in self.nodes]).reshape(len(self.nodes), self.ranks)
        groups: dict[bytes, list[int]] = {}
        for rank in self.seen.tolist():
            groups.setdefault(executed[:, rank].tobytes(), []).append(rank)
        return [np.array(group) for group in groups.values()]


def program_graph(trace: Trace, team: Team) -> ProgramGraph:
    """Find the graph of a traced program. Collective over the team.

    Raises:
        TracelibError: It is not known when the ranks compute.
    """
    check_computing(trace)
    steps = add_up(trace, team, StepSums(trace))
    return _graph(trace, steps)


def _graph(trace: Trace, steps: ProgramSteps) -> ProgramGraph:
    ranks = trace.size
    seen = np.union1d(steps.visits["rank"], steps.steps["rank"])
    nodes: dict[tuple[int, int], GraphNode] = {}  # communications as (number, number), computing as (before, after)
    for number, rows in _by(steps.visits, "node"):
        nodes[number, number] = _communication(_label(trace, steps, number), rows, ranks, seen)
    least_ns = _LEAST_COMPUTING * trace.duration_ns
    long = ((pair, rows) for pair, rows in _pairs(steps.steps) if (rows["ns"] > least_ns).any())
    parts = {pair: _computing(rows, ranks, seen) for pair, rows in long}
    # A communication that follows itself has computing at (number, number), too: the two are told apart by kind.
    keys = [("mpi", key) for key in nodes] + [("own", key) for key in parts]
    of = {key: nodes[key[1]] if key[0] == "mpi" else parts[key[1]] for key in keys}
    order = sorted(keys, key=lambda key: (of[key].first_ns, key[0] == "mpi"))
    at = {key: place for place, key in enumerate(order)}

    def communication(number: int) -> int:
        return ENDS if number == ENDS else at["mpi", (number, number)]

    flow: dict[tuple[int, int], np.ndarray] = {}
    for (before, after), rows in _pairs(steps.steps):
        way = [communication(before), communication(after)]
        if ("own", (before, after)) in at:
            way.insert(1, at["own", (before, after)])
        for pair in pairwise(way):
            flow[pair] = flow.get(pair, np.zeros(ranks)) + _column(rows, "count", ranks)
    messages = [
        GraphEdge(communication(int(row["node"])), communication(int(row["next"])), row["count"])
        for row in (steps.messages if steps.messages is not None else ())
    ]
    edges = [
        GraphEdge(source, target, by_rank)
        for (source, target), by_rank in sorted(flow.items(), key=lambda item: item[0])
    ]
    return ProgramGraph(trace.path, ranks, seen, [of[key] for key in order], edges, messages, steps.messages is None)


def _by(rows: np.ndarray, key: str) -> Iterator[tuple[int, np.ndarray]]:
    for number in np.unique(rows[key]).tolist():
        yield number, rows.compress(rows[key] == number)


def _pairs(steps: np.ndarray) -> Iterator[tuple[tuple[int, int], np.ndarray]]:
    for before, rows in _by(steps, "node"):
        for after, some in _by(rows, "next"):
            yield (before, after), some


def _label(trace: Trace, steps: ProgramSteps, number: int) -> str:
    call, place = divmod(number, steps.places)
    where = trace.extra(CallPaths).named().text(place - 1) if place else ""
    return f"{trace.procedures[call].removeprefix('MPI_')} {where}".rstrip()


def _column(rows: np.ndarray, name: str, ranks: int) -> np.ndarray:
    return np.bincount(rows["rank"], rows[name].astype(float), ranks)


def _communication(label: str, rows: np.ndarray, ranks: int, seen: np.ndarray) -> GraphNode:
    count, ns, size = (_column(rows, name, ranks) for name in ("count", "inside", "bytes"))
    differs = list(_who(count[seen]))
    there = count > 0
    each = size[there] / count[there]
    if each.max(initial=0) > _DIFFERS * each.min(initial=np.inf):
        differs.append(DifferingProperty.BYTES)
    return GraphNode(NodeKind.COMMUNICATION, label, count, ns, size, float(rows["first"].mean()), tuple(differs))


def _computing(rows: np.ndarray, ranks: int, seen: np.ndarray) -> GraphNode:
    count, ns, squares = (_column(rows, name, ranks) for name in ("count", "ns", "squares"))
    differs = list(_who(count[seen]))
    if times_differ(count, ns, squares):
        differs.append(DifferingProperty.SPEED)
    return GraphNode(NodeKind.COMPUTING, "", count, ns, np.zeros(ranks), float(rows["first"].mean()), tuple(differs))


def _who(count: np.ndarray) -> Iterator[DifferingProperty]:
    if not count.all():
        yield DifferingProperty.WHO
    there = count[count > 0]
    if there.max() > there.min():
        yield DifferingProperty.TIMES


def times_differ(count: np.ndarray, ns: np.ndarray, squares: np.ndarray) -> bool:
    """Return True if ranks take different times for one execution.

    The longest mean must be more than 1.1 times the shortest, and more than the variation of each rank's executions
    explains (analysis of variance, probability below 0.001).

    Args:
        count: Number of executions of each rank. Ranks with none are left out.
        ns: Sum of the times of each rank's executions, ns.
        squares: Sum of the squares of these times, ns^2.
    """
    there = count > 0
    count, ns, squares = count[there], ns[there], squares[there]
    means = ns / count
    if len(means) < 2 or means.max() <= _DIFFERS * means.min():
        return False
    freedom = float(count.sum() - len(count))
    within = float(np.maximum(squares - count * means**2, 0).sum())
    if freedom <= 0 or within <= 0:  # nothing is known of how much each varies
        return True
    overall = float(ns.sum() / count.sum())
    between = float((count * (means - overall) ** 2).sum()) / (len(count) - 1)
    return bool(fdtrc(len(count) - 1, freedom, between / (within / freedom)) < _SURE)
