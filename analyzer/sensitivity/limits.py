"""Limits of a run on a machine: replays with none of the network's costs, with each of them, and with all.

Source: "Dimemas specification", section 3 and Table 11 (thesis chapter 7).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

from analyzer.in_notebook import InNotebook
from analyzer.machine.description import CostPiece, FileSystem, Machine, Network, Node
from analyzer.machine.drawn_numbers import with_counts
from analyzer.machine.fields import mean_of
from analyzer.parallel import Team
from analyzer.program.model import Program, pieces
from analyzer.program.operation import OperationKind
from analyzer.replay.replays import predictions
from analyzer.replay.simulate import ReplayPrediction
from tracelib.schema.procedures import is_of_files


def only(
    machine: Machine, *, latency: bool = False, bandwidth: bool = False, contention: bool = False, cpus: int = 0
) -> Machine:
    """Return a copy of the machine whose network has only some of its costs.

    Latency is the cost of the smallest message, bandwidth the further cost of larger messages. Both are kept or removed
    between nodes, within nodes and between networks.

    Args:
        machine: The machine.
        latency: Keep latencies.
        bandwidth: Keep bandwidths; otherwise they are infinite.
        contention: Keep numbers of buses and links; otherwise they are unlimited.
        cpus: Number of CPUs of each node. 0: as many as the node has.
    """

    def node(of: Node) -> Node:
        if not latency:
            of = replace(of, latency_s=0.0, intra_latency_s=0.0, wan_latency_s=0.0)
        if not bandwidth:
            of = replace(of, intra_bandwidth_mb=0.0)
        if not contention:
            of = replace(of, links_out=0, links_in=0, half_duplex=False)
            of = replace(of, intra_buses=0, intra_links_out=0, intra_links_in=0)
        of = replace(of, intra=_pieces(of.intra, latency, bandwidth))
        return replace(of, cpus=cpus) if cpus else of

    def network(of: Network) -> Network:
        pieces = _pieces(of.pieces, latency, bandwidth)
        return Network(of.bandwidth_mb if bandwidth else 0.0, of.buses if contention else 0, pieces)

    return replace(
        machine,
        node=node(machine.node),
        nodes=tuple(map(node, machine.nodes)),
        networks=tuple(map(network, machine.networks)),
        wan_bandwidth_mb=machine.wan_bandwidth_mb if bandwidth else 0.0,
    )


def _pieces(pieces: tuple[CostPiece, ...], latency: bool, bandwidth: bool) -> tuple[CostPiece, ...]:
    """Return measured costs with the cost of the smallest message, the further costs of larger ones, both, or none."""
    if not pieces or (latency and bandwidth):
        return pieces
    first = pieces[0]
    if latency:
        return (CostPiece(0, cpu=first.cpu, wire=first.wire, hold=first.hold),)
    if not bandwidth:
        return ()
    return tuple(replace(p, cpu=p.cpu - first.cpu, wire=p.wire - first.wire, hold=p.hold - first.hold) for p in pieces)


def pinned(machine: Machine, ranks: int) -> Machine:
    """Return a copy of the machine with a fixed node for each rank, so that other changes do not move ranks."""
    return replace(machine, mapping=tuple(with_counts(machine, ranks).place(ranks)), mappings=())


COMPUTATION = "computation"
"""Name of the mean computing time among the parts of a run's time. It is the only part that is no loss."""

IDEAL, LATENCY, BANDWIDTH, FREE, WHOLE = (
    "ideal", "latency", "bandwidth", "latency and bandwidth", "with contention"
)  # fmt: skip
"""Networks of the replays: without costs, with latency, with bandwidth, with both, and also with contention."""


@dataclass(frozen=True)
class NetworkScenario:
    """The run on one network (a row of Table 11).

    Attributes:
        end_ns: Time of the run.
        utilisation: Share of all ranks' time in which they compute.
    """

    network: str
    end_ns: int
    utilisation: float

    def slowdown(self, ideal: NetworkScenario) -> float | None:
        """Return this run's time / the time on the ideal network. None: the ideal time is 0. F19 is the inverse."""
        return self.end_ns / ideal.end_ns if ideal.end_ns else None

    def speedup(self, few: NetworkScenario) -> float | None:
        """Return the speedup F19 over a run with fewer ranks on the same network: its time / this run's time.

        None: this run takes no time.
        """
        return few.end_ns / self.end_ns if self.end_ns else None


@dataclass(frozen=True)
class TimeLoss:
    """A loss: time on the machine that is not mean computation.

    All losses and the mean computation sum to the run's time.

    Attributes:
        ns: Length of the loss in ns. It may be negative.
        gain_ns: Time that the run gets shorter if only the cause of this loss is removed. None: not replayed.
    """

    name: str
    ns: int
    gain_ns: int | None = None


@dataclass(frozen=True)
class LatencyCost:
    """Time in ns that latency adds to the run on the ideal network.

    The direct part is time on CPUs or in collectives, mean over the ranks. The induced part is blocking. It is negative
    if latency fell into times at which ranks waited anyway.
    """

    extra_ns: int
    direct_ns: float

    @property
    def induced_ns(self) -> float:
        """Time that latency adds by blocking: extra - direct (section 3.2)."""
        return self.extra_ns - self.direct_ns


@dataclass(frozen=True)
class ReplayLimits(InNotebook):
    """Times of the run on the ideal network, on the machine, and on networks in between; losses between them."""

    ranks: int
    scenarios: tuple[NetworkScenario, ...]  # in the order IDEAL, LATENCY, BANDWIDTH, FREE, WHOLE
    computing_ns: float  # computing time, mean over the ranks
    longest: int  # the rank that computes longest
    losses: tuple[TimeLoss, ...]
    latency: LatencyCost
    messages: int  # number of messages
    most_waiting: int  # most messages that waited for buses and links at the same time (WHOLE)
    mean_waiting: float  # mean of that number over the run

    @property
    def whole(self) -> NetworkScenario:
        """The replay on the machine with all costs."""
        return self.scenarios[-1]

    @property
    def ideal(self) -> NetworkScenario:
        """The replay without any cost of the network."""
        return self.scenarios[0]

    @property
    def parts(self) -> tuple[TimeLoss, ...]:
        """The mean computation and all losses, largest first. They sum to the time on the whole machine."""
        computation = TimeLoss(COMPUTATION, self.whole.end_ns - sum(loss.ns for loss in self.losses))
        return tuple(sorted((computation, *self.losses), key=lambda part: -part.ns))

    @property
    def limit(self) -> TimeLoss | None:
        """The largest part of the run's time. None: the run takes no time."""
        return self.parts[0] if self.whole.end_ns else None


def limits(program: Program, machine: Machine, team: Team, jobs: int | None = None) -> ReplayLimits:
    """Replay a program on the machine, with parts of the network's costs, and on an ideal network.

    Ranks, CPUs, models of collectives, files and the eager limit stay as they are. A run that uses files is also
    replayed with files that take no time.

    Args:
        program: The program.
        machine: The machine.
        team: Processes that share the replays.
        jobs: Number of replays at the same time. None: as many as the CPUs allow.

    Raises:
        TracelibError: The program cannot be replayed on the machine.
    """
    machine = pinned(machine, program.ranks)
    enough = len(program.rank) * max(1, program.most_virtual_threads())
    machines = [
        only(machine),
        only(machine, latency=True),
        only(machine, bandwidth=True),
        only(machine, latency=True, bandwidth=True),
        machine,
        only(machine, cpus=enough),
        only(machine, bandwidth=True, contention=True),
        only(machine, latency=True, contention=True),
    ]
    if uses_files := any(is_of_files(row.procedure) for row in program.left_out):
        machines += [replace(of, files=FileSystem()) for of in (only(machine, cpus=enough), machine)]
    found = predictions(program, machines, team, jobs)
    ideal, latency, bandwidth, free, whole, own_cpus, no_latency, no_bandwidth, *no_files = (p.end_ns for p in found)
    waiting, without = no_files if uses_files else (own_cpus, whole)
    computing = _computing(program, machine, found[4])
    mean, longest = sum(computing) / len(computing), max(computing)
    times = zip((IDEAL, LATENCY, BANDWIDTH, FREE, WHOLE), found, strict=False)
    return ReplayLimits(
        ranks=program.ranks,
        scenarios=tuple(NetworkScenario(name, p.end_ns, mean / p.end_ns if p.end_ns else 0.0) for name, p in times),
        computing_ns=mean,
        longest=computing.index(longest),
        losses=(
            TimeLoss("load imbalance", round(longest - mean)),
            TimeLoss("dependences", waiting - round(longest)),
            *([TimeLoss("files", own_cpus - waiting, whole - without)] if uses_files else ()),
            TimeLoss("shared CPUs", ideal - own_cpus),
            TimeLoss("latency", latency - ideal, whole - no_latency),
            TimeLoss("bandwidth", bandwidth - ideal, whole - no_bandwidth),
            TimeLoss("latency and bandwidth together", free - latency - bandwidth + ideal),
            TimeLoss("contention", whole - free, whole - free),
        ),
        latency=LatencyCost(latency - ideal, _on_latency(found[1], program)),
        messages=int(found[4].usage["sends"].sum()),
        most_waiting=found[4].most_waiting,
        mean_waiting=found[4].mean_waiting,
    )


def _computing(program: Program, machine: Machine, found: ReplayPrediction) -> list[float]:
    """Return the computing time in ns of each rank's busiest stream.

    A block of several threads counts with its duration, not with the sum over the threads.
    """
    ns = found.usage["computing"].astype(float)
    if program.most_virtual_threads() > 1:
        nodes = machine.with_nodes(program.ranks)
        speeds = [mean_of(nodes[node].speed) or inf for node in machine.mapping]  # type: ignore[index]
        ns -= [_shared(program, k) / speeds[rank] for k, rank in enumerate(program.rank.tolist())]
    longest = [0.0] * program.ranks
    for rank, mine in zip(program.rank.tolist(), ns.tolist(), strict=True):
        longest[rank] = max(longest[rank], mine)
    return longest


def _shared(program: Program, stream: int) -> float:
    """Return the time in ns at speed 1 that a stream saves because several threads share its blocks."""
    saved = 0.0
    for ops in pieces(program, stream):
        ops = ops[(ops["kind"] == OperationKind.PARALLEL) & (ops["other"] > 1)]
        saved += float((ops["burst"] * program.factors[ops["block"]] * (1 - 1 / ops["other"])).sum())
    return saved


def _on_latency(found: ReplayPrediction, program: Program) -> float:
    spent = found.usage["overhead"].sum() + found.usage["collective"].sum()
    return float(spent) / program.ranks


def speedups(runs: Sequence[ReplayLimits]) -> list[list[float | None]]:
    """Return F19, the speedup over the first run, for each run and network. Shape: list of runs of list of networks."""
    return [
        [scenario.speedup(few) for few, scenario in zip(runs[0].scenarios, run.scenarios, strict=True)] for run in runs
    ]
