"""Logs of batch systems in the Standard Workload Format, version 2.2: read, written back equal, and simulated.

A line for each job has 18 numbers, -1 for what is not known; lines that begin with `;` are comments, those at the top
`; Label: value`. Source of the format: S. Chapin et al., "Benchmarks and standards for the evaluation of parallel job
schedulers", 1999, and the Parallel Workloads Archive.
"""

from __future__ import annotations

import gzip
import re
import zlib
from dataclasses import dataclass, replace
from enum import IntEnum
from pathlib import Path

import numpy as np

from analyzer.atomic_file import whole_file
from analyzer.errors import TracelibError
from analyzer.jobs.cluster import Schedule
from analyzer.jobs.workload import LONGEST_S, Workload

_EXACT = 2.0**53
_NAMED = 3
UNKNOWN = -1
"""Value of a number that is not known."""
SIMULATED = "; Note: simulated by analyze schedule"
"""First line of a log that was written here."""


class SwfField(IntEnum):
    """Columns of a log, from 0. Times are s."""

    NUMBER, SUBMIT, WAIT, RUN, PROCESSORS, CPU_TIME, MEMORY = range(7)
    REQUESTED_PROCESSORS, REQUESTED_TIME, REQUESTED_MEMORY, STATUS, USER, GROUP = range(7, 13)
    EXECUTABLE, QUEUE, PARTITION, PRECEDING, THINK_TIME = range(13, 18)


class JobStatus(IntEnum):
    """Outcome of a job, as numbered in the format."""

    FAILED, COMPLETED = 0, 1
    CANCELLED = 5


@dataclass(frozen=True)
class JobLog:
    """Contents of a log of a batch system, in the order of the file.

    Attributes:
        rows: One row for each job, with the columns of `SwfField`; float64 of shape (jobs, 18).
        comments: Comment lines; each with the number of jobs before it.
        bad: Number and text of lines that are no jobs, and are left out.
    """

    rows: np.ndarray  # float64 (n, 18)
    comments: tuple[tuple[int, str], ...] = ()  # jobs before it, the line
    bad: tuple[tuple[int, str], ...] = ()  # number and text of lines that are no jobs; they are left out

    @property
    def nodes(self) -> int | None:
        """Size of the machine from the comments: MaxProcs, or else MaxNodes. None: neither is given."""
        for label in ("MaxProcs", "MaxNodes"):
            for _, line in self.comments:
                if (found := re.match(rf";\s*{label}:\s*(\d{{1,9}})\b", line)) and int(found[1]):
                    return int(found[1])
        return None

    @property
    def bad_lines(self) -> str:
        """A sentence with the number of bad lines, and the first three of them. "": there are none."""
        if not self.bad:
            return ""
        named = ", ".join(f"line {number} ({text[:40]!r})" for number, text in self.bad[:_NAMED])
        more = ", ..." if len(self.bad) > _NAMED else ""
        lines = "1 line is" if len(self.bad) == 1 else f"{len(self.bad)} lines are"
        return f"{lines} no jobs of 18 numbers and left out: {named}{more}"


def read_swf(path: str | Path) -> JobLog:
    """Read a log, plain or compressed by gzip.

    Raises:
        TracelibError: The file cannot be read, or holds no job.
    """
    try:
        data = Path(path).read_bytes()
        text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8", errors="replace")
    except (OSError, EOFError, zlib.error) as error:
        raise TracelibError(f"cannot read {path}: {error}") from error
    rows: list[list[float]] = []
    comments: list[tuple[int, str]] = []
    bad: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip("\r")
        if line.lstrip().startswith(";"):
            comments.append((len(rows), line))
        elif (row := _row(line)) is not None:
            rows.append(row)
        elif line.strip():
            bad.append((number, line.strip()))
    log = JobLog(np.array(rows, float).reshape(-1, len(SwfField)), tuple(comments), tuple(bad))
    if not rows:
        raise TracelibError(
            f"{path} has no jobs" + (f": {log.bad_lines}" if bad else ""), "a log has 18 numbers a line"
        )
    return log


def _row(line: str) -> list[float] | None:
    try:
        row = [float(word) for word in line.split()]
    except ValueError:
        return None
    return row if len(row) == len(SwfField) and all(abs(value) < _EXACT for value in row) else None


def write_swf(log: JobLog, path: str | Path) -> None:
    """Write a log without its bad lines. If it is read again, its jobs and comments are equal."""
    lines = [" ".join(map(_word, row)) for row in log.rows.tolist()]
    for before, line in reversed(log.comments):
        lines.insert(before, line)
    with whole_file(path) as file:
        file.write("".join(f"{line}\n" for line in lines).encode())


def _word(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


@dataclass(frozen=True)
class UsableJobs:
    """Jobs of a log that can be simulated.

    Attributes:
        workload: The jobs, in order of submission.
        requested_s: Time that each job requested, s. If it requested none: its run time.
        asked: Number of jobs that requested a time.
        row: Row of each job in the log.
        without: How many jobs were left out, and why. "": none.
    """

    workload: Workload
    requested_s: np.ndarray  # the time that each asked for; its run time where it asked for none
    asked: int  # jobs that asked for a time
    row: np.ndarray  # of each in the log
    without: str  # how many jobs were left out, and why; "": none


def usable_jobs(log: JobLog, nodes: int) -> UsableJobs:
    """Select the jobs that can be simulated: they have a run time, and need at most `nodes` processors.

    Raises:
        TracelibError: There is no such job.
    """
    rows = log.rows
    width = np.where(
        rows[:, SwfField.PROCESSORS] > 0, rows[:, SwfField.PROCESSORS], rows[:, SwfField.REQUESTED_PROCESSORS]
    )
    run, submit = rows[:, SwfField.RUN], rows[:, SwfField.SUBMIT]
    unknown = (run < 0) | (width < 1) | (submit < 0) | (run > LONGEST_S) | (submit > LONGEST_S)
    wide = ~unknown & (width > nodes)
    left_out = [
        (int(unknown.sum()), "without a time or processors"),
        (int(wide.sum()), f"on more than {nodes} processors"),
    ]
    chosen = np.flatnonzero(~(unknown | wide))
    chosen = chosen[np.argsort(submit[chosen], kind="stable")]
    if not len(chosen):
        raise TracelibError("no job of the log can be simulated", _counted(left_out))
    asked = np.clip(rows[chosen, SwfField.REQUESTED_TIME], UNKNOWN, LONGEST_S)
    return UsableJobs(
        Workload(submit[chosen], np.ceil(width[chosen]).astype(np.int64), run[chosen]),
        np.where(asked > 0, asked, run[chosen]),
        int((asked > 0).sum()),
        chosen,
        _counted(left_out),
    )


def _counted(left_out: list[tuple[int, str]]) -> str:
    return "; ".join(f"{number} {why}" for number, why in left_out if number)


def log_of(outcome: Schedule, estimate_s: np.ndarray, title: str) -> JobLog:
    """Make a log of a simulated workload.

    Executable 1 is the application, 2 any other job. Times are rounded to whole s, as the format wants.

    Args:
        outcome: Result of the simulation.
        estimate_s: Estimated run time of each job, s.
        title: Name of the computer.
    """
    workload = outcome.workload
    rows = np.full((len(workload), len(SwfField)), float(UNKNOWN))
    rows[:, SwfField.NUMBER] = np.arange(1, len(workload) + 1)
    rows[:, SwfField.SUBMIT] = np.rint(workload.submit_s - workload.submit_s[0])
    rows[:, SwfField.RUN] = np.rint(outcome.used_s)
    rows[:, SwfField.PROCESSORS] = rows[:, SwfField.REQUESTED_PROCESSORS] = workload.nodes
    rows[:, SwfField.REQUESTED_TIME] = np.rint(estimate_s)
    rows[:, SwfField.EXECUTABLE] = np.where(workload.application, 1, 2)
    lines = ("; Version: 2.2", f"; Computer: {title}", f"; MaxNodes: {outcome.nodes}", f"; MaxProcs: {outcome.nodes}")
    return with_waits(JobLog(rows, tuple((0, line) for line in lines)), np.arange(len(workload)), outcome)


def with_waits(log: JobLog, row: np.ndarray, outcome: Schedule) -> JobLog:
    """Return a copy of a log with the waiting times, run times and outcomes of a simulation.

    Args:
        log: The log.
        row: Row in the log of each simulated job.
        outcome: Result of the simulation.
    """
    rows = log.rows.copy()
    rows[row, SwfField.WAIT] = np.rint(outcome.wait_s)
    rows[row, SwfField.RUN] = np.where(outcome.cancelled, np.rint(outcome.used_s), rows[row, SwfField.RUN])
    rows[row, SwfField.STATUS] = np.where(outcome.cancelled, JobStatus.CANCELLED, JobStatus.COMPLETED)
    comments = ((0, SIMULATED), *(comment for comment in log.comments if comment[1] != SIMULATED))
    return replace(log, rows=rows, comments=comments, bad=())
