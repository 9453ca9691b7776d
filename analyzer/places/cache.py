"""The folder for files that are made again when they are not there: XDG_CACHE_HOME, or .cache at home."""

from __future__ import annotations

import os
from pathlib import Path


def user_cache() -> Path:
    """Find the user's cache. Without one, and without a home, a place where nothing is and nothing can be made."""
    if cache := os.environ.get("XDG_CACHE_HOME"):
        return Path(cache)
    try:
        return Path.home() / ".cache"
    except RuntimeError:  # no HOME, and no such user
        return Path(os.devnull) / ".cache"
