"""Scales computation by the modules of a Dimemas configuration, which are marked by the program's events.

Source: "Dimemas specification", sections 1.13 and 1.15; "Dimemas .cfg grammar" ("modules information").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from analyzer.machine.read_cfg import CfgModule
from analyzer.operations.region_events import region_of_each
from analyzer.program.model import Program, rewritten
from analyzer.program.operation import OperationKind


def with_modules(program: Program, modules: Sequence[CfgModule]) -> Program:
    """Return the program with the bursts in each module multiplied by the module's `ratio`.

    A negative ratio instead sets each burst to -ratio seconds. An event with the module's type and value begins the
    module. An event with the same type and value 0 ends the innermost open module. In several open modules, the ratios
    are multiplied; if ratios are negative, the shortest of their times counts.
    """
    if not modules:
        return program
    numbers: dict[bytes, int] = {}

    def divide(_stream: int, ops: np.ndarray) -> None:
        events = np.flatnonzero(
            (ops["kind"] == OperationKind.EVENT) & np.isin(ops["tag"], [module.type for module in modules])
        )
        inside = np.zeros((len(events) + 1, len(modules)), bool)
        for number, module in enumerate(modules):
            inside[1:, number] = _open_after(ops[events], module)
        sets, which = np.unique(np.packbits(inside, axis=1), axis=0, return_inverse=True)
        found = np.array([numbers.setdefault(row.tobytes(), len(numbers) + 1) for row in sets], np.uint32)
        ops["block"] = np.repeat(found[which.ravel()], np.diff([0, *(events + 1).tolist(), len(ops)]))

    divided = rewritten(program, divide)
    return replace(divided, factors=np.array([1.0, *(_factor(row, modules) for row in numbers)]))


def _open_after(events: np.ndarray, module: CfgModule) -> np.ndarray:
    """Return a bool mask of the events (OP) after which the module is open."""
    mine = events["tag"] == module.type
    value = events["other"][mine]
    steps = np.zeros(len(events), np.int64)
    steps[mine] = np.where(region_of_each(value) == module.value, np.where(value > 0, 1, -1), 0)
    return np.cumsum(steps) > 0


def _factor(row: bytes, modules: Sequence[CfgModule]) -> float:
    inside = np.unpackbits(np.frombuffer(row, np.uint8))[: len(modules)].astype(bool)
    ratios = [module.ratio for module, open_ in zip(modules, inside, strict=True) if open_]
    fixed = [ratio for ratio in ratios if ratio < 0]
    return max(fixed) if fixed else float(np.prod(ratios))
