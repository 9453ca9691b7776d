"""The machine that a run is replayed on.

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
    """A parameter drawn anew at each use, uniform between two values."""

    low: float
    high: float


@dataclass(frozen=True)
class GaussianNumber:
    """Drawn anew at each use, normally distributed; what would be below 0 becomes 0."""

    mean: float
    deviation: float


@dataclass(frozen=True)
class ExponentialNumber:
    """Drawn anew at each use: `least` and an exponentially distributed time of this mean."""

    least: float
    mean: float


LAWS: dict[str, type[UniformNumber] | type[GaussianNumber] | type[ExponentialNumber]] = {
    "uniform": UniformNumber, "gaussian": GaussianNumber, "exponential": ExponentialNumber,
}  # fmt: skip
"""Distributions by the name that they have in a file."""

Quantity = float | UniformNumber | GaussianNumber | ExponentialNumber
Count = int | UniformNumber | GaussianNumber | ExponentialNumber
"""A whole number; one at random is drawn once, as the machine is made (`counts.with_counts`), and is at least 1."""


@dataclass(frozen=True)
class CostPiece:
    """Costs in ns of messages from `from_bytes` on: constant + slope * bytes."""

    from_bytes: int
    cpu: float = 0.0
    cpu_slope: float = 0.0
    wire: float = 0.0
    wire_slope: float = 0.0
    hold: float = 0.0
    hold_slope: float = 0.0


@dataclass(frozen=True)
class Node:
    """CPUs with private memory. A number of links or buses of 0 stands for as many as wanted."""

    cpus: Count = 0  # 0: one for each thread of a rank
    speed: Quantity = 1.0  # bursts are divided by it; 0: they take no time
    latency_s: Quantity = 0.0  # to other nodes; processor time
    intra_latency_s: Quantity = 0.0
    intra_bandwidth_mb: Quantity = 0.0  # MB/s of 2^20 bytes; 0: infinite
    wan_latency_s: Quantity = 0.0  # to nodes of other networks
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
    """Network between nodes: bandwidth and buses, or measured costs by size (`pieces`)."""

    bandwidth_mb: Quantity = 0.0  # MB/s of 2^20 bytes; 0: infinite
    buses: Count = 0
    pieces: tuple[CostPiece, ...] = ()


@dataclass(frozen=True)
class FileSystem:
    """File system of all nodes: servers that take one request after the other."""

    latency_s: Quantity = 0.0  # of each read and write
    read_bandwidth_mb: Quantity = 0.0  # MB/s of 2^20 bytes, of each server; 0: infinite
    write_bandwidth_mb: Quantity = 0.0
    servers: Count = 0  # requests that are served at once; 0: as many as wanted
    block_bytes: int = 0  # whole blocks are moved; 0: as many bytes as asked for
    open_s: Quantity = 0.0  # of each process; also to delete a file, and to set its size
    close_s: Quantity = 0.0
    sync_s: Quantity = 0.0


class PhaseModel(IntEnum):
    """Growth of the time of a phase of a collective with its members (Table 2)."""

    NONE = lib.MODEL_NONE
    CONSTANT = lib.MODEL_CONSTANT
    LINEAR = lib.MODEL_LINEAR
    LOG = lib.MODEL_LOG


class PhaseSize(IntEnum):
    """Size that a phase of a collective moves, relative to what its root sends and receives (Table 3)."""

    MAX = lib.SIZE_MAX_
    MIN = lib.SIZE_MIN_
    MEAN = lib.SIZE_MEAN
    TWICE_MAX = lib.SIZE_TWICE_MAX
    SUM = lib.SIZE_SUM
    PHASE = lib.SIZE_PHASE  # what is sent in the fan-in, what is received in the fan-out


@dataclass(frozen=True)
class CollectiveModel:
    """Fan-in and fan-out of a collective operation (F3)."""

    in_model: PhaseModel = PhaseModel.CONSTANT
    in_size: PhaseSize = PhaseSize.MAX
    out_model: PhaseModel = PhaseModel.CONSTANT
    out_size: PhaseSize = PhaseSize.MAX
    largest: bool = False  # the largest sizes of any member instead of the root's


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
"""Default table of the extended model (section 6.5, Table 9), its rows extended to the operations of MPI since."""


def simple_collectives(model: PhaseModel) -> dict[str, CollectiveModel]:
    """Return the first model (F2): one phase with the largest size involved."""
    one = CollectiveModel(model, PhaseSize.MAX, PhaseModel.NONE, PhaseSize.MAX, largest=True)
    return dict.fromkeys(COLLECTIVE_NAMES, one)


def constant_both_ways() -> dict[str, CollectiveModel]:
    """Return Dimemas 5.5.0's default for all collectives: L + sent/BW + L + received/BW."""
    return dict.fromkeys(COLLECTIVE_NAMES, CollectiveModel(in_size=PhaseSize.PHASE, out_size=PhaseSize.PHASE))


class PrioritySource(IntEnum):
    """Source of the priorities of threads."""

    NONE = lib.PRIORITY_NONE
    FIXED = lib.PRIORITY_FIXED
    RECORDS = lib.PRIORITY_RECORDS
    SVR4 = lib.PRIORITY_SVR4
    DECAY = lib.PRIORITY_DECAY
    BOOST = lib.PRIORITY_BOOST


@dataclass(frozen=True)
class PriorityLevel:
    """A row of the SVR4 table (Table 5)."""

    quantum_ns: Count
    expired: int  # level after the slice is used up
    slept: int  # level after sleeping


MOST = 2**31 - 1
"""Largest number of CPUs, links or buses."""
MOST_NODES = 1 << 20
"""Most nodes that a machine file may describe."""
SPIN = -1
"""A busy wait that never ends."""
AS_CALLS = -1
"""An eager limit: only the calls say which sends wait, not the run."""


@dataclass(frozen=True)
class CpuScheduling:
    """Policy for threads that share CPUs (section 1.10); times in ns, drawn at each use if random."""

    priority: PrioritySource = PrioritySource.NONE
    slice_ns: Count = 0  # 0: until it blocks
    preemptive: bool = False
    context_switch_ns: Count = 0
    busy_wait_ns: Count = 0  # of receives; SPIN: all waits of MPI take their turns until they are over
    least_run_ns: Count = 0  # before it may be preempted
    levels: tuple[PriorityLevel, ...] = ()
    base: int = 0
    best: int = 0  # priorities stay from best to worst, unless both are the same
    worst: int = 0
    tick_ns: Count = 0
    decay_ns: Count = 0
    load_ns: Count = 0
    settle_ns: Count = 0
    receiver_first: int = 0
    receiver_last: int = 0
    sender_receiver_first: int = 0
    priorities: tuple[int | tuple[int, ...], ...] = ()  # fixed ones of each application, or of its ranks; others have 0

    def fixed_priorities(self, application: int, ranks: int) -> tuple[int, ...]:
        """Return the priorities of an application's ranks. Raises TracelibError where it has more ranks than
        priorities."""
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
        """Select the priorities of one application, for a replay of it alone."""
        return replace(self, priorities=self.priorities[application : application + 1])


@dataclass(frozen=True)
class Machine:
    """Machine for a replay: nodes, networks, and how messages, collectives and processors are simulated.

    Attributes:
        mapping: "fill" (by rank, as many on a node as it has CPUs), "round-robin", or the node of each rank.
        mappings: Mappings of the first applications; further applications have `mapping`.
    """

    nodes: tuple[Node, ...] = ()  # (): as many as there are ranks, like `node`
    node: Node = field(default_factory=Node)
    networks: tuple[Network, ...] = (Network(),)
    wan_bandwidth_mb: Quantity = 0.0
    mapping: str | tuple[int, ...] = "fill"
    mappings: tuple[str | tuple[int, ...], ...] = ()
    dialect: str = "standard"
    collectives: MappingType[str, CollectiveModel] | None = None  # None: the dialect's
    scheduling: CpuScheduling = field(default_factory=CpuScheduling)
    eager_limit: Count | None = None  # bytes from which sends are rendezvous; None: as the run shows; AS_CALLS
    synchronous: bool = False  # blocking sends wait for delivery
    matching: str = "sending"  # messages of one key are received in this order; or in that of their "arrival"
    seed: int = 0
    files: FileSystem | None = None  # None: calls on files last as long as in the trace
    file: str = field(default="", compare=False)  # that says so, for errors

    @classmethod
    def ideal(cls, **more: Any) -> Machine:
        """Return a machine without latency and contention, with infinite bandwidth (section 3.1)."""
        return cls(**more)

    def collective_models(self) -> dict[str, CollectiveModel]:
        """Return models of all operations; operations that are not named have the dialect's."""
        by_dialect = simple_collectives(PhaseModel.CONSTANT) if self.dialect == "thesis" else constant_both_ways()
        return {**by_dialect, **(self.collectives or {})}

    def with_nodes(self, ranks: int) -> tuple[Node, ...]:
        """Return the nodes; a machine without any has one for each rank."""
        return self.nodes or (self.node,) * ranks

    def place(self, ranks: int, nodes: int = 0, taken: int = 0, application: int = 0) -> list[int]:
        """Return the node of each rank; "fill" begins after the CPUs that other applications have taken.

        nodes: how many to make of a machine without any; as many as ranks if 0. Counts of CPUs are known (see
        `counts.with_counts`). Raises TracelibError where they do not fit.
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
        """Return the node of each rank of each application that shares the machine, given their numbers of ranks.

        A machine without nodes has one for each rank of all of them. Raises TracelibError as `place`.
        """
        return [self.place(n, sum(ranks), sum(ranks[:k]), k) for k, n in enumerate(ranks)]

    def of_application(self, application: int) -> Machine:
        """Select mapping and priorities of one application, for a replay of it alone."""
        scheduling = self.scheduling.of_application(application)
        return replace(self, scheduling=scheduling, mappings=self.mappings[application : application + 1])


def explicit(mapping: tuple[int, ...], ranks: int, nodes: int) -> list[int]:
    """Return the node of each rank if all are named.

    Raises TracelibError if one is not there, or too few are named.
    """
    if len(mapping) < ranks:
        text = f"the machine's mapping has nodes for {len(mapping)} of {ranks} ranks"
        raise TracelibError(text, "name a node for each rank")
    wrong = [node for node in mapping[:ranks] if not 0 <= int(node) < nodes]
    if wrong:
        raise TracelibError(f"the mapping names node {wrong[0]}, but there are {nodes}", "the first node is 0")
    return [int(node) for node in mapping[:ranks]]
