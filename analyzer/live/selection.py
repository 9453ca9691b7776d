"""Selection of a live view: a window of time, rows, drawings, and a search for calls. A TOML file can store it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from analyzer.errors import TracelibError
from analyzer.live.rows import RowGrouping

_NS = 10**9
_FORMAT = "tracelib-view"
FOREVER_NS = 2**62
"""A time in ns that is later than the end of any run."""


@dataclass(frozen=True)
class CallSearch:
    """Conditions of a search for calls. A condition that is empty or None matches all calls.

    least_bytes, most_bytes: limits of the bytes that a call sends or receives, whichever are more.

    Raises:
        TracelibError: call, region or place is not a regular expression.
    """

    call: str = ""  # regular expression, searched in the name of the procedure; case is ignored
    peer: int | None = None  # world rank
    least_bytes: int | None = None
    most_bytes: int | None = None
    region: str = ""  # regular expression, searched in the regions around the call, such as "solve/exchange"
    place: str = ""  # regular expression, searched in function, file:line and module of the call's path

    def __post_init__(self) -> None:
        for name in ("call", "region", "place"):
            try:
                re.compile(getattr(self, name))
            except re.error as error:
                raise TracelibError(f"{name} = {getattr(self, name)!r} is not a regular expression: {error}") from None

    @property
    def anything(self) -> bool:
        """Whether the search has any condition."""
        return self != CallSearch()


STATES = "states"
"""Name of the built-in drawing, which is not a view of analyzer.views.

It shows computing, waiting, the rest of MPI, and the tracer.
"""


@dataclass(frozen=True)
class DrawRequest:
    """One drawing of the live view: STATES, or the name of a view of analyzer.views. level "": the view's own level."""

    view: str = STATES
    level: str = ""

    @classmethod
    def parse(cls, given: Any) -> DrawRequest:
        """Make a request from a table of a file or of an HTTP request.

        Raises:
            TracelibError: The table has other keys than "view" and "level", or values that are not text.
        """
        good = isinstance(given, dict) and all(isinstance(value, str) for value in given.values())
        if not good or not set(given) <= {"view", "level"}:
            raise TracelibError(f"draws: {given!r} is no table of view and level", '[[draws]] and view = "useful"')
        return cls(**given)


@dataclass(frozen=True)
class Viewport:
    """State of a live view: a window [begin_ns, end_ns) of the run, its rows, a search, and the drawings."""

    begin_ns: int
    end_ns: int
    by: RowGrouping = RowGrouping.RANKS
    ranks: str = ""  # such as "0-63,1000"; "": all ranks
    search: CallSearch = field(default_factory=CallSearch)
    draws: tuple[DrawRequest, ...] = (DrawRequest(),)

    def within(self, duration_ns: int) -> Viewport:
        """Return the viewport with its window cut to a run of length `duration_ns`."""
        return replace(self, begin_ns=min(self.begin_ns, duration_ns), end_ns=min(self.end_ns, duration_ns))

    def toml(self, name: str) -> str:
        """Return the viewport as the text of a TOML file. Reading that text gives the same viewport.

        `name` is the name of the run; it appears in a comment only.
        """
        search = {one.name: getattr(self.search, one.name) for one in fields(CallSearch)}
        given = {key: value for key, value in search.items() if value not in ("", None)}
        lines = [
            f"# A view of {name}: analyze view {name} --view THIS_FILE", f"format = {_text(_FORMAT)}",
            f"begin_s = {_seconds(self.begin_ns)}", f"end_s = {_seconds(self.end_ns)}", f"rows = {_text(self.by)}",
            *([f"ranks = {_text(self.ranks)}"] if self.ranks else []),
            *(["", "[search]"] if given else []),
            *(f"{key} = {value if isinstance(value, int) else _text(value)}" for key, value in given.items()),
        ]  # fmt: skip
        for draw in self.draws if self.draws != (DrawRequest(),) else ():
            lines += ["", "[[draws]]", f"view = {_text(draw.view)}"]
            lines += [f"level = {_text(draw.level)}"] if draw.level else []
        return "\n".join(lines) + "\n"


def read_view(path: str | Path, duration_ns: int) -> Viewport:
    """Read a viewport from a TOML file.

    Args:
        path: The file. A field that it lacks has the value that selects the whole run.
        duration_ns: Length of the run in ns.

    Raises:
        TracelibError: The file cannot be read, or is not a stored view.
    """
    try:
        given = tomllib.loads(Path(path).read_text(), parse_float=Decimal)
    except OSError as error:
        raise TracelibError(f"cannot read {path}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TracelibError(f"{path} is no TOML: {' '.join(str(error).split())}") from None
    if given.pop("format", _FORMAT) != _FORMAT:
        raise TracelibError(f"{path} is no view of analyze view", f'its format would be "{_FORMAT}"')
    search = given.pop("search", {})
    if not isinstance(search, dict):
        raise TracelibError(f"{path}: search is a table", "[search] on a line of its own")
    draws = given.pop("draws", [{}])
    if not isinstance(draws, list) or not draws:
        raise TracelibError(f"{path}: draws are tables", "[[draws]] on a line of its own")
    try:
        return replace(view_of({**given, **search}, duration_ns), draws=tuple(map(DrawRequest.parse, draws)))
    except TracelibError as error:
        raise TracelibError(f"{path}: {error}", error.hint) from None


_TEXTS, _NUMBERS = ("call", "region", "place"), ("peer", "least_bytes", "most_bytes")
_KEYS = {"begin_s", "end_s", "rows", "ranks", *_TEXTS, *_NUMBERS}


def view_of(given: Mapping[str, Any], duration_ns: int) -> Viewport:
    """Make a viewport from fields by name, as in a TOML file or an HTTP request.

    Args:
        given: Texts or numbers by field: begin_s, end_s, rows, ranks, and the fields of CallSearch.
        duration_ns: Length of the run in ns, which is the end of the window if end_s is missing.

    Raises:
        TracelibError: A field is unknown or has a wrong value.
    """
    for key in given:
        if key not in _KEYS:
            raise TracelibError(f"{key} is unknown", f"there are {', '.join(sorted(_KEYS))}")
    begin, end = (_ns(key, given[key]) if key in given else ns for key, ns in (("begin_s", 0), ("end_s", duration_ns)))
    if end < begin:
        raise TracelibError("end_s is before begin_s")
    by = given.get("rows", RowGrouping.RANKS)
    if by not in list(RowGrouping):
        raise TracelibError(f"rows = {by!r} is unknown", f"there are {', '.join(RowGrouping)}")
    ranks = given.get("ranks", "")
    texts: dict[str, Any] = {key: given.get(key, "") for key in _TEXTS}
    for key, text in {"ranks": ranks, **texts}.items():
        if not isinstance(text, str):
            raise TracelibError(f"{key} = {text} is no text", f'{key} = "..."')
    numbers: dict[str, Any] = {key: _number(key, given[key]) for key in _NUMBERS if key in given}
    return Viewport(begin, end, RowGrouping(by), ranks.strip(), CallSearch(**texts, **numbers))


def _number(key: str, value: object) -> int:
    if isinstance(value, bool) or not re.fullmatch(r"\d{1,18}", str(value)):
        raise TracelibError(f"{key} = {value} is no whole number, 0 or more")
    return int(str(value))


def _ns(key: str, value: object) -> int:
    if isinstance(value, bool) or not re.fullmatch(r"\d{1,9}(\.\d{1,30})?([eE][+-]?\d{1,2})?", str(value)):
        raise TracelibError(f"{key} = {value} is no time in seconds, 0 or more")
    return min(int(Decimal(str(value)) * _NS), FOREVER_NS)


def _seconds(ns: int) -> str:
    return f"{ns // _NS}.{ns % _NS:09d}"


def _text(value: str) -> str:
    """Write a text as a basic string of TOML."""
    escaped = "".join(
        f"\\u{ord(c):04X}" if ord(c) < 32 or ord(c) == 127 else "\\" + c if c in '"\\' else c for c in value
    )
    return f'"{escaped}"'
