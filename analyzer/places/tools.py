"""Frames by the tools that come with compilers: for machines without symbolic, and for what it cannot read.

That is `-gsplit-dwarf`, and functions of which clang's `-g1` writes no more than their lines. `llvm-symbolizer` reads
both. `addr2line` (binutils) is right in lines; of inlined frames it names some wrongly and leaves some out.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from analyzer.places.frames import Frame, Frames

_LIMIT_S = 300
_TOOLS = (("llvm-symbolizer", "--output-style=GNU", "--no-demangle"), ("addr2line",))
_ADDRESS = re.compile(r"0x[0-9a-f]+")
_DISCRIMINATOR = re.compile(r" \(discriminator \d+\)$")


@cache
def tool() -> tuple[str, ...] | None:
    """The command that is there, the better one first; None: there is none."""
    found = ((shutil.which(name), options) for name, *options in _TOOLS)
    return next(((path, *options) for path, options in found if path), None)


def frames_by_tool(file: Path, addresses: Sequence[int]) -> list[Frames]:
    """Frames of addresses in a file; of one whose line the tool does not find, or if there is no tool, no frame."""
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
    """An address, and for each frame a line with its function and one with its place; maybe an empty line."""
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
