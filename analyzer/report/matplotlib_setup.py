"""Folder for matplotlib's files. It must be set before the import, which otherwise warns if it cannot write there."""

from __future__ import annotations

import atexit
import os
from pathlib import Path

from analyzer.signal_handling import discard
from analyzer.temporary_files import temporary_folder


def prepare() -> None:
    """Give matplotlib a temporary folder if it cannot write to its own folders.

    Raises:
        TracelibError: No temporary folder can be made.
    """
    if not all(_can_be_written(folder) for folder in _folders()):
        folder = temporary_folder("analyze-matplotlib-")
        atexit.register(discard, folder)
        os.environ["MPLCONFIGDIR"] = str(folder)


def _folders() -> list[Path]:
    """Return the folders that matplotlib uses: for its caches, and for the user's settings."""
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
