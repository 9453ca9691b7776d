"""Search for the file with the debug information of a program or library: the file itself, or a separate file.

Also the user's cache folder, for files that can be made again: XDG_CACHE_HOME, or .cache in the home folder.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from analyzer.places.elf import Elf, open_elf


def user_cache() -> Path:
    """Return the user's cache folder.

    Without XDG_CACHE_HOME and home, it is a path below /dev/null, which cannot exist.
    """
    if cache := os.environ.get("XDG_CACHE_HOME"):
        return Path(cache)
    try:
        return Path.home() / ".cache"
    except RuntimeError:  # no HOME, and no such user
        return Path(os.devnull) / ".cache"


DEBUG_FOLDERS = ("/usr/lib/debug",)
"""Folders in which packages with debug information are installed."""


def find_debug_file(path: str, elf: Elf, folders: Sequence[str] = DEBUG_FOLDERS) -> Path | None:
    """Find the file with the debug information of a module.

    A separate file is accepted only if it has the module's build id or, if the module has no build id, the CRC-32 that
    the module's debug link names.

    Args:
        path: Path of the module.
        elf: The opened module.
        folders: Folders with installed debug information.

    Returns:
        Path of the file. None: there is no such file.
    """
    if elf.has_debug_info:
        return Path(path)
    for candidate in _candidates(Path(path), elf, folders):
        found = open_elf(candidate)
        if found and found.has_debug_info and _belongs(candidate, found, elf):
            return candidate
    return None


def _candidates(path: Path, elf: Elf, folders: Sequence[str]) -> Iterator[Path]:
    build_id, link = elf.build_id, elf.debug_link()
    if build_id:
        for folder in folders:
            yield Path(folder) / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug"
        yield _downloads() / build_id / "debuginfo"
    if link:
        here = Path(os.path.realpath(path)).parent
        yield here / link[0]
        yield here / ".debug" / link[0]
        for folder in folders:
            yield Path(folder) / here.relative_to("/") / link[0]


def _downloads() -> Path:
    """Return the folder in which debuginfod stores the files that it has fetched."""
    if folder := os.environ.get("DEBUGINFOD_CACHE_PATH"):
        return Path(folder)
    return user_cache() / "debuginfod_client"


def _belongs(candidate: Path, found: Elf, elf: Elf) -> bool:
    if elf.build_id:
        return found.build_id == elf.build_id
    link = elf.debug_link()
    return link is not None and zlib.crc32(candidate.read_bytes()) == link[1]
