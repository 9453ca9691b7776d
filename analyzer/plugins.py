"""Entry points that installed packages declare for this one: commands, sources."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # importing it takes as long as all else that --help needs
    from importlib.metadata import EntryPoint


def entry_points(group: str) -> Mapping[str, EntryPoint]:
    """Return the entry points of a group by their names, sorted.

    Args:
        group: Such as "tracelib.commands".
    """
    return _entry_points(group, tuple(sys.path))


@cache
def _entry_points(group: str, folders: tuple[str, ...]) -> Mapping[str, EntryPoint]:
    if not any(f"[{group}]" in text for text in _declared(folders)):
        return {}
    from importlib import metadata

    return {one.name: one for one in sorted(metadata.entry_points(group=group), key=lambda one: one.name)}


@cache
def _declared(folders: tuple[str, ...]) -> tuple[str, ...]:
    """Read what the packages in these folders declare, without parsing it."""
    texts = []
    for folder in dict.fromkeys(folders):
        with suppress(OSError):  # no folder
            names = [one.name for one in os.scandir(folder or ".") if one.name.endswith((".dist-info", ".egg-info"))]
            for name in names:
                with suppress(OSError):  # it declares nothing
                    texts.append((Path(folder) / name / "entry_points.txt").read_text(errors="replace"))
    return tuple(texts)
