"""Frames: the functions that contain an address of a program, and their lines in the source.

The names of many places are stored as columns: the frames of place after place, with texts by number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class Frame(NamedTuple):
    """One function that contains an address; it may be inlined into the next outer frame."""

    function: str
    """Name of the function as the compiler wrote it; "": no name. If `past` > 0, the function's begin is known."""
    file: str = ""
    """Source file as the compiler wrote it; "": not known."""
    line: int = 0
    """Line of the call; in the innermost frame, the line of the address itself. 0: not known."""
    past: int = 0
    """Distance of the address from the begin of the function in bytes, if the line is not known."""


Frames = tuple[Frame, ...]
"""Frames of one address, the innermost first. Empty: nothing is known."""


FRAME = np.dtype([("function", "<u4"), ("file", "<u4"), ("line", "<u4"), ("past", "<u4")])
"""Record of a Frame. `function` and `file` are indices in a list of texts; text 0 is empty, for "not known"."""

MOST = 2**32 - 1
"""Largest number that a column of a frame can hold."""

BY_SYMBOL, BY_DEBUG_INFO = 1, 2
"""Quality of the names of a place: found by symbol only, or by debug information. 0: there are no names."""


@dataclass(frozen=True)
class PlaceFrames:
    """Frames of n places, as columns.

    Place i has rows first[i] to first[i + 1] - 1 of `frames`, the innermost frame first.
    """

    first: np.ndarray  # int64 (n + 1,)
    frames: np.ndarray  # FRAME
    texts: tuple[str, ...]  # texts that frames refer to; text 0 is empty

    @classmethod
    def build(cls, places: Iterable[Frames]) -> PlaceFrames:
        """Build the table from the frames of each place."""
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
        """Return the quality of each place's names: 0 (no names), BY_SYMBOL or BY_DEBUG_INFO."""
        lines = np.concatenate([[0], np.cumsum(self.frames["line"] > 0)])
        return np.where(np.diff(lines[self.first]) > 0, BY_DEBUG_INFO, (np.diff(self.first) > 0) * BY_SYMBOL)

    def unnamed(self) -> np.ndarray:
        """Return a mask of the places that have neither a function name nor a line.

        Such a place has no frame, or one frame that only knows the distance from the begin of its function.
        """
        says = (self.frames["function"] > 0) | (self.frames["line"] > 0)
        return np.diff(np.concatenate([[0], np.cumsum(says)])[self.first]) == 0

    def take(self, places: np.ndarray) -> PlaceFrames:
        """Return the names of the places with these indices, in this order. Index -1 gives a place without names."""
        places = np.asarray(places, np.int64)
        count = np.where(places >= 0, np.diff(self.first, append=self.first[-1])[places], 0)
        first = np.concatenate([[0], np.cumsum(count)])
        rows = np.arange(first[-1]) + np.repeat(self.first[places] - first[:-1], count)
        return PlaceFrames(first, self.frames[rows], self.texts)


NO_NAMES = PlaceFrames.build(())


def joined(parts: Sequence[PlaceFrames]) -> PlaceFrames:
    """Join several tables of names into one; the places of each part follow those before it."""
    numbers: dict[str, int] = {"": 0}
    counts, frames = [np.zeros(1, np.int64)], [np.empty(0, FRAME)]
    for part in parts:
        number = np.array([numbers.setdefault(text, len(numbers)) for text in part.texts], np.uint32)
        rows = part.frames.copy()
        rows["function"], rows["file"] = number[rows["function"]], number[rows["file"]]
        counts.append(np.diff(part.first))
        frames.append(rows)
    return PlaceFrames(np.cumsum(np.concatenate(counts)), np.concatenate(frames), tuple(numbers))
