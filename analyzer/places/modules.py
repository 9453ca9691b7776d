"""The programs and libraries that contain places.

Is the file on this machine the one that ran, and where is its debug information?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path, PurePath

from analyzer.places.debug_files import DEBUG_FOLDERS, find_debug_file
from analyzer.places.elf import Elf, open_elf

_NS_PER_S = 1_000_000_000


@dataclass(frozen=True)
class LoadedModule:
    """A program or library that a rank had loaded."""

    path: str
    build_id: str = ""
    """Build id in hexadecimal; "": the module had none, or it was not recorded."""

    @property
    def name(self) -> str:
        """File name of the module, without the folder."""
        return PurePath(self.path).name or "?"

    @property
    def identity(self) -> tuple[str, str]:
        """Key of the module. Copies of one file have the same key: the build id or, without one, the path."""
        return ("", self.build_id) if self.build_id else (self.path, "")


class ModuleState(IntEnum):
    """How much a module's file can tell about places. The numbers are stored in files and must not change."""

    MISSING = 0  # no such file here, or not an ELF file
    REPLACED = 1  # the file has another build id than the module that ran
    NO_DEBUG_INFO = 2
    UNREAD = 3  # there is debug information, but no installed reader can read it
    NEWER = 4  # no build id, and the file is newer than the run: likely another file
    GOOD = 5


@dataclass(frozen=True)
class FoundModule:
    """A module as it was found on this machine."""

    state: ModuleState
    elf: Elf | None = None  # None: missing or replaced
    debug_file: Path | None = None
    stamp: str = ""
    """Text that changes if a new search may find more: path, size and time of the file."""


def find_module(
    module: LoadedModule, ended_ns: int | None = None, folders: Sequence[str] = DEBUG_FOLDERS
) -> FoundModule:
    """Find the file of a module on this machine, and its debug information.

    Args:
        module: The module as it was loaded in the run.
        ended_ns: Time at which the run ended, in ns since 1970. None: unknown.
        folders: Folders with installed debug information.
    """
    elf = open_elf(module.path)
    if elf is None:
        return FoundModule(ModuleState.MISSING)
    if module.build_id and elf.build_id != module.build_id:
        return FoundModule(ModuleState.REPLACED, stamp=_stamp(Path(module.path)))
    debug_file = find_debug_file(module.path, elf, folders)
    newer = not module.build_id and ended_ns is not None and _changed_ns(module.path) > ended_ns + _NS_PER_S
    state = ModuleState.NEWER if newer else ModuleState.GOOD if debug_file else ModuleState.NO_DEBUG_INFO
    return FoundModule(state, elf, debug_file, _stamp(debug_file or Path(module.path)))


def _changed_ns(path: str) -> int:
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return 0


def _stamp(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return ""
    return f"{path} {status.st_size} {status.st_mtime_ns}"


def sentence(module: LoadedModule, state: ModuleState) -> str:
    """Return a sentence for the user on why places in a module lack lines, or may have wrong ones."""
    if state == ModuleState.MISSING:
        return (
            f"{module.path} is not on this machine, so places in it are addresses: analyze the run once where it is, "
            "and the names stay with the run"
        )
    if state == ModuleState.REPLACED:
        return f"{module.path} is not the file that ran (build id {module.build_id[:12]}): places in it are addresses"
    if state == ModuleState.NO_DEBUG_INFO:
        return f"{module.name} has no debug information: compiled with -g (beside -O2), its places have files and lines"
    if state == ModuleState.UNREAD:
        return (
            f"debug information of {module.name} is not read here: symbolic reads it (pip install symbolic), and "
            "llvm-symbolizer that of -gsplit-dwarf"
        )
    if state == ModuleState.NEWER:
        return f"{module.path} has no build id and is newer than the run: names of its places are likely wrong"
    return f"parts of {module.name} have no debug information: compiled with -g (beside -O2), they have files and lines"
