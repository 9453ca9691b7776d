"""Formulas of models: text in, numbers out. A fitted model is its formula, so any other model can take its place."""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np

from analyzer.errors import TracelibError

_BINARY: dict[type, Callable] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}  # fmt: skip
_CALLS: dict[str, Callable] = {"log": np.log, "log2": np.log2, "sqrt": np.sqrt}
_LONGEST = 4000


@dataclass(frozen=True)
class Formula:
    """Arithmetic of n (size of the problem) and p (processes): + - * / **, log, log2, sqrt, numbers."""

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
                f"{self.text[:60]!r} is not a formula of n and p", "numbers, n, p, + - * / **, log, log2, sqrt"
            ) from error
        object.__setattr__(self, "_tree", tree)

    def __call__(self, n: float, p: float = 1) -> float:
        """Its value. Raises TracelibError where it has none."""
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
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1 and not node.keywords:
        return _CALLS[node.func.id](_value(node.args[0], names))
    raise ValueError


def polynomial(coefficients: np.ndarray) -> str:
    """The formula of a + b n + c n^2 + ..., lowest power first. Each coefficient is a + b / p where it is a pair."""
    terms = []
    for power, coefficient in enumerate(np.atleast_1d(coefficients)):
        values = np.atleast_1d(coefficient)
        own = f"({values[0]:.17g} + {values[1]:.17g} / p)" if len(values) == 2 else f"({values[0]:.17g})"
        terms.append(own + ("" if power == 0 else " * n" if power == 1 else f" * n ** {power}"))
    return " + ".join(terms)
