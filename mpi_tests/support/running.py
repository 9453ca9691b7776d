"""Running commands under a time limit so that nothing outlives them, not even the ranks of a killed mpirun."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from patience import patient

MARK = "TEST_RUN_OF_TRACELIB"  # inherited by everything that a run starts, whatever session or group it moves to


_TIMED_OUT = (124, 137, -signal.SIGKILL)
"""Exit codes of `timeout`: when it had to kill, it dies with the others."""


@dataclass(frozen=True)
class Finished:
    """A command that ended by itself or was ended."""

    returncode: int
    stdout: str
    stderr: str
    timed_out: bool = False

    def check(self) -> Finished:
        """Itself, if it succeeded; else an AssertionError that shows what it said."""
        said = f"exit code {self.returncode}\n{self.stdout[-3000:]}\n{self.stderr[-3000:]}"
        assert not self.timed_out, f"ran into its time limit: {said}"
        assert self.returncode == 0, said
        return self


def run(command: Sequence[str | Path], cwd: Path, env: dict[str, str], limit_s: float = 60) -> Finished:
    """Run a command to its end, then end whatever it left behind. The limit is that of an idle machine."""
    mark, limit_s = uuid.uuid4().hex, patient(limit_s)
    words = ["timeout", "-k", "1", str(limit_s), *map(str, command)]
    try:
        done = subprocess.run(
            words, cwd=cwd, env=env | {MARK: mark}, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit_s + 10
        )
        return Finished(done.returncode, _text(done.stdout), _text(done.stderr), done.returncode in _TIMED_OUT)
    except subprocess.TimeoutExpired as error:
        return Finished(-1, _text(error.stdout), _text(error.stderr), True)
    finally:
        end_marked(mark)


def _text(output: bytes | None) -> str:
    return (output or b"").decode(errors="replace")


def end_marked(mark: str) -> None:
    """Kill the processes whose environment carries the mark."""
    wanted = f"{MARK}={mark}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (process / "environ").read_bytes().split(b"\0") and int(process.name) != os.getpid():
                os.kill(int(process.name), signal.SIGKILL)
