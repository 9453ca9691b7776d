"""The names beside a Paraver trace: labels of event types and values (.pcf), names of nodes (.row).

Source: Paraver configuration file and names file, as Paraver's own parsers read them: a line that does not fit
is passed over.
"""

from __future__ import annotations

import re
from pathlib import Path

from analyzer.trace import Problem

Labels = dict[int, tuple[str, dict[int, str]]]

_SECTION_NAMES = """
DEFAULT_OPTIONS DEFAULT_SEMANTIC STATES STATES_COLOR EVENT_TYPE VALUES PRECISION GRADIENT_COLOR GRADIENT_NAMES
"""
_SECTIONS = frozenset(_SECTION_NAMES.split())
_TYPE = re.compile(r"\d+\s+(\d+)\s+(.*)")
_VALUE = re.compile(r"(-?\d+)\s+(.*)")
_LEVEL = re.compile(r"LEVEL\s+(\w+)\s+SIZE\s+(\d+)")


def _lines(path: Path) -> list[str]:
    return [line.strip() for line in path.read_text("utf-8", errors="replace").splitlines()]


def _labels(lines: list[str]) -> Labels:
    """One VALUES block applies to all type lines of its EVENT_TYPE; each type gets a copy."""
    labels: Labels = {}
    section, types = "", list[int]()
    for line in lines:
        word = line.split()[0] if line else "#"
        if word.startswith("#"):
            continue
        if word in _SECTIONS:
            section = word
            if section == "EVENT_TYPE":
                types = []
        elif section == "EVENT_TYPE" and (match := _TYPE.match(line)):
            types.append(int(match[1]))
            labels[types[-1]] = (match[2], {})
        elif section == "VALUES" and (match := _VALUE.match(line)):
            for event_type in types:
                labels[event_type][1][int(match[1])] = match[2]
    return labels


def read_labels(path: Path) -> tuple[Labels, list[Problem]]:
    """Event labels of a .pcf ({} where it is absent), type -> (label, value -> label), and what is wrong with it."""
    if not path.exists():
        return {}, []
    try:
        lines = _lines(path)
    except OSError as error:
        return {}, [Problem(-1, f"{path.name} cannot be read ({error.strerror}): events have no labels")]
    if not any(line in _SECTIONS for line in lines):
        return {}, [Problem(-1, f"{path.name} is not a Paraver configuration file: events have no labels")]
    return _labels(lines), []


def read_nodes(path: Path, count: int) -> tuple[tuple[str, ...], list[Problem]]:
    """Names of `count` nodes from a .row, or node1, node2, ... where it does not name them."""
    names = tuple(f"node{i + 1}" for i in range(count))
    if not path.exists():
        return names, []
    try:
        lines = _lines(path)
    except OSError as error:
        return names, [Problem(-1, f"{path.name} cannot be read ({error.strerror}): nodes have no names")]
    for index, line in enumerate(lines):
        match = _LEVEL.match(line)
        if match and match[1] == "NODE":
            listed = tuple(lines[index + 1 : index + 1 + int(match[2])])
            if len(listed) == count and all(listed):
                return listed, []
            return names, [Problem(-1, f"{path.name} names {len(listed)} nodes of {count}: they stay without names")]
    return names, []
