"""All names of a run that are known, by module and address, so that a later analysis or another machine has them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from analyzer.places.modules import LoadedModule, ModuleState
from analyzer.places.name_table import NO_NAMES, PlaceFrames, joined


@dataclass(frozen=True)
class ModuleNames:
    """Names of places in one module."""

    module: LoadedModule
    offsets: np.ndarray  # u64, sorted: return addresses as the file numbers them
    names: PlaceFrames  # of each of these
    state: ModuleState = ModuleState.MISSING
    stamp: str = ""
    """Files and tools in which they were looked up. While it is the same, they are not looked up again."""
    is_tool: bool = False
    """True if it is a library between programs and MPI, which defines procedures of MPI itself."""

    def find(self, offsets: np.ndarray) -> np.ndarray:
        """Return the rows of places; -1: not known."""
        if not len(self.offsets):
            return np.full(len(offsets), -1)
        at = np.minimum(np.searchsorted(self.offsets, offsets), len(self.offsets) - 1)
        return np.where(self.offsets[at] == offsets, at, -1)

    def better(self, other: ModuleNames) -> ModuleNames:
        """Join both: for each place the better names, and `other`'s, which are later, if both are as good.

        The state is `other`'s, too.
        """
        offsets = np.concatenate([other.offsets, self.offsets])
        names = joined([other.names, self.names])
        order = np.lexsort((-names.quality(), offsets))
        offsets, first = np.unique(offsets[order], return_index=True)
        is_tool = self.is_tool or other.is_tool
        return ModuleNames(self.module, offsets, names.take(order[first]), other.state, other.stamp, is_tool)


@dataclass
class NameCache:
    """Names of places of a run, by module."""

    modules: dict[tuple[str, str], ModuleNames] = field(default_factory=dict)
    """Names by the modules' identity."""
    here: dict[tuple[str, str], ModuleState] = field(default_factory=dict)
    """States now of the files on this machine that were examined, by the modules' identity. It is not kept."""

    def module_names(self, module: LoadedModule) -> ModuleNames:
        """Return the known names of a module; there may be none."""
        return self.modules.get(module.identity) or ModuleNames(module, np.empty(0, np.uint64), NO_NAMES)

    def add(self, found: ModuleNames) -> None:
        """Add names found now."""
        self.modules[found.module.identity] = self.module_names(found.module).better(found)

    def update(self, others: Iterable[ModuleNames]) -> None:
        """Add names found elsewhere, or later."""
        for other in others:
            self.add(other)
