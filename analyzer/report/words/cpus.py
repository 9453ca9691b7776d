"""Ranks that share CPUs, in the same words wherever a report speaks of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analyzer.efficiency.cpu_use import Cpus
from analyzer.report.words.units import percent, plural, time
from analyzer.trace.sharing import Sharing

MOST_NODES = 3
_NOTEWORTHY = 0.01
"""Where no ranks share CPUs: share of the computation from which on waiting for a CPU is mentioned."""
_SLEEP = '("Up to": a rank without a CPU may also be asleep, in MPI until a message comes.)'
"""Why these times are bounds."""


def crowds(sharing: Sequence[Sharing]) -> str:
    """ "4 ranks share 2 CPUs of n0; ..."."""
    parts = [f"{s.ranks} ranks share {plural(s.cpus, 'CPU')} of {s.node}" for s in sharing[:MOST_NODES]]
    more = len(sharing) - MOST_NODES
    return "; ".join(parts) + (f"; ranks share CPUs on {plural(more, 'more node')}" if more > 0 else "")


def waiting_for_cpus(cpus: Cpus) -> list[str]:
    """How long ranks waited for a CPU, in at most one line; none where they had one. It is the most that they did: a
    rank without a CPU may also sleep."""
    who = crowds(cpus.sharing)
    if cpus.use is None:
        return [f"{who}. They wait for a CPU, in MPI and while they compute; how long was not recorded."] if who else []
    waits, computing = int(cpus.use.computing_waits_ns.sum()), int(cpus.use.computing_ns.sum())
    if not who and waits < max(_NOTEWORTHY * computing, 1):
        return []
    without, mpi = int(cpus.use.mpi_without_ns.sum()), int(cpus.use.mpi_ns.sum())
    parts = [f"up to {_part(waits, computing)} of computing"] if computing else []
    parts += [f"up to {_part(without, mpi)} in MPI after MPI_Init"] if mpi else []
    begin = f"{who}. They" if who else "Ranks"
    return [f"{begin} wait for a CPU during {', and during '.join(parts)}. {_SLEEP}"] if parts else [f"{who}."]


def _part(ns: int, whole_ns: int) -> str:
    """ "1.20 s (60.0 %) of the 2.00 s"."""
    return f"{time(ns)} ({percent(ns / whole_ns)}) of the {time(whole_ns)}"


def cpus_json(cpus: Cpus) -> dict[str, Any]:
    """Seconds, summed over the ranks; null where they were not recorded."""
    use = cpus.use
    return {
        "computing_waiting_for_cpu_s": None if use is None else int(use.computing_waits_ns.sum()) / 1e9,
        "mpi_without_cpu_s": None if use is None else int(use.mpi_without_ns.sum()) / 1e9,
        "mpi_with_cpu_s": None if use is None else int(use.mpi_cpu_ns.sum()) / 1e9,
    }
