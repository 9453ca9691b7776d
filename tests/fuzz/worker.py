"""A process that does one job after the other, so that each costs only its own time; it is forked from one that has
imported all modules, and ended where a job does not end."""

from __future__ import annotations

import faulthandler
import gc
import os
import resource
import select
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import psutil
from threadpoolctl import threadpool_limits

LIMIT_BYTES = 2 << 30
LIMIT_S = 30.0
"""Processor time: a machine that is busy with others is no failure of a command."""
LIMIT_ASLEEP_S = 600.0
"""From begin to end, for what waits for ever."""
JOBS = 200
"""Jobs after which a new process takes over: memory that commands leave behind must not add up."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of a job."""

    code: int  # exit code; where a signal ended the process its number, negative
    seconds: float
    in_time: bool = True


class Worker:
    """Does jobs in a process of its own, each within a time, all within an amount of memory."""

    def __init__(self, do: Callable[[int], int], limit_bytes: int = LIMIT_BYTES) -> None:
        """do: a job, by its number; gives its exit code. limit_bytes: of memory; 0: any."""
        self._do, self._limit_bytes = do, limit_bytes
        self._child, self._left = 0, 0
        self._jobs = self._codes = -1

    def run(self, number: int) -> Outcome:
        """Do a job."""
        if not self._left:
            self.close()
            self._start()
        self._left -= 1
        began = time.monotonic()
        os.write(self._jobs, number.to_bytes(8, "little"))
        in_time = self._answers(began)
        if not in_time:
            self._ask()
        said = os.read(self._codes, 1) if in_time else b""
        seconds = time.monotonic() - began
        if said:
            return Outcome(said[0], seconds)
        return Outcome(self._end(), seconds, in_time)

    def _answers(self, began: float) -> bool:
        """Wait for a job's end; False: it takes too long."""
        before = self._processor_s()
        while not select.select([self._codes], [], [], 0.5)[0]:
            if self._processor_s() - before > LIMIT_S or time.monotonic() - began > LIMIT_ASLEEP_S:
                return False
        return True

    def _ask(self) -> None:
        """Have it say where it is, on stderr."""
        os.kill(self._child, signal.SIGUSR1)
        time.sleep(0.5)

    def _processor_s(self) -> float:
        return sum(psutil.Process(self._child).cpu_times()[:2])

    def renew(self) -> None:
        """The next job is done by another process."""
        self._left = 0

    def close(self) -> None:
        """End the process, and all that it started."""
        if self._child:
            self._end()

    def _end(self) -> int:
        """How the process ended, or is ended now."""
        done, status = 0, 0
        for _ in range(20):  # one that has closed its pipe is about to end by itself
            done, status = os.waitpid(self._child, os.WNOHANG)
            if done:
                break
            time.sleep(0.001)
        if not done:
            os.killpg(self._child, signal.SIGKILL)
            status = os.waitpid(self._child, 0)[1]
        os.close(self._jobs)
        os.close(self._codes)
        self._child = self._left = 0
        return os.waitstatus_to_exitcode(status)

    def _start(self) -> None:
        jobs, self._jobs = os.pipe()
        self._codes, codes = os.pipe()
        gc.freeze()  # what is not looked through is not copied
        self._child = os.fork()
        if self._child == 0:
            os.close(self._jobs)
            os.close(self._codes)
            self._serve(jobs, codes)
        os.close(jobs)
        os.close(codes)
        self._left = JOBS

    def _serve(self, jobs: int, codes: int) -> None:
        """Never returns."""
        code = 1
        try:
            os.setsid()
            _be_modest(self._limit_bytes)
            while number := os.read(jobs, 8):
                os.write(codes, bytes([_code_of(self._do, int.from_bytes(number, "little")) & 0xFF]))
            code = 0
        finally:
            os._exit(code)


def _be_modest(limit_bytes: int) -> None:
    """Limits, Python's own idea of which warnings users see, each time that there is one, and where it ended."""
    threadpool_limits(1)  # threads that the parent's libraries began are not in this process: it would wait for them
    faulthandler.enable(sys.__stderr__)
    faulthandler.register(signal.SIGUSR1, sys.__stderr__)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if limit_bytes:
        most = limit_bytes + psutil.Process().memory_info().vms  # what the process that was forked has is no job's
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))
    warnings.simplefilter("always")
    for kind in (ResourceWarning, DeprecationWarning, PendingDeprecationWarning):
        warnings.simplefilter("ignore", kind)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _code_of(do: Callable[[int], int], number: int) -> int:
    code = 1
    try:
        code = do(number)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            code = code or 1
    return code
