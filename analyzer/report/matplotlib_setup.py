"""Where matplotlib keeps its files, before it is imported: it warns in five lines where that cannot be written."""

from __future__ import annotations

import atexit
import os
from pathlib import Path

from analyzer.signal_handling import discard
from analyzer.temporary_files import temporary_folder


def prepare() -> None:
    """Give matplotlib a folder of this process where its own cannot be written. Raises TracelibError without any."""
    if not all(_can_be_written(folder) for folder in _folders()):
        folder = temporary_folder("analyze-matplotlib-")
        atexit.register(discard, folder)
        os.environ["MPLCONFIGDIR"] = str(folder)


def _folders() -> list[Path]:
    """List the folders that matplotlib asks for: for its caches, and for the user's settings."""
    if chosen := os.environ.get("MPLCONFIGDIR"):
        return [Path(chosen)]
    found = []
    for variable, usual in (("XDG_CACHE_HOME", ".cache"), ("XDG_CONFIG_HOME", ".config")):
        try:
            found.append(Path(os.environ.get(variable) or Path.home() / usual) / "matplotlib")
        except RuntimeError:  # no HOME, and no such user
            found.append(Path(os.devnull) / usual)
    return found


def _can_be_written(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return folder.is_dir() and os.access(folder, os.W_OK)
