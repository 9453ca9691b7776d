"""Numbers for people: three digits and a unit. Also short names of files.

By default all runs are called run.h5, each in its own folder, so a file name alone is often not unique.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isinf
from pathlib import Path

_TIMES = ((3_600_000_000_000, "h"), (60_000_000_000, "min"), (1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"))
_COUNTS = ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))
_LONGEST_SECONDS_NS = 600_000_000_000
_LONGEST_PLAIN_COUNT = 99_999


def _three_digits(value: float) -> str:
    if value >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def time(ns: float, space: str = " ") -> str:
    """Format a time given in ns with a unit, such as "1.23 s", "45.6 us", "0 s" or "inf". Up to 10 min it is in s."""
    if isinf(ns):
        return str(ns)
    if abs(ns) < 0.5:
        return f"0{space}s"
    for size, unit in _TIMES:
        if unit in ("h", "min") and ns < _LONGEST_SECONDS_NS:
            continue
        if ns >= size * 0.9995:
            return f"{_three_digits(ns / size)}{space}{unit}"
    return f"{ns:.0f}{space}ns"


def size(size_bytes: float, space: str = " ") -> str:
    """Format a number of bytes, such as "12 B", "1.50 KiB". With space = "", short: "12", "1.50K"."""
    for power, unit in ((50, "P"), (40, "T"), (30, "G"), (20, "M"), (10, "K")):
        if size_bytes >= 2**power * 0.9995:
            return f"{_three_digits(size_bytes / 2**power)}{space}{unit}{'iB' if space else ''}"
    return f"{size_bytes:.0f}{space}B" if space else f"{size_bytes:.0f}"


def count(number: float) -> str:
    """Format a number: up to 99999 as a whole number, larger ones with a suffix, such as "1.23M"."""
    if number <= _LONGEST_PLAIN_COUNT:
        return f"{number:.0f}"
    for power, unit in _COUNTS:
        if number >= power * 0.9995:
            return f"{_three_digits(number / power)}{unit}"
    return f"{number:.0f}"


def percent(fraction: float) -> str:
    """Format a fraction in percent, such as "62.1 %", "<0.1 %". Less than all never becomes "100.0 %"."""
    if 0 < fraction < 0.0005:
        return "<0.1 %"
    text = f"{100 * fraction:.1f} %"
    return ">99.9 %" if fraction < 1 and text == "100.0 %" else text


def plural(number: int, noun: str, many: str = "") -> str:
    """Return a number with its noun in singular or plural, such as "1 rank", "3 ranks", "2 matrices".

    `many` is the plural; "": the noun with an s.
    """
    return f"{count(number)} {noun if number == 1 else many or noun + 's'}"


def verb(number: int, one: str, many: str) -> str:
    """Choose the form of a verb by a number: `one` for 1, else `many`."""
    return one if number == 1 else many


def file_names(files: Iterable[str]) -> dict[str, str]:
    """Return a unique short name for each file: its name, with as many of its folders as are needed."""
    parts = {file: Path(file).parts for file in files}
    names = {file: Path(file).name for file in parts}
    for depth in range(2, max(map(len, parts.values()), default=0) + 1):
        if len(set(names.values())) == len(names):
            break
        names = {file: str(Path(*of[-depth:])) for file, of in parts.items()}
    return names
