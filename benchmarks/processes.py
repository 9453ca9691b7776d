"""Cost of a whole process: processor time and memory, its children included."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Usage:
    """Cost of a process that has ended well."""

    seconds: float  # user and system
    memory_mb: float  # largest resident set of it or of one of its children, 2^20 bytes


class Failed(Exception):
    """It has not; the text is the last line that it printed on standard error, or how it ended."""


_START = """
import os, resource, sys
if sys.argv[1] != "-":
    resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[1]),) * 2)
quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
_, status, usage = os.wait4(os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ, file_actions=quiet), 0)
print(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
"""
"""Starts a command from a small process: for Linux, what the process that starts another holds is in its peak."""


def usage_of(words: Sequence[str | Path], folder: Path, limit_s: int | None = None) -> Usage:
    """Run it in that folder, and wait for its end. `limit_s`: of processor time; beyond it the process is ended.

    Raises Failed.
    """
    starter = [sys.executable, "-S", "-E", "-c", _START, "-" if limit_s is None else str(limit_s)]
    done = subprocess.run([*starter, *words], capture_output=True, text=True, cwd=folder, check=True)
    code, seconds, peak_kb = done.stdout.split()
    if int(code) != 0:
        raise Failed(done.stderr.strip().rpartition("\n")[2] or f"it ended with {code}")
    return Usage(float(seconds), int(peak_kb) / 1024)
