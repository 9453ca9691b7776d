"""Formulas with named coefficients, such as `mm[0] + mm[1]*n*n/p`, whose coefficients are to be fitted.

CALL's pragmas contain such formulas: `#pragma cll mm CLOCK=mm[0]+mm[1]*n*n/p` (Rodriguez 2011, section 2.1.1). A
formula is a sum in which each coefficient occurs as a factor.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from analyzer.errors import TracelibError
from analyzer.models.terms.names import with_identifiers
from analyzer.models.terms.parsing import add, parse_node, tree_of
from analyzer.models.terms.product import ParameterName, Product

_COEFFICIENT = re.compile(r"\b([A-Za-z_]\w*)\s*\[\s*(\d+)\s*\]")
_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+cll[ \t]+(\w+)[ \t]+\w+[ \t]*=(.*)$", re.MULTILINE)
_ONE = "that is the one coefficient in it"
_HINT = 'write it as "c[0] + c[1]*n*n/p"'


@dataclass(frozen=True)
class Formula:
    """A formula with coefficients.

    Attributes:
        terms: Product by which each coefficient is multiplied, by the coefficient's name, such as "mm[0]".
    """

    text: str
    terms: Mapping[str, Product]

    @property
    def parameters(self) -> list[str]:
        """Names of the parameters in the terms, in alphabetical order."""
        return sorted(set().union(*(term.names() for term in self.terms.values())))


def formula_of(text: str, renamed: Mapping[str, str] | None = None) -> Formula:
    """Parse a formula.

    Args:
        text: A sum. Each summand is a product with one coefficient NAME[number]; all have the same NAME.
        renamed: Identifiers by names of columns that are no identifiers (`grid.n`).

    Raises:
        TracelibError: The text is no such sum.
    """
    plain = with_identifiers(text, renamed or {})
    experiments = {name for name, _ in _COEFFICIENT.findall(plain)}
    if len(experiments) != 1:
        said = "has no coefficient" if not experiments else f"has coefficients of {', '.join(sorted(experiments))}"
        raise TracelibError(f"the formula {text!r} {said}", _HINT, 2)
    (experiment,) = experiments
    coefficients: dict[str, str] = {}

    def named(found: re.Match[str]) -> str:
        name = f"{experiment}__{found[2]}"
        coefficients[name] = f"{experiment}[{found[2]}]"
        return name

    tree = tree_of(_COEFFICIENT.sub(named, plain))
    terms: dict[str, Product] = {}
    for product in _parts(tree, set(coefficients), text):
        factor = next((name for name in coefficients if (ParameterName(name), 1) in product.powers), "")
        rest = Product(product.factor, tuple(power for power in product.powers if power[0] != ParameterName(factor)))
        if not factor or rest.names() & set(coefficients):
            raise TracelibError(
                f"{_plain(product, coefficients)} in the formula {text!r} has no factor {_ONE}", _HINT, 2
            )
        name = coefficients[factor]
        terms[name] = add(terms[name], rest) if name in terms else rest
    if empty := [name for name, term in terms.items() if not term.factor]:
        raise TracelibError(f"{empty[0]} in the formula {text!r} is multiplied by 0", _HINT, 2)
    return Formula(text, dict(sorted(terms.items(), key=lambda item: int(item[0].split("[")[1][:-1]))))


def _plain(product: Product, coefficients: Mapping[str, str]) -> str:
    return re.sub(r"\w+", lambda found: coefficients.get(found[0], found[0]), str(product))


def _parts(node: ast.expr, coefficients: set[str], text: str) -> list[Product]:
    """Return the summands of a tree. Products with sums that contain coefficients are multiplied out."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd | ast.USub):
        sign = Product(-1.0 if isinstance(node.op, ast.USub) else 1.0)
        return [part.times(sign) for part in _parts(node.operand, coefficients, text)]
    inside = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} & coefficients
    if isinstance(node, ast.BinOp) and inside:
        if isinstance(node.op, ast.Add | ast.Sub):
            sign = Product(-1.0 if isinstance(node.op, ast.Sub) else 1.0)
            right = [part.times(sign) for part in _parts(node.right, coefficients, text)]
            return [*_parts(node.left, coefficients, text), *right]
        if isinstance(node.op, ast.Mult):
            rights = _parts(node.right, coefficients, text)
            return [one.times(other) for one in _parts(node.left, coefficients, text) for other in rights]
        if isinstance(node.op, ast.Div):
            divisor = parse_node(node.right, text)
            return [part.times(divisor, -1) for part in _parts(node.left, coefficients, text)]
    return [parse_node(node, text)]


def stated_formulas(source: str | Path) -> dict[str, str]:
    """Return the formulas in the pragmas of a C source, by experiment.

    Raises:
        TracelibError: The file cannot be read.
    """
    try:
        text = Path(source).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise TracelibError(f"cannot read {source}: {error.strerror}") from error
    whole = re.sub(r"\\\r?\n", " ", text)
    return {name: _without_comment(formula) for name, formula in _PRAGMA.findall(whole)}


def _without_comment(text: str) -> str:
    return re.sub(r"/\*.*?\*/|//.*", " ", text).strip()
