"""Parsing of terms as users type them into products."""

from __future__ import annotations

import ast
import math
from fractions import Fraction

from analyzer.errors import TracelibError
from analyzer.models.terms.product import FunctionCall, ParameterName, Product, ProductSum, plain

_LONGEST = 400
_LOGARITHMS = {"log2": 1.0, "log": math.log(2), "ln": math.log(2), "log10": math.log10(2)}
_ROOTS = {"sqrt": Fraction(1, 2), "cbrt": Fraction(1, 3)}
_ROUNDED = ("ceil", "floor")
_CHOSEN = ("min", "max")
_WRITTEN = str.maketrans({"²": "^2", "³": "^3", "·": "*", "×": "*", "−": "-"})  # noqa: RUF001, as papers write them
_ONE = Product()


def parse(text: str) -> Product:
    """Parse a term such as "n^2/p", "sqrt(n)*log2(p)" or "ceil(p/n)" into a product.

    Raises:
        TracelibError: The text is no product of powers and of the functions log2, log (natural), ln, log10, sqrt, cbrt,
            pow, ceil, floor, min and max.
    """
    return parse_node(tree_of(text), text)


def tree_of(text: str) -> ast.expr:
    """Parse a term into Python's syntax tree. "^" means a power.

    Raises:
        TracelibError: The text cannot be parsed.
    """
    cleaned = text.translate(_WRITTEN).replace("^", "**").strip()
    if not cleaned or len(cleaned) > _LONGEST:
        raise _wrong(text, "is empty" if not cleaned else "is too long")
    try:
        return ast.parse(cleaned, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _wrong(text, "cannot be read") from error


def parse_node(node: ast.expr, text: str) -> Product:
    """Convert a syntax tree to a product.

    Args:
        node: The tree.
        text: The term that contains the tree, for errors.

    Raises:
        TracelibError: As `parse`.
    """
    try:
        product = _product(node)
    except (ValueError, RecursionError, MemoryError, OverflowError, ZeroDivisionError) as error:
        said = str(error) if type(error) is ValueError else "cannot be read"
        raise _wrong(text, said) from error
    if not math.isfinite(product.factor) or not product.factor:
        raise _wrong(text, "is not a number other than 0")
    return product


def _wrong(text: str, why: str) -> TracelibError:
    shown = text if len(text) < 60 else text[:57] + "..."
    return TracelibError(f"the term {shown!r} {why}", "write terms such as n^2/p, sqrt(n)*log2(p), ceil(p/n)", 2)


def _product(node: ast.expr) -> Product:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return Product(float(node.value))
    if isinstance(node, ast.Name):
        return Product(1.0, ((ParameterName(node.id), Fraction(1)),))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        return _product(node.operand).times(Product(-1.0 if isinstance(node.op, ast.USub) else 1.0))
    if isinstance(node, ast.BinOp):
        return _binary(node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        return _call(node.func.id, [_product(argument) for argument in node.args])
    raise ValueError("has a part that is neither a product nor a known function")


def _binary(node: ast.BinOp) -> Product:
    left, right = _product(node.left), _product(node.right)
    if isinstance(node.op, ast.Mult):
        return left.times(right)
    if isinstance(node.op, ast.Div):
        return left.times(right, -1)
    if isinstance(node.op, (ast.Add, ast.Sub)):
        return add(left, right.times(Product(-1.0)) if isinstance(node.op, ast.Sub) else right)
    if isinstance(node.op, ast.Pow):
        return _power(left, right)
    raise ValueError("has an unknown sign")


def _power(base: Product, exponent: Product) -> Product:
    if exponent.constant and abs(exponent.factor) <= 100:
        if base.factor < 0:
            raise ValueError("has a power of a negative number")
        return _ONE.times(base, Fraction(exponent.factor).limit_denominator(1000))
    raise ValueError("has a power that is not a number up to 100")


def add(left: Product, right: Product) -> Product:
    """Return the sum of two products as one product. Products that differ in more than a factor form a `ProductSum`."""
    parts: dict[tuple, float] = {}
    for product in (left, right):
        inside = product.powers
        only = len(inside) == 1 and inside[0][1] == 1 and isinstance(inside[0][0], ProductSum)
        for part in inside[0][0].parts if only else (Product(1.0, inside),):  # type: ignore[union-attr]
            parts[part.powers] = parts.get(part.powers, 0.0) + part.factor * product.factor
    left_over = sorted((Product(factor, powers) for powers, factor in parts.items() if factor), key=plain)
    if len(left_over) < 2:
        return left_over[0] if left_over else Product(0.0)
    return Product(1.0, ((ProductSum(tuple(left_over)), Fraction(1)),))


def _call(function: str, arguments: list[Product]) -> Product:
    if function in _CHOSEN and len(arguments) == 2:
        return Product(1.0, ((FunctionCall(function, tuple(sorted(arguments, key=plain))), Fraction(1)),))
    if function == "pow" and len(arguments) == 2:
        return _power(*arguments)
    if len(arguments) != 1 or arguments[0].factor == 0:
        raise ValueError(f"has {function} of something else than one number")
    inside = arguments[0]
    if function in _ROOTS:
        return _ONE.times(inside, _ROOTS[function])
    if function in _LOGARITHMS:
        return _logarithm(inside, _LOGARITHMS[function])
    if function in _ROUNDED:
        return Product(1.0, ((FunctionCall(function, (inside,)), Fraction(1)),))
    raise ValueError(f"has the unknown function {function}")


def _logarithm(inside: Product, factor: float) -> Product:
    """Return factor * log2(inside). log2(x^a) becomes a log2(x)."""
    if inside.constant:
        return Product(factor * math.log2(inside.factor))
    if inside.factor == 1 and len(inside.powers) == 1:
        (atom, power), one = inside.powers[0], Fraction(1)
        return Product(factor * float(power), ((FunctionCall("log2", (Product(1.0, ((atom, one),)),)), one),))
    return Product(factor, ((FunctionCall("log2", (inside,)), Fraction(1)),))
