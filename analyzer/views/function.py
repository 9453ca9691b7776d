"""A function of a view as the user names it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from analyzer.errors import TracelibError
from analyzer.views import paraver_names as names


@dataclass(frozen=True)
class Function:
    """`name`, as in docs/views.md, with its parameters; or a function of the user's own."""

    name: str
    values: tuple[Any, ...] = ()
    user: Callable[..., Any] | None = field(default=None, compare=False)

    @classmethod
    def of(cls, given: Any) -> Function:
        """From a name, ours or Paraver's, a sequence of a name and parameters, or a callable. Raises TracelibError."""
        if isinstance(given, Function):
            return given
        if isinstance(given, str):
            return cls(names.OURS.get(given, given))
        if callable(given):
            return cls(getattr(given, "__name__", "function"), user=given)
        if isinstance(given, Sequence) and given and isinstance(given[0], str):
            return cls(names.OURS.get(given[0], given[0]), tuple(given[1:]))
        raise TracelibError(f"{given!r} names no function of a view", 'give a name, or ["name", parameters]', 2)

    def number(self, index: int, default: float) -> float:
        """A parameter that is a number. Raises TracelibError."""
        if index >= len(self.values):
            return default
        value = self.values[index]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TracelibError(f"{self.name!r}: {value!r} is not a number", "", 2)
        return float(value)

    def found(self, among: dict[str, Any], what: str) -> Any:
        """What stands under its name. Raises TracelibError with names that are alike."""
        if self.name not in among:
            alike = get_close_matches(self.name, list(among), 3)
            hint = f"did you mean {', '.join(map(repr, alike))}?" if alike else f"there are {', '.join(among)}"
            raise TracelibError(f"there is no {what} {self.name!r}", hint, 2)
        return among[self.name]


def functions_of(given: Any) -> tuple[Function, ...]:
    """Several, one after the other: one function, or a sequence of them. A name and numbers are one."""
    if isinstance(given, list | tuple):
        is_one = len(given) > 1 and isinstance(given[0], str) and all(isinstance(v, int | float) for v in given[1:])
        if not is_one:
            return tuple(Function.of(one) for one in given)
    return () if given is None else (Function.of(given),)
