"""Run the simulator: programs and a machine in, times out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from enum import IntEnum
from typing import Any

import numpy as np

from analyzer._replay import ffi, lib
from analyzer.columns.rows import PIECE, Rows
from analyzer.errors import TracelibError, about
from analyzer.in_notebook import InNotebook
from analyzer.machine.description import (
    AS_CALLS,
    COLLECTIVE_NAMES,
    DIALECTS,
    CostPiece,
    Count,
    FileSystem,
    Machine,
    Node,
)
from analyzer.machine.drawn_numbers import ParameterNumbering, set_quantity, with_counts
from analyzer.program.model import Program
from analyzer.program.operation import dtype_of
from analyzer.replay.c_program import KeptMemory, fill_program
from analyzer.replay.cpu_waits import CPU_WAIT, CpuWaitFile, room_for_waits
from analyzer.replay.failure import failure

TIME = dtype_of("op_time")
"""Times of an operation in a replay, ns.

begin: the end of the burst before the operation, which is the entry of the call. end: when the thread went on.
"""
TRANSFER = dtype_of("transfer")
"""Times of a message in a replay, ns, stored at its send: physical start, arrival, and when its receive was posted.

receive: index of the receiver's operation. -1: never.
"""
USAGE = dtype_of("usage")
"""Sums of one stream (thread): its time by use and its end, ns, and the numbers of its messages and bytes."""
RUN = dtype_of("run_time")
"""One complete run of an application in a closed system: the application's number, begin and end in ns."""
BIN = dtype_of("bin")
"""One bin of a profile of a number over time.

change: change of the number within the bin. area: integral of the number over the bin, number x ns.
"""


class ProfiledActivity(IntEnum):
    """Kinds of threads or messages that a profile counts; each is one row of the profile."""

    COMPUTING = lib.DOING_COMPUTING  # threads
    MESSAGES = lib.DOING_MESSAGES  # threads that spend the latency of a message, or wait for a message
    COLLECTIVES = lib.DOING_COLLECTIVES  # threads in a collective, or waiting for its other members
    QUEUE = lib.DOING_QUEUE  # messages that wait for links and buses


@dataclass(frozen=True)
class ReplayPrediction(InNotebook):
    """Result of a simulation. An array that was not asked for is None."""

    end_ns: int
    usage: np.ndarray  # USAGE: sums of each stream
    times: np.ndarray | None  # TIME: times of all operations
    transfers: np.ndarray | None  # TRANSFER: times of the messages of all operations
    runs: np.ndarray  # RUN: begin and end of each complete run of each application
    unreceived: int  # messages that nobody received
    most_waiting: int  # largest number of messages that waited for the network at once (links, buses, collectives)
    mean_waiting: float  # mean number of messages that waited, over 0 to `end_ns`
    events: int
    profile: np.ndarray | None = None  # BIN of shape (len(ProfiledActivity), bins)
    cpu_waits: CpuWaitFile | None = None  # waits of all streams for CPUs

    def of(self, programs: Sequence[Program], number: int) -> ReplayPrediction:
        """Return the result of one application.

        Arrays by operation or stream are cut to the application. Single values, `runs` and `profile` stay as they are,
        for all applications.

        Args:
            programs: All replayed applications, in the order in which they were given to `simulate`.
            number: Index of the application in `programs`.
        """
        before, own = programs[:number], programs[number]
        op = slice(sum(len(p.ops) for p in before), sum(len(p.ops) for p in before) + len(own.ops))
        stream = slice(sum(len(p.rank) for p in before), sum(len(p.rank) for p in before) + len(own.rank))
        times, transfers = (None if of is None else of[op] for of in (self.times, self.transfers))
        waits = self.cpu_waits and self.cpu_waits.from_stream(stream.start)
        return replace(self, usage=self.usage[stream], times=times, transfers=transfers, cpu_waits=waits)


def simulate(
    programs: Program | Sequence[Program],
    machine: Machine,
    *,
    times: bool = False,
    transfers: bool = False,
    repetitions: int = 0,
    runs_room: int = 1 << 16,
    bins: tuple[int, int] = (0, 0),
    cpu_waits: bool = False,
) -> ReplayPrediction:
    """Replay one application, or several at once that share the machine.

    Args:
        programs: The applications.
        machine: The machine to replay on.
        times: Also return when each operation begins and ends.
        transfers: Also return when each message was sent and received.
        repetitions: 0: each application runs once. n: the system is closed. An application that ends begins again,
            until each of them has ended n times.
        runs_room: Largest number of runs that a closed system may make, of all applications together.
        bins: Number of bins of the profile, and the width of a bin in ns. (0, 0): no profile.
        cpu_waits: Also return when each thread waited for a CPU.

    Raises:
        TracelibError: A deadlock or starvation, members of a collective that call different collectives, or a machine
            that does not fit the programs.
    """
    programs = [programs] if isinstance(programs, Program) else list(programs)
    keep = KeptMemory()
    c_machine, placed = _machine(keep, machine, programs)
    c_programs = keep.new("struct program[]", len(programs))
    for k, program in enumerate(programs):
        fill_program(keep, c_programs[k], program, placed[k], buffers=machine.eager_limit is None)
        if program.priority is None and machine.scheduling.priorities:
            with about(machine.file):
                fixed = machine.scheduling.fixed_priorities(k, program.ranks)
            c_programs[k].priority = keep.pointer(np.array(fixed, np.int64), "int64_t *")
    ops = sum(len(p.ops) for p in programs)
    streams = sum(len(p.rank) for p in programs)
    wanted = {"times": (times, ops, TIME), "transfers": (transfers, ops, TRANSFER)}
    found = {name: np.zeros(n, dtype) for name, (asked, n, dtype) in wanted.items() if asked}
    found |= {
        "usage": np.zeros(streams, USAGE),
        "blocked": np.zeros(streams, np.int64),
        "runs": np.zeros(runs_room, RUN),
    }
    output = keep.new("struct output *")
    for name, array in found.items():
        setattr(output, name, keep.pointer(array, ffi.typeof(getattr(output, name)).cname))
    output.runs_room = runs_room
    profile = np.zeros((len(ProfiledActivity), bins[0]), BIN) if bins[0] else None
    if profile is not None:
        output.profile, (output.n_bins, output.bin_ns) = keep.pointer(profile, "struct bin *"), bins
    waits = Rows(CPU_WAIT) if cpu_waits else None
    if waits is not None:
        output.cpu_waits, output.cpu_waits_room = keep.pointer(room_for_waits(), "struct cpu_wait *"), PIECE
        output.cpu_waits_file = waits.fileno()
    result = keep.new("struct result *")
    if lib.replay_run(c_machine, c_programs, len(programs), repetitions, output, result):
        raise failure(result, programs, found["blocked"], eager=machine.eager_limit not in (None, AS_CALLS))
    if waits is not None:
        waits.grew(result.n_cpu_waits)
    return ReplayPrediction(
        end_ns=result.end, usage=found["usage"], times=found.get("times"), transfers=found.get("transfers"),
        runs=found["runs"][: result.n_runs], unreceived=result.unreceived, most_waiting=result.busiest,
        mean_waiting=result.mean_queue, events=result.events, profile=profile,
        cpu_waits=None if waits is None else CpuWaitFile.of(waits, streams),
    )  # fmt: skip


def _machine(keep: KeptMemory, machine: Machine, programs: Sequence[Program]) -> tuple[Any, list[list[int]]]:
    if machine.dialect not in DIALECTS:
        raise TracelibError(f"dialect {machine.dialect!r} is not known", f"use one of {', '.join(DIALECTS)}")
    thesis = machine.dialect == "thesis"
    ranks = [p.ranks for p in programs]
    numbers = ParameterNumbering.of_machine(machine, sum(ranks))
    machine = with_counts(machine, sum(ranks))
    nodes = machine.nodes
    c = keep.new("struct machine *")
    c.n_nodes, c.n_networks = len(nodes), len(machine.networks)
    c.nodes = _nodes(keep, machine, programs, numbers)
    c.networks = keep.new("struct network[]", len(machine.networks))
    for k, (target, network) in enumerate(zip(c.networks[0 : len(machine.networks)], machine.networks, strict=True)):
        _curve(keep, target.measured, network.pieces)
        set_quantity(target.bandwidth, network.bandwidth_mb, numbers.of("bandwidth_mb", k))
        target.buses = network.buses
    set_quantity(c.wan_bandwidth, machine.wan_bandwidth_mb, numbers.of("wan_bandwidth_mb"))
    models = machine.collective_models()
    for number, name in enumerate(COLLECTIVE_NAMES):
        m, to = models[name], c.collectives[number]
        to.in_model, to.in_size, to.out_model, to.out_size = m.in_model, m.in_size, m.out_model, m.out_size
        to.largest = m.largest
    eager_limit = AS_CALLS if machine.eager_limit is None else machine.eager_limit
    set_quantity(c.eager_limit, eager_limit, numbers.of("eager_limit"))
    _policy(keep, c.policy, machine, numbers)
    if machine.files:
        _files(c.files, machine.files, numbers)
    c.seed = machine.seed & (2**64 - 1)
    c.synchronous = machine.synchronous
    c.receiver_pays, c.delivery_frees, c.exclusive = not thesis, thesis, 1 if thesis else 2
    c.as_dimemas, c.by_arrival = machine.dialect == "dimemas-5.5", machine.matching == "arrival"
    return c, machine.place_all(ranks)


_OF_FILES = {
    "latency": ("latency_s", "file_latency_s"), "read": ("read_bandwidth_mb",) * 2,
    "write": ("write_bandwidth_mb",) * 2, "open": ("open_s",) * 2, "close": ("close_s",) * 2, "sync": ("sync_s",) * 2,
}  # fmt: skip
"""By quantity of the kernel's file system: the name of the field of FileSystem, and its name in ParameterNumbering."""


def _files(c: Any, files: FileSystem, numbers: ParameterNumbering) -> None:
    c.known, c.servers, c.block = 1, files.servers, files.block_bytes
    for name, (ours, called) in _OF_FILES.items():
        set_quantity(getattr(c, name), getattr(files, ours), numbers.of(called))


_OF_NODE = {
    "speed": "speed", "latency": "latency_s", "intra_latency": "intra_latency_s",
    "intra_bandwidth": "intra_bandwidth_mb", "wan_latency": "wan_latency_s",
}  # fmt: skip
"""By quantity of the kernel's node: the name of the field of Node."""


def _nodes(keep: KeptMemory, machine: Machine, programs: Sequence[Program], numbers: ParameterNumbering) -> Any:
    """Write the nodes. Many nodes are one and the same object; each object is written once and copied.

    Only the numbers of the quantities differ between such copies.
    """
    c = keep.new("struct node[]", len(machine.nodes))
    found: dict[int, list[int]] = {}
    for k, node in enumerate(machine.nodes):
        found.setdefault(id(node), []).append(k)
    rows = np.frombuffer(ffi.buffer(c), np.dtype((np.void, ffi.sizeof("struct node"))))
    for alike in found.values():
        _node(keep, c[alike[0]], machine.nodes[alike[0]], machine, programs)
        rows[alike] = rows[alike[0]]
    for name, ours in _OF_NODE.items():
        offset = ffi.offsetof("struct node", name) + ffi.offsetof("struct quantity", "id")
        ids = np.ndarray(len(rows), np.int32, ffi.buffer(c), offset, rows.strides)
        ids[:] = numbers.of_each(ours)
    return c


def _node(keep: KeptMemory, target: Any, node: Node, machine: Machine, programs: Sequence[Program]) -> None:
    cpus = int(node.cpus)  # type: ignore[arg-type]
    if cpus < 0 or not 0 <= node.network < len(machine.networks):
        raise TracelibError("a node needs CPUs and a network that exists", "correct the machine")
    target.cpus = cpus or most_threads(programs)
    target.network, target.half_duplex = node.network, node.half_duplex
    target.links_out, target.links_in = node.links_out, node.links_in
    target.intra_buses = node.intra_buses
    target.intra_out, target.intra_in = node.intra_links_out, node.intra_links_in
    _curve(keep, target.intra, node.intra)
    for name, ours in _OF_NODE.items():
        set_quantity(getattr(target, name), getattr(node, ours), 0)


def most_threads(programs: Sequence[Program]) -> int:
    """Return the largest number of threads that a rank has, in any of the programs. Virtual threads do not count."""
    return max(int(np.bincount(p.rank, minlength=1).max()) for p in programs)


def _curve(keep: KeptMemory, curve: Any, pieces: Sequence[CostPiece]) -> None:
    curve.n_pieces = len(pieces)
    curve.pieces = keep.new("struct curve_piece[]", [astuple(piece) for piece in pieces] or 1)


def _at_most_longest(ns: int) -> int:
    """Limit a time (ns) to the longest time of a replay, 2^61 ns: LONGEST of the simulator."""
    return min(ns, 1 << 61)


_SPANS = (
    "slice_ns",
    "context_switch_ns",
    "busy_wait_ns",
    "least_run_ns",
    "tick_ns",
    "decay_ns",
    "load_ns",
    "settle_ns",
)
"""Names of the times of a policy, in the kernel's order: enum span_kind, the tick, enum interval_kind."""


def _span(span: Any, of: Count, number: int) -> None:
    set_quantity(span.drawn, of, number)
    span.ns = _at_most_longest(of) if isinstance(of, int) else 0


def _policy(keep: KeptMemory, c: Any, machine: Machine, numbers: ParameterNumbering) -> None:
    s = machine.scheduling
    c.priority, c.preemptive = s.priority, s.preemptive
    c.n_levels, c.worst, c.best, c.base = len(s.levels), s.worst, s.best, s.base
    c.levels = keep.new("struct svr4_level[]", len(s.levels) or 1)
    for k, (to, level) in enumerate(zip(c.levels[0 : len(s.levels)], s.levels, strict=True)):
        to.expired, to.slept = level.expired, level.slept
        _span(to.quantum, level.quantum_ns, numbers.of("quantum_ns", k))
    for name, span in zip(_SPANS, [*c.spans, c.tick, *c.intervals], strict=True):
        _span(span, getattr(s, name), numbers.of(name))
    c.receiver_first, c.receiver_last = s.receiver_first, s.receiver_last
    c.sender_receiver_first = s.sender_receiver_first
