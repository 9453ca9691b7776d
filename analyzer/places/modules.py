"""The programs and libraries that places lie in: whether the file here is the one that ran, and what it contains."""

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
    """A program or library that was loaded."""

    path: str
    build_id: str = ""
    """Hexadecimal; empty: the module had none, or it was not recorded."""

    @property
    def name(self) -> str:
        """Name of the module's file, without the folder."""
        return PurePath(self.path).name or "?"

    @property
    def identity(self) -> tuple[str, str]:
        """Key that is the same for copies of one file."""
        return ("", self.build_id) if self.build_id else (self.path, "")


class ModuleState(IntEnum):
    """State of a module's file: how much it can tell. The numbers are stored in files and must not change."""

    MISSING = 0  # no such file here, or no program
    REPLACED = 1  # another build id than that of the one that ran
    NO_DEBUG_INFO = 2
    UNREAD = 3  # there is debug information, and nothing here that reads it
    NEWER = 4  # no build id, and the file is newer than the run: it is likely another one
    GOOD = 5


@dataclass(frozen=True)
class FoundModule:
    """A module on this machine."""

    state: ModuleState
    elf: Elf | None = None  # of what it is, unless it is missing or replaced
    debug_file: Path | None = None
    stamp: str = ""
    """Differs from an earlier search's stamp if there may be more to find now."""


def find_module(
    module: LoadedModule, ended_ns: int | None = None, folders: Sequence[str] = DEBUG_FOLDERS
) -> FoundModule:
    """Look for a module. `ended_ns`: when the run ended (since 1970), or None; `folders`: of debug information."""
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
    """Return a sentence on a module in which places that are shown have no line, or may have a wrong one."""
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
