"""Running a command for `tracelib run`: room for the result, signals, exit code."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tracelib.errors import TracelibError

_PART_OF_RESULT = re.compile(r"\d{6,}\.h5(\.tmp)?|\.?system-.*\.h5(\.tmp)?|places\.h5")
"""Names of files in a folder of rank files: files of ranks and of nodes, the remains of a sampler that was killed, and
the names of places that `analyze` keeps there."""


def output_path(name: str) -> Path:
    """Return the absolute path of the result, with its ending.

    Raises TracelibError for a place where nothing can be written.
    """
    path = Path(name).absolute()
    path = path if path.suffix == ".h5" else path.with_name(path.name + ".h5")
    if not path.parent.is_dir():
        raise TracelibError(f"there is no directory {path.parent}", "create it, or choose another -o")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise TracelibError(f"{path.parent} cannot be written", "choose another -o")
    return path


def rank_folder(path: Path) -> Path:
    """Return the folder of the rank files of run.h5: run.ranks."""
    return path.with_suffix(".ranks")


def make_room(path: Path, force: bool) -> None:
    """Refuse an existing result, or with `force` remove it (and nothing that is not one)."""
    folder = rank_folder(path)
    existing = [p for p in (path, folder) if p.exists()]
    if existing and not force:
        raise TracelibError(f"{existing[0]} exists", "choose another -o, or replace it with --force")
    if folder.is_dir():
        strangers = [p.name for p in folder.iterdir() if not _PART_OF_RESULT.fullmatch(p.name)]
        if strangers:
            raise TracelibError(f"{folder} holds {strangers[0]}, which is not part of a result", "move it away")
        shutil.rmtree(folder)
    if path.is_dir():
        raise TracelibError(f"{path} is a directory", "choose another -o")
    path.unlink(missing_ok=True)


@contextmanager
def _signals_to(process: subprocess.Popen) -> Iterator[None]:
    """Leave an interrupt from the terminal to the command while it runs, and pass a request to end on to it."""
    previous = {signal.SIGINT: signal.signal(signal.SIGINT, signal.SIG_IGN)}
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_IGN:
            continue
        previous[number] = signal.signal(number, lambda received, _frame: process.send_signal(received))
    try:
        yield
    finally:
        for number, handler in previous.items():
            if handler is not None:  # None: a library that the user preloads had set it, not Python
                signal.signal(number, handler)


def execute(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command to its end; its exit code, or 128 + the signal that ended it."""
    try:
        process = subprocess.Popen(command, env=environment)
    except OSError as error:
        raise TracelibError(f"cannot start {command[0]}: {error.strerror}", exit_code=127) from error
    with _signals_to(process):
        code = process.wait()
    return code if code >= 0 else 128 - code
