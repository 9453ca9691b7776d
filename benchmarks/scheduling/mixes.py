"""Three applications at once: synthetic ones with the numbers that the second and third study give of theirs.

Source: "Dimemas specification", sections 4.9 (Tables 15 to 17: rings of the same demand and number of messages, ideal
network) and 4.10 (Tables 18 to 20: the same messages and computation, on a slow and a fast network). What the tables do
not say is left out: sizes of messages in the second study, so its sweep of bandwidth, and who talks to whom.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from analyzer.machine.description import CpuScheduling, Machine, Network, Node
from analyzer.machine.policies import policy_of
from analyzer.program.model import Program
from analyzer.program.operation import OperationFlag, OperationKind, operations
from analyzer.replay.simulate import simulate
from analyzer.scheduling import sharing
from analyzer.scheduling.mix import share
from analyzer.scheduling.ring import RingProgram
from analyzer.scheduling.sharing import closed

TABLES_15_TO_17 = {  # tasks -> tasks, % of its processor, and messages of a task of MG, CG and LU
    4: ((4, 94.70, 180), (4, 69.00, 1801), (4, 91.75, 5169)),
    8: ((8, 94.25, 194), (9, 50.44, 2222), (8, 74.65, 5206)),
    16: ((16, 96.69, 169), (16, 39.56, 2398), (16, 60.25, 4012)),
}
"""LU without its first task, which computes 1 to 6 % of the time and sends nothing. CG has 9 tasks, others 8."""
MG, CG, LU = range(3)
ALONE_S = 3.0
"""Least time of each application alone, in s."""
SLICES_MS = (1, 10, 100)
SECOND = ("FIFO", "RR", "DECAY", "BOOST1", "BOOST2", "BOOST3", "BOOST1_RR", "BOOST2_RR", "BOOST3_RR")

TABLE_19 = {  # bytes of a message, messages of a task, time (s) and % CPU on the HPC
    "FFT4": (4, 229379, 48, 5.794899, 91.17), "FFT8": (8, 61168, 105, 3.269270, 90.56),
    "IS4": (4, 272731, 121, 25.586458, 74.62), "IS8": (8, 79400, 243, 17.806472, 58.42),
    "LU4": (5, 152, 5290, 8.791915, 93.19), "LU8": (9, 151, 5330, 6.393461, 74.97),
    "MG4": (4, 9241, 316, 1.915991, 99.75), "MG8": (8, 10175, 164, 1.233535, 93.83),
}  # fmt: skip
LOADS = {"B1": ("FFT", "IS", "LU"), "B2": ("FFT", "IS", "MG"), "B3": ("FFT", "LU", "MG"), "B4": ("IS", "LU", "MG")}
NETWORKS = {  # Table 20: latency (us), MB/s, buses
    "NOW with a bus": (500, 1.0, 1), "NOW": (500, 1.0, 0), "HPC": (50, 30.0, 0),
}  # fmt: skip
THIRD = {"FIFO": CpuScheduling(), "RR": CpuScheduling(slice_ns=10_000_000)}
_FEWER = 20
"""A run of the third study has such a part of its messages, with the computation between them as it was."""


@dataclass(frozen=True)
class Mixed:
    """Results of three applications together; in the order of the tables."""

    kept: tuple[float, ...]  # of its speed alone (F13, F18)
    shared: float = 0.0  # jobs/s (F17), and one after the other (F16)
    batch: float = 0.0

    @property
    def gain(self) -> float:
        """Above 1 sharing pays (F13)."""
        return sharing.gain_over_batch(self.kept)

    @property
    def spread(self) -> float:
        """0 is fair (F15)."""
        return sharing.spread_of_speeds(self.kept)


Mixes = dict[str, dict[str, dict[str, Mixed]]]
"""experiment -> policy -> point -> what came out: "S2 4" by slice ("10 ms"), "S3" by load, network and tasks."""


def second(tasks: int, policy: str, slice_ms: float, seconds: float = ALONE_S) -> Mixed:
    """Run a point of the second study, from this time of the run."""
    names = {"FIFO": "fcfs", **{f"BOOST{k}_RR": f"boost{k}-rr" for k in (1, 2, 3)}}
    options: dict[str, object] = {"policy": names.get(policy, policy.lower())}
    if policy in ("RR", "DECAY") or policy.endswith("_RR"):
        options["slice_us"] = slice_ms * 1000
    rings = [
        RingProgram(compute_us=ALONE_S * 1e6 / (messages * n), demand=demand, tasks=n)
        for n, demand, messages in TABLES_15_TO_17[tasks]
    ]
    nodes = (Node(),) * max(ring.tasks for ring in rings)
    machine = Machine(nodes=nodes, mapping="round-robin", scheduling=policy_of(options))
    shared = share(rings, machine, int(seconds * 1e9))
    return Mixed(tuple((1 / shared.stretches).tolist()))


@cache
def application(name: str) -> Program:
    """Make an application of Table 19: in each iteration every task computes, sends on and receives."""
    tasks, size, messages, seconds, percent = TABLE_19[name]
    latency_s = 2 * messages * NETWORKS["HPC"][0] / 1e6  # is part of the CPU time there, at both ends
    burst = round((seconds * percent / 100 - latency_s) / messages * 1e9)
    count = max(round(messages / _FEWER), 2)

    def stream(task: int) -> np.ndarray:
        send = {
            "kind": OperationKind.SEND,
            "burst": burst,
            "peer": (task + 1) % tasks,
            "bytes": size,
            "flags": OperationFlag.IMMEDIATE,
        }
        return np.tile(operations(send, {"kind": OperationKind.RECV, "peer": (task - 1) % tasks, "bytes": size}), count)

    return Program.from_streams([stream(task) for task in range(tasks)], name=name)


def third(load: str, network: str, tasks: int, policy: str, repetitions: int = 10) -> Mixed:
    """Run a point of the third study."""
    programs = [application(f"{name}{tasks}") for name in LOADS[load]]
    latency_us, bandwidth, buses = NETWORKS[network]
    node = Node(latency_s=latency_us / 1e6, links_out=1, links_in=1)
    nodes = (node,) * max(program.ranks for program in programs)
    machine = Machine(
        nodes=nodes, networks=(Network(bandwidth, buses),), mapping="round-robin", scheduling=THIRD[policy]
    )
    found = closed(programs, machine, simulate(programs, machine, repetitions=repetitions))
    return Mixed(tuple(found.speeds), found.shared_throughput, found.batch_throughput)


@dataclass(frozen=True)
class MixSetting:
    """How much of both studies is done."""

    tasks: Sequence[int] = (4, 8, 16)
    slices_ms: Sequence[float] = SLICES_MS
    seconds: float = ALONE_S  # of the second study
    loads: Sequence[str] = tuple(LOADS)
    sizes: Sequence[int] = (4, 8)
    repetitions: int = 10

    def all(self) -> Mixes:
        """Run all points."""
        found: Mixes = {}
        for experiment, policy, point, mixed in self._points():
            found.setdefault(experiment, {}).setdefault(policy, {})[point] = mixed
        return found

    def _points(self) -> Iterator[tuple[str, str, str, Mixed]]:
        for tasks in self.tasks:
            for policy in SECOND:
                for slice_ms in self.slices_ms:
                    yield f"S2 {tasks}", policy, f"{slice_ms:g} ms", second(tasks, policy, slice_ms, self.seconds)
        for policy in THIRD:
            for load in self.loads:
                for network in NETWORKS:
                    for size in self.sizes:
                        mixed = third(load, network, size, policy, self.repetitions)
                        yield "S3", policy, f"{load}, {network}, {size}", mixed
