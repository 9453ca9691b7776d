"""Location of each rank: its host, and the CPUs that it may use."""

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
    """Location of one rank.

    Attributes:
        host: Name of the host.
        cores: Number of CPUs of the host.
        cpu: Name of the processor.
        kernel: Release of the kernel.
        cpus: CPUs that the rank may use, such as "0-3,8".
    """

    host: str
    cores: int
    cpu: str
    kernel: str
    cpus: str  # "0-3,8"


def here() -> RankLocation:
    """Return the location of this process."""
    return RankLocation(
        platform.node(), os.cpu_count() or 0, _model(), platform.release(), ranges(os.sched_getaffinity(0))
    )


def own_cpu(mine: int, allowed: Sequence[frozenset[int]], cores: Mapping[int, int]) -> int | None:
    """Choose a CPU for a rank, on a core that no other rank of the host gets.

    Args:
        mine: Number of the rank on its host, from 0.
        allowed: CPUs that each rank of the host may use.
        cores: Core of each CPU.

    Returns:
        Number of the CPU. None: the rank is bound to one CPU already, or there are not enough cores.
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
    """Return the name of the processor, or its architecture if the kernel gives no name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.machine()


def ranges(numbers: Sequence[int] | set[int]) -> str:
    """Write whole numbers as ranges in a text, such as "0-3,8"."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(f"{first}-{last}" if last > first else str(first) for first, last in parts)


def tables(places: Sequence[RankLocation], pairs: Sequence[tuple[int, int, int]], mode: int) -> dict[str, np.ndarray]:
    """Make the tables `hosts` and `pairs` of a file.

    Args:
        places: Location of each rank.
        pairs: First rank, second rank, and number of pairs that were measured at the same time.
        mode: Value of the column for the mode.
    """
    hosts = list(dict.fromkeys((p.host, p.cores, p.cpu, p.kernel) for p in places))
    index = [hosts.index((p.host, p.cores, p.cpu, p.kernel)) for p in places]
    rows = [
        (a, b, index[a], index[b], places[a].cpus, places[b].cpus, where(places[a], places[b]), mode, group)
        for a, b, group in pairs
    ]
    return {"hosts": np.array(hosts, net.HOST), "pairs": np.array(rows, net.PAIR)}


def where(first: RankLocation, second: RankLocation) -> str:
    """Return the kind of a pair of ranks: on one host, or on two."""
    return net.WHERE[first.host != second.host]
