"""Search for the names of places in one module, by its debug information or, without any, by its symbol table.

The Python package symbolic reads debug information. Command-line tools, which come with compilers, are used on machines
without symbolic, and for what symbolic cannot read: `-gsplit-dwarf`, and functions of which clang's `-g1` writes only
lines. `llvm-symbolizer` reads both. `addr2line` (binutils) has right lines, but names some inlined frames wrongly and
misses some.
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
    """Return True if the package symbolic is installed. It does not exist for some machines."""
    return find_spec("symbolic") is not None


def frames_by_debug_info(file: Path, addresses: Sequence[int]) -> list[Frames]:
    """Return the frames of addresses in a file, read with symbolic; no frames if the line of an address is unknown.

    The name of a function that was not inlined is taken from the symbol table, because names in the debug information
    lack the arguments of templates.
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
    """Return the command line of the best installed tool (llvm-symbolizer, addr2line). None: neither is installed."""
    found = ((shutil.which(name), options) for name, *options in _TOOLS)
    return next(((path, *options) for path, options in found if path), None)


def frames_by_tool(file: Path, addresses: Sequence[int]) -> list[Frames]:
    """Return the frames of addresses in a file, read with a command-line tool.

    An address has no frames if the tool does not know its line. No address has frames if no tool is installed.
    """
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
            env=os.environ | {"DEBUGINFOD_URLS": ""},  # the tool must not download debug information
        )
    except (OSError, subprocess.SubprocessError):
        return [()] * len(addresses)
    found = list(_parsed(done.stdout.splitlines()))
    return found if len(found) == len(addresses) else [()] * len(addresses)


def _parsed(lines: Iterable[str]) -> Iterator[Frames]:
    """Parse a tool's output, and yield the frames of each address.

    An address is followed by two lines for each frame, its function and its place. Blank lines are ignored.
    """
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
"""Section that earlier versions did not read. As a part of `readers()` it makes them look names up again."""
_BEFORE = 1
"""Bytes to subtract from a return address to get an address inside the call."""


def name_places(found: FoundModule, offsets: np.ndarray) -> tuple[ModuleState, list[Frames]]:
    """Find the frames of return addresses in a module.

    Args:
        found: The module on this machine.
        offsets: Return addresses as the file numbers them, uint64.

    Returns:
        State of the module, which is UNREAD if debug information could not be read, and the frames of each address. A
        place whose line is not known has at most one frame: the function of the symbol table, or a function without a
        name whose distance from its begin (`past`) is known.
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
    """Return True if all debug information of a module can be read here. A line missing in it is then unknown for good.

    False: there is no reader, or the debug information is in separate .dwo files (-gsplit-dwarf).
    """
    elf = open_elf(found.debug_file) if found.debug_file else None
    split = elf is not None and any(b".dwo\0" in elf.section(name) for name in (".debug_str", ".debug_line_str"))
    return (can_read() or tool() is not None) and not split


def readers() -> str:
    """Return a text with the installed readers of debug information. It changes if a new reader may find more."""
    command = tool()
    return f"{'symbolic' if can_read() else '-'} {command[0] if command else '-'} {_BOUNDS}"


def _readers(found: FoundModule) -> list[Callable[[Sequence[int]], list[Frames]]]:
    """Return the installed functions that read a module's debug information, the best one first."""
    if found.debug_file is None:
        return []
    readers: list[Callable[[Path, Sequence[int]], list[Frames]]] = [frames_by_tool]
    if can_read():
        readers.insert(0, frames_by_debug_info)
    return [partial(reader, found.debug_file) for reader in readers]


def _fill(frames: list[Frames], addresses: np.ndarray, by_symbol: list[Frames], reader: Callable) -> None:
    """Fill in the frames that a reader finds for addresses without frames.

    Start code of programs never has debug information, so the reader is not asked for it.
    """
    open_rows = [i for i, named in enumerate(frames) if not named and not _starts(by_symbol[i])]
    if not open_rows:
        return
    for i, named in zip(open_rows, reader([int(addresses[i]) for i in open_rows]), strict=True):
        frames[i] = named


def _starts(frames: Frames) -> bool:
    return bool(frames) and is_start_code(frames[0].function)


def _by_symbol(elf: Elf, addresses: np.ndarray, offsets: np.ndarray) -> list[Frames]:
    """Return the function of each address by the symbol table.

    A function that is missing there, as in a stripped file, has no name. Its begin is taken from the tables for
    unwinding. A symbol without a size ends at the latest where these tables say that the next function begins.
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
    """Make the names of frames readable. Inlined code without a name gets the name of the function around it."""
    named: list[Frame] = []
    for function, file, line, past in reversed(frames):
        name = readable(function, is_fortran(file) if file else None) or (named[-1].function if named else "")
        named.append(Frame(name, file, line, past))
    return tuple(reversed(named))
