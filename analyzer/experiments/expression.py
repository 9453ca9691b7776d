"""Expressions over the columns of a table, for conditions on rows and for computed columns.

They have Python's syntax with numbers, texts, columns, arithmetic, comparisons, and, or, not, in, and a few functions
of numpy. Nothing else is evaluated.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from analyzer.errors import TracelibError
from analyzer.models.terms.names import identifiers, with_identifiers

if TYPE_CHECKING:
    import pandas

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": np.abs,
    "ceil": np.ceil,
    "exp": np.exp,
    "floor": np.floor,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "max": np.maximum,
    "min": np.minimum,
    "round": np.round,
    "sqrt": np.sqrt,
}
_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: lambda base, exponent: np.power(np.asarray(base, float), exponent),
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.And: np.logical_and,
    ast.Or: np.logical_or,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: np.logical_not,
}

_LARGEST_INTEGER = 1 << 32
"""Integers above this become real numbers: numpy's integers have limits that Python's do not have."""


def evaluate(text: str, frame: pandas.DataFrame) -> np.ndarray:
    """Evaluate an expression in each row of a table.

    Columns of C variables keep their names in the expression: `grid.n`, `v[1]`, `p->n`.

    Args:
        text: The expression.
        frame: The table.

    Returns:
        Values of shape (rows,).

    Raises:
        TracelibError: The expression is not valid. The message has the cause and the table's columns.
    """
    try:
        renamed = identifiers(frame.columns)
        tree = ast.parse(with_identifiers(text, renamed).strip(), mode="eval")
        with np.errstate(all="ignore"):
            value = _Evaluation(frame.rename(columns=renamed)).of(tree.body)
            return np.broadcast_to(np.asarray(value), len(frame))
    except _Wrong as error:
        raise TracelibError(f"{text!r}: {error}", f"columns: {', '.join(map(str, frame.columns))}") from error
    except SyntaxError as error:
        raise TracelibError(f"{text!r} is not an expression: {error.msg}", "such as n > 100 and ranks == 4") from error
    except (TypeError, ValueError, ArithmeticError, RecursionError, MemoryError) as error:
        why = "numbers and text are put together" if str(error).startswith("ufunc ") else error or "it is too deep"
        raise TracelibError(f"{text!r} cannot be computed: {why}") from error


def chosen(text: str, frame: pandas.DataFrame) -> np.ndarray:
    """Return a mask of the rows for which a condition holds.

    Raises:
        TracelibError: The text is not a valid expression, or its values are not true or false.
    """
    found = evaluate(text, frame)
    if found.dtype != bool:
        raise TracelibError(f"{text!r} is no condition", "such as n > 100 and ranks == 4")
    return found


class _Wrong(Exception):
    """Error: a part of an expression is not allowed."""


class _Evaluation:
    """Evaluation of one expression over one table."""

    def __init__(self, frame: pandas.DataFrame) -> None:
        self._frame = frame

    def of(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=bool() | int() | float() | str() as value):
                return float(value) if isinstance(value, int) and abs(value) > _LARGEST_INTEGER else value
            case ast.Name() | ast.Attribute():
                return self._column(node)
            case ast.BinOp():
                sides = self.of(node.left), self.of(node.right)
                if any(isinstance(side, str) for side in sides):
                    raise _Wrong(f"{ast.unparse(node)} computes with a text")
                return self._operator(node.op)(*sides)
            case ast.UnaryOp():
                return self._operator(node.op)(self.of(node.operand))
            case ast.BoolOp():
                return self._all(self._operator(node.op), [self.of(value) for value in node.values])
            case ast.Compare():
                values = [self._side(side) for side in (node.left, *node.comparators)]
                pairs = zip(node.ops, values, values[1:], strict=False)
                return self._all(np.logical_and, [self._compare(op, a, b) for op, a, b in pairs])
            case ast.Call(func=ast.Name(id=name), keywords=[]) if name in FUNCTIONS:
                return FUNCTIONS[name](*(self.of(argument) for argument in node.args))
            case ast.Call():
                raise _Wrong(f"there is no function {ast.unparse(node.func)}; functions: {', '.join(FUNCTIONS)}")
        raise _Wrong(f"{ast.unparse(node)} cannot be part of it")

    def _side(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return [self.of(value) for value in node.elts]
        return self.of(node)

    def _compare(self, op: ast.cmpop, left: Any, right: Any) -> Any:
        if isinstance(op, ast.In | ast.NotIn) and isinstance(right, list):
            among = self._all(np.logical_or, [False, *(left == value for value in right)])
            return np.logical_not(among) if isinstance(op, ast.NotIn) else among
        return self._operator(op)(left, right)

    def _column(self, node: ast.expr) -> np.ndarray:
        name = ast.unparse(node)
        if name not in self._frame.columns:
            raise _Wrong(f"there is no column {name}")
        return self._frame[name].to_numpy()

    @staticmethod
    def _operator(op: ast.AST) -> Callable[..., Any]:
        if type(op) not in _OPERATORS:
            raise _Wrong(f"{type(op).__name__} is no operator here")
        return _OPERATORS[type(op)]

    @staticmethod
    def _all(combine: Callable[..., Any], values: Sequence[Any]) -> Any:
        found = values[0]
        for value in values[1:]:
            found = combine(found, value)
        return found
