"""How busy a host is."""

from __future__ import annotations

import re
from dataclasses import dataclass

PROBE = "mkdir -p {folder} && cat /proc/loadavg && grep MemAvailable /proc/meminfo && df -Pk {folder}"
"""A shell command whose output `read_load` reads; {folder}: where shots of the host write."""
_LOAD = re.compile(r"^(\d+\.\d+) \d+\.\d+ \d+\.\d+ \d+/\d+ \d+\s*$", re.MULTILINE)
_MEMORY = re.compile(r"^MemAvailable:\s*(\d+) kB", re.MULTILINE)
_DISK = re.compile(r"\s(\d+)\s+\d+%\s+/.*$", re.MULTILINE)


@dataclass(frozen=True)
class Load:
    """Processes that want a CPU (mean of the last minute), and what is available."""

    load: float
    memory_bytes: float
    disk_bytes: float


def read_load(text: str) -> Load | None:
    """Read what the command has printed, whatever a login prints besides; None: it is not that."""
    found = [pattern.search(text) for pattern in (_LOAD, _MEMORY, _DISK)]
    if None in found:
        return None
    load, memory, disk = (float(match[1]) for match in found if match)
    return Load(load, 1024 * memory, 1024 * disk)
