"""Frames: the functions that an address in a program lies in, and where in the source."""

from __future__ import annotations

from typing import NamedTuple


class Frame(NamedTuple):
    """A function that an address lies in, inlined or not."""

    function: str
    """As the compiler wrote it; empty: not named (with `past`: it has bounds, but no name)."""
    file: str = ""
    """Source file as the compiler wrote it; empty: not known."""
    line: int = 0
    """Of the call or, of the innermost frame, of the address; 0: not known."""
    past: int = 0
    """Where the line is not known: bytes from the begin of the function."""


Frames = tuple[Frame, ...]
"""Of one address, the innermost first; empty: nothing is known."""
