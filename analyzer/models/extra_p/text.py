"""Extra-P's text form: lines PARAMETER, POINTS, METRIC, REGION and DATA.

A DATA line has the repetitions at one point. The first DATA line after a METRIC or REGION belongs to the first point.
"""

from __future__ import annotations

import re

from analyzer.errors import TracelibError
from analyzer.models.extra_p.collected import METRIC, MeasurementFile

FIELDS = ("PARAMETER", "POINTS", "METRIC", "REGION", "DATA")


def is_text(text: str) -> bool:
    """Check whether the first line that is no comment begins with a field of this form. A line of a CSV has commas."""
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    return bool(re.match(rf"(?:{'|'.join(FIELDS)})\s+\S", first)) and "," not in first


def read_text(text: str, path: str) -> MeasurementFile:
    """Read the measurements in a text of this form. `path`: name of the file, for errors.

    Raises:
        TracelibError: A line is not valid. The message has its number.
    """
    reader = _Reader(path)
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            reader.take(line.strip(), f"{path}, line {number}")
    reader.check_complete(f"{path}, at its end")
    return reader.collected


class _Reader:
    """State of reading: the points so far, and the point of the next DATA line."""

    def __init__(self, path: str) -> None:
        self.collected = MeasurementFile(path)
        self._points: list[list[float]] = []
        self._region, self._metric = "", METRIC
        self._next = 0

    def take(self, line: str, where: str) -> None:
        """Read one line. `where`: its place, for errors."""
        name, *rest = line.split(None, 1)
        value = rest[0] if rest else ""
        if name not in FIELDS or not value:
            raise TracelibError(f"{where}: {line[:60]!r}", f"expected {', '.join(FIELDS)} and what it says")
        if name == "PARAMETER":
            if self._points:
                raise TracelibError(f"{where}: a parameter behind POINTS", "name all parameters first")
            self.collected.parameters += value.split()
        elif name == "POINTS":
            self._points += self._read_points(value, where)
        elif name == "DATA":
            self._data(value, where)
        else:
            self.check_complete(where)
            self._next = 0
            if name == "METRIC":
                self._metric = " ".join(value.split())
            else:
                self._region = " ".join(value.split())

    def check_complete(self, where: str) -> None:
        """Check that the last metric and region have DATA lines for all points.

        Raises:
            TracelibError: DATA lines are missing.
        """
        if 0 < self._next < len(self._points):
            missing = f"{self._next} DATA lines for {len(self._points)} POINTS"
            raise TracelibError(f"{where}: {missing}", f"metric {self._metric!r} needs one for each point")

    def _read_points(self, value: str, where: str) -> list[list[float]]:
        """Read points in parentheses. Points of a single parameter may have none. Raises TracelibError."""
        if "(" not in value:
            points = [[number] for number in _numbers(value, where)]
        elif re.sub(r"\([^()]*\)|\s+", "", value):
            raise TracelibError(f"{where}: {value[:60]!r} is no list of points", "write ( 1 10 ) ( 2 10 )")
        else:
            points = [_numbers(inside, where) for inside in re.findall(r"\(([^()]*)\)", value)]
        for point in points:
            if len(point) != len(self.collected.parameters):
                text = f"{where}: a point of {len(point)} values for {len(self.collected.parameters)} parameters"
                raise TracelibError(text, "write ( 1 10 ) ( 2 10 ), with a value of each PARAMETER")
        return points

    def _data(self, value: str, where: str) -> None:
        if self._next >= len(self._points):
            raise TracelibError(f"{where}: more DATA lines than the {len(self._points)} POINTS", "one for each point")
        point = self._points[self._next]
        self.collected.add(self._region, self._metric, point, _numbers(value, where), where)
        self._next += 1


def _numbers(text: str, where: str) -> list[float]:
    try:
        if "_" in text:  # Python reads 1_000, nobody else does
            raise ValueError
        return [float(word) for word in text.split()]
    except ValueError as error:
        raise TracelibError(f"{where}: {text[:60]!r} is not all numbers", "expected numbers") from error
