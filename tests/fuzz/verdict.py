"""Verdict on a command that read a damaged file."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence

from fuzz.worker import Outcome

_ERROR = re.compile(r"(Error|tracelib): \S")
_NOTE = re.compile(r"\S*\.(h5|ranks|prv|gz|dim|swf|otf2|cfg): \S")
"""A line beside the figures that says what is wrong with the file that they are of, or not read of it."""
_OUT_OF_MEMORY = "not enough memory"


def failure(line: Sequence[str], outcome: Outcome, said: str) -> str:
    """The kind of failure; "": an answer, or one clear line. said: on stderr."""
    if not outcome.in_time:
        return "no end"
    if outcome.code < 0:
        return signal.Signals(-outcome.code).name
    if "Traceback (most recent call last)" in said:
        return "traceback"
    if "ERROR: AddressSanitizer" in said or ": runtime error: " in said:
        return "sanitizer"
    rows = said.splitlines()
    errors = [row for row in rows if _ERROR.match(row)]
    if any(_OUT_OF_MEMORY in row for row in errors):
        return "all memory"
    if stray := [row for row in rows if row not in errors and not _NOTE.match(row)]:
        return "stray text" if any(row.strip() for row in stray) else "empty line"
    return _of_errors(line, outcome.code, len(errors))


def _of_errors(line: Sequence[str], code: int, errors: int) -> str:
    if code == 0:
        return "an error line, and success" if errors else ""
    if errors == 0 and not _fails_in_its_answer(line):
        return "no reason given"
    return "several error lines" if errors > 1 else ""


def _fails_in_its_answer(line: Sequence[str]) -> bool:
    """Commands whose findings, on stdout, are the reason of their exit code."""
    return "check" in line[:2] or "recover" in line[:2]
