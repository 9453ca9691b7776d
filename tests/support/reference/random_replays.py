"""Random programs that cannot deadlock, and random machines, of small integers so that much happens at one instant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np

from analyzer.machine.description import (
    AS_CALLS,
    COLLECTIVE_NAMES,
    SPIN,
    TABLE_9,
    CollectiveModel,
    CostPiece,
    Count,
    CpuScheduling,
    ExponentialNumber,
    FileSystem,
    GaussianNumber,
    Machine,
    Network,
    Node,
    PhaseModel,
    PhaseSize,
    PriorityLevel,
    PrioritySource,
    Quantity,
    UniformNumber,
    simple_collectives,
)
from analyzer.program.model import Program
from analyzer.program.operation import FileAccess, OperationFlag, OperationKind, operations

WINDOWS = (OperationKind.PUT, OperationKind.GET, OperationKind.ACCESSES_WAIT, OperationKind.LOCK, OperationKind.UNLOCK)
MORE_THAN_COMMS = 1000
BYTE_A_NS = 1e9 / 2**20
"""MB/s at which a byte takes 1 ns."""


class Writer:
    """Writes the streams of a program in one order in which it could run: who waits, waits for what came before."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.ranks = random.randint(1, 6)
        threads = [random.choice((1, 1, 1, 2)) for _ in range(self.ranks)]
        self.streams = {(rank, k): [] for rank in range(self.ranks) for k in range(threads[rank])}
        self.open: dict[tuple[int, int], list[int]] = {who: [] for who in self.streams}
        self.accessing: set[int] = set()
        self.waited: dict[tuple[int, int, int], dict[str, Any]] = {}  # what the wait for a request says
        self.comms = [tuple(range(self.ranks))]
        for _ in range(random.randint(0, 2)):
            self.comms.append(tuple(random.sample(range(self.ranks), random.randint(1, self.ranks))))

    def add(self, who: tuple[int, int], kind: OperationKind, **columns: Any) -> None:
        burst = self.random.choice((0, 0, 1, 2, 3, 5))
        block = self.random.choice((0, 0, 0, 1))
        self.streams[who].append({"kind": kind, "burst": burst, "block": block, **columns})

    def request(self, who: tuple[int, int]) -> int:
        used = self.open[who]
        used.append(next(k for k in range(len(used) + 1) if k not in used))
        return used[-1]

    def wait(self, who: tuple[int, int]) -> None:
        if self.open[who]:
            request = self.open[who].pop(self.random.randrange(len(self.open[who])))
            self.add(who, **{"kind": OperationKind.WAIT, "request": request, **self.waited.pop((*who, request), {})})

    def message(self) -> None:
        r = self.random
        source, target = r.choice([*self.streams]), r.choice([*self.streams])
        shared = {
            "bytes": r.choice((0, 1, 1, 2, 4, 7)), "comm": 0, "tag": 10 * source[1] + 20 * target[1] + r.randint(0, 1),
        }  # fmt: skip
        standard = OperationFlag.RENDEZVOUS | OperationFlag.STANDARD
        flags = r.choice(
            (
                OperationFlag(0),
                OperationFlag.RENDEZVOUS,
                standard,
                OperationFlag.IMMEDIATE,
                OperationFlag.RENDEZVOUS | OperationFlag.IMMEDIATE,
            )
        )
        nonblocking = source == target or r.random() < 0.5
        if nonblocking:
            request = self.request(target)
            self.waited[(*target, request)] = {"peer": source[0], **shared}
            self.add(target, OperationKind.IRECV, peer=source[0], request=request, **shared)
        self.add(source, OperationKind.SEND, peer=target[0], flags=flags, **shared)
        if not nonblocking:
            self.add(target, OperationKind.RECV, peer=source[0], **shared)

    def collective(self) -> None:
        r = self.random
        comm = r.randrange(len(self.comms))
        members = self.comms[comm]
        start = r.random() < 0.3
        columns = {"comm": comm, "tag": r.randrange(len(COLLECTIVE_NAMES))}
        root, all_know = r.choice((-1, r.choice(members))), r.random() < 0.5
        for rank in members:
            columns["peer"] = root if all_know or rank == root else -1
            more = {"request": self.request((rank, 0))} if start else {}
            kind = OperationKind.COLLECTIVE_START if start else OperationKind.COLLECTIVE
            self.add((rank, 0), kind, bytes=r.randint(0, 5), other=r.randint(0, 5), **columns, **more)

    def access(self) -> None:
        who = self.random.choice([*self.streams])
        kind = self.random.choice((OperationKind.PUT, OperationKind.GET))
        target, window = self.random.randrange(self.ranks), self.random.randint(0, 1)
        more = {"request": self.request(who)} if self.random.random() < 0.3 else {}
        self.add(who, kind, peer=target, bytes=self.random.randint(0, 5), comm=window, **more)
        if self.random.random() < 0.5:
            self.add(who, OperationKind.ACCESSES_WAIT, comm=window, peer=self.random.choice((-1, target)))

    def locked(self) -> None:
        """Draw operations under a lock: the holder of a lock waits for nobody."""
        who = self.random.choice([*self.streams])
        target, window = self.random.randrange(-1, self.ranks), self.random.randint(0, 1)
        kind = self.random.choice((1, 2)) if target >= 0 else 2
        self.add(who, OperationKind.LOCK, peer=target, comm=window, tag=kind)
        if self.random.random() < 0.5:
            self.add(who, OperationKind.PUT, peer=max(target, 0), bytes=self.random.randint(0, 5), comm=window)
        self.add(who, OperationKind.ACCESSES_WAIT, comm=window, peer=target)
        self.add(who, OperationKind.UNLOCK, peer=target, comm=window)

    def part(self, who: tuple[int, int]) -> None:
        """A call on a file, without the others of a collective one."""
        r = self.random
        moved = {"bytes": r.randint(0, 5), "other": r.randint(0, 6), "peer": -1}
        access = r.choice((FileAccess.READ, FileAccess.WRITE))
        how = r.random()
        if how < 0.5:
            self.add(who, OperationKind.FILE, tag=r.choice([a for a in FileAccess if a != FileAccess.BEGIN]), **moved)
            return
        request = self.request(who)
        if how < 0.75:
            self.add(who, OperationKind.FILE, tag=access, request=request, **moved | {"other": 0})
            ends = {"flags": OperationFlag.OF_FILE, "other": r.randint(0, 6), "peer": -1}
        else:
            self.add(who, OperationKind.FILE, tag=FileAccess.BEGIN, request=request, **moved | {"bytes": 0})
            ends = {"kind": OperationKind.FILE, "tag": access, "flags": OperationFlag.OF_FILE, **moved}
        self.waited[*who, request] = ends

    def file(self) -> None:
        """All of a communicator, or one alone."""
        r = self.random
        if r.random() < 0.6:
            return self.part(r.choice([*self.streams]))
        comm, start = r.randrange(len(self.comms)), r.random() < 0.4
        columns = {"comm": comm, "peer": -1, "flags": OperationFlag.OF_FILE}
        for rank in self.comms[comm]:
            if start:
                request = self.request((rank, 0))
                flags = OperationFlag.OF_FILE | OperationFlag.OF_COLLECTIVE
                self.waited[rank, 0, request] = {"flags": flags, "peer": -1, "other": r.randint(0, 9)}
                self.add((rank, 0), OperationKind.COLLECTIVE_START, request=request, other=r.randint(0, 5), **columns)
            else:
                self.add((rank, 0), OperationKind.COLLECTIVE, other=r.randint(0, 5), **columns)
            self.part((rank, 0))
        return None

    def semaphore(self) -> None:
        rank = self.random.randrange(self.ranks)
        threads = [who for who in self.streams if who[0] == rank]
        tag = self.random.randint(0, 1)
        self.add(self.random.choice(threads), OperationKind.SEM_SIGNAL, tag=tag)
        # Only the last thread waits: it cannot be passed by another that takes what was meant for it.
        self.add(threads[-1], OperationKind.SEM_WAIT, tag=tag)

    def alone(self) -> None:
        who = self.random.choice([*self.streams])
        kind = self.random.choice(
            (OperationKind.NONE, OperationKind.EVENT, OperationKind.PRIORITY, OperationKind.PARALLEL)
        )
        self.add(who, kind, other=self.random.randint(1, 3))

    def program(self, steps: int) -> Program:
        r = self.random
        for _ in range(steps):
            what = r.choices(
                (self.message, self.collective, self.access, self.locked, self.semaphore, self.alone, self.file),
                (12, 2, 1, 1, 1, 2, 1),
            )[0]
            what()
            for who in self.streams:
                if r.random() < 0.3:
                    self.wait(who)
        for who in self.streams:
            while self.open[who]:
                self.wait(who)
        streams = [operations(*rows) for rows in self.streams.values()]
        return Program(
            ops=np.concatenate(streams),
            offsets=np.cumsum([0, *map(len, streams)]).astype(np.int64),
            rank=np.array([who[0] for who in self.streams], np.int32),
            thread=np.array([who[1] for who in self.streams], np.int32),
            slots=np.array([int(s["request"].max(initial=-1)) + 1 for s in streams], np.int32),
            communicators=tuple(self.comms),
            ranks=self.ranks,
            factors=np.array([1.0, r.choice((1.0, 0.5, 2.0))]),
            priority=np.array([r.randint(0, 2) for _ in range(self.ranks)], np.int64),
            buffered=r.choice((-1, 0, 2)),
        )


class PlainWriter(Writer):
    """Ranks of one thread each that wait for each other only."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.streams = {(rank, 0): [] for rank in range(self.ranks)}
        self.open = {who: [] for who in self.streams}

    def add(self, who: tuple[int, int], kind: OperationKind, **columns: Any) -> None:
        super().add(who, OperationKind.NONE if kind == OperationKind.PARALLEL else kind, **columns)
        self.streams[who][-1]["block"] = 0

    def locked(self) -> None:
        """None."""

    semaphore = locked


def random_program(random: Random) -> Program:
    """At most a few dozen operations of at most 6 ranks."""
    return Writer(random).program(random.randint(1, 25))


def random_applications(random: Random) -> list[Program]:
    """Two or three programs of which none ends at once, with messages through ports between them."""
    programs = [random_program(random) for _ in range(random.randint(2, 3))]
    rows = [[p.ops[a:b] for a, b in pairwise(p.offsets.tolist())] for p in programs]
    streams = [(a, k) for a, streams in enumerate(rows) for k in range(len(streams))]
    for a in range(len(programs)):
        rows[a][0] = np.append(rows[a][0], operations({"kind": OperationKind.NONE, "burst": random.randint(1, 9)}))
    for _ in range(random.randint(0, 8)):
        source, target = random.sample(streams, 2)
        port = 1000 * streams.index(source) + streams.index(target)
        shared = {"tag": port, "bytes": random.randint(0, 5), "burst": random.randint(0, 3)}
        flags = random.choice((OperationFlag(0), OperationFlag.RENDEZVOUS, OperationFlag.IMMEDIATE))
        for (a, k), (b, other), kind in (
            (source, target, OperationKind.PORT_SEND),
            (target, source, OperationKind.PORT_RECV),
        ):
            row = {"kind": kind, "comm": b, "peer": int(programs[b].rank[other]), "flags": flags, **shared}
            rows[a][k] = np.append(rows[a][k], operations(row))
    buffered = programs[0].buffered  # so that they can be one program, too
    return [
        replace(
            p, ops=np.concatenate(mine), offsets=np.cumsum([0, *map(len, mine)]).astype(np.int64), buffered=buffered
        )
        for p, mine in zip(programs, rows, strict=True)
    ]


def as_one(programs: Sequence[Program]) -> Program:
    """One program that does the same: ranks one after the other, and a communicator for what goes through ports."""
    first = np.cumsum([0, *(p.ranks for p in programs)]).tolist()
    comms = np.cumsum([0, *(len(p.communicators) for p in programs)]).tolist()
    blocks = np.cumsum([0, *(len(p.factors) for p in programs)]).tolist()
    parts = []
    for a, p in enumerate(programs):
        ops = p.ops.copy()
        port = np.isin(ops["kind"], (OperationKind.PORT_SEND, OperationKind.PORT_RECV))
        there = np.where(port, np.array(first)[ops["comm"] * port], first[a])
        ops["peer"] += np.where(ops["peer"] >= 0, there, 0).astype(np.int32)
        window = np.isin(ops["kind"], WINDOWS)
        ops["comm"] = np.where(port, comms[-1], ops["comm"] + np.where(window, MORE_THAN_COMMS * a, comms[a]))
        ops["block"] += blocks[a]
        ops["kind"][ops["kind"] == OperationKind.PORT_SEND] = OperationKind.SEND
        ops["kind"][ops["kind"] == OperationKind.PORT_RECV] = OperationKind.RECV
        parts.append(ops)
    return Program(
        ops=np.concatenate(parts),
        offsets=np.cumsum([0, *(n for p in programs for n in np.diff(p.offsets))]).astype(np.int64),
        rank=np.concatenate([p.rank + start for p, start in zip(programs, first, strict=False)]),
        thread=np.concatenate([p.thread for p in programs]), slots=np.concatenate([p.slots for p in programs]),
        communicators=tuple(
            tuple(m + start for m in c) for p, start in zip(programs, first, strict=False) for c in p.communicators
        ),
        ranks=first[-1], factors=np.concatenate([p.factors for p in programs]),
        buffered=programs[0].buffered,
        priority=np.concatenate([np.zeros(p.ranks) if p.priority is None else p.priority for p in programs]),
    )  # fmt: skip


def random_scheduling(random: Random) -> CpuScheduling:
    """Any policy and its options."""
    r = random
    if r.random() < 0.2:
        return CpuScheduling(slice_ns=r.choice((1, 2, 3)), busy_wait_ns=SPIN, context_switch_ns=r.choice((0, 1, 2)))
    priority = r.choice((PrioritySource.NONE, PrioritySource.NONE, *PrioritySource))
    levels = r.randint(1, 3)
    more: dict[str, Any] = {}
    if priority == PrioritySource.SVR4:
        more["levels"] = tuple(
            PriorityLevel(r.randint(0, 4), r.randrange(levels), r.randrange(levels)) for _ in range(levels)
        )
        more["base"] = r.randrange(levels)
    elif priority in (PrioritySource.DECAY, PrioritySource.BOOST):
        more |= {"base": r.randint(0, 4), "best": 0, "worst": r.choice((0, 3, 5))}
    if priority == PrioritySource.DECAY:
        tick = r.randint(1, 3)
        more |= {"tick_ns": tick} | {name: tick * r.randint(0, 3) for name in ("decay_ns", "load_ns", "settle_ns")}
    if priority == PrioritySource.BOOST:
        names = ("receiver_first", "receiver_last", "sender_receiver_first")
        more |= {name: r.randint(-2, 2) for name in names}
    return CpuScheduling(
        priority=priority,
        slice_ns=r.choice((0, 0, 1, 2, 3)),
        preemptive=r.random() < 0.5,
        context_switch_ns=r.choice((0, 0, 1, 2)),
        busy_wait_ns=r.choice((0, 0, 1, 3)),
        least_run_ns=r.choice((0, 0, 1, 3)),
        **more,
    )


def random_node(random: Random, networks: int) -> Node:
    """Counts of 0 stand for as many as wanted."""
    r = random
    few = (0, 0, 1, 2)
    return Node(
        cpus=r.randint(1, 3), speed=r.choice((1.0, 1.0, 0.5, 2.0, 0.7)),
        latency_s=r.randint(0, 3) * 1e-9, intra_latency_s=r.randint(0, 2) * 1e-9, wan_latency_s=r.randint(0, 5) * 1e-9,
        intra_bandwidth_mb=BYTE_A_NS * r.choice((0, 0.5, 1.0, 2.0)),
        links_out=r.choice(few), links_in=r.choice(few), half_duplex=r.random() < 0.3,
        intra_buses=r.choice(few), intra_links_out=r.choice(few), intra_links_in=r.choice(few),
        network=r.randrange(networks), intra=random_pieces(r),
    )  # fmt: skip


def random_network(random: Random) -> Network:
    """Some with measured costs."""
    r = random
    return Network(BYTE_A_NS * r.choice((0, 0.5, 1.0, 2.0)), r.choice((0, 0, 1, 2)), random_pieces(r))


def random_pieces(random: Random) -> tuple[CostPiece, ...]:
    """Mostly none."""
    r = random
    if r.random() >= 0.2:
        return ()
    return tuple(
        CostPiece(size, r.randint(0, 2), r.choice((0, 0.5)), r.randint(0, 3), 1, r.randint(0, 4), r.choice((0, 1)))
        for size in (0, 3)
    )


def random_collectives(random: Random) -> dict[str, CollectiveModel] | None:
    """The dialect's, the first model, Table 9, or anything."""
    r = random
    anything = {
        name: CollectiveModel(
            r.choice([*PhaseModel]), r.choice([*PhaseSize]), r.choice([*PhaseModel]), r.choice([*PhaseSize])
        )
        for name in COLLECTIVE_NAMES
    }
    return r.choice((None, simple_collectives(r.choice([*PhaseModel])), TABLE_9, anything))


def random_machine(random: Random, ranks: int, dialect: str) -> Machine:
    """Draw a machine with a node for each rank."""
    r = random
    networks = r.choice((1, 1, 1, 2))
    nodes = tuple(random_node(r, networks) for _ in range(r.randint(1, ranks + 1)))
    return Machine(
        nodes=nodes, networks=tuple(random_network(r) for _ in range(networks)),
        wan_bandwidth_mb=BYTE_A_NS * r.choice((0, 0.5, 1.0)), dialect=dialect, collectives=random_collectives(r),
        mapping=r.choice(("fill", "round-robin", tuple(r.randrange(len(nodes)) for _ in range(ranks)))),
        scheduling=random_scheduling(r), eager_limit=r.choice((None, None, None, AS_CALLS, 0, 2)),
        synchronous=r.random() < 0.2, matching=r.choice(("sending", "sending", "arrival")),
        files=random_files(r),
    )  # fmt: skip


def random_files(random: Random) -> FileSystem | None:
    """Half of the machines say nothing of files."""
    r = random
    if r.random() < 0.5:
        return None
    times = [r.randint(0, 3) * 1e-9 for _ in range(4)]
    rates = [BYTE_A_NS * r.choice((0, 0.5, 1.0, 2.0)) for _ in range(2)]
    return FileSystem(times[0], *rates, r.choice((0, 1, 1, 2, 3)), r.choice((0, 0, 2)), *times[1:])


def with_draws(random: Random, machine: Machine, *, counted: bool = True) -> Machine:
    """The same with most latencies, rates, speeds, the eager limit and times of the scheduling drawn anew at each use;
    infinite rates stay. counted: numbers of CPUs, links and buses are drawn, too.
    """
    r = random

    def drawn(value: float, scale: float) -> Quantity:
        laws = (
            UniformNumber(0.5 * value, 2 * value + scale),
            GaussianNumber(value, scale),
            ExponentialNumber(0.5 * value, value + scale),
        )
        return r.choice((value, *laws))

    def rate(value: float) -> Quantity:
        return drawn(value, 0.1 * value) if value else value

    def latency(value: float) -> Quantity:
        return drawn(value, 2e-9)

    def count(value: int) -> Count:
        laws = UniformNumber(1, value + 1), GaussianNumber(value, 1.0), ExponentialNumber(0.5, value)
        return r.choice((value, value, *laws)) if value else value

    def time(value: int) -> Count:
        laws = UniformNumber(0, 2.0 * value), GaussianNumber(value, 1.0), ExponentialNumber(0.0, value)
        return r.choice((value, *laws)) if value > 0 else value

    counts = ("cpus", "links_out", "links_in", "intra_buses", "intra_links_out", "intra_links_in")
    times = ("slice_ns", "context_switch_ns", "busy_wait_ns", "least_run_ns", "decay_ns", "load_ns", "settle_ns")
    drawn_times = {name: time(getattr(machine.scheduling, name)) for name in (*times, "tick_ns")}
    levels = tuple(replace(level, quantum_ns=time(level.quantum_ns)) for level in machine.scheduling.levels)
    scheduling = replace(machine.scheduling, **drawn_times, levels=levels)
    limit = machine.eager_limit
    if isinstance(limit, int) and limit >= 0:
        limit = r.choice((limit, UniformNumber(0, 4), GaussianNumber(2, 2)))
    nodes = tuple(
        replace(
            n, **{name: count(getattr(n, name)) for name in counts if counted},
            speed=rate(n.speed), latency_s=latency(n.latency_s), intra_latency_s=latency(n.intra_latency_s),
            intra_bandwidth_mb=rate(n.intra_bandwidth_mb), wan_latency_s=latency(n.wan_latency_s),
        )
        for n in machine.nodes
    )  # fmt: skip
    networks = tuple(
        replace(n, bandwidth_mb=rate(n.bandwidth_mb), buses=count(n.buses) if counted else n.buses)
        for n in machine.networks
    )
    wan = rate(machine.wan_bandwidth_mb)
    files = machine.files
    if files:
        files = replace(
            files,
            latency_s=latency(files.latency_s), open_s=latency(files.open_s), close_s=latency(files.close_s),
            read_bandwidth_mb=rate(files.read_bandwidth_mb), write_bandwidth_mb=rate(files.write_bandwidth_mb),
            sync_s=latency(files.sync_s), servers=count(files.servers) if counted else files.servers,
        )  # fmt: skip
    return replace(
        machine, nodes=nodes, networks=networks, wan_bandwidth_mb=wan, eager_limit=limit, scheduling=scheduling,
        seed=r.choice((0, 7, 2**64 - 1)), files=files,
    )  # fmt: skip


def with_absurd(random: Random, machine: Machine) -> Machine:
    """The same with some enormous times and tiny rates, whose sums are more than 64 bits hold, and without slices, of
    which that would be as many."""
    r = random

    def time(value: float) -> float:
        return r.choice((*[value] * 20, 1.1e9, 4e9, 9.3e9, 1e300))

    def rate(value: float) -> float:
        return r.choice((*[value] * 20, 1e-20, 1e-300))

    nodes = tuple(
        replace(
            n, speed=rate(n.speed), latency_s=time(n.latency_s), intra_latency_s=time(n.intra_latency_s),
            intra_bandwidth_mb=rate(n.intra_bandwidth_mb), wan_latency_s=time(n.wan_latency_s),
        )
        for n in machine.nodes
    )  # fmt: skip
    networks = tuple(replace(n, bandwidth_mb=rate(n.bandwidth_mb)) for n in machine.networks)
    return replace(machine, nodes=nodes, networks=networks, scheduling=CpuScheduling())
