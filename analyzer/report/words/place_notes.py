"""What is to be said once of programs and libraries whose places have no good names: no -g, another file, no file."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

MOST = 3
"""Sentences, one for each program or library."""


def print_place_notes(notes: Sequence[str], console: Console, indent: int = 2) -> None:
    """`notes`: as `Places.notes` has them, of the paths that are shown."""
    for note in notes[:MOST]:
        console.print(Padding(Text(note), (0, 0, 0, indent)))
