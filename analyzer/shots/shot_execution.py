"""Execution of one shot on one host, from its folder to its exit status. A thread waits for the end.

The host is reached only by command lines. The script on the host reads our signals (`analyzer.shots.shell`): if its
standard input is closed, the shot ends, on any host. Every process has a session of its own, so that Ctrl-C does not
reach it directly.
"""

from __future__ import annotations

import os
import select
import shlex
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from threading import Event, Lock, Thread

from analyzer.shots.folder import ShotFolder
from analyzer.shots.hosts import BatchSystem, Host
from analyzer.shots.shell import ALIVE, BEGAN, CUT, ENDED, SCRIPT, STATUS
from analyzer.shots.study_values import filled

_GRACE_S = 10.0
"""Time in s that a host has to end its shot after it was asked to."""
_LOOK_S = 0.2


class EndingKind(Enum):
    """How an execution of a shot ended."""

    ENDED = "ended"  # the job ended by itself
    HUNG = "hung"  # it took longer than the job's timeout, and was stopped
    LOST = "lost"  # the host could not run it, or vanished
    STOPPED = "stopped"  # the study stopped it


@dataclass(frozen=True)
class ShotEnding:
    """The end of an execution.

    Attributes:
        began: The job had begun, so that the job itself may have caused a loss.
        said: Why the shot was lost, for the user; "" otherwise.
        seconds: Time in s from the start of the execution.
    """

    how: EndingKind
    began: bool = False
    said: str = ""
    seconds: float = 0.0


class _HostFailed(Exception):
    pass


class HostInputs:
    """Inputs of all shots on one host. They are copied to the host once, before its first shot."""

    def __init__(self, folder: Path) -> None:
        """Prepare for inputs that lie in `folder` on the host that runs the study."""
        self._folder, self._lock, self._there = folder, Lock(), False

    def place(self, host: Host, study: str) -> str:
        """Return the path of the inputs' folder on a host. `study`: name of the study's folder."""
        return f"{host.work}/{study}-inputs" if host.work else str(self._folder)

    def put(self, host: Host, there: str, unwanted: Event) -> None:
        """Copy the inputs to a host, unless it has them already.

        Args:
            host: The host.
            there: Path of the inputs' folder on the host.
            unwanted: The copy is stopped when this event is set.

        Raises:
            _HostFailed: The host does not answer, or the copy failed.
        """
        with self._lock:
            if self._there:
                return
            code, said = control(host, f"mkdir -p {shlex.quote(host.work)}", host.silence_s, unwanted)
            if code:
                raise _HostFailed(said)
            _copied(host, host.put, self._folder, there, unwanted)
            self._there = True

    def remove(self, host: Host, study: str) -> None:
        """Remove the inputs from a host that got a copy."""
        if self._there:
            control(host, f"rm -rf {shlex.quote(self.place(host, study))}", host.silence_s)
            self._there = False

    def forget(self) -> None:
        """Forget the copy, so that the next shot copies the inputs again: the host may have lost them."""
        self._there = False


class ShotExecution:
    """Execution of a shot on a host. `start` begins it; a thread calls `ended` with the ShotEnding."""

    def __init__(
        self, host: Host, folder: ShotFolder, there: str, timeout_s: float | None, ended: Callable[[ShotEnding], None],
        *, bring: Callable[[Event], None] = lambda unwanted: None, adopted: bool = False,
    ) -> None:  # fmt: skip
        """Prepare an execution.

        Args:
            host: The host.
            folder: The shot's folder on this machine.
            there: Path of the shot's folder on the host.
            timeout_s: Longest time of the job in s. None: no limit.
            ended: Called by another thread at the end.
            bring: Copies the inputs to the host; its event asks it to stop.
            adopted: The host's batch system has the shot already.
        """
        self.host, self.folder, self.there, self._bring = host, folder, there, bring
        self._timeout_s, self._ended, self._adopted = timeout_s, ended, adopted
        self._unwanted, self._lock = Event(), Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._began = False
        self._paused_at: float | None = None
        self._paused_s = 0.0
        self._thread = Thread(target=self._go, name=f"shot on {host.name}")

    def start(self) -> None:
        """Start the thread that runs the shot."""
        self._thread.start()

    def stop(self) -> None:
        """Ask the execution to end soon. `join` waits for the end."""
        self._unwanted.set()

    def join(self, timeout_s: float | None = None) -> None:
        """Wait until the execution has ended, for at most `timeout_s` seconds. None: without limit."""
        if self._thread.ident is not None:
            self._thread.join(timeout_s)

    def pause(self, *, paused: bool) -> None:
        """Suspend the job, or let it go on. The time of suspension does not count for the timeout."""
        with self._lock:
            if paused == (self._paused_at is not None):
                return
            if paused:
                self._paused_at = time.monotonic()
            else:
                assert self._paused_at is not None
                self._paused_s += time.monotonic() - self._paused_at
                self._paused_at = None
        self._tell("STOP" if paused else "CONT")

    def _tell(self, word: str) -> None:
        process = self._process
        if process is not None and process.stdin is not None:
            with suppress(OSError, ValueError):
                process.stdin.write(f"{word}\n".encode())
                process.stdin.flush()

    def _go(self) -> None:
        begin = time.monotonic()
        try:
            how, said = self._run()
        except _HostFailed as failed:
            how, said = EndingKind.LOST, str(failed)
        except OSError as error:
            how, said = EndingKind.LOST, f"{error.strerror or error}"
        if self._unwanted.is_set() and how is not EndingKind.ENDED:
            how = EndingKind.STOPPED
        self._ended(ShotEnding(how, self._began, said, time.monotonic() - begin))

    def _run(self) -> tuple[EndingKind, str]:
        if self.host.put and not self._adopted:
            self._bring(self._unwanted)
            self.folder.mark_remote(remote=True)
            self._copy(self.host.put)
        batch = self.host.batch
        how, said = self._submitted(batch) if batch else self._watched()
        if how is EndingKind.ENDED and self.host.get:
            self._copy(self.host.get)
            self.folder.mark_remote(remote=False)
        if self.host.work and how is not EndingKind.LOST:
            control(self.host, f"rm -rf {shlex.quote(self.there)}", self.host.silence_s)
        if how is EndingKind.ENDED and not self.folder.has_ended:
            return EndingKind.LOST, f"{self.folder.path / STATUS} has not come"
        return how, said

    def _copy(self, line: str) -> None:
        _copied(self.host, line, self.folder.path, self.there, self._unwanted)

    def _spent(self) -> float:
        """Return the time in s for which the job was suspended."""
        with self._lock:
            return self._paused_s + (time.monotonic() - self._paused_at if self._paused_at is not None else 0.0)

    # A host that passes on standard input and output

    def _watched(self) -> tuple[EndingKind, str]:
        """Run the shot on a host that is connected by standard input and output for the whole time."""
        line = self.host.line(f"exec /bin/sh {shlex.quote(f'{self.there}/{SCRIPT}')} watch")
        process = subprocess.Popen(
            line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
        )
        self._process = process
        assert process.stdin is not None and process.stdout is not None
        try:
            how, said = self._follow(process)
        finally:
            with suppress(OSError):
                process.stdin.close()
            _wait(process, _GRACE_S)
            process.stdout.close()
        if how is EndingKind.LOST and (self.folder.path / CUT).exists():
            said = "its command line did not pass on standard input (ssh -n does not)"
        return how, said

    def _follow(self, process: subprocess.Popen[bytes]) -> tuple[EndingKind, str]:
        """Read the host's messages until the shot ends, is stopped or times out, or the host is lost."""
        assert process.stdout is not None
        poll = select.poll()
        poll.register(process.stdout, select.POLLIN | select.POLLHUP)
        heard, begin, rest, other = time.monotonic(), time.monotonic(), b"", ""
        while True:
            if self._unwanted.is_set():
                return EndingKind.STOPPED, ""
            now = time.monotonic()
            if self._began and self._timeout_s is not None and now - begin - self._spent() > self._timeout_s:
                return EndingKind.HUNG, ""
            if now - heard > self.host.silence_s:
                return EndingKind.LOST, f"it has said nothing for {self.host.silence_s:g} s"
            if not poll.poll(1000 * _LOOK_S):
                if process.poll() is not None:  # what it started may hold its output open still
                    return EndingKind.LOST, other or f"its command line ended with exit status {process.returncode}"
                continue
            data = os.read(process.stdout.fileno(), 65536)
            if not data:
                return EndingKind.LOST, other or f"its command line ended with exit status {_wait(process, _GRACE_S)}"
            heard = now
            *lines, rest = (rest + data).split(b"\n")
            for line in (line.decode(errors="replace").strip() for line in lines):
                if line == BEGAN:
                    self._began, begin = True, now
                    if self._paused_at is not None:
                        self._tell("STOP")
                elif line.startswith(ENDED):
                    return EndingKind.ENDED, ""
                elif line and line != ALIVE:
                    other = line[:200]

    # A batch system

    def _submitted(self, batch: BatchSystem) -> tuple[EndingKind, str]:
        """Submit the shot to a batch system, and look for its exit status every `poll_s` seconds."""
        name = self.folder.batch_id(batch) if self._adopted else self._submit(batch)
        begin, heard, gone = time.monotonic(), time.monotonic(), False
        while not self._unwanted.wait(batch.poll_s):
            code, said = control(self.host, f"ls {shlex.quote(self.there)}", self.host.silence_s)
            files, now = said.split(), time.monotonic()
            if code:
                if now - heard > self.host.silence_s:
                    raise _HostFailed(said or f"it has said nothing for {self.host.silence_s:g} s")
                continue
            heard = now
            if STATUS in files:
                return EndingKind.ENDED, ""
            if "began" in files and not self._began:
                self._began, begin = True, now
            if self._began and self._timeout_s is not None and now - begin > self._timeout_s:
                self._cancel(batch, name)
                return EndingKind.HUNG, ""
            if gone:
                raise _HostFailed(f"its batch system does not know job {name} any more")
            gone = self._is_gone(batch, name)
        self._cancel(batch, name)
        return EndingKind.STOPPED, ""

    def _submit(self, batch: BatchSystem) -> str:
        """Submit the shot, and return the job's name. The answer goes into a file, to survive the study's death."""
        script = shlex.quote(f"{self.there}/{SCRIPT}")
        command = filled(batch.submit, {"script": script, "shot": self.folder.path.name}, self.host.name)
        answer = self.folder.mark_batch(self.there)
        line = self.host.line(f"cd {shlex.quote(self.there)} && {command}")
        code, said = _finished(line, self.host.silence_s, Event(), answer)
        if code:
            raise _HostFailed(said or f"`{command}` gave exit status {code}")
        name = self.folder.batch_id(batch)
        if not name and (batch.alive or batch.cancel):
            raise _HostFailed(f"`{command}` printed no name of a job: {said!r}")
        return name

    def _is_gone(self, batch: BatchSystem, name: str) -> bool:
        if not batch.alive:
            return False
        code, said = control(self.host, filled(batch.alive, {"id": shlex.quote(name)}, "alive"), self.host.silence_s)
        return bool(code) or not said.strip()

    def _cancel(self, batch: BatchSystem, name: str) -> None:
        if batch.cancel and name:
            control(self.host, filled(batch.cancel, {"id": shlex.quote(name)}, "cancel"), self.host.silence_s)
            self.folder.unmark_batch()


def control(host: Host, command: str, limit_s: float, unwanted: Event | None = None) -> tuple[int, str]:
    """Run a short shell command on a host.

    Args:
        host: The host.
        command: The shell command.
        limit_s: Longest time in s, after which the command is killed.
        unwanted: The command is killed when this event is set.

    Returns:
        Exit status and output; if the status is not 0, the last line of the output.
    """
    return _finished(host.line(command), limit_s, unwanted or Event())


def _copied(host: Host, line: str, here: Path, there: str, unwanted: Event) -> None:
    """Run a command line that copies a folder to a host, or back. Raises _HostFailed."""
    names = {"here": shlex.quote(str(here)), "there": shlex.quote(there), "host": host.name}
    words = ["/bin/sh", "-c", filled(line, names, host.name)]
    code, said = _finished(words, host.copy_s, unwanted)
    if code:
        raise _HostFailed(said or f"`{words[2]}` gave exit status {code}")


def _finished(words: list[str], limit_s: float | None, unwanted: Event, answer: Path | None = None) -> tuple[int, str]:
    """Run a command to its end; return exit status and output. The file `answer` gets the output, too."""
    begin = time.monotonic()
    with (answer or Path(os.devnull)).open("w+b") as file:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=file if answer else subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        while True:
            try:
                data, _ = process.communicate(timeout=_LOOK_S)
                break
            except subprocess.TimeoutExpired:
                if unwanted.is_set() or (limit_s is not None and time.monotonic() - begin > limit_s):
                    _kill(process)
                    process.communicate()
                    return 1, "it was ended" if unwanted.is_set() else f"no answer in {limit_s:g} s"
        if answer:
            data = answer.read_bytes()
    text = data.decode(errors="replace").strip()
    return process.returncode, text if not process.returncode else text.split("\n")[-1][:200]


def _wait(process: subprocess.Popen[bytes], limit_s: float) -> int:
    """Wait for a process and return its exit status. After `limit_s` seconds the process is killed."""
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        _kill(process)
        return process.wait()


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
