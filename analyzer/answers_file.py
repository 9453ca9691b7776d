"""File of answers to one question, a line of JSON each, so that a study that was ended goes on where it was.

The first line is the question. A line is written whole by one call; what a kill left of a last one is cut off when the
file is opened again.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO


class NotAnswersError(Exception):
    """The file does not begin with a question of this format."""


class OtherQuestionError(Exception):
    """The file answers another question.

    Attributes:
        key: First part of the question that differs.
        before: Its value in the file.
        now: Its value in the question that was asked.
    """

    def __init__(self, key: str, before: object, now: object) -> None:
        super().__init__(key)
        self.key, self.before, self.now = key, before, now


class AnswersFile:
    """An opened file of answers, which no other process can open."""

    def __init__(self, path: Path, question: Mapping[str, Any], *, anew: bool = False) -> None:
        """Open a file for one question; make it if there is none.

        Args:
            path: The file.
            question: The question; "format" is a part of it.
            anew: Whether to forget what the file holds.

        Raises:
            NotAnswersError: The file is something else.
            OtherQuestionError: It answers another question.
            BlockingIOError: Another process has opened it.
            OSError: It cannot be written.
        """
        self._file: BinaryIO = open(path, "a+b", buffering=0)  # noqa: PTH123, SIM115, unbuffered: a line is one write
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._file.seek(0)
            self.lines = self._resume(b"" if anew else self._file.read(), question)
        except BaseException:
            self._file.close()
            raise

    def _resume(self, content: bytes, question: Mapping[str, Any]) -> list[tuple[int, str]]:
        """Check the question, and return the numbers and texts of the answers."""
        begin = _line(question)
        whole = content[: content.rfind(b"\n") + 1]
        first, *lines = whole.decode(errors="replace").splitlines() or [""]
        if whole:
            _check(first, json.loads(begin))
        elif content and not begin.startswith(content):
            raise NotAnswersError
        self._file.truncate(len(whole))
        if not whole:
            self._file.write(begin)
        return list(enumerate(lines, 2))

    def append(self, answer: Mapping[str, Any]) -> None:
        """Write an answer. Raises OSError where the disk is full."""
        line = _line(answer)
        if self._file.write(line) != len(line):
            raise OSError(0, "no room")

    def close(self) -> None:
        """Close the file, so that others can open it."""
        self._file.close()


def _line(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data).encode() + b"\n"


def _check(first: str, wanted: Mapping[str, Any]) -> None:
    """Compare the first line of a file with the question that is asked."""
    try:
        found = json.loads(first)
        if found["format"] != wanted["format"]:
            raise NotAnswersError
    except (ValueError, TypeError, KeyError):
        raise NotAnswersError from None
    for key, value in wanted.items():
        if found.get(key) != value:
            raise OtherQuestionError(key, found.get(key), value)
