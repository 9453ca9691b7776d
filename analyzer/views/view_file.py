"""Views as TOML files: filters, functions, and the histograms and measures made of them (docs/views.md)."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from analyzer.errors import TracelibError, about
from analyzer.views.filters import Filter
from analyzer.views.tabulated import PARTNER, Columns
from analyzer.views.view import Derived, View

LIBRARY = Path(__file__).parent / "library"
_ENDING = ".toml"
Above = tuple[Path, ...]
"""Chain of files in which each names the next, to detect files that name themselves."""
_SHOWS = ("rows", "bursts", "profile", "histogram")


@dataclass(frozen=True)
class ViewTable:
    """Settings of a histogram, as in analyzer.views.tabulated.histogram."""

    control: Any = None  # View; None: the view itself
    statistic: str = "average value"
    columns: Columns | None = None
    plane: Any = None
    planes: Columns | None = None
    together: bool = False
    joined: bool = True
    partners: bool = False  # in a file: control = "partner"


@dataclass(frozen=True)
class ViewFile:
    """A view, and how it is presented."""

    view: Any  # View or Derived
    says: str = ""  # a sentence that says what the view shows
    show: str = "rows"  # one of rows, bursts, profile, histogram
    measures: tuple[str, ...] = ()
    bins: int = 20
    table: ViewTable = field(default_factory=ViewTable)
    objects: Any = None  # SelectedObjects: the rows that are shown; None: all


def library() -> dict[str, str]:
    """Return the description of each view of the library, by name."""
    return {path.stem.replace("-", " "): read_view(path).says for path in sorted(LIBRARY.glob(f"*{_ENDING}"))}


def find_view(name: str, above: Above = ()) -> ViewFile:
    """Find a view by its name in the library, or read it from a file.

    Args:
        name: Name of a library view, or path of a TOML file.
        above: Files that led to this view, to detect files that name themselves.

    Raises:
        TracelibError: There is no such view, or its file is wrong.
    """
    known = LIBRARY / f"{name.lower().replace(' ', '-')}{_ENDING}"
    if Path(name).suffix == _ENDING or "/" in name:
        return read_view(Path(name), above)
    if not known.is_file():
        names = ", ".join(path.stem.replace("-", " ") for path in sorted(LIBRARY.glob(f"*{_ENDING}")))
        raise TracelibError(
            f"there is no view {name!r}", f"there are {names}; or name a file that ends in {_ENDING}", 2
        )
    return read_view(known, above)


def read_view(path: Path, above: Above = ()) -> ViewFile:
    """Read a view from a TOML file.

    Args:
        path: The file.
        above: Files that led to this file, to detect files that name themselves.

    Raises:
        TracelibError: The file cannot be read, is wrong, or is made of itself.
    """
    if path.resolve() in above:
        raise TracelibError(f"{path} is made of itself", "", 2)
    try:
        table = tomllib.loads(path.read_text())
    except OSError as error:
        raise TracelibError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TracelibError(f"{path}: not a TOML file: {error}") from error
    with about(path):
        return view_of(table, path.stem.replace("-", " "), path.parent, (*above, path.resolve()))


def view_of(table: Mapping[str, Any], name: str = "", folder: Path = Path(), above: Above = ()) -> ViewFile:
    """Make a view from the contents of a TOML file.

    Args:
        table: The contents.
        name: Name of the view unless the contents have one.
        folder: Folder for the names of other files.
        above: Files that led to this view.

    Raises:
        TracelibError: A field is unknown or has a wrong value.
    """
    given = dict(table)
    own: dict[str, Any] = {key: given.pop(key) for key in ("says", "show", "measures", "bins") if key in given}
    described = given.pop("histogram", None)
    _check("", own, {"says": str, "show": str, "measures": list, "bins": int})
    if own.get("show", _SHOWS[0]) not in _SHOWS:
        raise TracelibError(f"there is no show = {own['show']!r}", f"there are {', '.join(_SHOWS)}", 2)
    if own.get("bins", 1) < 1:
        raise TracelibError("bins is less than 1", "", 2)
    if described is not None:
        own.setdefault("show", "histogram")
    given.setdefault("name", name)
    made = ViewTable() if described is None else _table(described, folder, above)
    return ViewFile(_view(given, folder, above), table=made, **{**own, "measures": tuple(own.get("measures", ()))})


def _view(given: Any, folder: Path, above: Above) -> Any:
    """Make a view from a table of TOML, or find the view that a text names."""
    if isinstance(given, str):
        inside = folder / given
        return find_view(str(inside) if inside.suffix == _ENDING else given, above).view
    if not isinstance(given, dict):
        raise TracelibError(f"{given!r} is no view: give a table, or the name of a view", "", 2)
    derived = "operation" in given
    wanted = {one.name for one in fields(Derived if derived else View)}
    _known("", given, wanted)
    values = dict(given)
    _check("", values, {"name": str, "unit": str, "level": str, "composes": dict, "of": list, "factors": list})
    if derived:
        values["of"] = tuple(_view(one, folder, above) for one in values.get("of", ()))
        values["factors"] = tuple(map(float, values.get("factors", ())))
        return Derived(**values)
    values["filter"] = _filter(values.get("filter", {}))
    return View(**values)


def _filter(given: Any) -> Filter:
    _check("", {"filter": given}, {"filter": dict})
    _known("filter", given, {one.name for one in fields(Filter)})
    _check("filter", given, {"logical": bool, "place": str, "region": str})
    return Filter(**given)


def _table(given: Any, folder: Path, above: Above) -> ViewTable:
    _check("", {"histogram": given}, {"histogram": dict})
    _known("histogram", given, {one.name for one in fields(ViewTable)} - {"partners"})
    _check("histogram", given, {"statistic": str, "together": bool, "joined": bool, "columns": list, "planes": list})
    if given.get("control") == PARTNER:
        given = {key: value for key, value in given.items() if key != "control"} | {"partners": True}
    made: dict[str, Callable[[Any], Any]] = {
        "control": lambda value: _view(value, folder, above), "plane": lambda value: _view(value, folder, above),
        "columns": _columns, "planes": _columns,
    }  # fmt: skip
    return ViewTable(**{key: made[key](value) if key in made else value for key, value in given.items()})


def _columns(given: list[Any]) -> Columns:
    if len(given) != 3 or not all(isinstance(one, int | float) for one in given):
        raise TracelibError("columns are [minimum, maximum, width]", "", 2)
    return Columns(*map(float, given))


def _known(where: str, given: Mapping[str, Any], wanted: set[str]) -> None:
    if unknown := sorted(set(given) - wanted):
        place = f"[{where}]: " if where else ""
        raise TracelibError(f"{place}there is no {unknown[0]!r}", f"there are {', '.join(sorted(wanted))}", 2)


def _check(where: str, given: Mapping[str, Any], types: Mapping[str, type]) -> None:
    for key, kind in types.items():
        if key in given and (not isinstance(given[key], kind) or (kind is int and isinstance(given[key], bool))):
            place = f"[{where}] " if where else ""
            raise TracelibError(f"{place}{key} = {given[key]!r} is no {_KINDS[kind]}", "", 2)


_KINDS = {str: "text", bool: "true or false", dict: "table", list: "list", int: "whole number"}
