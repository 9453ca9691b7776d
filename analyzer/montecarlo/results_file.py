"""The results of jobs in a file that is appended to, so that a study that was ended goes on where it was.

A line of JSON first says what the question was, then each line is one job and its outcome. A line is written whole by
one call; what a kill left of a last one is cut off when the file is opened again.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from analyzer.errors import TracelibError
from analyzer.montecarlo.replay_jobs import ReplayJob, ReplayOutcome

FORMAT = "tracelib-samples 1"
_SHORT = ("vary", "design", "seed", "samples")
"""The parts of a question that an error can name in words; the other parts are checksums."""
_OTHER = "name another output with -o, or begin it anew with --force"


class JobJournal:
    """The known results of jobs; without a path nothing is kept."""

    def __init__(self, path: Path | None, question: Mapping[str, Any], *, anew: bool = False) -> None:
        """Open a file for one question: what it knows counts. anew: begin it again, whatever it holds.

        Raises TracelibError if it holds the answers to another question, is none of ours, cannot be written, or
        another process writes it.
        """
        self._known: dict[ReplayJob, ReplayOutcome] = {}
        self._file: BinaryIO | None = None
        if path is None:
            return
        begin = {"format": FORMAT, **question}
        try:
            self._file = open(path, "a+b", buffering=0)  # noqa: PTH123, SIM115, unbuffered: a line is one write
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._file.seek(0)
            content = b"" if anew else self._file.read()
            self._resume(path, content, begin)
        except BlockingIOError as error:
            raise TracelibError(
                f"{path}: another process is writing it", "wait for it, or name another output"
            ) from error
        except OSError as error:
            raise TracelibError(f"cannot write {path}: {error.strerror}", "name another output with -o") from error

    def _resume(self, path: Path, content: bytes, begin: Mapping[str, Any]) -> None:
        whole = content[: content.rfind(b"\n") + 1]
        first, *lines = whole.decode(errors="replace").splitlines() or [""]
        if whole:
            _check(path, first, begin)
        elif content and not _line(begin).startswith(content):
            raise TracelibError(f"{path} is no file of samples", _OTHER)
        for number, line in enumerate(lines, 2):
            self._known.update([_read(path, number, line)])
        assert self._file is not None
        self._file.truncate(len(whole))
        if not whole:
            self._file.write(_line(begin))

    def __len__(self) -> int:
        """Return the number of jobs that are known."""
        return len(self._known)

    def get(self, job: ReplayJob) -> ReplayOutcome | None:
        """Return the known outcome of a job."""
        return self._known.get(job)

    def add(self, job: ReplayJob, outcome: ReplayOutcome) -> None:
        """Keep an outcome. Raises TracelibError where the disk is full."""
        self._known[job] = outcome
        if self._file is None:
            return
        said = {"values": job.values, "seed": job.seed, "times_ns": outcome.times_ns, "by": outcome.by}
        try:
            line = _line(said | ({"error": outcome.error} if outcome.error else {}))
            if self._file.write(line) != len(line):
                raise OSError(0, "no room")
        except OSError as error:
            raise TracelibError(f"cannot write {self._file.name}: {error.strerror}", "make room") from error

    def close(self) -> None:
        """Close the file, so that others can open it."""
        if self._file is not None:
            self._file.close()


def _line(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data).encode() + b"\n"


def _check(path: Path, first: str, wanted: Mapping[str, Any]) -> None:
    """Raise TracelibError that names what differs from the question that the file answers."""
    try:
        found = json.loads(first)
        if found["format"] != FORMAT:
            raise ValueError
    except (ValueError, TypeError, KeyError):
        raise TracelibError(f"{path} is no file of samples", _OTHER) from None
    for key, value in json.loads(_line(wanted)).items():
        if found.get(key) != value:
            before = found.get(key)
            what = f"{key} was {before}, not {value}" if key in _SHORT else f"other {key}"
            raise TracelibError(f"{path} holds the samples of another study: {what}", _OTHER)


def _read(path: Path, number: int, line: str) -> tuple[ReplayJob, ReplayOutcome]:
    try:
        row = json.loads(line)
        times = row["times_ns"]
        outcome = ReplayOutcome(None if times is None else tuple(times), row.get("error", ""), row["by"])
        return ReplayJob(tuple(row["values"]), row["seed"]), outcome
    except (ValueError, TypeError, KeyError):
        raise TracelibError(f"{path}:{number}: not a sample", _OTHER) from None
