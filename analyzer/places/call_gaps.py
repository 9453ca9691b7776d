"""Code between two calls of a thread, which is where the thread computes between these calls.

The paths of two calls agree up to some function. From there, the program went through one line of that function to the
first call, and through another line to the second. The computation between the calls lies between these two lines, or
in functions that they call.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from analyzer.places.paths import chains_of, depths
from analyzer.places.place_table import Places


class GapKind(Enum):
    """How much is known of the code between two calls."""

    UNKNOWN = 0
    BETWEEN = 1  # two lines of one function are known
    BEFORE = 2  # only the place of the following call is known
    AFTER = 3  # only the place of the preceding call is known


@dataclass(frozen=True)
class CallGap:
    """The code between two calls.

    Attributes:
        text: The code as it is shown, such as `smooth.f90:40-61 in smooth`. For BEFORE and AFTER it is the place of the
            known call.
    """

    kind: GapKind
    text: str = ""
    where: str = ""  # file and lines, such as `smooth.f90:40-61`; "": the lines are not known
    function: str = ""


_NOTHING = CallGap(GapKind.UNKNOWN)


class CallGaps:
    """Code between two calls, looked up by the paths of both calls (row numbers of Places.paths)."""

    def __init__(self, places: Places) -> None:
        self.places = places
        seen = places.seen()
        up = places.paths["parent"].astype(np.int64)
        shown = np.where(seen, np.arange(len(up)), up)
        while (shown != shown[shown]).any():
            shown = shown[shown]
        rows = places.paths.copy()
        rows["parent"] = shown[up]
        self._rows, went = chains_of(rows)
        self._row_of = went[shown]
        self._up = self._rows["parent"].astype(np.int64)
        self._depth = depths(self._up)
        self._any = np.zeros(len(self._rows), np.int64)  # one path for each row
        self._any[self._row_of[::-1]] = shown[::-1]
        self._found: dict[tuple[int, int], tuple[str, str, str] | None] = {}
        self._numbers: dict[CallGap, int] = {_NOTHING: 0}
        self.every: list[CallGap] = [_NOTHING]
        """All gaps that were found, in order of their numbers. Gap 0 is the unknown one."""

    def numbers(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """Return the number of the gap between each pair of paths; 0: unknown.

        Args:
            before: Path of the call before each gap, of shape (gaps,).
            after: Path of the call after each gap, of shape (gaps,).
        """
        if not len(before):
            return np.zeros(0, np.int64)
        width = np.int64(len(self._row_of))
        pairs, number = np.unique(before.astype(np.int64) * width + after, return_inverse=True)
        first, second = pairs // width, pairs % width
        forks = self._forks(self._row_of[first], self._row_of[second])
        rows = zip(*(column.tolist() for column in (*forks, first, second)), strict=True)
        return np.array([self._number(self._stretch(*row)) for row in rows], np.int64)[number]

    def gap(self, before: int, after: int) -> CallGap:
        """Return the gap between two paths."""
        return self.every[int(self.numbers(np.array([before]), np.array([after]))[0])]

    def _forks(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Find where two chains part: for each, its first row that the other chain lacks.

        If one chain contains the other, both results are the same row.
        """
        from_a, from_b = a.copy(), b.copy()
        for one, other, fork in ((a, b, from_a), (b, a, from_b)):
            while (deeper := self._depth[one] > self._depth[other]).any():
                fork[deeper] = one[deeper]
                one[deeper] = self._up[one[deeper]]
        while (apart := a != b).any():
            from_a[apart], from_b[apart] = a[apart], b[apart]
            a[apart], b[apart] = self._up[a[apart]], self._up[b[apart]]
        one_calls_other = (from_a == a) | (from_b == b)
        from_b[one_calls_other] = from_a[one_calls_other]
        return from_a, from_b

    def _stretch(self, fork_a: int, fork_b: int, first: int, second: int) -> CallGap:
        if not (first and second):
            return self._at(first or second, GapKind.BEFORE if second else GapKind.AFTER)
        if fork_a == fork_b:
            return self._at(second, GapKind.BEFORE)
        if (fork_a, fork_b) not in self._found:
            self._found[fork_a, fork_b] = self.places.stretch(int(self._any[fork_a]), int(self._any[fork_b]))
        found = self._found[fork_a, fork_b]
        return CallGap(GapKind.BETWEEN, *found) if found else self._at(second, GapKind.BEFORE)

    def _at(self, path: int, kind: GapKind) -> CallGap:
        place = int(self.places.place[path])
        if not place:
            return _NOTHING
        return CallGap(kind, self.places.text(place), self.places.location(place), self.places.function(place))

    def _number(self, stretch: CallGap) -> int:
        number = self._numbers.setdefault(stretch, len(self.every))
        if number == len(self.every):
            self.every.append(stretch)
        return number
