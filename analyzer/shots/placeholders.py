"""Texts with placeholders: {{name}} and {{name:format}} become values."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

from analyzer.errors import TracelibError

_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*(?::([^{}]*))?\}\}")
Value = float | int | str


def filled(text: str, values: Mapping[str, Value], where: str) -> str:
    """Put values in the place of all placeholders.

    Args:
        text: The text.
        values: What each name stands for. A number is written so that it is read back exactly, unless the placeholder
            has a format as Python has them ({{load:.3e}}).
        where: The name of the text, for errors.

    Raises:
        TracelibError: A name is not known, or a format does not fit.
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
    """The names of all placeholders."""
    return {found[1] for found in _PLACEHOLDER.finditer(text)}
