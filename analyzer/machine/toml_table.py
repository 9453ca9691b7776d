"""Reading the keys of a table in a TOML file of a machine or of a study, with clear errors for each key."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from typing import Any

from analyzer.errors import TracelibError
from analyzer.machine.description import LAWS, MOST, Count, Quantity


class TomlTable:
    """A table of a TOML file from which keys are taken one by one. Keys that are left at the end are errors."""

    def __init__(self, name: str, given: Any, page: str = "docs/machine.md") -> None:
        """Prepare to read a table.

        Args:
            name: Name of the table, for errors.
            given: Content of the table.
            page: Page of the documentation that has an example of such a file.

        Raises:
            TracelibError: `given` is not a table.
        """
        if not isinstance(given, Mapping):
            raise TracelibError(f"{name} is {given!r}, not a table", f"see {page} for an example")
        self.name, self._given, self._known, self._page = name, dict(given), set[str](), page

    def __contains__(self, key: str) -> bool:
        return key in self._given

    def take(self, key: str, default: Any) -> Any:
        """Take a key: return its value, or the default if it is missing."""
        self._known.add(key)
        return self._given.pop(key, default)

    def peek(self, key: str) -> Any:
        """Return the value of a key without taking it. None: the key is missing."""
        return self._given.get(key)

    def table(self, key: str) -> TomlTable:
        """Take a table within this table. It is empty if the key is missing."""
        return TomlTable(f"[{key}]", self.take(key, {}), self._page)

    def tables(self, key: str, default: Any) -> list[TomlTable]:
        """Take an array of tables. A single table counts as an array of one."""
        value = self.take(key, default)
        given = value if isinstance(value, list) else [value] if value else []
        return [TomlTable(f"[{key}]", v, self._page) for v in given]

    def rest(self) -> dict[str, Any]:
        """Take all keys that are left, and return them with their values."""
        left, self._given = self._given, {}
        return left

    def quantity(self, key: str, default: float, parts: float = 1.0) -> Quantity:
        """Take a number or a distribution.

        Args:
            key: The key.
            default: Value if the key is missing.
            parts: Number of the file's units in one of the returned unit, such as 1e6 from us to s.

        Returns:
            The value, divided by `parts`. "inf" becomes 0.

        Raises:
            TracelibError: The value is not valid.
        """
        value = self.take(key, None)
        if value is None:
            return default
        if isinstance(value, Mapping) and len(value) == 1:
            (law, numbers), *_ = value.items()
            if law in LAWS and isinstance(numbers, list) and len(numbers) == 2:
                a, b = (self._number(key, n) / parts for n in numbers)
                if "inf" in numbers or math.inf in numbers or (law == "uniform" and a > b):
                    raise TracelibError(
                        f"{self.name} {key} = {value!r}", "both numbers must be finite, and uniform = [low, high]"
                    )
                return LAWS[law](a, b)
        return self._number(key, value) / parts

    def count(self, key: str, least: int = 0) -> Count:
        """Take a whole number of at least `least` (0 if the key is missing), or a distribution. "inf" becomes 0.

        Raises:
            TracelibError: The value is not valid.
        """
        if isinstance(self.peek(key), Mapping):
            return self.quantity(key, 0.0)  # type: ignore[return-value]
        return self.whole(key, 0, least)

    def whole(self, key: str, default: int, least: int = 0, most: int = MOST) -> int:
        """Take a whole number from `least` to `most`. "inf" becomes 0.

        Raises:
            TracelibError: The value is not valid.
        """
        number = self._number(key, self.take(key, default))
        if number != int(number) or not least <= number <= most:
            raise TracelibError(f"{self.name} {key} = {number:g}", f"it must be a whole number from {least} to {most}")
        return int(number)

    def flag(self, key: str) -> bool:
        """Take true or false; false if the key is missing.

        Raises:
            TracelibError: The value is neither.
        """
        value = self.take(key, False)
        if not isinstance(value, bool):
            raise TracelibError(f"{self.name} {key} = {value!r}", "it must be true or false")
        return value

    def seed(self) -> int:
        """Take the key "seed", any whole number; 0 if it is missing.

        Raises:
            TracelibError: The value is not a whole number.
        """
        value = self.take("seed", 0)
        if isinstance(value, bool) or not isinstance(value, int):
            raise TracelibError(f"{self.name} seed = {value!r}", "it must be a whole number")
        return value

    def _number(self, key: str, value: Any) -> float:
        if value == "inf" or (isinstance(value, float) and math.isinf(value)):
            if key.endswith("_us"):
                raise TracelibError(f"{self.name} {key} = {value!r}", "a time must be finite; 0 means no time")
            return 0.0
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0 or math.isnan(value):
            raise TracelibError(f"{self.name} {key} = {value!r}", "use a number from 0, or { uniform = [low, high] }")
        return float(value)

    def choice(self, key: str, choices: tuple[str, ...]) -> str:
        """Take one of several words; the first word if the key is missing.

        Raises:
            TracelibError: The value is not one of the words.
        """
        value = self.take(key, choices[0])
        if value not in choices:
            raise TracelibError(f"{self.name} {key} = {value!r} is not known", f"use {', '.join(choices)}")
        return value

    def end(self) -> None:
        """Check that all keys were taken.

        Raises:
            TracelibError: A key is left, so that its name is not known. The message names a similar one.
        """
        for key in self._given:
            near = difflib.get_close_matches(key, self._known, 1)
            hint = f"did you mean {near[0]}?" if near else f"it knows {', '.join(sorted(self._known))}"
            raise TracelibError(f"{self.name}: {key!r} is not known", hint)
