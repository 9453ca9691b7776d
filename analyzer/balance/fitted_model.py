"""Models of machine types by any terms, as `analyze fit` finds and stores them."""

from __future__ import annotations

from analyzer.balance.formula import Formula
from analyzer.balance.member_text import formula_text, reach_text
from analyzer.balance.parts import machine_parts
from analyzer.balance.repository import MachineModel
from analyzer.errors import TracelibError
from analyzer.models.model import Model
from analyzer.models.part_file import PartModels

SIZE, PROCESSES = "n", "p"


def machine_of(name: str, model: Model, features: dict[str, str]) -> MachineModel:
    """Make a machine's model of a fitted one, with its 95 % interval, which widens beyond the data.

    Args:
        name: Of the machine.
        model: Of n, or of n and p; its observable is a time in s. Of n alone: T(n, p) = T(n, 1) / p (formula 7).
        features: Of the machine.

    Raises:
        TracelibError: The model depends on something else.
    """
    if SIZE not in model.parameters or not set(model.parameters) <= {SIZE, PROCESSES}:
        raise TracelibError(
            f"the model of {name} is one of {', '.join(model.parameters)}", "a machine's model is one of n and p", 2
        )
    shared = "" if PROCESSES in model.parameters else f" / {PROCESSES}"
    about = model.whole or model.selected
    value, reach = formula_text(about), reach_text(about)
    low, high = (f"({value} {sign} {reach}){shared}" for sign in "-+") if reach else ("", "")
    return MachineModel(
        name, Formula(f"({formula_text(model.selected)}){shared}"), Formula(low) if low else None,
        Formula(high) if high else None, model.ranges[SIZE], features,
    )  # fmt: skip


def machine_of_parts(name: str, found: PartModels, features: dict[str, str]) -> MachineModel:
    """Make a machine's model of the models of a program's parts. Raises TracelibError where they do not fit."""
    parts, sizes = machine_parts(found, name)
    texts = [formula.text for part in parts for formula in (part.shared, part.fixed) if formula]
    return MachineModel(
        name, Formula(" + ".join(f"({text})" for text in texts) or "0"), None, None, sizes, features, tuple(parts)
    )
