"""Outcomes of jobs in a file that is only appended to, so that an interrupted study goes on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from analyzer.answers_file import AnswersFile, NotAnswersError, OtherQuestionError
from analyzer.errors import TracelibError
from analyzer.montecarlo.replay_jobs import ReplayJob, ReplayOutcome

FORMAT = "tracelib-samples 1"
_SHORT = ("vary", "design", "seed", "samples")
"""Parts of a question that errors show in words. The other parts are checksums."""
_OTHER = "name another output with -o, or begin it anew with --force"


class JobJournal:
    """The known outcomes of jobs, in memory and in a file. Without a path there is no file."""

    def __init__(self, path: Path | None, question: Mapping[str, Any], *, anew: bool = False) -> None:
        """Open a file of outcomes, and read it.

        Args:
            path: The file. None: outcomes are only kept in memory.
            question: Everything that determines the outcomes. A file holds the outcomes of one question.
            anew: Forget what the file holds.

        Raises:
            TracelibError: The file holds outcomes of another question or is no such file, cannot be written, or another
                process writes it.
        """
        self._known: dict[ReplayJob, ReplayOutcome] = {}
        self._path, self._file = path, None if path is None else _opened(path, {"format": FORMAT, **question}, anew)
        try:
            for number, line in self._file.lines if self._file else ():
                self._known.update([_read(path, number, line)])
        except TracelibError:
            self.close()
            raise

    def __len__(self) -> int:
        """Return the number of jobs with a known outcome."""
        return len(self._known)

    def get(self, job: ReplayJob) -> ReplayOutcome | None:
        """Return the known outcome of a job. None: it is not known."""
        return self._known.get(job)

    def add(self, job: ReplayJob, outcome: ReplayOutcome) -> None:
        """Add the outcome of a job, and append it to the file.

        Raises:
            TracelibError: The file cannot be written, for example because the disk is full.
        """
        self._known[job] = outcome
        if self._file is None:
            return
        said = {"values": job.values, "seed": job.seed, "times_ns": outcome.times_ns, "by": outcome.by}
        try:
            self._file.append(said | ({"error": outcome.error} if outcome.error else {}))
        except OSError as error:
            raise TracelibError(f"cannot write {self._path}: {error.strerror}", "make room") from error

    def close(self) -> None:
        """Close the file, so that other processes can open it."""
        if self._file is not None:
            self._file.close()


def _opened(path: Path, question: Mapping[str, Any], anew: bool) -> AnswersFile:
    """Open a file of outcomes. Raises TracelibError that names what differs from the question in the file."""
    try:
        return AnswersFile(path, question, anew=anew)
    except NotAnswersError:
        raise TracelibError(f"{path} is no file of samples", _OTHER) from None
    except OtherQuestionError as other:
        key = other.key
        differs = f"{key} was {other.before}, not {other.now}" if key in _SHORT else f"other {key}"
        raise TracelibError(f"{path} holds the samples of another study: {differs}", _OTHER) from None
    except BlockingIOError as error:
        raise TracelibError(f"{path}: another process is writing it", "wait for it, or name another output") from error
    except OSError as error:
        raise TracelibError(f"cannot write {path}: {error.strerror}", "name another output with -o") from error


def _read(path: Path | None, number: int, line: str) -> tuple[ReplayJob, ReplayOutcome]:
    try:
        row = json.loads(line)
        times = row["times_ns"]
        outcome = ReplayOutcome(None if times is None else tuple(times), row.get("error", ""), row["by"])
        return ReplayJob(tuple(row["values"]), row["seed"]), outcome
    except (ValueError, TypeError, KeyError):
        raise TracelibError(f"{path}:{number}: not a sample", _OTHER) from None
