"""Where each rank runs: its host, and the CPUs it may use."""

from __future__ import annotations

import contextlib
import os
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tracelib.schema import net


@dataclass(frozen=True)
class RankLocation:
    """One rank's."""

    host: str
    cores: int
    cpu: str
    kernel: str
    cpus: str  # "0-3,8"


def here() -> RankLocation:
    """Return this process's place."""
    return RankLocation(
        platform.node(), os.cpu_count() or 0, _model(), platform.release(), ranges(os.sched_getaffinity(0))
    )


def own_cpu(mine: int, allowed: Sequence[frozenset[int]], cores: Mapping[int, int]) -> int | None:
    """Return the CPU for the rank `mine` of its host, where each may use `allowed`: of a core that no other gets.

    `cores`: the core of each CPU. None: the rank is bound already, or there are not enough cores for all.
    """
    if len(allowed[mine]) == 1:
        return None
    alike = [rank for rank, cpus in enumerate(allowed) if cpus == allowed[mine]]
    first = {cores.get(cpu, cpu): cpu for cpu in sorted(allowed[mine], reverse=True)}
    cpus = sorted(first.values())
    return cpus[alike.index(mine)] if len(alike) <= len(cpus) else None


def cores() -> dict[int, int]:
    """Map each CPU to its core, named by the core's lowest CPU. CPUs that the kernel does not describe are missing."""
    found = {}
    for path in Path("/sys/devices/system/cpu").glob("cpu[0-9]*/topology/thread_siblings_list"):
        with contextlib.suppress(OSError, ValueError):
            found[int(path.parts[-3][3:])] = int(re.split("[-,]", path.read_text())[0])
    return found


def _model() -> str:
    """Return the processor's name; its architecture where the kernel gives no name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.machine()


def ranges(numbers: Sequence[int] | set[int]) -> str:
    """Write whole numbers as text: "0-3,8"."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(f"{first}-{last}" if last > first else str(first) for first, last in parts)


def tables(places: Sequence[RankLocation], pairs: Sequence[tuple[int, int, int]], mode: int) -> dict[str, np.ndarray]:
    """Return `hosts` and `pairs` of the file.

    pairs: first and second rank, and the number of those measured together.
    """
    hosts = list(dict.fromkeys((p.host, p.cores, p.cpu, p.kernel) for p in places))
    index = [hosts.index((p.host, p.cores, p.cpu, p.kernel)) for p in places]
    rows = [
        (a, b, index[a], index[b], places[a].cpus, places[b].cpus, where(places[a], places[b]), mode, group)
        for a, b, group in pairs
    ]
    return {"hosts": np.array(hosts, net.HOST), "pairs": np.array(rows, net.PAIR)}


def where(first: RankLocation, second: RankLocation) -> str:
    """Return kind of a pair."""
    return net.WHERE[first.host != second.host]
