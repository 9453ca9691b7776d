"""Models of machine types by any terms, as `analyze fit` finds and stores them."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import stdtrit

from analyzer.balance.formula import Formula
from analyzer.balance.repository import MachineModel
from analyzer.errors import TracelibError
from analyzer.models.member import Member
from analyzer.models.model import CONFIDENCE, Model
from analyzer.models.terms.product import Product, plain

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
    value, reach = formula_text(about), _reach(about)
    low, high = (f"({value} {sign} {reach}){shared}" for sign in "-+") if reach else ("", "")
    return MachineModel(
        name, Formula(f"({formula_text(model.selected)}){shared}"), Formula(low) if low else None,
        Formula(high) if high else None, model.ranges[SIZE], features,
    )  # fmt: skip


def formula_text(member: Member) -> str:
    """The model as `Formula` reads it, with all digits."""
    return _sum(member.coefficients, member.terms)


def _sum(coefficients: np.ndarray, terms: tuple[Product, ...]) -> str:
    return " + ".join(f"({c:.17g}) * {_term(term)}" for c, term in zip(coefficients.tolist(), terms, strict=True) if c)


def _term(term: Product) -> str:
    return f"({plain(term).replace('^', '**')})"


def _reach(member: Member) -> str:
    """Half of the interval: t * sigma * |spread @ terms|; "" without freedom."""
    if member.freedom < 1 or not math.isfinite(member.sigma):
        return ""
    times = float(stdtrit(member.freedom, (1 + CONFIDENCE) / 2)) * member.sigma
    squares = [f"({text}) ** 2" for row in member.spread if (text := _sum(times * row, member.terms))]
    return f"sqrt({' + '.join(squares)})" if squares else ""
