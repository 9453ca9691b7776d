"""Scheduling policies by name: the fields of `CpuScheduling` that each policy sets, and the options that it takes.

Source: "Dimemas specification", section 1.10 (Tables 4 and 5, sections 8.1.2.2 and 8.2.2 of the thesis).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from analyzer.errors import TracelibError
from analyzer.machine.description import LAWS, SPIN, Count, CpuScheduling, PriorityLevel, PrioritySource

_MS = 1_000_000

SVR4_TABLE = tuple(PriorityLevel(q * _MS, e, s) for q, e, s in (
    (20, 1, 0), (40, 2, 0), (80, 3, 0), (120, 4, 1), (160, 5, 2), (200, 5, 3),
))  # fmt: skip
"""Levels of the policy "svr4". Level 0 is the best. Threads that often sleep have short slices, others long ones."""

POLICIES: dict[str, dict[str, Any]] = {
    "fcfs": {},
    "rr": {"slice_ns": _MS},
    "fixed": {"priority": PrioritySource.FIXED},
    "fixed-preemptive": {"priority": PrioritySource.FIXED, "preemptive": True},
    "fixed-rr": {"priority": PrioritySource.FIXED, "slice_ns": _MS},
    "fixed-rr-preemptive": {"priority": PrioritySource.FIXED, "slice_ns": _MS, "preemptive": True},
    "cp-fifo": {"priority": PrioritySource.RECORDS, "preemptive": True},
    "cp-rr": {"priority": PrioritySource.RECORDS, "preemptive": True, "slice_ns": _MS},
    "svr4": {"priority": PrioritySource.SVR4, "preemptive": True, "levels": SVR4_TABLE, "base": 2},
    "decay": {
        "priority": PrioritySource.DECAY, "preemptive": True, "slice_ns": _MS, "best": 0, "worst": 127, "base": 60,
        "tick_ns": _MS, "decay_ns": 100 * _MS, "load_ns": 500 * _MS, "settle_ns": 10 * _MS,
    },
    # Smaller is better here, so the signs are those of the thesis reversed.
    "boost1": {"receiver_first": -1, "receiver_last": 1},
    "boost2": {"receiver_first": 1, "receiver_last": -1},
    "boost3": {"receiver_first": 1, "receiver_last": -1, "sender_receiver_first": -1},
}  # fmt: skip
"""Fields of `CpuScheduling` that each policy sets; options can change them.

"cp-fifo-dep" and "cp-rr-dep" are "cp-fifo" and "cp-rr" on priority records that hold the laxity.
"""
for _name in ("boost1", "boost2", "boost3"):
    POLICIES[_name] |= {"priority": PrioritySource.BOOST, "base": 50, "best": 0, "worst": 100}
    POLICIES[f"{_name}-rr"] = POLICIES[_name] | {"slice_ns": _MS}
POLICIES["cp-fifo-dep"], POLICIES["cp-rr-dep"] = POLICIES["cp-fifo"], POLICIES["cp-rr"]

_OF_ALL = frozenset({"policy", "context_switch_us", "busy_wait_us"})
_BY_PRIORITY = frozenset({"preemptive", "least_run_us"})
_OPTIONS = {
    PrioritySource.NONE: _OF_ALL,
    PrioritySource.FIXED: _OF_ALL | _BY_PRIORITY | {"priorities"},
    PrioritySource.RECORDS: _OF_ALL | _BY_PRIORITY | {"priorities"},
    PrioritySource.SVR4: _OF_ALL | _BY_PRIORITY | {"levels", "base"},
    PrioritySource.DECAY: _OF_ALL | _BY_PRIORITY
    | {"base", "best", "worst", "tick_us", "decay_us", "load_us", "settle_us"},
    PrioritySource.BOOST: _OF_ALL | _BY_PRIORITY
    | {"base", "best", "worst", "receiver_first", "receiver_last", "sender_receiver_first"},
}  # fmt: skip


def options_of(policy: str) -> frozenset[str]:
    """Return the keys of the table [scheduling] that a policy uses. Policies with time slices also use `slice_us`."""
    preset = POLICIES[policy]
    return _OPTIONS[preset.get("priority", PrioritySource.NONE)] | ({"slice_us"} if "slice_ns" in preset else set())


def does_use(of: CpuScheduling, name: str) -> bool:
    """Check whether the policy of a scheduling uses one of its fields.

    A slice does not count as used if the policy has none: setting it would make another policy.
    """
    if name == "slice_ns":
        return bool(of.slice_ns) and of.priority != PrioritySource.SVR4
    key = f"{name.removesuffix('_ns')}_us" if name.endswith("_ns") else name
    return key in _OPTIONS[of.priority]


_TIMES = ("slice", "context_switch", "busy_wait", "least_run", "tick", "decay", "load", "settle")
_NUMBERS = ("base", "best", "worst", "receiver_first", "receiver_last", "sender_receiver_first")


def policy_of(options: Mapping[str, Any]) -> CpuScheduling:
    """Make a scheduling from the table [scheduling] of a machine file.

    Args:
        options: Keys of the table: `policy`, times such as `slice_us`, numbers, `preemptive`, `priorities`, and
            `levels` as [[quantum_us, level after the slice, level after sleeping], ...]. A thread begins at the middle
            level unless `base` names another one.

    Raises:
        TracelibError: An option is not known, is not used by the policy, or has a value that is not valid.
    """
    given = dict(options)
    name = str(given.pop("policy", "fcfs"))
    if name not in POLICIES:
        raise TracelibError(f"scheduling policy {name!r} is not known", f"use {', '.join(POLICIES)}")
    _refuse_unused(name, given)
    found = dict(POLICIES[name])
    for key in _TIMES:
        if (value := given.pop(f"{key}_us", None)) is not None:
            spins = key == "busy_wait" and value in ("inf", math.inf)
            found[f"{key}_ns"] = SPIN if spins else _time(key, value)
    for key in _NUMBERS:
        if (value := given.pop(key, None)) is not None:
            found[key] = int(_number(key, value))
    if (value := given.pop("preemptive", None)) is not None:
        if not isinstance(value, bool):
            raise TracelibError(f"[scheduling] preemptive = {value!r}", "it must be true or false")
        found["preemptive"] = value
    if (rows := given.pop("levels", None)) is not None:
        found["levels"] = _levels(rows)
        if name == "svr4" and "base" not in options:
            found["base"] = max(0, len(found["levels"]) - 1) // 2
    if (rows := given.pop("priorities", None)) is not None:
        found["priorities"] = _priorities(rows)
    if found.get("busy_wait_ns") == SPIN and not found.get("slice_ns") and not found.get("levels"):
        raise TracelibError(
            f'[scheduling] busy_wait_us = "inf", but "{name}" gives no turns', 'use a policy with slices, such as "rr"'
        )
    if found.get("priority") == PrioritySource.SVR4 and not 0 <= found["base"] < len(found["levels"]):
        raise TracelibError(
            f"[scheduling] base = {found['base']}, but there are {len(found['levels'])} levels", "the first level is 0"
        )
    return CpuScheduling(**found)


def _refuse_unused(policy: str, options: Mapping[str, Any]) -> None:
    """Check that the policy uses all options. Raises TracelibError for an unknown or unused option."""
    for key in options:
        users = [name for name in POLICIES if key in options_of(name)]
        if not users:
            known = sorted(frozenset().union(*map(options_of, POLICIES)))
            raise TracelibError(f"[scheduling]: {key!r} is not known", f"it knows {', '.join(known)}")
        if policy not in users:
            raise TracelibError(
                f'[scheduling] policy "{policy}" does not use {key}', f"leave it out; it is used by {', '.join(users)}"
            )


def _time(key: str, value: Any) -> Count:
    """Convert a number of us, or a distribution of them, to ns. Raises TracelibError."""
    if not isinstance(value, Mapping):
        return round(_number(f"{key}_us", value, least=0) * 1000)
    (law, numbers), *more = value.items() or [("", None)]
    if more or law not in LAWS or not isinstance(numbers, list) or len(numbers) != 2:
        raise TracelibError(f"[scheduling] {key}_us = {value!r}", "use a number, { uniform = [low, high] } or the like")
    a, b = (_number(f"{key}_us", n, least=0) * 1000 for n in numbers)
    if law == "uniform" and a > b:
        raise TracelibError(f"[scheduling] {key}_us = {value!r}", "uniform = [low, high]")
    return LAWS[law](a, b)


def _number(key: str, value: Any, least: float | None = None) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf
    if not number or (least is not None and value < least):
        raise TracelibError(
            f"[scheduling] {key} = {value!r}", f"it must be a number{'' if least is None else ' from 0 on'}"
        )
    return float(value)


def _priorities(rows: Any) -> tuple[int | tuple[int, ...], ...]:
    """Read the priorities: a number for each application, or a list with a number for each of its ranks."""

    def is_whole(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    if not isinstance(rows, list) or not all(
        is_whole(row) or (isinstance(row, list) and row and all(map(is_whole, row))) for row in rows
    ):
        raise TracelibError(
            f"[scheduling] priorities = {rows!r}",
            "give a whole number for each run, or a list of those of its ranks",
        )
    return tuple(tuple(row) if isinstance(row, list) else row for row in rows)


def _levels(rows: Any) -> tuple[PriorityLevel, ...]:
    if not isinstance(rows, list):
        raise TracelibError(f"[scheduling] levels = {rows!r}", "it must be a list of rows")
    return tuple(_level(row, len(rows)) for row in rows)


def _level(row: Any, levels: int) -> PriorityLevel:
    numbers = isinstance(row, list) and len(row) == 3 and all(type(n) is int for n in row[1:])
    if not numbers or not all(0 <= n < levels for n in row[1:]):
        raise TracelibError(f"[scheduling] levels: {row!r}", "a row is [quantum_us, level when used up, when slept]")
    return PriorityLevel(_time("quantum", row[0]), int(row[1]), int(row[2]))
