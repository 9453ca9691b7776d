"""Frames: the functions that an address in a program lies in, and where in the source.

Names of many places as columns: frames one behind the other, and texts by number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class Frame(NamedTuple):
    """A function that an address lies in, inlined or not."""

    function: str
    """Function as the compiler wrote it; empty: not named (with `past`: it has bounds, but no name)."""
    file: str = ""
    """Source file as the compiler wrote it; empty: not known."""
    line: int = 0
    """Line of the call; in the innermost frame, line of the address. 0: not known."""
    past: int = 0
    """Bytes from the begin of the function, if the line is not known."""


Frames = tuple[Frame, ...]
"""Frames of one address, the innermost first; empty: nothing is known."""


FRAME = np.dtype([("function", "<u4"), ("file", "<u4"), ("line", "<u4"), ("past", "<u4")])
"""A Frame; `function` and `file` are numbers of texts, of which 0 is "not known"."""

MOST = 2**32 - 1
"""Largest number in a column of a frame."""

BY_SYMBOL, BY_DEBUG_INFO = 1, 2
"""Quality of a place's names; 0: there are none."""


@dataclass(frozen=True)
class PlaceFrames:
    """Frames of n places: place i has rows first[i] to first[i + 1] of `frames`, the innermost first."""

    first: np.ndarray  # n + 1
    frames: np.ndarray  # FRAME
    texts: tuple[str, ...]  # the first is empty

    @classmethod
    def build(cls, places: Iterable[Frames]) -> PlaceFrames:
        """Build the table of names from each place's frames."""
        numbers: dict[str, int] = {"": 0}
        rows: list[tuple[int, int, int, int]] = []
        first = [0]
        for frames in places:
            for frame in frames:
                function = numbers.setdefault(frame.function, len(numbers))
                file = numbers.setdefault(frame.file, len(numbers))
                rows.append((function, file, frame.line, min(frame.past, MOST)))
            first.append(len(rows))
        return cls(np.array(first, np.int64), np.array(rows, FRAME), tuple(numbers))

    def __len__(self) -> int:
        return len(self.first) - 1

    def __getitem__(self, place: int) -> Frames:
        rows = self.frames[self.first[place] : self.first[place + 1]].tolist()
        return tuple(Frame(self.texts[function], self.texts[file], line, past) for function, file, line, past in rows)

    def quality(self) -> np.ndarray:
        """Return the quality of each place's names: 0, BY_SYMBOL or BY_DEBUG_INFO."""
        lines = np.concatenate([[0], np.cumsum(self.frames["line"] > 0)])
        return np.where(np.diff(lines[self.first]) > 0, BY_DEBUG_INFO, (np.diff(self.first) > 0) * BY_SYMBOL)

    def unnamed(self) -> np.ndarray:
        """Return a mask of the places that have neither a function nor a line.

        These have no frame, or one that only has the begin of its function.
        """
        says = (self.frames["function"] > 0) | (self.frames["line"] > 0)
        return np.diff(np.concatenate([[0], np.cumsum(says)])[self.first]) == 0

    def take(self, places: np.ndarray) -> PlaceFrames:
        """Return the names of some places, in that order; -1: a place without names."""
        places = np.asarray(places, np.int64)
        count = np.where(places >= 0, np.diff(self.first, append=self.first[-1])[places], 0)
        first = np.concatenate([[0], np.cumsum(count)])
        rows = np.arange(first[-1]) + np.repeat(self.first[places] - first[:-1], count)
        return PlaceFrames(first, self.frames[rows], self.texts)


NO_NAMES = PlaceFrames.build(())


def joined(parts: Sequence[PlaceFrames]) -> PlaceFrames:
    """Join names of several, one behind the other."""
    numbers: dict[str, int] = {"": 0}
    counts, frames = [np.zeros(1, np.int64)], [np.empty(0, FRAME)]
    for part in parts:
        number = np.array([numbers.setdefault(text, len(numbers)) for text in part.texts], np.uint32)
        rows = part.frames.copy()
        rows["function"], rows["file"] = number[rows["function"]], number[rows["file"]]
        counts.append(np.diff(part.first))
        frames.append(rows)
    return PlaceFrames(np.cumsum(np.concatenate(counts)), np.concatenate(frames), tuple(numbers))
