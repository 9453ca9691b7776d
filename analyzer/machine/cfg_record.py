"""Parsing of the records in a Dimemas configuration file: `"name" {field, ...};;`, each on a line of its own.

Source: "Dimemas .cfg grammar" (records of new_configuration.c).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from analyzer.errors import TracelibError
from analyzer.machine.description import MOST

Field = str | float | list[int]


@dataclass(frozen=True)
class CfgRecord:
    """A record of a .cfg file. Errors of its methods name the line."""

    name: str
    fields: list[Field]
    where: str  # place for errors: "file.cfg, line 12"

    def number(self, k: int, least: float = 0.0) -> float:
        """Return field k (from 0) as a number of at least `least`. Raises TracelibError."""
        value = self.fields[k]
        if not isinstance(value, float):
            raise self.wrong(f"{value!r} is not a number", k)
        if not math.isfinite(value) or value < least:
            raise self.wrong(f"{value:g}", k, "" if least == -math.inf else f", a number from {least:g}")
        return value

    def whole(self, k: int, least: int = 0) -> int:
        """Return field k (from 0) as a whole number from `least` to `MOST`. Raises TracelibError."""
        value = self.number(k, least)
        if value != int(value) or value > MOST:
            raise self.wrong(f"{value:g}", k, f", a whole number from {least} to {MOST}")
        return int(value)

    def wrong(self, text: str, k: int, more: str = "") -> TracelibError:
        """Return an error about field k (from 0). `more`: text for the end of the hint."""
        return TracelibError(f"{self.where}: {text}", f"it is field {k + 1} of {self.name!r}{more}")


def records(text: str, name: str) -> Iterator[CfgRecord]:
    """Yield the records of a .cfg file.

    The first line is a heading. Lines with //, lines that begin with #, and text in /* */ are comments.

    Args:
        text: Content of the file.
        name: Name of the file, for errors.

    Raises:
        TracelibError: A line is neither a record nor a comment, or Dimemas would not read a record.
    """
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), text, flags=re.DOTALL)
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{name}, line {number}"
        unread = "on the first line" if number == 1 else "on a line with //" if "//" in line else ""
        if unread and line.lstrip().startswith('"'):
            raise TracelibError(f"{where}: a record {unread}, where Dimemas reads none", "put it on a line of its own")
        if unread or not line.strip() or line.lstrip().startswith("#"):
            continue
        found = re.fullmatch(r'\s*"([^"]*)"\s*\{(.*)\}\s*;;\s*', line)
        if not found:
            raise TracelibError(f"{where}: not a record", 'a record is "name" {field, ...};; on one line')
        yield CfgRecord(found[1].strip(), _fields(found[2], where), where)


_FIELD = re.compile(r'\s*(?:"([^"]*)"|\[(\d+)\]\s*\{([^}]*)\}|([^,"{}\[\]]+?))\s*(?:,|$)')


def _fields(text: str, where: str) -> list[Field]:
    found: list[Field] = []
    at = 0
    while at < len(text.rstrip()):
        match = _FIELD.match(text, at)
        if not match:
            raise TracelibError(f"{where}: cannot read {text[at:].strip()[:40]!r}", "fields are separated by commas")
        at = match.end()
        if match[1] is not None:
            found.append(match[1])
        elif match[2] is not None:
            found.append(_list(match[2], match[3], where))
        else:
            found.append(_word(match[4].strip()))
    return found


def _list(announced: str, text: str, where: str) -> list[int]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    if len(words) != int(announced):
        raise TracelibError(
            f"{where}: [{announced}] does not announce the {len(words)} values that follow", "correct it"
        )
    for word in words:
        if not re.fullmatch(r"\d{1,9}", word):
            raise TracelibError(
                f"{where}: {word!r} is not a number of the list", "the numbers must be whole, from 0 on"
            )
    return [int(word) for word in words]


def _word(text: str) -> str | float:
    """Convert a word to a number, or to a text. Dimemas also takes texts without quotes."""
    try:
        return float(text)
    except ValueError:
        return text
