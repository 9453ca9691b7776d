"""Places of the threads of a replay: the nodes of the machine, and the CPU of each thread over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.machine.description import Machine
from analyzer.machine.drawn_numbers import with_counts
from analyzer.program.model import Program
from analyzer.replay.simulate import ReplayPrediction, most_threads
from analyzer.trace import Nodes
from analyzer.trace.records import State

_ON_A_CPU = (State.RUNNING, State.TRACER)
"""States in which a thread has a CPU if several threads share the CPUs. In other states it gives the CPU back."""


@dataclass(frozen=True)
class ThreadCpus:
    """CPUs of one thread over time: cpu[k] from since[k] (ns) on.

    CPUs are numbered from 1 through all nodes, as in a .prv.
    """

    since: np.ndarray
    cpu: np.ndarray  # int32
    shared: bool  # True if the threads of the node share its CPUs

    def at(self, times: np.ndarray) -> np.ndarray:
        """Return the CPU that the thread had last at each time (ns); 0 before its first CPU."""
        at = np.searchsorted(self.since, times, "right") - 1
        return np.where(at >= 0, self.cpu[at], 0) if len(self.cpu) else np.zeros(len(times), np.int32)

    def of_states(self, begins: np.ndarray, states: np.ndarray) -> np.ndarray:
        """Return the CPU during each state; 0 if the thread has no CPU in that state.

        Args:
            begins: Begins of the states, ns.
            states: Values of `State`.
        """
        found = self.at(begins)
        return np.where(np.isin(states, _ON_A_CPU), found, 0) if self.shared else found


@dataclass(frozen=True)
class MachinePlacement:
    """Nodes of a replay's machine, and the CPUs of the threads of each application, by (rank, thread)."""

    nodes: Nodes  # `of_rank` has the ranks of all applications, one application after the other
    cpus: tuple[dict[tuple[int, int], ThreadCpus], ...]

    @classmethod
    def of(cls, programs: Sequence[Program], machine: Machine, prediction: ReplayPrediction) -> MachinePlacement:
        """Make the placement from a prediction of all programs together, with `cpu_waits`.

        On a node with enough CPUs each thread gets its own, in the order of application, rank and thread.
        """
        ranks = [program.ranks for program in programs]
        made = with_counts(machine, sum(ranks))
        places = made.place_all(ranks)
        counts = [int(node.cpus) or most_threads(programs) for node in made.nodes]  # type: ignore[arg-type]
        first = np.cumsum([1, *counts])
        virtual = [max(program.most_virtual_threads(), 1) for program in programs]
        load = np.zeros(len(counts), np.int64)
        for program, place, each in zip(programs, places, virtual, strict=True):
            np.add.at(load, np.array(place)[program.rank], each)
        taken = np.zeros(len(counts), np.int64)
        found: tuple[dict[tuple[int, int], ThreadCpus], ...] = tuple({} for _ in programs)
        for k, (program, place, each) in enumerate(zip(programs, places, virtual, strict=True)):
            own = prediction.of(programs, k)
            for stream, (rank, thread) in enumerate(zip(program.rank.tolist(), program.thread.tolist(), strict=True)):
                node = place[rank]
                shared = bool(load[node] > counts[node])
                if shared and own.cpu_waits:
                    since, cpu = own.cpu_waits.cpus_of_stream(stream)
                else:
                    since, cpu = np.zeros(1, np.int64), taken[node : node + 1].copy()
                taken[node] += each
                found[k][rank, thread] = ThreadCpus(since, (first[node] + cpu).astype(np.int32), shared)
        names = tuple(f"node{k + 1}" for k in range(len(counts)))
        nodes = Nodes(names, tuple(counts), np.array([node for place in places for node in place], np.int32))
        return cls(nodes, found)
