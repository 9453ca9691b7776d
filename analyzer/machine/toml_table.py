"""The keys of a table of a TOML file, of a machine or of a study, with what is wrong with each."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from typing import Any

from analyzer.errors import TracelibError
from analyzer.machine.description import LAWS, MOST, Count, Quantity


class TomlTable:
    """The keys of a table, each taken once; what is left over is a mistake."""

    def __init__(self, name: str, given: Any, page: str = "docs/machine.md") -> None:
        """Take the table. page: where an example of such a file is."""
        if not isinstance(given, Mapping):
            raise TracelibError(f"{name} is {given!r}, not a table", f"see {page} for an example")
        self.name, self._given, self._known, self._page = name, dict(given), set[str](), page

    def __contains__(self, key: str) -> bool:
        return key in self._given

    def take(self, key: str, default: Any) -> Any:
        """Return the value of a key."""
        self._known.add(key)
        return self._given.pop(key, default)

    def peek(self, key: str) -> Any:
        """Return the value of a key that is still to be taken."""
        return self._given.get(key)

    def table(self, key: str) -> TomlTable:
        """Return a table within, empty if it is not there."""
        return TomlTable(f"[{key}]", self.take(key, {}), self._page)

    def tables(self, key: str, default: Any) -> list[TomlTable]:
        """Return one table or an array of them."""
        value = self.take(key, default)
        given = value if isinstance(value, list) else [value] if value else []
        return [TomlTable(f"[{key}]", v, self._page) for v in given]

    def rest(self) -> dict[str, Any]:
        """Return the keys that nobody has read."""
        left, self._given = self._given, {}
        return left

    def quantity(self, key: str, default: float, parts: float = 1.0) -> Quantity:
        """Return a number, "inf" as 0, or a distribution, divided by `parts`."""
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
        """Return a whole number from `least`, "inf" as 0, or a distribution."""
        if isinstance(self.peek(key), Mapping):
            return self.quantity(key, 0.0)  # type: ignore[return-value]
        return self.whole(key, 0, least)

    def whole(self, key: str, default: int, least: int = 0, most: int = MOST) -> int:
        """Return a whole number, "inf" as 0."""
        number = self._number(key, self.take(key, default))
        if number != int(number) or not least <= number <= most:
            raise TracelibError(f"{self.name} {key} = {number:g}", f"it must be a whole number from {least} to {most}")
        return int(number)

    def flag(self, key: str) -> bool:
        """True or false, false by default."""
        value = self.take(key, False)
        if not isinstance(value, bool):
            raise TracelibError(f"{self.name} {key} = {value!r}", "it must be true or false")
        return value

    def seed(self) -> int:
        """Return any whole number."""
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
        """Return one of several words, the first by default."""
        value = self.take(key, choices[0])
        if value not in choices:
            raise TracelibError(f"{self.name} {key} = {value!r} is not known", f"use {', '.join(choices)}")
        return value

    def end(self) -> None:
        """Refuse what nobody took."""
        for key in self._given:
            near = difflib.get_close_matches(key, self._known, 1)
            hint = f"did you mean {near[0]}?" if near else f"it knows {', '.join(sorted(self._known))}"
            raise TracelibError(f"{self.name}: {key!r} is not known", hint)
