"""Parts of an opened run: the results of the steps of opening (opening.py), which `RunTrace` reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from analyzer.recording.rank_file.file import RankFile
from analyzer.recording.rank_file.thread_table import ThreadTable
from analyzer.recording.run.call_paths import RunPaths
from analyzer.recording.run.cuts import Cuts
from analyzer.recording.run.matched import Matched
from analyzer.recording.run.opened_threads import OpenedThreads
from analyzer.recording.run.shared_tables import SharedTables
from analyzer.recording.run.thread_readers import ThreadReaders
from analyzer.trace import Counter, NodeClock, Nodes, Origin, Problem, Relative, Repair
from analyzer.trace.read_sizes import ReadSizes


@dataclass(frozen=True)
class HalfDone:
    """Description of how the run ended, and of half-done operations that were left out."""

    ending: tuple[Problem, ...] = ()
    left_out: str = ""  # one line on the operations; "": none was left out


@dataclass(frozen=True, kw_only=True)
class RunParts:
    """Parts of an opened run.

    Four are caches, which read at their first use: `paths`, `opened.lanes`, `cuts` and `matched`. One changes what is
    read: `readers`, if a replay asks for it (`Leftovers.leave_out`).
    """

    path: str
    size: int
    sizes: ReadSizes
    files: tuple[RankFile, ...]
    chosen: tuple[int, ...] | None  # chosen ranks; None: all
    share: range  # ranks that this member of a team opened
    members: int  # number of members of the team
    origin: Origin
    nodes: Nodes
    threads: np.ndarray  # int32, by rank
    first_cpu: np.ndarray  # int32, by rank
    clocks: tuple[NodeClock, ...]
    counters: tuple[Counter, ...]
    shared: SharedTables
    paths: RunPaths
    opened: OpenedThreads
    sampler: Callable[[int], ThreadTable | None]  # returns the rows of the tracer's own thread of a rank
    duration_ns: int
    spans: Mapping[int, tuple[int, int]]  # by rank: times of its first and last record, ns
    cuts: Cuts
    readers: ThreadReaders
    matched: Matched
    problems: tuple[Problem, ...]
    event_labels: Mapping[int, tuple[str, dict[int, str]]]
    relatives: Callable[[], list[Relative]]  # finds other runs that this run communicated with
    repair: Repair | None = None
    half_done: HalfDone = HalfDone()
