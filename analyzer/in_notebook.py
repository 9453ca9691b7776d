"""Results in a notebook: their fields as plain HTML tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from html import escape
from math import prod
from typing import Any

_MOST_ROWS, _MOST_VALUES, _DEEPEST = 20, 16, 2
_NS = "_ns"


class InNotebook:
    """A dataclass that a notebook shows: a row for each field. Several of one kind are a table with a row for each, the
    first 20 of them. Times in ns are shown in s."""

    def _repr_html_(self) -> str:
        return f"<p><b>{type(self).__name__}</b></p>\n{_fields(self, 0)}"


def html_table(of: Mapping[str, Any]) -> str:
    """Return names and values as a table."""
    return _pairs(of.items(), 0)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table whose cells are HTML already."""
    names = [f"<th>{escape(name)}</th>" for name in head]
    every = [*([names] if names else []), *rows]
    return "<table>" + "".join(f"<tr>{''.join(row)}</tr>" for row in every) + "</table>"


def _shown(of: Any) -> list[str]:
    """Return the names of the fields that are of interest to a reader."""
    return [one.name for one in fields(of) if one.repr and not one.name.startswith("_")]


def _label(name: str) -> str:
    return f"{name.removesuffix(_NS)} (s)" if name.endswith(_NS) else name


def _fields(of: Any, depth: int) -> str:
    return _pairs(((name, getattr(of, name)) for name in _shown(of)), depth)


def _pairs(of: Iterable[tuple[str, Any]], depth: int) -> str:
    rows = ([f"<th>{escape(_label(name))}</th>", f"<td>{_value(name, value, depth)}</td>"] for name, value in of)
    return _table((), rows)


def _several(of: Sequence[Any], depth: int) -> str:
    names = _shown(of[0])
    rows = [[f"<td>{_value(name, getattr(one, name), depth)}</td>" for name in names] for one in of[:_MOST_ROWS]]
    more = f"<p>and {len(of) - _MOST_ROWS} more</p>" if len(of) > _MOST_ROWS else ""
    return _table(map(_label, names), rows) + more


def _value(name: str, value: Any, depth: int) -> str:
    if value is None:
        return ""
    if isinstance(value, Enum):
        return escape(str(value.value))
    if isinstance(value, str | bool):
        return escape(str(value))
    if isinstance(value, int | float):
        return f"{value / 1e9:.9g}" if name.endswith(_NS) else str(value) if isinstance(value, int) else f"{value:.6g}"
    if hasattr(value, "shape"):
        return _array(name, value, depth)
    return _compound(name, value, depth)


def _array(name: str, value: Any, depth: int) -> str:
    """Return an array of numpy: all elements if they are few, else its shape."""
    if value.ndim == 0:
        return _value(name, value.item(), depth)
    if value.ndim == 1 and len(value) <= _MOST_VALUES and value.dtype.names is None:
        return ", ".join(_value(name, one, depth) for one in value.tolist())
    size = " x ".join(map(str, value.shape)) + " values"
    if not prod(value.shape) or value.dtype.kind not in "biuf":
        return size
    low, high = (_value(name, one.item(), depth) for one in (value.min(), value.max()))
    return f"{size}, {low} to {high}"


def _compound(name: str, value: Any, depth: int) -> str:
    """Return the HTML of a value that has parts; deep inside others only its type is shown."""
    if depth < _DEEPEST:
        if is_dataclass(value) and not isinstance(value, type):
            return _fields(value, depth + 1)
        if isinstance(value, Mapping):
            return _pairs(((str(key), one) for key, one in list(value.items())[:_MOST_ROWS]), depth + 1)
        if isinstance(value, Sequence) and value and all(map(is_dataclass, value)) and len(set(map(type, value))) == 1:
            return _several(value, depth + 1)
    if isinstance(value, Sequence):
        plain = [_value(name, one, _DEEPEST) for one in value[:_MOST_VALUES]]
        return ", ".join(plain) + (f" and {len(value) - _MOST_VALUES} more" if len(value) > _MOST_VALUES else "")
    return escape(type(value).__name__)
