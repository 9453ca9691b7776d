"""Parts of an opened run: what the steps of opening (opening.py) found, and `RunTrace` reads."""

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
    """Operations that ranks which did not end in order left half done, and how the run ended."""

    ending: tuple[Problem, ...] = ()
    left_out: str = ""  # one line; "": nothing was left out


@dataclass(frozen=True, kw_only=True)
class RunParts:
    """Parts of an opened run. Four are caches, which read at their first use: `paths`, `opened.lanes`, `cuts` and
    `matched`. One changes what is read: `readers`, on demand of a replay (`Leftovers.leave_out`).
    """

    path: str
    size: int
    sizes: ReadSizes
    files: tuple[RankFile, ...]
    chosen: tuple[int, ...] | None  # ranks that were to be read; None: all
    share: range  # ranks that this member of a team opened
    members: int  # size of that team
    origin: Origin
    nodes: Nodes
    threads: np.ndarray  # int32, by rank
    first_cpu: np.ndarray  # int32, by rank
    clocks: tuple[NodeClock, ...]
    counters: tuple[Counter, ...]
    shared: SharedTables
    paths: RunPaths
    opened: OpenedThreads
    sampler: Callable[[int], ThreadTable | None]  # rows of the tracer's own thread of a rank
    duration_ns: int
    spans: Mapping[int, tuple[int, int]]  # by rank (ns)
    cuts: Cuts
    readers: ThreadReaders
    matched: Matched
    problems: tuple[Problem, ...]
    event_labels: Mapping[int, tuple[str, dict[int, str]]]
    relatives: Callable[[], list[Relative]]  # finds the runs that this run met
    repair: Repair | None = None
    half_done: HalfDone = HalfDone()
