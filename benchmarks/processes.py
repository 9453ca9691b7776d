"""What a whole process takes: processor time and memory, its children included."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Usage:
    """Of a process that has ended well."""

    seconds: float  # user and system
    memory_mb: float  # largest resident set of it or of one of its children, 2^20 bytes


class Failed(Exception):
    """It has not; the text is the last line that it printed on standard error, or how it ended."""


def usage_of(words: Sequence[str | Path], folder: Path, limit_s: int | None = None) -> Usage:
    """Run it in that folder, and wait for its end. `limit_s`: of processor time; beyond it the process is ended.

    Raises Failed.
    """

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s))

    process = subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=folder,
        preexec_fn=limit if limit_s else None,
    )  # fmt: skip
    assert process.stderr
    said = process.stderr.read().strip()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Failed(said.rpartition("\n")[2] or f"it ended with {process.returncode}")
    return Usage(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
