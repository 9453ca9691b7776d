"""Kills of dies.c at all moments and in all ways, and what must be true of the files after each."""

from __future__ import annotations

import os
import shutil
import signal
import struct
import subprocess
import time
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import h5py
import matrix
import numpy as np
from conftest import LIBRARY
from patience import patient
from rows import all_rows, assert_same_rows
from running import MARK, end_marked

from analyzer.opening import open_trace
from analyzer.trace import Losses
from tracelib import recovery
from tracelib.copying import copy_sparse
from tracelib.errors import TracelibError
from tracelib.schema.spool import is_alive

THREADS = 4
SIGNALS = ("SIGKILL", "SIGTERM", "SIGSEGV", "SIGABRT", "SIGBUS", "SIGINT", "SIGXCPU")
OWN_DEATHS = (
    "abort", "early-exit", "exit", "exit-in-handler", "mpi-abort", "null-pointer", "stack-overflow", "no-memory",
)  # fmt: skip
CYCLE = tuple(f"MPI_{n}" for n in ("Send", "Irecv", "Wait", "Iprobe", "Isend", "Waitall", "Sendrecv"))
ENDING = ("MPI_Finalize", "MPI_Finalized")
TAGS = 30000

ALONE = {"OMPI_MCA_ess_singleton_isolated": "1", "OMPI_MCA_btl": "self,vader", "OMPI_MCA_pml": "ob1"}
"""One rank without mpirun, started in 20 ms under Open MPI, too."""


@dataclass(frozen=True)
class Progress:
    """Contents of a rank's shared mapping; `noted` where the death began with exit or MPI_Abort.

    `later` is `completed` again: in a snapshot, which takes its time, its value when all else had been copied.
    """

    pid: int
    completed: tuple[int, ...]
    noted: tuple[int, ...] | None
    later: tuple[int, ...]

    @classmethod
    def read(cls, path: Path) -> Progress:
        """All zero before the rank has begun."""
        words = _words(path)
        completed = words[2 : 2 + THREADS]
        after = path.with_name(f"later-{path.name}")
        later = _words(after)[2 : 2 + THREADS] if after.exists() else completed
        return cls(words[0], completed, words[2 + THREADS :] if words[1] else None, later)


def _words(progress: Path) -> tuple[int, ...]:
    data = progress.read_bytes() if progress.exists() else b""
    return struct.unpack(f"{2 + 2 * THREADS}Q", data) if len(data) == 16 + 16 * THREADS else (0,) * 10


@dataclass(frozen=True)
class Program:
    """A running program: `launcher` is None where it is one rank started by itself."""

    process: subprocess.Popen
    folder: Path
    mark: str
    ranks: int

    def progress(self) -> list[Progress]:
        """Read the progress of all ranks."""
        return [Progress.read(self.folder / f"progress-{rank}") for rank in range(self.ranks)]

    def wait_for(self, calls: int, limit_s: float = 30) -> None:
        """Wait until the main thread of each rank has completed this number of calls, or the program has ended."""
        deadline = time.monotonic() + patient(limit_s)
        while min(p.completed[0] for p in self.progress()) < calls and self.process.poll() is None:
            assert time.monotonic() < deadline, "the program did not start"
            time.sleep(0.001)

    def end(self, limit_s: float = 30) -> None:
        """Wait for its end, after which no process of it is left."""
        try:
            self.process.wait(patient(limit_s))
        finally:
            end_marked(self.mark)
            self.process.wait(patient(limit_s))
            for p in self.progress():
                while p.pid and is_alive({"pid": p.pid, "start_realtime_ns": time.time_ns()}):
                    time.sleep(0.001)


def start(
    leg: matrix.Leg, program: Path, folder: Path, ranks: int, buffer: str, *words: object,
    preload: Sequence[Path] = (), variables: Mapping[str, str] | None = None,
) -> Program:  # fmt: skip
    """Start `dies WORDS` traced: one rank by itself, two under mpirun; with other libraries behind ours."""
    folder.mkdir()
    mark = uuid.uuid4().hex
    environment = matrix.environment(leg) | (ALONE if ranks == 1 else {})
    environment |= {
        "LD_PRELOAD": ":".join(map(str, [LIBRARY, *preload])),
        "TRACELIB_BUFFER": buffer,
        "TRACELIB_SPOOL": str(folder),
        "TRACELIB_QUIET": "1",
        "OMPI_MCA_btl_vader_backing_directory": str(folder),  # else each kill leaves segments in /dev/shm
        MARK: mark,
    } | dict(variables or {})
    launcher = [leg.mpirun, "-n", str(ranks)] if ranks > 1 else []
    process = subprocess.Popen(
        ["timeout", "--foreground", "-k", "1", str(patient(60)), *launcher, str(program), *map(str, words)], cwd=folder,
        env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    return Program(process, folder, mark, ranks)


def kill(pid: int, name: str) -> None:
    """Send a signal to a process that may have ended."""
    if pid:
        subprocess.run(["kill", "-s", name.removeprefix("SIG"), str(pid)], stderr=subprocess.DEVNULL)


def kill_group(program: Program) -> None:
    """The whole process group at once."""
    os.killpg(program.process.pid, signal.SIGKILL)


def check(folder: Path, ranks: int, finalized_at: int = 0) -> int:
    """All calls that the ranks completed are in the result, by both readers; how many they are.

    `finalized_at`: after that many calls the (one) thread finished its cycle and called MPI_Finalize.
    """
    found = folder / "run.ranks"
    files = sorted(found.glob("[0-9]*.h5")) if found.exists() else []
    for path in [*files, *folder.glob("run.h5")]:
        read_plainly(path)
    progress = [Progress.read(folder / f"progress-{rank}") for rank in range(ranks)]
    begun = [rank for rank in range(ranks) if progress[rank].completed[0] >= 2]  # MPI_Init has returned
    assert {f"{rank:06d}.h5" for rank in begun} <= {path.name for path in files}
    if not files:
        with suppress(TracelibError):  # there may be nothing to recover
            recovery.recover(str(found))
        assert not list(folder.glob("tracelib-*"))
        return 0
    run = folder / "run.h5" if (folder / "run.h5").exists() else found
    rows = read_run(run, progress, begun, finalized_at)
    outcomes = recovery.recover(str(run)).outcomes
    assert not any(outcome.missing for outcome in outcomes)
    assert not list(folder.glob("tracelib-*"))
    assert not [path for rank in begun for path in folder.rglob("*.tmp") if path.stem in ("run.h5", f"{rank:06d}.h5")]
    if len(outcomes) == len(files):  # else it found a rank that was about to begin
        assert_same_rows(rows, read_run(run, progress, begun, finalized_at))
    return sum(sum(progress[rank].completed) for rank in begun)


def put_back(snapshot: Path, folder: Path) -> None:
    """Make the files of a run what they were when programs/snapshots.c copied them."""
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in sorted(snapshot.rglob("*")):
        target = folder / path.relative_to(snapshot)
        target.mkdir() if path.is_dir() else copy_sparse(path, target)


def read_plainly(path: Path) -> None:
    """With h5py alone, every table to its last row."""
    with h5py.File(path) as file:
        for name, table in file.items() if "calls" in file else ():
            assert len(table[:]) == len(table), name


def read_run(run: Path, progress: list[Progress], begun: list[int], finalized_at: int) -> dict[str, np.ndarray]:
    """Return everything, after comparing the calls of each thread with the program's own counts."""
    trace = open_trace(run)
    for rank in begun:
        p = progress[rank]
        calls = np.concatenate(list(trace.calls(rank)))
        left = [call.enter_ns for call in trace.extra(Losses).unfinished if call.rank == rank]
        calls = calls[~np.isin(calls["enter"], left)]  # the program has not counted a call that did not return
        for thread in range(THREADS):
            own = calls[calls["thread"] == thread]
            recorded = int(own["count"].sum())
            completed = p.completed[thread]
            least = completed if p.noted is None else p.noted[thread]
            if finalized_at and completed == 2 + cycles_before(finalized_at, 2) + len(ENDING):
                least -= 1  # what is called after MPI_Finalize is written at exit
            most = p.later[thread] + 1
            assert least <= recorded <= most, f"rank {rank}, thread {thread}: {least} {recorded} {most}"
            names: Counter[str] = Counter()
            for call, count in zip(own["call"], own["count"], strict=True):
                names[trace.procedures[call]] += int(count)
            # A buffer that exit() writes while its thread goes on may have a poll and lack the call before it.
            assert (expected(recorded, thread, finalized_at) - names).total() <= (p.noted is not None)
            sends = own["tag"][own["call"] == trace.procedures.index("MPI_Send")]
            assert (sends[thread > 0 :] == np.arange(len(sends) - (thread > 0)) % TAGS).all()
    rows = all_rows(trace)
    trace.close()
    return rows


def cycles_before(finalized_at: int, first: int) -> int:
    """Calls of the whole cycles that a thread makes before MPI_Finalize, after its `first` ones."""
    return -(-max(finalized_at - first, 0) // len(CYCLE)) * len(CYCLE)


def expected(calls: int, thread: int, finalized_at: int) -> Counter[str]:
    """The first calls of a thread of dies.c, by name."""
    first = ("MPI_Initialized", "MPI_Init_thread") if thread == 0 else ("MPI_Send",)
    names = Counter(first[:calls])
    left = max(calls - len(first), 0)
    if finalized_at:
        before = cycles_before(finalized_at, len(first))
        names.update(ENDING[: max(left - before, 0)])
        left = min(left, before)
    for position, name in enumerate(CYCLE):
        names[name] += (left - position + len(CYCLE) - 1) // len(CYCLE)
    return +names
