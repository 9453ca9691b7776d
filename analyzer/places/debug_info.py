"""Frames by the debug information of a file, read by symbolic."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from analyzer.places.elf import open_elf
from analyzer.places.frames import Frame, Frames


def can_read() -> bool:
    """Whether symbolic is installed; there is none for some machines."""
    return find_spec("symbolic") is not None


def frames_by_debug_info(file: Path, addresses: Sequence[int]) -> list[Frames]:
    """Frames of addresses in a file; of one whose line is not in the debug information, or if there is none, no frame.

    The name of a function that was not inlined is that of the symbol table, without which templates had no arguments.
    """
    elf = open_elf(file)
    if elf is None:
        return [()] * len(addresses)
    from symbolic.debuginfo import Archive
    from symbolic.exceptions import SymbolicError

    try:
        table = next(iter(Archive.open(str(file)).iter_objects())).make_symcache()
        return [_frames(table.lookup(address - elf.load_address)) for address in addresses]
    except (SymbolicError, StopIteration):
        return [()] * len(addresses)


def _frames(found: list) -> Frames:
    if not any(location.line for location in found):
        return ()
    return tuple(Frame(location.symbol or "", location.full_path or "", location.line) for location in found)
