"""Handling of signals that end the process: Ctrl-C, a batch system's time limit, a launcher after another process died.

A signal raises an exception like any other, so that files appear whole or not at all. Files that must not be left
behind are also registered here, for places where no exception arrives.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread, Timer, current_thread, main_thread
from types import CodeType, FrameType
from typing import TypeVar

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_GRACE_S = 0.3
"""Time in s that the main thread has for an orderly end. Launchers kill a process after a second."""
_AGAIN_S = 0.01
"""Time in s after which a signal is sent again if it arrived where no exception may be raised."""

_Function = TypeVar("_Function", bound=Callable)
_temporaries: set[Path] = set()
_called_from_c: set[CodeType] = set()
_alone: list[bool] = []  # one for each `raised` that has begun


class EndRequested(BaseException):
    """Exception raised by a signal that ends the process. A KeyboardInterrupt would make click print a line of its own.

    Attributes:
        number: Number of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    def __str__(self) -> str:
        return "interrupted" if self.number == signal.SIGINT else f"ended by {signal.Signals(self.number).name}"


def temporary(path: Path) -> Path:
    """Register a file or folder of this process, to be removed if the process ends before `discard`."""
    _temporaries.add(path)
    return path


def temporaries() -> tuple[Path, ...]:
    """Return the registered files and folders that were not discarded yet."""
    return tuple(_temporaries)


def ends_alone() -> bool:
    """Return True if this process is a command of ours, so that it may end itself. It may also be another program."""
    return bool(_alone) and current_thread() is main_thread()


def discard(path: Path) -> None:
    """Remove a temporary file or folder. A failure is ignored, so that it hides no earlier error."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)
    _temporaries.discard(path)


def discard_all() -> None:
    """Remove all temporary files and folders that are still registered."""
    for path in tuple(_temporaries):
        discard(path)


@contextmanager
def raised() -> Iterator[None]:
    """Make signals that end the process raise EndRequested in the main thread inside the block.

    Signals that the process ignores (nohup) stay ignored.
    """
    if current_thread() is not main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    caught = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    hook = sys.unraisablehook
    _alone.append(True)

    @called_from_c
    def lost(what: sys.UnraisableHookArgs) -> None:
        """Handle an exception in a destructor, which ends there.

        One in here does so, too: the signal comes again meanwhile.
        """
        if isinstance(what.exc_value, EndRequested):
            _again(what.exc_value.number)
        else:
            hook(what)

    try:
        for number in caught:
            signal.signal(number, _raise)
        sys.unraisablehook = lost
        yield
    finally:
        sys.unraisablehook = hook
        _alone.pop()
        for number, handler in caught.items():
            signal.signal(number, handler)


def called_from_c(function: _Function) -> _Function:
    """Mark a function that a C library (HDF5) calls and that must not raise. Signals wait until it has returned."""
    _called_from_c.add(function.__code__)  # type: ignore[attr-defined]
    return function


def _raise(number: int, frame: FrameType | None) -> None:
    while frame:
        if frame.f_code in _called_from_c:
            _again(number)
            return
        frame = frame.f_back
    raise EndRequested(number)


def _again(number: int) -> None:
    again = Timer(_AGAIN_S, os.kill, (os.getpid(), number))
    again.daemon = True
    again.start()


def die(number: int) -> None:
    """End this process by the signal itself, at once, without waiting for the other members of a team."""
    discard_all()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def watch() -> None:
    """Start a thread that ends the process if the main thread is in a call of MPI, which no exception can leave."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    Thread(target=_end_in_time, args=(read,), daemon=True).start()


def _end_in_time(read: int) -> None:
    while (number := os.read(read, 1)[0]) not in _SIGNALS:
        pass
    discard_all()
    time.sleep(_GRACE_S)
    discard_all()  # what came after
    os._exit(128 + number)
