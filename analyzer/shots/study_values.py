"""Parsing of times, sizes, numbers and names in the files of a study, and filling of placeholders."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from math import isfinite, isnan
from typing import Any

from analyzer.errors import TracelibError

_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*(?::([^{}]*))?\}\}")
Value = float | int | str


def filled(text: str, values: Mapping[str, Value], where: str) -> str:
    """Return a text with values in place of all placeholders {{name}}.

    Args:
        text: The text.
        values: Value of each placeholder by name. Numbers are written so that reading gives the same number, unless the
            placeholder has a Python format such as {{load:.3e}}.
        where: Name of the text, for errors.

    Raises:
        TracelibError: A placeholder is not known, or a format does not fit the value.
    """

    def value_of(found: re.Match[str]) -> str:
        line = text.count("\n", 0, found.start()) + 1
        if found[1] not in values:
            near = difflib.get_close_matches(found[1], values, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(values)}"
            raise TracelibError(f"{where}:{line}: {{{{{found[1]}}}}} stands for nothing", hint)
        value = values[found[1]]
        try:
            return format(value, found[2].strip()) if found[2] else str(value)
        except ValueError as error:
            raise TracelibError(f"{where}:{line}: {found[0]}: {error}", "use a format such as .6e or 10.4f") from None

    return _PLACEHOLDER.sub(value_of, text)


def names_in(text: str) -> set[str]:
    """Return the names of all placeholders {{name}} in a text."""
    return {found[1] for found in _PLACEHOLDER.finditer(text)}


_TIME = {"s": 1.0, "sec": 1.0, "min": 60.0, "h": 3600.0, "hour": 3600.0, "d": 86400.0, "day": 86400.0, "ms": 1e-3}
_SIZE = {"b": 0, "k": 10, "m": 20, "g": 30, "t": 40}
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?")
_NAME = re.compile(r"[A-Za-z_]\w*")


def seconds(key: str, value: Any) -> float:
    """Parse a time above 0, such as "90s", "10min", "2h" or "1 day", into seconds.

    Args:
        key: Name of the value, for errors.
        value: The value as the file has it.

    Raises:
        TracelibError: The value is not a text of this form.
    """
    found = re.fullmatch(r"\s*([\d.]+)\s*([a-z]+)\s*", value) if isinstance(value, str) else None
    try:
        unit = found[2] if found and found[2] in _TIME else found[2].removesuffix("s") if found else ""
        time = float(found[1]) * _TIME[unit] if found else 0.0
    except (KeyError, ValueError):
        time = 0.0
    if not time > 0:
        raise TracelibError(f"{key} = {value!r}", 'write a time above 0 with its unit, such as "90s", "10min", "2h"')
    return time


def size_bytes(key: str, value: Any) -> float:
    """Parse a size such as "500M", "10.0 Mb" or "2G" into bytes. 1M is 2^20 bytes.

    Args:
        key: Name of the value, for errors.
        value: The value as the file has it.

    Raises:
        TracelibError: The value is not a text of this form.
    """
    found = re.fullmatch(r"\s*([\d.]+)\s*([bkmgt]?)(?:i?b)?\s*", value.lower()) if isinstance(value, str) else None
    try:
        return float(found[1]) * 2.0 ** _SIZE[found[2] or "b"] if found else _refuse_size(key, value)
    except ValueError:
        return _refuse_size(key, value)


def _refuse_size(key: str, value: Any) -> float:
    raise TracelibError(f"{key} = {value!r}", 'write a size with its unit, such as "500M" or "2G"')


def number(text: str) -> float | None:
    """Parse a finite number as programs print it, also Fortran's 1.5D+03. Return None if the text is no such number."""
    text = text.strip()
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text.translate(str.maketrans("dD", "ee")))
    return value if isfinite(value) else None


def is_no_number(text: str) -> bool:
    """Check whether a text is nan or infinity, as programs print them."""
    try:
        value = float(text)
    except ValueError:
        return False
    return isnan(value) or not isfinite(value)


def name(what: str, text: str) -> str:
    """Return the name `text` if it has only letters, digits and _, a letter or _ first.

    Args:
        what: What is named, for errors.
        text: The name.

    Raises:
        TracelibError: The name has other characters.
    """
    if not _NAME.fullmatch(text):
        raise TracelibError(f"{what} cannot be called {text!r}", "use letters, digits and _, a letter first")
    return text


def text(key: str, value: Any) -> str:
    """Return a text that is not empty. `key`: its name, for errors.

    Raises:
        TracelibError: The value is not a text, or is empty.
    """
    if not isinstance(value, str) or not value.strip():
        raise TracelibError(f"{key} = {value!r}", "it must be a text")
    return value


def texts(key: str, value: Any) -> tuple[str, ...]:
    """Return a list of texts as a tuple. A single text counts as a list of one. `key`: its name, for errors.

    Raises:
        TracelibError: The value is neither a text nor a list of texts.
    """
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list) or not all(isinstance(word, str) and word for word in given):
        raise TracelibError(f"{key} = {value!r}", "it must be a list of texts")
    return tuple(given)


def whole(key: str, value: Any, least: int) -> int:
    """Return a whole number that is `least` or more. `key`: its name, for errors.

    Raises:
        TracelibError: The value is no whole number, or is smaller than `least`.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise TracelibError(f"{key} = {value!r}", f"it must be a whole number from {least}")
    return value
