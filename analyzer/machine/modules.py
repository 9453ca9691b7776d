"""Modules in a machine's TOML: regions whose computation takes another time, as a Dimemas configuration has them."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from analyzer.errors import TracelibError, about
from analyzer.machine.cfg import Module
from tracelib.schema import REGION_TYPE

_HINT = "a [[module]] has value and ratio, and type unless it is for a region"


def read_modules(path: str | Path) -> tuple[Module, ...]:
    """Of a file that `read_toml` has read. Raises TracelibError that says what is wrong with one."""
    rows = tomllib.loads(Path(path).read_text()).get("module", [])
    with about(path):
        return tuple(map(_module, rows if isinstance(rows, list) else [rows]))


def _module(row: Any) -> Module:
    if not isinstance(row, Mapping) or not {"value", "ratio"} <= row.keys() <= {"type", "value", "ratio"}:
        raise TracelibError(f"[[module]]: {row!r}", _HINT)
    type_, value, ratio = row.get("type", REGION_TYPE), row["value"], row["ratio"]
    whole = all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in (type_, value))
    if not whole or isinstance(ratio, bool) or not isinstance(ratio, int | float) or not math.isfinite(ratio):
        raise TracelibError(f"[[module]]: {row!r}", _HINT)
    return Module(type_, value, float(ratio))


def modules_text(modules: tuple[Module, ...]) -> str:
    """The TOML of modules, to stand behind that of their machine."""
    rows = (f"\n[[module]]\ntype = {m.type}\nvalue = {m.value}\nratio = {m.ratio!r}\n" for m in modules)
    return "".join(rows)
