"""Names in the files beside a Paraver trace: labels of event types and values (.pcf), names of nodes (.row).

Source: Paraver configuration file and names file, as Paraver's own parsers read them. Lines that do not fit are
skipped.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from analyzer.trace import Problem
from tracelib.schema import PAPI_PRESET_BASE

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
    """Parse labels. One VALUES block applies to all type lines of its EVENT_TYPE; each type gets a copy."""
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
    """Read the labels of a .pcf.

    Returns:
        Labels by event type: (label of the type, labels by value). {} if there is no file. Then the problems found.
    """
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
    """Read the names of `count` nodes from a .row.

    Returns:
        The names; node1, node2, ... if the file does not name them. Then the problems found.
    """
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


_NAMES = [
    "L1_DCM",
    "L1_ICM",
    "L2_DCM",
    "L2_ICM",
    "L3_DCM",
    "L3_ICM",
    "L1_TCM",
    "L2_TCM",
    "L3_TCM",
    "CA_SNP",
    "CA_SHR",
    "CA_CLN",
    "CA_INV",
    "CA_ITV",
    "L3_LDM",
    "L3_STM",
    "BRU_IDL",
    "FXU_IDL",
    "FPU_IDL",
    "LSU_IDL",
    "TLB_DM",
    "TLB_IM",
    "TLB_TL",
    "L1_LDM",
    "L1_STM",
    "L2_LDM",
    "L2_STM",
    "BTAC_M",
    "PRF_DM",
    "L3_DCH",
    "TLB_SD",
    "CSR_FAL",
    "CSR_SUC",
    "CSR_TOT",
    "MEM_SCY",
    "MEM_RCY",
    "MEM_WCY",
    "STL_ICY",
    "FUL_ICY",
    "STL_CCY",
    "FUL_CCY",
    "HW_INT",
    "BR_UCN",
    "BR_CN",
    "BR_TKN",
    "BR_NTK",
    "BR_MSP",
    "BR_PRC",
    "FMA_INS",
    "TOT_IIS",
    "TOT_INS",
    "INT_INS",
    "FP_INS",
    "LD_INS",
    "SR_INS",
    "BR_INS",
    "VEC_INS",
    "RES_STL",
    "FP_STAL",
    "TOT_CYC",
    "LST_INS",
    "SYC_INS",
]
PRESETS = {PAPI_PRESET_BASE + code: f"PAPI_{name}" for code, name in enumerate(_NAMES)}
"""Name of each PAPI preset counter ("PAPI_TOT_INS"), by event type."""


def preset_types(types: np.ndarray) -> set[int]:
    """Return the event types among `types` that are PAPI presets."""
    last = PAPI_PRESET_BASE + len(_NAMES)
    return set(np.unique(types[(types >= PAPI_PRESET_BASE) & (types < last)]).tolist())


def with_presets(labels: Labels, seen: set[int]) -> Labels:
    """Return the labels, with the names of the PAPI presets in `seen` (event types) that have no label."""
    return {**{type_: (PRESETS[type_], {}) for type_ in sorted(seen)}, **labels} if seen - set(labels) else labels
