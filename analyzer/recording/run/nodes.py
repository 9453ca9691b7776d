"""Nodes of a run: their names, the ranks on them, and the numbers that the trace gives to their CPUs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.columns.arrays import by_index
from analyzer.recording.rank_file.file import RankFile
from analyzer.trace.sharing import cpus_of


@dataclass(frozen=True)
class NodePlaces:
    """Nodes of a run, numbered in order of their first rank."""

    names: tuple[str, ...]
    of_rank: np.ndarray  # int32: number of each rank's node
    affinity: tuple[frozenset[int], ...]  # by rank: CPUs of the node on which it may run; empty: not known


@dataclass(frozen=True)
class CpuNumbers:
    """CPUs of a trace. Each thread has one. They are numbered from 1, node after node, by rank and thread."""

    first: np.ndarray  # int32, by rank: CPU of its main thread
    of_node: tuple[int, ...]  # number of CPUs of each node


def place_ranks(files: Sequence[RankFile], size: int) -> NodePlaces:
    """Find the node of each of a run's `size` ranks, by host and boot. Ranks without a file are put on node 0."""
    keys = {file.rank: (file.attributes["host"], file.attributes["boot_id"]) for file in files}
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys.values()))}
    of_rank = np.zeros(size, np.int32)
    for rank, key in keys.items():
        of_rank[rank] = numbers[key]
    return NodePlaces(tuple(str(host) or "unknown" for host, _ in numbers), of_rank, _affinity(files, size))


def _affinity(files: Sequence[RankFile], size: int) -> tuple[frozenset[int], ...]:
    said = {file.rank: str(file.attributes["cpus"]) for file in files}
    sets = {text: cpus_of(text) for text in {"", *said.values()}}  # a set of many CPUs takes 8 KB
    return tuple(sets[said.get(rank, "")] for rank in range(size))


def number_cpus(places: NodePlaces, threads: np.ndarray) -> CpuNumbers:
    """Number the CPUs of a trace. `threads` is the number of threads of each rank."""
    order = np.argsort(places.of_rank, kind="stable")
    before = np.concatenate([[0], np.cumsum(threads[order])[:-1]])
    first = np.zeros(len(threads), np.int32)
    first[order] = 1 + before
    return CpuNumbers(first, tuple(by_index(places.of_rank, threads, len(places.names)).tolist()))
