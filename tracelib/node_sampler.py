"""Sampler of a node: a process of its own, which libtrace.so starts on the first rank of each node.

    python -m tracelib.node_sampler FILE PERIOD_NS PID...

It writes the state of the node to FILE every PERIOD_NS, until all processes PID have ended. It is not part of the
traced
program, so it may use h5py. It prints nothing, because it has no terminal.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tracelib.samples import SampleFile

LONGEST_WAIT_S = 1.0
"""Longest pause between two looks at the ranks, in s, on a Linux without file descriptors for processes (before
5.3)."""


class WatchedProcesses:
    """Processes after whose end the sampler ends. A signal to end (SIGTERM) counts as their end."""

    def __init__(self, pids: Sequence[int]) -> None:
        self._poll = select.poll()
        self._descriptors: dict[int, int] = {}
        self._unwatched: set[int] = set()
        self._asked = False
        for pid in pids:
            self._watch(pid)
        read, write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(write)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._ask)
        self._poll.register(read, select.POLLIN)

    def _ask(self, _number: int, _frame: object) -> None:
        self._asked = True

    def _watch(self, pid: int) -> None:
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            return
        except (OSError, AttributeError):
            self._unwatched.add(pid)
            return
        self._descriptors[descriptor] = pid
        self._poll.register(descriptor, select.POLLIN)

    def over(self) -> bool:
        """Return True if all processes have ended, or a signal asked the sampler to end."""
        self._look(0)
        self._unwatched = {pid for pid in self._unwatched if _lives(pid)}
        return self._asked or not (self._descriptors or self._unwatched)

    def wait_until(self, deadline_ns: int) -> bool:
        """Sleep until CLOCK_MONOTONIC reads `deadline_ns`, and return False. Return True at once if `over`."""
        while not self.over():
            left_ns = deadline_ns - time.monotonic_ns()
            if left_ns <= 0:
                return False
            left_s = min(left_ns / 1e9, LONGEST_WAIT_S) if self._unwatched else left_ns / 1e9
            self._look(left_s)
        return True

    def _look(self, wait_s: float) -> None:
        """Forget processes that have ended. Wait at most `wait_s` for the next one to end."""
        for descriptor, _ in self._poll.poll(wait_s * 1e3):
            if descriptor in self._descriptors:
                self._poll.unregister(descriptor)
                os.close(descriptor)
                del self._descriptors[descriptor]


def _lives(pid: int) -> bool:
    """Return True if a process lives.

    A process that ended but is not waited for yet has no memory, and so no command line.
    """
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    except OSError:
        return False


def sample(table: SampleFile, ranks: WatchedProcesses, period_ns: int) -> None:
    """Add a row to `table` now, every `period_ns`, and at the end. If a period is missed, its row is left out.

    The function ends with the ranks, or when the file can no longer be written.
    """
    start_ns = time.monotonic_ns()
    over = False
    while not over:
        if not table.append():
            return
        passed = (time.monotonic_ns() - start_ns) // period_ns
        over = ranks.wait_until(start_ns + (passed + 1) * period_ns)
    table.append()
    table.finish()


def identity() -> dict[str, str | int]:
    """Return host, boot and time namespace of this node, as in the attributes of a rank file."""
    boot_id, namespace = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/time")
    found: dict[str, str | int] = {"host": socket.gethostname(), "boot_id": "", "time_namespace": 0}
    with contextlib.suppress(OSError):
        found["boot_id"] = boot_id.read_text().strip()
        found["time_namespace"] = namespace.stat().st_ino
    return found


def _without_mpi() -> None:
    """Prevent an h5py that was built with MPI from importing mpi4py, which would start MPI here."""
    with contextlib.suppress(ImportError):
        import mpi4py

        mpi4py.rc.initialize = mpi4py.rc.finalize = False


def main() -> None:
    """Sample until the ranks end. If the folder is missing or the disk is full, end without a message."""
    path, period_ns, pids = Path(sys.argv[1]), int(sys.argv[2]), list(map(int, sys.argv[3:]))
    ranks = WatchedProcesses(pids)
    _without_mpi()
    from tracelib.samples import SampleFile

    if ranks.over():  # before Python had started
        return
    with contextlib.suppress(OSError, RuntimeError), SampleFile(path, period_ns, identity()) as table:
        sample(table, ranks, period_ns)


if __name__ == "__main__":
    main()
