"""Names for places of one module: by debug information, else by its table of symbols.

Frames by the debug information of a file, read by symbolic.

Frames by the tools that come with compilers: for machines without symbolic, and for files that symbolic cannot read.

Those are `-gsplit-dwarf`, and functions of which clang's `-g1` writes no more than their lines. `llvm-symbolizer` reads
both. `addr2line` (binutils) is right in lines, but names some inlined frames wrongly and leaves some out.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from analyzer.places.elf import Elf, open_elf
from analyzer.places.hidden_frames import is_start_code
from analyzer.places.modules import FoundModule, ModuleState
from analyzer.places.name_table import Frame, Frames
from analyzer.places.readable_names import is_fortran, readable
from analyzer.process_memory import no_search_for_cycles


def can_read() -> bool:
    """Return True if symbolic is installed; there is none for some machines."""
    return find_spec("symbolic") is not None


def frames_by_debug_info(file: Path, addresses: Sequence[int]) -> list[Frames]:
    """Return frames of addresses in a file; no frame if an address's line is not in its debug information.

    The name of a function that was not inlined is taken from the symbol table: in the debug information, templates have
    no arguments.
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


_LIMIT_S = 300
_TOOLS = (("llvm-symbolizer", "--output-style=GNU", "--no-demangle"), ("addr2line",))
_ADDRESS = re.compile(r"0x[0-9a-f]+")
_DISCRIMINATOR = re.compile(r" \(discriminator \d+\)$")


@cache
def tool() -> tuple[str, ...] | None:
    """Return the command line of the best tool that is installed; None: there is none."""
    found = ((shutil.which(name), options) for name, *options in _TOOLS)
    return next(((path, *options) for path, options in found if path), None)


def frames_by_tool(file: Path, addresses: Sequence[int]) -> list[Frames]:
    """Return frames of addresses in a file; no frame if the tool does not find an address's line, or is missing."""
    command = tool()
    if not command or not addresses:
        return [()] * len(addresses)
    asked = "".join(f"{address:#x}\n" for address in addresses)
    try:
        done = subprocess.run(
            [*command, "-a", "-f", "-i", "-e", str(file)],
            input=asked,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LIMIT_S,
            env=os.environ | {"DEBUGINFOD_URLS": ""},  # nothing is fetched
        )
    except (OSError, subprocess.SubprocessError):
        return [()] * len(addresses)
    found = list(_parsed(done.stdout.splitlines()))
    return found if len(found) == len(addresses) else [()] * len(addresses)


def _parsed(lines: Iterable[str]) -> Iterator[Frames]:
    """Yield the frames of each address: a line with the function and one with its place; maybe an empty line."""
    groups: list[list[str]] = []
    for line in lines:
        if _ADDRESS.fullmatch(line):
            groups.append([])
        elif line and groups:
            groups[-1].append(line)
    for texts in groups:
        frames = tuple(_frame(*both) for both in zip(texts[::2], texts[1::2], strict=False))
        yield frames if any(frame.line for frame in frames) else ()


def _frame(function: str, place: str) -> Frame:
    file, _, line = _DISCRIMINATOR.sub("", place).rpartition(":")
    return Frame("" if function == "??" else function, "" if file == "??" else file, int(line) if line.isdigit() else 0)


_BOUNDS = ".eh_frame"
"""Section that earlier versions did not read."""
_BEFORE = 1
"""A call ends right before the address that it returns to."""


def name_places(found: FoundModule, offsets: np.ndarray) -> tuple[ModuleState, list[Frames]]:
    """Return frames of return addresses in a module that `find_module` found, and the module's state after that.

    `offsets`: addresses as the file numbers them. A place whose line is not known has one frame with the function of
    the symbol table, or one without a name (`past` has its distance from the function's begin), or none.
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
    state = (
        ModuleState.UNREAD if unread and found.state == ModuleState.GOOD and not _can_read_all(found) else found.state
    )
    return state, readable_frames


def _can_read_all(found: FoundModule) -> bool:
    """Return True if the debug information can be read, so that a line missing in it is not known at all.

    It cannot if there is no tool for it, or if it is in files of its own (-gsplit-dwarf).
    """
    elf = open_elf(found.debug_file) if found.debug_file else None
    split = elf is not None and any(b".dwo\0" in elf.section(name) for name in (".debug_str", ".debug_line_str"))
    return (can_read() or tool() is not None) and not split


def readers() -> str:
    """Return the names of the readers of debug information that are installed here."""
    command = tool()
    return f"{'symbolic' if can_read() else '-'} {command[0] if command else '-'} {_BOUNDS}"


def _readers(found: FoundModule) -> list[Callable[[Sequence[int]], list[Frames]]]:
    """Return the functions that can read the module's debug information here, the better one first."""
    if found.debug_file is None:
        return []
    readers: list[Callable[[Path, Sequence[int]], list[Frames]]] = [frames_by_tool]
    if can_read():
        readers.insert(0, frames_by_debug_info)
    return [partial(reader, found.debug_file) for reader in readers]


def _fill(frames: list[Frames], addresses: np.ndarray, by_symbol: list[Frames], reader: Callable) -> None:
    """Ask the reader for addresses that have no frames yet, except in the code that programs start with.

    That code never has debug information.
    """
    open_rows = [i for i, named in enumerate(frames) if not named and not _starts(by_symbol[i])]
    if not open_rows:
        return
    for i, named in zip(open_rows, reader([int(addresses[i]) for i in open_rows]), strict=True):
        frames[i] = named


def _starts(frames: Frames) -> bool:
    return bool(frames) and is_start_code(frames[0].function)


def _by_symbol(elf: Elf, addresses: np.ndarray, offsets: np.ndarray) -> list[Frames]:
    """Return the function of the symbol table for each address.

    A function that is not in it, as in a stripped file, has no name and begins where the tables for unwinding say. A
    symbol without a size ends there at the latest.
    """
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
    """Return the frames with readable names. Inlined code without a name is a part of the function around it."""
    named: list[Frame] = []
    for function, file, line, past in reversed(frames):
        name = readable(function, is_fortran(file) if file else None) or (named[-1].function if named else "")
        named.append(Frame(name, file, line, past))
    return tuple(reversed(named))
