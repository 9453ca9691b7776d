"""Entry points that installed packages declare for this one: commands, sources."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # importing it takes as long as all else that --help needs
    from importlib.metadata import EntryPoint


def entry_points(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by their names, sorted.

    Args:
        group: Such as "tracelib.commands".
    """
    if not any(f"[{group}]" in text for text in _declared()):
        return {}
    from importlib import metadata

    return {one.name: one for one in sorted(metadata.entry_points(group=group), key=lambda one: one.name)}


def _declared() -> Iterator[str]:
    """Read what installed packages declare, without parsing it."""
    for folder in dict.fromkeys(sys.path):
        with suppress(OSError):  # no folder
            names = [one.name for one in os.scandir(folder or ".") if one.name.endswith((".dist-info", ".egg-info"))]
            for name in names:
                with suppress(OSError):  # it declares nothing
                    yield (Path(folder) / name / "entry_points.txt").read_text(errors="replace")
