"""The text of a Paraver configuration (.cfg): windows and histograms with their settings, as they stand there.

Source: the tags of version 3.4 of these files, which Paraver's kernel reads and writes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from analyzer.errors import TracelibError

_MAGIC, _HEADER = "#ParaverCFG", ("ConfigFile.", "version ", "number_of_windows ")
"""Earlier versions of the format have the latter two, and no first line."""
_DESCRIPTION = ("ConfigFile.BeginDescription", "begin_description"), ("ConfigFile.EndDescription", "end_description")
_WINDOW = "< NEW DISPLAYING WINDOW"
_HISTOGRAM = "< NEW ANALYZER2D >"
_PREFIXES = {"Analyzer2D.": "", "Analyzer3D.": "3D_"}
_ENABLES_ALIASES = "CFG4D_ENABLED"
_MOST_BYTES = 16 << 20
_PAIR = re.compile(r"\{([^{},]+),\s*([^{}]*?)\s*\}")
_INNERMOST = re.compile(r"\{([^{}]*)\}")


@dataclass
class CfgSection:
    """A window, or a histogram: its settings by name, in order; some may stand there several times."""

    settings: dict[str, list[str]] = field(default_factory=dict)

    def one(self, name: str, default: str = "") -> str:
        """The last value of a setting."""
        return self.settings.get(name, [default])[-1]

    def pairs(self, name: str) -> dict[str, str]:
        """A setting such as { 2, { {task, Adding}, {thread, Useful} } }; a value may itself be [x,y]."""
        return {key.strip(): value for key, value in _PAIR.findall(self.one(name))}

    def number(self, name: str, default: float) -> float:
        """Raises TracelibError where it is none."""
        text = self.one(name)
        try:
            return float(text) if text else default
        except ValueError as error:
            raise TracelibError(f"{name} {text!r} is no number") from error


@dataclass(frozen=True)
class CfgText:
    """A file. `others`: lines that belong to nothing known."""

    windows: tuple[CfgSection, ...]
    histograms: tuple[CfgSection, ...]
    others: tuple[str, ...]


def parameters(text: str) -> list[list[float]]:
    """Those of a semantic function, each with the number of its values before them: "{ 2, { 1 5.0, 2 1.0 3.0 } }" has
    [5], [1, 3]. Raises ValueError where they are no numbers."""
    several = (one.split() for inner in _INNERMOST.findall(text) for one in inner.split(","))
    return [[float(value) for value in values[1:]] for values in several if values]


def read_text(path: Path) -> CfgText:
    """Raises TracelibError where the file cannot be read or is none of Paraver's."""
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES).decode("utf-8", errors="replace")
    except OSError as error:
        raise TracelibError(f"cannot read {path}: {error.strerror}") from error
    lines = [line.strip() for line in text.splitlines()]
    if not lines or not lines[0].startswith((_MAGIC, *_HEADER)):
        raise TracelibError(f"{path} is no Paraver configuration: its first line is not {_MAGIC}")
    return _sections(lines)


def _sections(lines: list[str]) -> CfgText:
    windows: list[CfgSection] = []
    histograms: list[CfgSection] = []
    others: list[str] = []
    now: CfgSection | None = None
    described = False
    for line in lines:
        begin, end = _DESCRIPTION
        described = (described or line in begin) and line not in end
        if described or not line or line.startswith(("#", *_HEADER)) or line in (*end, _ENABLES_ALIASES):
            continue
        if line.startswith(_WINDOW):
            windows.append(now := CfgSection())
        elif line.startswith(_HISTOGRAM):
            histograms.append(now := CfgSection())
        elif line.startswith("<"):
            now = None
            others.append(line)
        elif now is not None:
            name, _, value = line.partition(" ")
            now.settings.setdefault(_short(name), []).append(value.strip())
        else:
            others.append(line)
    return CfgText(tuple(windows), tuple(histograms), tuple(others))


def _short(name: str) -> str:
    for prefix, instead in _PREFIXES.items():
        if name.startswith(prefix):
            name = instead + name.removeprefix(prefix)
    return name.removesuffix(":")
