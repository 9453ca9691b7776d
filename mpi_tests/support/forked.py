"""Command lines of `analyze`, each in a process that is forked from one that has imported all commands: a new one takes
a second of processor time for that."""

from __future__ import annotations

import os
import sys
import tempfile
import uuid
from collections.abc import Sequence
from functools import cache
from multiprocessing import get_context
from pathlib import Path

from patience import patient
from running import MARK, Finished, end_marked

from analyzer.commands.registry import find, names


@cache
def _server():
    """Start the process that forks all others. There is one for the whole session, and it ends with the session."""
    server = get_context("forkserver")
    server.set_forkserver_preload([find(name).callback.__module__ for name in names()])
    return server


def analyze(words: Sequence[str], cwd: Path, env: dict[str, str], limit_s: float) -> Finished:
    """Run `analyze WORDS` to its end, then end whatever it left behind. The limit is that of an idle machine."""
    mark = uuid.uuid4().hex
    with tempfile.TemporaryDirectory() as folder:
        said = [Path(folder) / name for name in ("out", "err")]
        process = _server().Process(target=_run, args=(list(words), cwd, env | {MARK: mark}, said))
        process.start()
        process.join(patient(limit_s))
        in_time = process.exitcode is not None
        process.kill()
        process.join()
        end_marked(mark)
        out, err = (path.read_text(errors="replace") if path.exists() else "" for path in said)
        return Finished(process.exitcode or 0, out, err, not in_time)


def _run(words: list[str], cwd: Path, env: dict[str, str], said: Sequence[Path]) -> None:
    """In the process: as if it had been started so."""
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    tempfile.tempdir = None
    for number, name in ((0, os.devnull), (1, said[0]), (2, said[1])):
        file = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
        os.dup2(file, number)
        os.close(file)
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False, errors="backslashreplace")  # noqa: SIM115
    from analyzer.cli import main

    sys.exit(main(words))
