"""This machine as the replay takes it: its cores, the turns that processes get, the network between them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from threading import Event, Thread

from analyzer.loggp.model import LoOgGP
from analyzer.machine.description import SPIN, TABLE_9, CpuScheduling, Network, Node
from analyzer.machine.measured_network import costs_of
from analyzer.replay import Machine
from benchmarks.mpi import ENVIRONMENT, ROOT, WORK, Mpi
from benchmarks.shared import load

EAGER_LIMIT = 4096
"""Eager limit of Open MPI's shared memory, in bytes."""
PERIOD_S = 0.05
LOST_S = 5e-4
"""A gap of this length between two looks at the clock means a lost CPU, in s."""


class Runnable:
    """Counts the processes that run or want to, again and again, while the context lasts."""

    def __enter__(self) -> Runnable:
        self._counts: list[int] = []
        self._over = Event()
        self._thread = Thread(target=self._count)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _count(self) -> None:
        while not self._over.wait(PERIOD_S):
            found = re.search(r"^procs_running (\d+)$", Path("/proc/stat").read_text(), re.MULTILINE)
            assert found, "/proc/stat"
            self._counts.append(int(found[1]) - 1)  # without the one that reads this

    def mean(self) -> float:
        """Return the mean number."""
        return fmean(self._counts)


def network(mpi: Mpi) -> LoOgGP:
    """Measure the network of shared memory now."""
    WORK.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ) | ENVIRONMENT | {"MPI4PY_MPIABI": "openmpi", "PYTHONPATH": str(ROOT)}
    measure = [mpi.mpirun, "-n", "2", sys.executable, "-m", "tracelib.ngmpi", "-q", "-f", "-o", WORK / "node.h5"]
    subprocess.run(measure, env=environment, check=True)
    fit = [sys.executable, "-m", "analyzer", "-q", "-f", WORK / "node.h5", "-o", WORK / "node"]
    subprocess.run(fit, env=environment, check=True)
    return LoOgGP.read(WORK / "node.intra.json")


def turn_ns() -> int:
    """Measure how long a process computes before it is another's turn, beside one that wants the same core."""
    cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cpus)})
    try:
        with load(1):
            return round(median(_turns(1.0)) * 1e9)
    finally:
        os.sched_setaffinity(0, cpus)


def _turns(seconds: float) -> list[float]:
    """Measure the lengths of this process's turns on a CPU, in s."""
    found = []
    last = begin = time.perf_counter()
    end = begin + seconds
    while last < end:
        now = time.perf_counter()
        if now - last > LOST_S:
            found.append(last - begin)
            begin = now
        last = now
    return found


@dataclass(frozen=True)
class Here:
    """Figures of this machine."""

    model: LoOgGP
    turn_ns: int

    @classmethod
    def measured(cls, mpi: Mpi) -> Here:
        return cls(network(mpi), turn_ns())

    def machine(self, places: Sequence[int], others: int = 0) -> Machine:
        """Make a machine for a run whose ranks are bound to these CPUs, beside `others`, processes that always want
        one.

        A CPU has a queue of its own, as in Linux: it is a node. A rank that has one to itself spins while it waits,
        others yield it.
        """
        costs = costs_of(self.model)
        cpus = len(os.sched_getaffinity(0))
        alone = len(set(places)) == len(places)
        return Machine(
            nodes=(Node(cpus=1, intra=costs),) * cpus,
            networks=(Network(pieces=costs),),
            mappings=(tuple(places), *((k % cpus,) for k in range(others))),
            collectives=TABLE_9,
            scheduling=CpuScheduling(slice_ns=self.turn_ns, busy_wait_ns=SPIN if alone else 0),
            eager_limit=EAGER_LIMIT,
        )
