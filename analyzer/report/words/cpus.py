"""Ranks that share CPUs, wait for CPUs, or sleep, in words that all reports use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analyzer.efficiency.cpu_use import CpuSharing, RankCpuUse, Switches
from analyzer.report.words.units import count, percent, plural, time
from analyzer.trace.description import ranks_named
from analyzer.trace.sharing import Crowd, Sharing

MOST_NODES = 3
_NOTEWORTHY = 0.01
"""Share of the computing time from which on waiting for CPUs, or sleep, is mentioned."""


def crowds(sharing: Sequence[Sharing]) -> str:
    """Say which nodes have more ranks than CPUs, such as "4 ranks share 2 CPUs of n0; ...". "": no node."""
    parts = [f"{s.ranks} ranks share {plural(s.cpus, 'CPU')} of {s.node}" for s in sharing[:MOST_NODES]]
    more = len(sharing) - MOST_NODES
    return "; ".join(parts) + (f"; ranks share CPUs on {plural(more, 'more node')}" if more > 0 else "")


def crowds_of_threads(found: Sequence[Crowd]) -> str:
    """Say which ranks have more busy threads than CPUs, and how to bind them.

    The most frequent kind is named: "2 busy threads share 1 CPU on each of ranks 0-3; bind each rank to 2 CPUs (...)".
    """
    kinds: dict[tuple[int, int], list[int]] = {}
    for crowd in found:
        kinds.setdefault((crowd.threads, crowd.cpus), []).append(crowd.rank)
    (threads, cpus), ranks = max(kinds.items(), key=lambda item: len(item[1]))
    who = f"{threads} busy threads share {plural(cpus, 'CPU')} on {'each of ' if len(ranks) > 1 else ''}"
    advice = f"bind each rank to {threads} CPUs (mpirun --map-by slot:PE={threads}), or to none (--bind-to none)"
    return f"{who}{ranks_named(ranks)}; {advice}"


def waiting_for_cpus(cpus: CpuSharing) -> list[str]:
    """Say how long ranks waited for a CPU and slept, one line each.

    Empty: no ranks share CPUs, and waiting and sleep are each below 1 % (_NOTEWORTHY) of computing.
    """
    who, use = crowds(cpus.sharing), cpus.use
    if use is None:
        return [f"{who}. They wait for a CPU, in MPI and while they compute; how long was not recorded."] if who else []
    waiting = _waiting(who, use)
    return [*waiting, *(_taken(cpus.switches) if waiting and cpus.switches else []), *_asleep(use)]


def _waiting(who: str, use: RankCpuUse) -> list[str]:
    waits, computing = int(use.computing_waits_ns.sum()), int(use.computing_ns.sum())
    if not who and waits < max(_NOTEWORTHY * computing, 1):
        return []
    in_mpi, mpi = int(use.mpi_waits_ns.sum()), int(use.mpi_ns.sum())
    parts = [f"{_part(waits, computing)} of computing"] if computing else []
    parts += [f"{_part(in_mpi, mpi)} in MPI after MPI_Init"] if mpi else []
    if not parts:
        return [f"{who}."]
    begin, during = (f"{who}. They" if who else "Ranks"), ", and during ".join(parts)
    if use.tells_sleep:
        return [f"{begin} wait for a CPU during {during} (by the kernel's run delay)."]
    return [f"{begin} have no CPU during {during}: they wait for one, or sleep. Which of both was not recorded."]


def _taken(switches: Switches) -> list[str]:
    times, rank = int(switches.involuntary.sum()), int(switches.involuntary.argmax())
    if not times:
        return []
    most = (
        f", most often on rank {rank} ({count(int(switches.involuntary[rank]))})" if len(switches.voluntary) > 1 else ""
    )
    return [f"The kernel took the CPU from their threads {plural(times, 'time')}{most}, and gave it to others."]


def _asleep(use: RankCpuUse) -> list[str]:
    asleep, computing = int(use.computing_asleep_ns.sum()), int(use.computing_ns.sum())
    if asleep < max(_NOTEWORTHY * computing, 1):
        return []
    why = "for files, children, timers, locks or other threads, not for a CPU"
    return [f"Ranks are asleep during {_part(asleep, computing)} of computing: {why}."]


def _part(ns: int, whole_ns: int) -> str:
    """Return a part with its share of the whole, such as "1.20 s (60.0 %) of the 2.00 s"."""
    return f"{time(ns)} ({percent(ns / whole_ns)}) of the {time(whole_ns)}"


def cpus_json(cpus: CpuSharing) -> dict[str, Any]:
    """Return times without a CPU for JSON, in s, summed over the ranks. None: not recorded.

    If sleep cannot be told from waiting for a CPU, the waiting while computing includes sleep, and the sleep is None.
    """
    use = cpus.use
    told = use is not None and use.tells_sleep
    return {
        "computing_waiting_for_cpu_s": None if use is None else int(use.computing_waits_ns.sum()) / 1e9,
        "computing_asleep_s": int(use.computing_asleep_ns.sum()) / 1e9 if use is not None and told else None,
        "mpi_without_cpu_s": None if use is None else int(use.mpi_without_ns.sum()) / 1e9,
        "mpi_waiting_for_cpu_s": int(use.mpi_waits_ns.sum()) / 1e9 if use is not None and told else None,
        "mpi_with_cpu_s": None if use is None else int(use.mpi_cpu_ns.sum()) / 1e9,
        "sleep_told_from_waiting": told,
        "cpu_taken_from_threads": None if cpus.switches is None else int(cpus.switches.involuntary.sum()),
        "cpu_given_up_by_threads": None if cpus.switches is None else int(cpus.switches.voluntary.sum()),
        "threads_sharing_cpus": [
            {"rank": c.rank, "threads": c.threads, "cpus": c.cpus, "waiting_for_cpu_s": c.delay_ns / 1e9}
            for c in cpus.crowds
        ],
    }
