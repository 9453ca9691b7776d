"""The LoOgGP model of a network: how long a message of any size occupies processor, link and receiver.

It has LogP's latency L, and two costs of messages of s bytes that are linear within intervals of sizes: the overhead o
+ O (s - 1) and the gap g + G (s - 1) (Rodriguez 2011, section 3.2). All times are in seconds, all sizes in bytes.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from analyzer.atomic_file import whole_file
from analyzer.errors import TracelibError
from analyzer.in_notebook import InNotebook
from analyzer.loggp.line_fit import CostLine

FORMAT = "tracelib-loggp"
VERSION = 2
"""Version of the file. In version 2, a start is null if it is not known, and the smallest size's time is given, too."""


@dataclass(frozen=True)
class SizeInterval:
    """An interval of message sizes in bytes, from the smallest to the largest measured one, with overhead and gap."""

    from_bytes: int
    to_bytes: int
    overhead: CostLine  # o, O
    gap: CostLine  # g, G


@dataclass(frozen=True)
class LinePiece:
    """An interval of message sizes in bytes in which the transfer time of a message is one line."""

    from_bytes: int
    to_bytes: int
    way: CostLine


@dataclass(frozen=True)
class LoOgGP(InNotebook):
    """The LoOgGP model of a network.

    Attributes:
        latency_s: Latency L.
        latency_ci: Its 95 % confidence interval in s.
        intervals: Overhead and gap by size, ascending.
        pieces: Transfer time by size, ascending. Empty: it follows from latency and gap.
        about: Further attributes of the model's file, such as what was measured.
    """

    latency_s: float
    latency_ci: tuple[float, float]
    intervals: tuple[SizeInterval, ...]
    pieces: tuple[LinePiece, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)

    def overhead(self, size: Any) -> Any:
        """Return the time in s for which sending `size` bytes (a number or array) occupies a processor."""
        return _along(self.intervals, [i.overhead for i in self.intervals], size)

    def gap(self, size: Any) -> Any:
        """Return the time in s between the starts of two consecutive messages of `size` bytes. At least 0."""
        return _along(self.intervals, [i.gap for i in self.intervals], size)

    def time(self, size: Any) -> Any:
        """Return the transfer time in s: from the start of sending `size` bytes to the arrival, half of a ping-pong.

        A model without `pieces`, as one may write by hand, has L + gap(s) - gap(1) instead.
        """
        if self.pieces:
            return _along(self.pieces, [p.way for p in self.pieces], size)
        return np.maximum(self.latency_s + self.gap(size) - self.gap(1), 0.0)[()]

    def to_json(self) -> dict[str, Any]:
        """Return plain data for `write`.

        Null means not known: the start of a line that is below 0 at one byte, or the ends of a confidence interval.
        """
        return {
            "format": FORMAT,
            "version": VERSION,
            **self.about,
            "latency_s": self.latency_s,
            "latency_s_ci": _ends(self.latency_ci),
            "intervals": [
                {"from_bytes": i.from_bytes, "to_bytes": i.to_bytes}
                | _line_json(i.overhead, "o", "O", i.from_bytes)
                | _line_json(i.gap, "g", "G", i.from_bytes)
                for i in self.intervals
            ],
            "ways": [
                {"from_bytes": p.from_bytes, "to_bytes": p.to_bytes} | _line_json(p.way, "t", "T", p.from_bytes)
                for p in self.pieces
            ],
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> LoOgGP:
        """Convert plain data, as `to_json` returns them, to a model.

        Confidence intervals, `ways` and all attributes of `about` may be missing.

        Raises:
            KeyError: A value is missing.
            TypeError: A value has the wrong type.
            ValueError: A value is not valid.
        """
        intervals = tuple(SizeInterval(*_range(i), _line(i, "o", "O"), _line(i, "g", "G")) for i in data["intervals"])
        pieces = tuple(LinePiece(*_range(p), _line(p, "t", "T")) for p in data.get("ways", ()))
        ranges = [[(p.from_bytes, p.to_bytes) for p in parts] for parts in (intervals, pieces)]
        if any(a[1] >= b[0] for parts in ranges for a, b in pairwise(parts)):
            raise ValueError("intervals overlap or do not ascend")
        if not intervals:
            raise ValueError("no intervals")
        known = {"format", "version", "latency_s", "latency_s_ci", "intervals", "ways"}
        about = {name: value for name, value in data.items() if name not in known}
        latency_s = _number(data["latency_s"])
        return LoOgGP(latency_s, _interval(data.get("latency_s_ci")), intervals, pieces, about)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, completely or not at all.

        Raises:
            TracelibError: The file cannot be written.
        """
        with whole_file(path) as file:
            file.write((json.dumps(self.to_json(), indent=2) + "\n").encode())

    @staticmethod
    def read(path: str | os.PathLike[str]) -> LoOgGP:
        """Read a model from a file.

        Raises:
            TracelibError: The file cannot be read, is of a later version, or is no model.
        """
        hint = "`analyze loggp ngmpi.h5` writes such files"
        try:
            data = json.loads(Path(path).read_text())
            if not isinstance(data, dict) or data.get("format") != FORMAT:
                raise TracelibError(f"{path} is no model of a network", hint)
            if int(data["version"]) > VERSION:
                raise TracelibError(f"{path} is of a later version than this program knows", "update tracelib")
            return LoOgGP.from_json(data)
        except OSError as error:
            raise TracelibError(f"cannot read {path}: {error.strerror}", hint) from error
        except UnicodeDecodeError as error:
            raise TracelibError(f"{path} is no model of a network", hint) from error
        except KeyError as error:
            raise TracelibError(f"{path}: {error.args[0]} is missing", hint) from error
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise TracelibError(f"{path} is no model of a network: {error}", hint) from error


def _along(parts: Sequence[SizeInterval | LinePiece], lines: Sequence[CostLine], size: Any) -> Any:
    """Evaluate at each size the line of its interval.

    Sizes between two intervals belong to the nearer one. Empty messages count as 1 byte.
    """
    size = np.maximum(np.asarray(size, float), 1.0)
    between = [(a.to_bytes + b.from_bytes) / 2 for a, b in pairwise(parts)]
    place = np.searchsorted(between, size, side="left")
    start, slope = np.array([line.start for line in lines]), np.array([line.slope for line in lines])
    return np.maximum(start[place] + slope[place] * (size - 1), 0.0)[()]


def _line_json(line: CostLine, start: str, slope: str, from_bytes: int) -> dict[str, Any]:
    known = line.start_s is not None
    time_s = {} if known else {f"{start}_from_s": float(line(np.array(from_bytes)))}
    return {
        f"{start}_s": line.start_s,
        **time_s,
        f"{start}_s_ci": _ends(line.start_ci) if known else None,
        f"{slope}_s_per_byte": line.slope,
        f"{slope}_s_per_byte_ci": _ends(line.slope_ci),
    }


def _ends(interval: tuple[float, float]) -> list[float] | None:
    return list(interval) if all(map(math.isfinite, interval)) else None


def _line(data: Mapping[str, Any], start: str, slope: str) -> CostLine:
    """Read a line that `_line_json` wrote. If its start is not known, it goes through the time of its smallest size."""
    per_byte = _number(data[f"{slope}_s_per_byte"])
    if data[f"{start}_s"] is None:
        at_one = _number(data[f"{start}_from_s"]) - per_byte * (int(data["from_bytes"]) - 1)
    else:
        at_one = _number(data[f"{start}_s"])
    return CostLine(
        at_one, per_byte, _interval(data.get(f"{start}_s_ci")), _interval(data.get(f"{slope}_s_per_byte_ci"))
    )


def _interval(ends: Any) -> tuple[float, float]:
    if ends is None:
        return -math.inf, math.inf
    low, high = ends
    return _number(low), _number(high)


def _range(data: Mapping[str, Any]) -> tuple[int, int]:
    first, last = int(data["from_bytes"]), int(data["to_bytes"])
    if not 0 <= first <= last:
        raise ValueError(f"there are no sizes from {first} to {last}")
    return first, last


def _number(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{value} is no time")
    return number
