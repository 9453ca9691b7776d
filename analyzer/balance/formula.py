"""Formulas of models: text in, numbers out. A fitted model is its formula, so any other model can take its place."""

from __future__ import annotations

import ast
import math
import operator
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np
from scipy.special import stdtrit

from analyzer.errors import TracelibError
from analyzer.models.averaging import WeightedModel
from analyzer.models.model import CONFIDENCE
from analyzer.models.terms.product import Product, plain

_BINARY: dict[type, Callable] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}  # fmt: skip
_CALLS: dict[str, tuple[Callable, int]] = {
    "log": (np.log, 1), "log2": (np.log2, 1), "sqrt": (np.sqrt, 1), "ceil": (np.ceil, 1), "floor": (np.floor, 1),
    "min": (np.minimum, 2), "max": (np.maximum, 2),
}  # fmt: skip
"""Functions that a formula may call, by name, with the number of arguments of each."""
_LONGEST = 100_000


@dataclass(frozen=True)
class TimeFormula:
    """Arithmetic of n (size of the problem) and p (processes): + - * / **, numbers, log, log2, sqrt, ceil, floor, min
    and max."""

    text: str
    _tree: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        try:
            if len(self.text) > _LONGEST:
                raise SyntaxError
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what Python says of doubtful programs is of no use here
                tree = ast.parse(self.text.strip(), mode="eval").body
            with np.errstate(all="ignore"):
                _value(tree, {"n": np.float64(2), "p": np.float64(2)})
        except (SyntaxError, ValueError, KeyError, TypeError, RecursionError, MemoryError) as error:
            raise TracelibError(
                f"{self.text[:60]!r} is not a formula of n and p",
                "numbers, n, p, + - * / **, log, log2, sqrt, ceil, floor, min, max",
            ) from error
        object.__setattr__(self, "_tree", tree)

    def __call__(self, n: float, p: float = 1) -> float:
        """Evaluate the formula for n items on p processes. Raises TracelibError where it has no value."""
        with np.errstate(all="ignore"):
            found = float(_value(self._tree, {"n": np.float64(n), "p": np.float64(p)}))
        if not isfinite(found):
            raise TracelibError(f"{self.text[:60]!r} has no value at n = {n:g}, p = {p:g}")
        return found


def _value(node: ast.expr, names: dict[str, np.float64]) -> np.float64:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        try:
            return np.float64(node.value)
        except OverflowError as error:
            raise ValueError from error
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd | ast.USub):
        value = _value(node.operand, names)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp):
        return _BINARY[type(node.op)](_value(node.left, names), _value(node.right, names))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        function, arguments = _CALLS[node.func.id]
        if len(node.args) == arguments:
            return np.float64(function(*(_value(argument, names) for argument in node.args)))
    raise ValueError


def polynomial(coefficients: np.ndarray) -> str:
    """Return the formula of a + b n + c n^2 + ..., lowest power first.

    Each coefficient is a + b / p where it is a pair.
    """
    terms = []
    for power, coefficient in enumerate(np.atleast_1d(coefficients)):
        values = np.atleast_1d(coefficient)
        own = f"({values[0]:.17g} + {values[1]:.17g} / p)" if len(values) == 2 else f"({values[0]:.17g})"
        terms.append(own + ("" if power == 0 else " * n" if power == 1 else f" * n ** {power}"))
    return " + ".join(terms)


def formula_text(member: WeightedModel) -> str:
    """Return the model as text that `TimeFormula` reads, with all digits."""
    return sum_text(member.coefficients.tolist(), member.terms)


def sum_text(coefficients: Sequence[float], terms: Sequence[Product]) -> str:
    """Return a sum of terms as text that `TimeFormula` reads; "": all coefficients are 0."""
    return " + ".join(f"({c:.17g}) * {_term(term)}" for c, term in zip(coefficients, terms, strict=True) if c)


def _term(term: Product) -> str:
    return f"({plain(term).replace('^', '**')})"


def reach_text(member: WeightedModel) -> str:
    """Return half of a model's interval as text for `TimeFormula`: t * sigma * |spread @ terms|; "" without freedom."""
    if member.freedom < 1 or not math.isfinite(member.sigma):
        return ""
    times = float(stdtrit(member.freedom, (1 + CONFIDENCE) / 2)) * member.sigma
    squares = [f"({text}) ** 2" for row in member.spread if (text := sum_text((times * row).tolist(), member.terms))]
    return f"sqrt({' + '.join(squares)})" if squares else ""
