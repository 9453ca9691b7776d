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
"""States in which a thread has a CPU where several share it; it gives it back while it waits."""


@dataclass(frozen=True)
class ThreadCpus:
    """The CPUs of one thread, numbered through all nodes from 1 as a .prv does: cpu[k] from since[k] (ns) on."""

    since: np.ndarray
    cpu: np.ndarray  # int32
    shared: bool  # with other threads of the node

    def at(self, times: np.ndarray) -> np.ndarray:
        """Return the last CPU at each of some times; before the first one 0."""
        at = np.searchsorted(self.since, times, "right") - 1
        return np.where(at >= 0, self.cpu[at], 0) if len(self.cpu) else np.zeros(len(times), np.int32)

    def of_states(self, begins: np.ndarray, states: np.ndarray) -> np.ndarray:
        """Return the CPU during each state; 0 while it has none."""
        found = self.at(begins)
        return np.where(np.isin(states, _ON_A_CPU), found, 0) if self.shared else found


@dataclass(frozen=True)
class MachinePlacement:
    """Nodes of a replay's machine, and by application the CPUs of its threads by (rank, thread)."""

    nodes: Nodes  # `of_rank`: the ranks of all applications, one after the other
    cpus: tuple[dict[tuple[int, int], ThreadCpus], ...]

    @classmethod
    def of(cls, programs: Sequence[Program], machine: Machine, prediction: ReplayPrediction) -> MachinePlacement:
        """Make it from a prediction of all programs together, with `cpu_waits`.

        Threads with a CPU of their own have one after the other, in order of application, rank and thread.
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
