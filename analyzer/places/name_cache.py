"""Known names of places of a run, by module and address. They are stored for later analyses and other machines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from analyzer.places.modules import LoadedModule, ModuleState
from analyzer.places.name_table import NO_NAMES, PlaceFrames, joined


@dataclass(frozen=True)
class ModuleNames:
    """Names of places in one module.

    Attributes:
        offsets: Return addresses as the file numbers them, sorted uint64.
        names: Frames of each of these addresses.
    """

    module: LoadedModule
    offsets: np.ndarray  # u64, sorted: return addresses as the file numbers them
    names: PlaceFrames  # names.frames of place i belong to offsets[i]
    state: ModuleState = ModuleState.MISSING
    stamp: str = ""
    """Files and tools in which the names were looked up. While the stamp stays the same, a new search finds no more."""
    is_tool: bool = False
    """True if the module is a library between programs and MPI, which defines MPI procedures itself."""

    def find(self, offsets: np.ndarray) -> np.ndarray:
        """Return the row of each address (u64) in `offsets`; -1: the address is not known."""
        if not len(self.offsets):
            return np.full(len(offsets), -1)
        at = np.minimum(np.searchsorted(self.offsets, offsets), len(self.offsets) - 1)
        return np.where(self.offsets[at] == offsets, at, -1)

    def better(self, other: ModuleNames) -> ModuleNames:
        """Join two sets of names of a module.

        Each place gets the names of better quality, or `other`'s if both are equal. `other` is the later one; the
        result has its state and its stamp.
        """
        offsets = np.concatenate([other.offsets, self.offsets])
        names = joined([other.names, self.names])
        order = np.lexsort((-names.quality(), offsets))
        offsets, first = np.unique(offsets[order], return_index=True)
        is_tool = self.is_tool or other.is_tool
        return ModuleNames(self.module, offsets, names.take(order[first]), other.state, other.stamp, is_tool)


@dataclass
class NameCache:
    """Known names of places of a run, by module."""

    modules: dict[tuple[str, str], ModuleNames] = field(default_factory=dict)
    """Names by identity of the module."""
    here: dict[tuple[str, str], ModuleState] = field(default_factory=dict)
    """Present state of each examined module on this machine, by identity of the module. It is not stored in files."""

    def module_names(self, module: LoadedModule) -> ModuleNames:
        """Return the known names of a module; without places if nothing is known."""
        return self.modules.get(module.identity) or ModuleNames(module, np.empty(0, np.uint64), NO_NAMES)

    def add(self, found: ModuleNames) -> None:
        """Add names that were just found. They win over known names of the same quality."""
        self.modules[found.module.identity] = self.module_names(found.module).better(found)

    def update(self, others: Iterable[ModuleNames]) -> None:
        """Add names of many modules. Later names win over earlier ones of the same quality."""
        for other in others:
            self.add(other)
