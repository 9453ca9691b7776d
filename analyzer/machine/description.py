"""The machine on which runs are replayed: nodes, networks, file system, scheduling, and models of collectives.

Source: "Dimemas specification", sections 1.4, 1.7 to 1.10, 1.14 and 1.15.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping as MappingType
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from itertools import accumulate
from typing import Any

from analyzer._replay import lib
from analyzer.errors import TracelibError, about
from analyzer.program.operation import COLLECTIVE_NAMES

DIALECTS = ("standard", "dimemas-5.5", "thesis")


@dataclass(frozen=True)
class UniformNumber:
    """A machine parameter that is drawn anew at each use, uniformly between `low` and `high`."""

    low: float
    high: float


@dataclass(frozen=True)
class GaussianNumber:
    """A machine parameter that is drawn anew at each use from a normal distribution. Negative values become 0."""

    mean: float
    deviation: float


@dataclass(frozen=True)
class ExponentialNumber:
    """A machine parameter that is drawn anew at each use: `least` plus an exponentially distributed number.

    Attributes:
        least: Smallest possible value.
        mean: Mean of the exponentially distributed number that is added to `least`.
    """

    least: float
    mean: float


LAWS: dict[str, type[UniformNumber] | type[GaussianNumber] | type[ExponentialNumber]] = {
    "uniform": UniformNumber, "gaussian": GaussianNumber, "exponential": ExponentialNumber,
}  # fmt: skip
"""Classes of random numbers by the name that the distribution has in a machine file."""

Quantity = float | UniformNumber | GaussianNumber | ExponentialNumber
Count = int | UniformNumber | GaussianNumber | ExponentialNumber
"""A whole number of the machine.

A random number is drawn once, when the machine is made (`drawn_numbers.with_counts`), and is at least 1.
"""


@dataclass(frozen=True)
class CostPiece:
    """Measured costs of messages of `from_bytes` or more bytes, up to the next piece.

    Each cost in ns is a constant plus a slope times the message size in bytes.

    Attributes:
        cpu: Time that the message occupies its sender's CPU.
        wire: Time from then until the message arrives.
        hold: Time that the message occupies its links.
    """

    from_bytes: int
    cpu: float = 0.0
    cpu_slope: float = 0.0
    wire: float = 0.0
    wire_slope: float = 0.0
    hold: float = 0.0
    hold_slope: float = 0.0


@dataclass(frozen=True)
class Node:
    """A node: CPUs with private memory. 0 links or 0 buses means that their number is unlimited."""

    cpus: Count = 0  # 0: one for each thread of a rank
    speed: Quantity = 1.0  # durations of bursts are divided by it; 0: bursts take no time
    latency_s: Quantity = 0.0  # of messages to other nodes; it occupies the processor
    intra_latency_s: Quantity = 0.0
    intra_bandwidth_mb: Quantity = 0.0  # MB/s of 2^20 bytes; 0: infinite
    wan_latency_s: Quantity = 0.0  # of messages to nodes of other networks
    links_out: Count = 0
    links_in: Count = 0
    half_duplex: bool = False  # the outgoing links serve both directions
    intra_buses: Count = 0
    intra_links_out: Count = 0
    intra_links_in: Count = 0
    network: int = 0
    intra: tuple[CostPiece, ...] = ()  # measured costs by size, instead of latency and bandwidth


@dataclass(frozen=True)
class Network:
    """A network between nodes. It has either bandwidth and buses, or measured costs by message size (`pieces`)."""

    bandwidth_mb: Quantity = 0.0  # MB/s of 2^20 bytes; 0: infinite
    buses: Count = 0
    pieces: tuple[CostPiece, ...] = ()


@dataclass(frozen=True)
class FileSystem:
    """The file system that all nodes share: servers, each of which handles one request at a time."""

    latency_s: Quantity = 0.0  # of each read and write
    read_bandwidth_mb: Quantity = 0.0  # MB/s of 2^20 bytes, of each server; 0: infinite
    write_bandwidth_mb: Quantity = 0.0
    servers: Count = 0  # number of requests that are served at the same time; 0: unlimited
    block_bytes: int = 0  # requests are rounded up to whole blocks of this size; 0: no rounding
    open_s: Quantity = 0.0  # time in which a process opens a file; also to delete a file, and to set its size
    close_s: Quantity = 0.0
    sync_s: Quantity = 0.0


class PhaseModel(IntEnum):
    """How the duration of a phase of a collective grows with the number of its members (Table 2)."""

    NONE = lib.MODEL_NONE
    CONSTANT = lib.MODEL_CONSTANT
    LINEAR = lib.MODEL_LINEAR
    LOG = lib.MODEL_LOG


class PhaseSize(IntEnum):
    """Number of bytes that a phase of a collective moves, from the sizes that its root sends and receives (Table 3)."""

    MAX = lib.SIZE_MAX_
    MIN = lib.SIZE_MIN_
    MEAN = lib.SIZE_MEAN
    TWICE_MAX = lib.SIZE_TWICE_MAX
    SUM = lib.SIZE_SUM
    PHASE = lib.SIZE_PHASE  # the bytes sent in the fan-in phase, the bytes received in the fan-out phase


@dataclass(frozen=True)
class CollectiveModel:
    """The two phases of a collective operation, fan-in and fan-out: growth and size of each (F3)."""

    in_model: PhaseModel = PhaseModel.CONSTANT
    in_size: PhaseSize = PhaseSize.MAX
    out_model: PhaseModel = PhaseModel.CONSTANT
    out_size: PhaseSize = PhaseSize.MAX
    largest: bool = False  # sizes are the largest of all members, not the root's


_LIN, _LOG, _CTE, _NO = PhaseModel.LINEAR, PhaseModel.LOG, PhaseModel.CONSTANT, PhaseModel.NONE
TABLE_9: dict[str, CollectiveModel] = {
    "Barrier": CollectiveModel(_LIN, PhaseSize.MAX, _NO, PhaseSize.MAX),
    "Bcast": CollectiveModel(_LOG, PhaseSize.MAX, _NO, PhaseSize.MAX),
    "Gather": CollectiveModel(_LOG, PhaseSize.MEAN, _NO, PhaseSize.MAX),
    "Gatherv": CollectiveModel(_CTE, PhaseSize.MAX, _CTE, PhaseSize.MAX),
    "Scatter": CollectiveModel(_LOG, PhaseSize.MEAN, _NO, PhaseSize.MAX),
    "Scatterv": CollectiveModel(_CTE, PhaseSize.MAX, _CTE, PhaseSize.MAX),
    "Allgather": CollectiveModel(_LIN, PhaseSize.MIN, _LIN, PhaseSize.MIN),
    "Allgatherv": CollectiveModel(_LIN, PhaseSize.MIN, _LIN, PhaseSize.MIN),
    "Alltoall": CollectiveModel(_LIN, PhaseSize.MIN, _LIN, PhaseSize.MIN),
    "Alltoallv": CollectiveModel(_CTE, PhaseSize.MAX, _CTE, PhaseSize.MAX),
    "Alltoallw": CollectiveModel(_CTE, PhaseSize.MAX, _CTE, PhaseSize.MAX),
    "Reduce": CollectiveModel(_LOG, PhaseSize.MAX, _NO, PhaseSize.MAX),
    "Allreduce": CollectiveModel(_LOG, PhaseSize.MAX, _LOG, PhaseSize.MAX),
    "Reduce_scatter": CollectiveModel(_LOG, PhaseSize.MAX, _LIN, PhaseSize.MIN),
    "Reduce_scatter_block": CollectiveModel(_LOG, PhaseSize.MAX, _LIN, PhaseSize.MIN),
    "Scan": CollectiveModel(_LOG, PhaseSize.MAX, _LOG, PhaseSize.MAX),
}
"""Default models of collectives (section 6.5, Table 9), with rows for the operations that MPI got later."""


def simple_collectives(model: PhaseModel) -> dict[str, CollectiveModel]:
    """Return the first model of collectives (F2) for all operations.

    The model has one phase, which moves the largest size of any member.
    """
    one = CollectiveModel(model, PhaseSize.MAX, PhaseModel.NONE, PhaseSize.MAX, largest=True)
    return dict.fromkeys(COLLECTIVE_NAMES, one)


def constant_both_ways() -> dict[str, CollectiveModel]:
    """Return Dimemas 5.5.0's default model for all collectives: L + sent / BW + L + received / BW.

    L is the latency, BW the bandwidth, sent and received are bytes.
    """
    return dict.fromkeys(COLLECTIVE_NAMES, CollectiveModel(in_size=PhaseSize.PHASE, out_size=PhaseSize.PHASE))


class PrioritySource(IntEnum):
    """Origin of the threads' scheduling priorities."""

    NONE = lib.PRIORITY_NONE
    FIXED = lib.PRIORITY_FIXED
    RECORDS = lib.PRIORITY_RECORDS
    SVR4 = lib.PRIORITY_SVR4
    DECAY = lib.PRIORITY_DECAY
    BOOST = lib.PRIORITY_BOOST


@dataclass(frozen=True)
class PriorityLevel:
    """A row of the SVR4 scheduling table (Table 5): time slice in ns, and the levels that follow."""

    quantum_ns: Count
    expired: int  # priority level after the slice is used up
    slept: int  # priority level after the thread slept


MOST = 2**31 - 1
"""Largest number of CPUs, links or buses that a machine may have."""
MOST_NODES = 1 << 20
"""Largest number of nodes that a machine file may describe."""
SPIN = -1
"""Value of `busy_wait_ns`: waits in MPI never give their CPU up. They take turns, as libraries do that poll."""
AS_CALLS = -1
"""Value of `eager_limit`: only the calls tell which sends wait for the receiver, not the times of the run."""


@dataclass(frozen=True)
class CpuScheduling:
    """How threads share CPUs (section 1.10). Times are in ns; random times are drawn at each use."""

    priority: PrioritySource = PrioritySource.NONE
    slice_ns: Count = 0  # time slice; 0: a thread runs until it blocks
    preemptive: bool = False
    context_switch_ns: Count = 0
    busy_wait_ns: Count = 0  # busy wait of receives; SPIN: threads compete for CPUs in all waits of MPI
    least_run_ns: Count = 0  # shortest time that a thread runs before it may be preempted
    levels: tuple[PriorityLevel, ...] = ()
    base: int = 0
    best: int = 0  # priorities stay between best and worst; no limits if both are equal
    worst: int = 0
    tick_ns: Count = 0
    decay_ns: Count = 0
    load_ns: Count = 0
    settle_ns: Count = 0
    receiver_first: int = 0
    receiver_last: int = 0
    sender_receiver_first: int = 0
    priorities: tuple[int | tuple[int, ...], ...] = ()  # by application, or by rank of each; missing: 0

    def fixed_priorities(self, application: int, ranks: int) -> tuple[int, ...]:
        """Return the priority of each rank of an application.

        Args:
            application: Number of the application.
            ranks: Number of ranks of the application.

        Raises:
            TracelibError: Priorities are given by rank, but for fewer ranks than the application has.
        """
        of = self.priorities[application] if application < len(self.priorities) else 0
        if isinstance(of, int):
            return (of,) * ranks
        if len(of) < ranks:
            raise TracelibError(
                f"priorities are given for {len(of)} ranks, but application {application} has {ranks}",
                "give one for each rank",
            )
        return of[:ranks]

    def of_application(self, application: int) -> CpuScheduling:
        """Return a copy with the priorities of one application only, for a replay of this application alone."""
        return replace(self, priorities=self.priorities[application : application + 1])


@dataclass(frozen=True)
class Machine:
    """Machine for a replay: nodes, networks, and how messages, collectives and processors are simulated.

    Attributes:
        mapping: "fill" (ranks in order, on each node as many as it has CPUs), "round-robin", or the node of each rank.
        mappings: Mapping of each application, from the first one. Applications beyond the tuple have `mapping`.
    """

    nodes: tuple[Node, ...] = ()  # (): one node like `node` for each rank
    node: Node = field(default_factory=Node)
    networks: tuple[Network, ...] = (Network(),)
    wan_bandwidth_mb: Quantity = 0.0
    mapping: str | tuple[int, ...] = "fill"
    mappings: tuple[str | tuple[int, ...], ...] = ()
    dialect: str = "standard"
    collectives: MappingType[str, CollectiveModel] | None = None  # None: the dialect's
    scheduling: CpuScheduling = field(default_factory=CpuScheduling)
    eager_limit: Count | None = None  # size in bytes from which sends are rendezvous; None: as the run shows; AS_CALLS
    synchronous: bool = False  # blocking sends wait for delivery
    matching: str = "sending"  # order in which messages of one channel are received: "sending" or "arrival"
    seed: int = 0
    files: FileSystem | None = None  # None: calls on files last as long as in the trace
    file: str = field(default="", compare=False)  # file that describes the machine, for error messages

    @classmethod
    def ideal(cls, **more: Any) -> Machine:
        """Return a machine without latency and contention, with infinite bandwidth (section 3.1).

        Args:
            **more: Fields of the machine that differ.
        """
        return cls(**more)

    def collective_models(self) -> dict[str, CollectiveModel]:
        """Return the model of each collective operation. An operation without a model has the dialect's default."""
        by_dialect = simple_collectives(PhaseModel.CONSTANT) if self.dialect == "thesis" else constant_both_ways()
        return {**by_dialect, **(self.collectives or {})}

    def with_nodes(self, ranks: int) -> tuple[Node, ...]:
        """Return the nodes. A machine that lists no nodes has one node for each of `ranks`."""
        return self.nodes or (self.node,) * ranks

    def place(self, ranks: int, nodes: int = 0, taken: int = 0, application: int = 0) -> list[int]:
        """Return the node of each rank.

        Numbers of CPUs must be known, not random (see `drawn_numbers.with_counts`).

        Args:
            ranks: Number of ranks to place.
            nodes: Number of nodes to make if the machine lists none. 0: as many as `ranks`.
            taken: Number of CPUs that other applications have. "fill" begins after them.
            application: Number of the application, which selects the mapping.

        Raises:
            TracelibError: The mapping names too few nodes or a node that does not exist, or it is unknown.
        """
        there = self.with_nodes(nodes or ranks)
        mapping = self.mappings[application] if application < len(self.mappings) else self.mapping
        if not isinstance(mapping, str):
            with about(self.file):
                return explicit(mapping, ranks, len(there))
        if mapping == "round-robin":
            return [rank % len(there) for rank in range(ranks)]
        if mapping != "fill":
            raise TracelibError(f"mapping {mapping!r} is not known", "use fill, round-robin or a list of nodes")
        ends = list(accumulate(int(node.cpus) or 1 for node in there))  # type: ignore[arg-type]
        return [bisect_right(ends, (taken + rank) % ends[-1]) for rank in range(ranks)]

    def place_all(self, ranks: Sequence[int]) -> list[list[int]]:
        """Return the node of each rank of each application that shares the machine.

        A machine that lists no nodes has one node for each rank of all applications.

        Args:
            ranks: Number of ranks of each application.

        Raises:
            TracelibError: As in `place`.
        """
        return [self.place(n, sum(ranks), sum(ranks[:k]), k) for k, n in enumerate(ranks)]

    def of_application(self, application: int) -> Machine:
        """Return a copy with mapping and priorities of one application only, for a replay of this application alone."""
        scheduling = self.scheduling.of_application(application)
        return replace(self, scheduling=scheduling, mappings=self.mappings[application : application + 1])


def explicit(mapping: tuple[int, ...], ranks: int, nodes: int) -> list[int]:
    """Return the node of each rank from a mapping that lists a node for each rank.

    Args:
        mapping: Node of each rank.
        ranks: Number of ranks.
        nodes: Number of nodes of the machine.

    Raises:
        TracelibError: The mapping names a node that does not exist, or fewer nodes than there are ranks.
    """
    if len(mapping) < ranks:
        text = f"the machine's mapping has nodes for {len(mapping)} of {ranks} ranks"
        raise TracelibError(text, "name a node for each rank")
    wrong = [node for node in mapping[:ranks] if not 0 <= int(node) < nodes]
    if wrong:
        raise TracelibError(f"the mapping names node {wrong[0]}, but there are {nodes}", "the first node is 0")
    return [int(node) for node in mapping[:ranks]]
