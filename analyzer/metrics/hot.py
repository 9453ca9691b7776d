"""Places of computing: samples of threads outside MPI, scaled to the computing time that was measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from analyzer.columns.arrays import joined
from analyzer.metrics.sums import Sums, add_up
from analyzer.pairing.parts import Part
from analyzer.parallel import Team
from analyzer.trace import STATE, UNKNOWN, CallPaths, CodeSamples, CpuUse, State, Trace
from tracelib.schema import OffCpuState

SPENT = np.dtype([("rank", "<i8"), ("path", "<i8"), ("count", "<i8"), ("ns", "<f8")])
"""Samples of computing of one rank in one call path (row of CallPaths.tables).

`ns` is the computing time that the samples stand for.
"""

OF_RANK = np.dtype(
    [
        ("rank", "<i8"), ("computing_ns", "<f8"), ("idle_ns", "<f8"), ("mpi_ns", "<f8"), ("samples", "<i8"),
        ("lost", "<i8"), ("tasks", "<i8"), ("others", "<i8"), ("others_ns", "<f8"), ("waits_ns", "<f8"),
        ("before_ns", "<f8"),
    ]
)  # fmt: skip
"""Sums of one rank that was sampled; times in ns.

computing_ns: its computing time. idle_ns: the part of computing_ns in which threads had no CPU (they slept, waited for
a file, or for a CPU). mpi_ns: CPU time in MPI. samples, lost: number of samples that were taken and lost. tasks: number
of threads. others: number of these that make no call; others_ns: their part of computing_ns, which is CPU time.
waits_ns: the part of idle_ns in which threads waited for a CPU; negative: idle_ns is an estimate by samples, and its
parts are not known. before_ns: computing before the samples of the thread began (such as before MPI_Init); it is not
part of computing_ns.
"""

_BETWEEN = np.dtype([("begin", "<i8"), ("end", "<i8")])
NOTEWORTHY_IDLE = 0.02
"""Smallest share of the computing time without a CPU that is reported from samples; a smaller share may be chance."""


@dataclass(frozen=True)
class HotRows:
    """Computing time by place of all ranks (`rows`: SPENT by rank and path), and sums by rank (`ranks`: OF_RANK)."""

    rows: np.ndarray
    ranks: np.ndarray

    @property
    def computing_ns(self) -> float:
        """Return the measured computing time of all ranks in ns."""
        return float(self.ranks["computing_ns"].sum())

    @property
    def busy_ns(self) -> float:
        """Return the part of the computing time of all ranks in which threads had a CPU, in ns."""
        return self.computing_ns - float(self.ranks["idle_ns"].sum())

    @property
    def before_ns(self) -> float:
        """Return the computing time of all ranks before samples began, in ns. It is not part of computing_ns."""
        return float(self.ranks["before_ns"].sum())

    @property
    def idle_error_ns(self) -> float:
        """Return the standard error of an estimated time without a CPU, in ns: busy_ns / sqrt(samples)."""
        count = float(self.rows["count"].sum())
        return self.busy_ns / count**0.5 if count else self.computing_ns

    @property
    def is_idle_known(self) -> bool:
        """Return true if the kernel reported when threads had no CPU; otherwise the time is estimated from samples."""
        return not (self.ranks["waits_ns"] < 0).any()

    def select(self, paths: np.ndarray) -> HotRows:
        """Keep only the time spent in chosen call paths. `paths`: bool, one for each row of CallPaths.tables."""
        return HotRows(self.rows[paths[self.rows["path"]]], self.ranks)


def hot(trace: Trace, team: Team, stretches: np.ndarray | None = None) -> HotRows:
    """Find where all ranks compute, from samples. Collective.

    Args:
        trace: The trace.
        team: The processes that share the work.
        stretches: Begin and end (ns) of the time of each rank that counts, int64 of shape (ranks, 2). None: all time.
    """
    return add_up(trace, team, HotSums(trace, stretches))


@dataclass
class _Task:
    """A thread that was sampled. Times are in ns."""

    thread: int = -1  # number among the threads with calls; -1: it makes none
    since: int = 0  # samples were taken from here on (ns)
    last: int = 0
    cpu: int = 0  # CPU time that it used since then
    lost: int = 0
    samples: int = 0
    mpi: float = 0.0  # CPU time of samples in MPI
    spent: dict[int, list[float]] = field(default_factory=dict)  # by path: samples, CPU time

    @property
    def sampled(self) -> float:
        """Return the CPU time in ns that the samples of this thread in computing stand for."""
        return sum(cpu for _, cpu in self.spent.values())


class HotSums(Sums[HotRows]):
    """Sums of samples by rank and call path.

    A sample counts as computing if its thread was in state Running, and no function of MPI was on its stack. (A thread
    without calls has no states.) A sample stands for the CPU time since the previous sample of the thread. The sum of a
    thread's samples is scaled to its measured computing time, less the time in which it had no CPU.

    Args:
        trace: The trace.
        stretches: Begin and end (ns) of the time of each rank that counts, int64 of shape (ranks, 2). None: all time.
    """

    def __init__(self, trace: Trace, stretches: np.ndarray | None = None) -> None:
        whole = np.broadcast_to(np.array([0, np.iinfo(np.int64).max]), (trace.size, 2))
        self._stretches = whole if stretches is None else stretches
        self._samples = trace.extra(CodeSamples)
        self._cpu_use = trace.extra(CpuUse)
        self._in_mpi = trace.extra(CallPaths).named().in_mpi() if self._samples.known else np.zeros(1, bool)
        self._readers: dict[int, _Reader] = {}
        self._computing: dict[tuple[int, int], float] = {}  # by rank and thread: measured since its samples began
        self._before: dict[int, float] = {}  # by rank: measured before samples began
        self._latest: dict[tuple[int, int], np.ndarray] = {}  # the last Running that began before

    def add(self, part: Part) -> None:
        if not self._samples.known:
            return
        running = part.states.compress(part.states["state"] == State.RUNNING)
        for rank in part.ranks:
            if rank not in self._readers:
                begin, end = self._stretches[rank].tolist()
                self._readers[rank] = _Reader(self._samples, rank, begin, end)
            reader = self._readers[rank]
            mine = running.compress(running["rank"] == rank)
            spans = {thread: self._spans(rank, thread, mine, reader) for thread in reader.threads}
            for block in reader.between(part.begin, part.end):
                self._take(reader, block, spans)

    def _spans(self, rank: int, thread: int, running: np.ndarray, reader: _Reader) -> np.ndarray:
        """Return the states Running of a thread in a part, with the last one before, and add up the new states."""
        new = running.compress(running["thread"] == thread)
        since = reader.since(thread)
        early = np.minimum(new["end"], min(since, reader.until)) - np.maximum(new["begin"], reader.begin)
        self._before[rank] = self._before.get(rank, 0.0) + float(np.maximum(early, 0).sum())
        begin = np.maximum(new["begin"], since)
        length = float(np.maximum(np.minimum(new["end"], reader.until) - begin, 0).sum())
        self._computing[rank, thread] = self._computing.get((rank, thread), 0.0) + length
        found = np.concatenate([self._latest.get((rank, thread), np.zeros(0, STATE)), new])
        self._latest[rank, thread] = found[-1:]
        return found

    def _take(self, reader: _Reader, block: np.ndarray, spans: dict[int, np.ndarray]) -> None:
        computes = ~self._in_mpi[block["path"]]
        for thread, span in spans.items():
            mine = reader.thread_of(block["task"]) == thread
            time = block["time"][mine]
            at = np.searchsorted(span["begin"], time, "right") - 1
            computes[mine] &= (at >= 0) & (time < span["end"][at] if len(span) else False)
        reader.add(block, computes)

    def total(self, team: Team) -> HotRows:
        rows: list[np.ndarray] = []
        ranks = []
        for rank, reader in sorted(self._readers.items()):
            of_rank = self._of_rank(rank, reader, rows)
            if of_rank is not None:
                ranks.append(of_rank)
        parts = team.allgather((joined(rows, SPENT), np.array(ranks, OF_RANK)))
        order = sorted(parts, key=lambda part: int(part[1]["rank"].min(initial=np.iinfo(np.int64).max)))
        return HotRows(joined([r for r, _ in order], SPENT), joined([r for _, r in order], OF_RANK))

    def _of_rank(self, rank: int, reader: _Reader, rows: list[np.ndarray]) -> tuple | None:
        tasks = reader.tasks
        if not tasks:
            return None
        spent: dict[int, list[float]] = {}
        computing = idle = others = waits = 0.0
        off_cpu = self._cpu_use.of(rank) if self._cpu_use.is_known(rank) else None
        for task in tasks.values():
            sampled = task.sampled
            whole, off = _measured(task, sampled, self._computing.get((rank, task.thread), 0.0))
            if task.thread < 0:
                others += whole
            elif off_cpu is None:
                waits = -1.0
            else:
                off, waited = _without_cpu(off_cpu, task, reader, whole)
                waits = waits + waited if waited >= 0 and waits >= 0 else -1.0
            computing, idle = computing + whole, idle + off
            scale = (whole - off) / sampled if sampled else 0.0
            for path, (count, cpu) in task.spent.items():
                sums = spent.setdefault(path, [0.0, 0.0])
                sums[0] += count
                sums[1] += cpu * scale
        found = [(rank, path, count, ns) for path, (count, ns) in sorted(spent.items())]
        rows.append(np.array(found, SPENT))
        named = [sum(getattr(task, name) for task in tasks.values()) for name in ("mpi", "samples", "lost")]
        silent = sum(task.thread < 0 for task in tasks.values())
        return rank, computing, idle, *named, len(tasks), silent, others, waits, self._before.get(rank, 0.0)


def _without_cpu(off_cpu: np.ndarray, task: _Task, reader: _Reader, whole: float) -> tuple[float, float]:
    """Return the ns that a thread computed without a CPU, and the ns that it waited for a CPU (-1: not known).

    They are sums of OFF_CPU rows.
    """
    mine = (off_cpu["thread"] == task.thread) & (off_cpu["where"] == OffCpuState.OUTSIDE)
    rows = off_cpu[mine & (off_cpu["time"] >= task.since) & (off_cpu["time"] < reader.until)]
    off = min(float(rows["off"].sum()), whole)
    known = not (rows["delay"] == UNKNOWN).any()
    return off, min(float(rows["delay"].sum()), off) if known else -1.0


def _measured(task: _Task, sampled: float, running: float) -> tuple[float, float]:
    """Return the computing time of a thread, and the part of it in which the thread had no CPU, in ns.

    For a thread without calls only CPU time is known. Its time after the last sample is divided between computing and
    MPI as the time before. Without any sample nothing is known.
    """
    if task.thread < 0:
        known = sampled + task.mpi
        return (task.cpu * sampled / known if known else 0.0), 0.0
    without_cpu = max(task.last - task.since - task.cpu, 0)
    idle = min(max(running - sampled, 0.0), without_cpu)
    return running, (idle if idle > NOTEWORTHY_IDLE * running else 0.0)


class _Reader:
    """Reader of the samples of a rank in [begin, until) ns, block by block."""

    def __init__(self, samples: CodeSamples, rank: int, begin: int, until: int) -> None:
        self._samples, self._rank, self.begin, self.until = samples, rank, begin, until
        self.tasks: dict[int, _Task] = {}
        spans = [self._meet(block) for block in self._blocks()]
        self._spans = np.array(spans, _BETWEEN)
        self._thread = np.full(max(self.tasks, default=-1) + 1, -1)
        for number, task in self.tasks.items():
            self._thread[number] = task.thread
        self._kept = list(self._blocks()) if len(spans) == 1 else None

    def _blocks(self) -> Iterator[np.ndarray]:
        for block in self._samples.of(self._rank):
            mine = block.compress((block["time"] >= self.begin) & (block["time"] < self.until))
            if len(mine):
                yield mine

    def _meet(self, block: np.ndarray) -> tuple[int, int]:
        for number in np.unique(block["task"]).tolist():
            mine = block.compress(block["task"] == number)
            task = self.tasks.setdefault(number, _Task(since=self.begin))
            task.thread = max(task.thread, int(mine["thread"].max()))
            begins = mine["time"][mine["what"] == _BEGIN]
            task.since = int(begins[0]) if len(begins) else task.since
            task.last = max(task.last, int(mine["time"].max()))
            task.cpu += int(mine["cpu"].sum())
            task.lost += int(mine["lost"].sum())
            task.samples += int((mine["what"] == 0).sum())
        return int(block["time"].min()), int(block["time"].max()) + 1

    @property
    def threads(self) -> list[int]:
        """Return the numbers of the threads that make calls, ascending."""
        return sorted({task.thread for task in self.tasks.values()} - {-1})

    def since(self, thread: int) -> int:
        """Return the time (ns) at which the samples of a thread began."""
        return min(task.since for task in self.tasks.values() if task.thread == thread)

    def thread_of(self, task: np.ndarray) -> np.ndarray:
        """Return the number of the thread among those with calls, for each task number; -1: it makes no calls."""
        return self._thread[task]

    def between(self, begin: int, end: int) -> Iterator[np.ndarray]:
        """Yield blocks of the samples (SAMPLE) with a time in [begin, end) ns."""
        wanted = (self._spans["begin"] < end) & (self._spans["end"] > begin)
        if not wanted.any():
            return
        blocks = self._kept if self._kept is not None else self._blocks()
        for is_wanted, block in zip(wanted.tolist(), blocks, strict=True):
            if is_wanted:
                inside = (block["what"] == 0) & (block["time"] >= begin) & (block["time"] < end)
                yield block.compress(inside)

    def add(self, block: np.ndarray, computes: np.ndarray) -> None:
        """Count samples. `computes`: True for samples in computing, which are counted by call path."""
        for number in np.unique(block["task"]).tolist():
            mine = block["task"] == number
            task = self.tasks[number]
            task.mpi += float(block["cpu"][mine & ~computes].sum())
            chosen = block.compress(mine & computes)
            paths, index = np.unique(chosen["path"], return_inverse=True)
            counts, cpu = np.bincount(index, minlength=len(paths)), np.bincount(index, chosen["cpu"], len(paths))
            for path, count, ns in zip(paths.tolist(), counts.tolist(), cpu.tolist(), strict=True):
                sums = task.spent.setdefault(path, [0.0, 0.0])
                sums[0] += count
                sums[1] += ns


_BEGIN = 2
"""Value of `what` in SAMPLE for the begin of a thread's samples."""
