"""Records of the shots that have ended, in a file with one line for each shot that is only appended to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from analyzer.answers_file import AnswersFile, NotAnswersError, OtherQuestionError
from analyzer.atomic_file import cannot_write
from analyzer.errors import TracelibError


class ShotOutcome(Enum):
    """How a shot ended."""

    GOOD = "good"
    FAILED = "failed"  # the program gave an exit status other than 0, or not all outputs
    HUNG = "hung"  # it took longer than the job's timeout
    LOST = "lost"  # several hosts (`JobTemplate.tries`) were lost while they ran it


@dataclass(frozen=True)
class ShotRecord:
    """Record of a shot that has ended.

    Attributes:
        shot: The shot's number, from 1.
        seconds: Response time in s, from when a host got the shot until the study had its results.
        outputs: Outputs of a good shot by name; empty for others.
        error: Why there are no outputs; "" for a good shot.
    """

    shot: int
    kind: ShotOutcome
    host: str
    seconds: float
    outputs: Mapping[str, float]
    error: str = ""


FORMAT = "tracelib-study 1"
_OTHER = "name another folder with -o, or begin anew with --force"


class ShotBook:
    """Records of the ended shots of a study, in memory and in a file.

    Attributes:
        records: Records by the shot's number.
        unread: Records whose outputs were read by other definitions of outputs, by the shot's number.
    """

    def __init__(self, path: Path, question: Mapping[str, Any], reads: str, *, anew: bool = False) -> None:
        """Open the file of a study, and read its records.

        Args:
            path: The file. It is created if it does not exist.
            question: Everything that determines the shots, see `ShotPlan.question`.
            reads: Checksum of the definitions of outputs. Records with another checksum go to `unread`.
            anew: Forget what the file holds.

        Raises:
            TracelibError: The file holds results of another study, another process has it open, or it cannot be
                written.
        """
        self.records: dict[int, ShotRecord] = {}
        self.unread: dict[int, ShotRecord] = {}
        self._reads = reads
        self._path, self._file = path, _opened(path, {"format": FORMAT, **question}, anew)
        try:
            self._read(path)
        except TracelibError:
            self.close()
            raise

    def _read(self, path: Path) -> None:
        for number, line in self._file.lines:
            try:
                row = json.loads(line)
                record = ShotRecord(
                    row["shot"],
                    ShotOutcome(row["kind"]),
                    row["host"],
                    row["seconds"],
                    row["outputs"],
                    row.get("error", ""),
                )
                same = row["reads"] == self._reads
            except (ValueError, TypeError, KeyError):
                raise TracelibError(f"{path}:{number}: not a shot", _OTHER) from None
            self.records.pop(record.shot, None)
            self.unread.pop(record.shot, None)
            (self.records if same or record.kind in (ShotOutcome.HUNG, ShotOutcome.LOST) else self.unread)[
                record.shot
            ] = record

    def add(self, record: ShotRecord, values: Mapping[str, float | int | str]) -> None:
        """Add the record of a shot, and append it to the file.

        Args:
            record: The record.
            values: Values of the shot's placeholders by name.

        Raises:
            TracelibError: The file cannot be written, for example because the disk is full.
        """
        self.records[record.shot] = record
        self.unread.pop(record.shot, None)
        row = {
            "shot": record.shot, "kind": record.kind.value, "values": dict(values), "outputs": dict(record.outputs),
            "host": record.host, "seconds": round(record.seconds, 6), "reads": self._reads,
        }  # fmt: skip
        try:
            self._file.append(row | ({"error": record.error} if record.error else {}))
        except OSError as error:
            raise cannot_write(self._path, error) from error

    def forget_failures(self) -> list[int]:
        """Forget the shots that gave no result, so that they run again.

        Their lines stay in the file; later lines of a shot replace earlier ones.

        Returns:
            Numbers of the forgotten shots.
        """
        failures = [shot for shot, record in self.records.items() if record.kind is not ShotOutcome.GOOD]
        for shot in failures:
            del self.records[shot]
        return failures

    def close(self) -> None:
        """Close the file, so that other processes can open it."""
        self._file.close()


def _opened(path: Path, question: Mapping[str, Any], anew: bool) -> AnswersFile:
    """Open the file of a study. Raises TracelibError that names what differs from the study in the file."""
    try:
        return AnswersFile(path, question, anew=anew)
    except NotAnswersError:
        raise TracelibError(f"{path} is no file of a study", _OTHER) from None
    except OtherQuestionError as other:
        key = other.key
        differs = f"another {key}" if key == "job" else f"{key} was {other.before}, not {other.now}"
        raise TracelibError(f"{path.parent} holds the results of another study: {differs}", _OTHER) from None
    except BlockingIOError as error:
        raise TracelibError(f"{path}: another process runs this study", "wait for its end") from error
    except OSError as error:
        raise cannot_write(path, error) from error
