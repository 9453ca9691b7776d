"""Names for places of one module: by debug information, else by its table of symbols."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from analyzer.memory import no_search_for_cycles
from analyzer.places.debug_info import can_read, frames_by_debug_info
from analyzer.places.elf import Elf, open_elf
from analyzer.places.frames import Frame, Frames
from analyzer.places.modules import Found, State
from analyzer.places.owners import is_start_code
from analyzer.places.readable import is_fortran, readable
from analyzer.places.tools import frames_by_tool, tool

_BOUNDS = ".eh_frame"
"""What earlier versions did not read."""
_BEFORE = 1
"""A call ends right before the address that it returns to."""


def name_places(found: Found, offsets: np.ndarray) -> tuple[State, list[Frames]]:
    """Frames of return addresses in a module, as `find_module` found it, and what is known of it now.

    `offsets`: addresses as the file numbers them. A place whose line is not known has one frame with the function of
    the symbol table, or without a name (`past` says where it begins), or none.
    """
    if found.elf is None:
        return found.state, [()] * len(offsets)
    addresses = np.asarray(offsets, np.uint64) - np.uint64(_BEFORE)
    with no_search_for_cycles():
        by_symbol = _by_symbol(found.elf, addresses, np.asarray(offsets, np.uint64))
        frames: list[Frames] = [()] * len(addresses)
        for reader in _readers(found):
            _fill(frames, addresses, by_symbol, reader)
        readable_frames = [_readable(named or symbol) for named, symbol in zip(frames, by_symbol, strict=True)]
    unread = any(not named and not _starts(symbol) for named, symbol in zip(frames, by_symbol, strict=True))
    state = State.UNREAD if unread and found.state == State.GOOD and not _can_read_all(found) else found.state
    return state, readable_frames


def _can_read_all(found: Found) -> bool:
    """Whether what the debug information does not say is not in it, either: nothing to read it with, or it is in files
    of its own (-gsplit-dwarf)."""
    elf = open_elf(found.debug_file) if found.debug_file else None
    split = elf is not None and any(b".dwo\0" in elf.section(name) for name in (".debug_str", ".debug_line_str"))
    return (can_read() or tool() is not None) and not split


def readers() -> str:
    """What there is here to read debug information with."""
    command = tool()
    return f"{'symbolic' if can_read() else '-'} {command[0] if command else '-'} {_BOUNDS}"


def _readers(found: Found) -> list[Callable[[Sequence[int]], list[Frames]]]:
    """Those that can read the debug information here, the better one first."""
    if found.debug_file is None:
        return []
    readers: list[Callable[[Path, Sequence[int]], list[Frames]]] = [frames_by_tool]
    if can_read():
        readers.insert(0, frames_by_debug_info)
    return [partial(reader, found.debug_file) for reader in readers]


def _fill(frames: list[Frames], addresses: np.ndarray, by_symbol: list[Frames], reader: Callable) -> None:
    """Ask for what has no frames yet, but for the code that programs start with: it never has debug information."""
    open_rows = [i for i, named in enumerate(frames) if not named and not _starts(by_symbol[i])]
    if not open_rows:
        return
    for i, named in zip(open_rows, reader([int(addresses[i]) for i in open_rows]), strict=True):
        frames[i] = named


def _starts(frames: Frames) -> bool:
    return bool(frames) and is_start_code(frames[0].function)


def _by_symbol(elf: Elf, addresses: np.ndarray, offsets: np.ndarray) -> list[Frames]:
    """The function of the symbol table. One that is not there, as in a stripped file, has no name and begins where the
    tables for unwinding say; a symbol without a size ends there at the latest."""
    functions, begin = elf.functions(), elf.function_bounds().find(addresses)
    rows = functions.find(addresses)
    if len(functions.address):
        address = functions.address[rows].astype(np.int64)
        named = (rows >= 0) & ((functions.size[rows] > 0) | (address >= begin))
        begin = np.where(named, address, begin)
    else:
        named = np.zeros(len(rows), bool)
    past = offsets.astype(np.int64) - begin
    return [
        (Frame(functions.name[row] if has_name else "", past=behind),) if has_name or start >= 0 else ()
        for row, has_name, start, behind in zip(
            rows.tolist(), named.tolist(), begin.tolist(), past.tolist(), strict=True
        )
    ]


def _readable(frames: Frames) -> Frames:
    """With names that people know; what was inlined and has no name is taken for a part of what it was inlined into."""
    named: list[Frame] = []
    for function, file, line, past in reversed(frames):
        name = readable(function, is_fortran(file) if file else None) or (named[-1].function if named else "")
        named.append(Frame(name, file, line, past))
    return tuple(reversed(named))
