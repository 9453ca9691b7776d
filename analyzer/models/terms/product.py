"""Terms: products of powers of parameters and of functions, in one normal form for all ways to write a term.

`n*n/p`, `n^2/p` and `(n/p)*n` are the same `Product`, so that no candidate occurs twice (TIA, 1.6.2, the defect of
duplicate terms).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "log2": np.log2,
    "ceil": np.ceil,
    "floor": np.floor,
    "min": np.minimum,
    "max": np.maximum,
}
"""Functions in terms by name. Other logarithms and roots are expressed by these and by powers."""


@dataclass(frozen=True)
class ParameterName:
    """Atom that is a parameter, by its name."""

    name: str


@dataclass(frozen=True)
class FunctionCall:
    """Atom that is a function of products, such as log2(n/p)."""

    function: str
    arguments: tuple[Product, ...]


@dataclass(frozen=True)
class ProductSum:
    """Atom that is a sum of products, in the order of their texts."""

    parts: tuple[Product, ...]


Atom = ParameterName | FunctionCall | ProductSum


@dataclass(frozen=True)
class Product:
    """A product factor * atom ^ power * ... in normal form.

    Attributes:
        powers: Atoms with their powers, which are not 0. Atoms are in the order of their texts.
    """

    factor: float = 1.0
    powers: tuple[tuple[Atom, Fraction], ...] = ()

    @property
    def constant(self) -> bool:
        """True if the product has no parameter."""
        return not self.powers

    @property
    def term(self) -> Product:
        """The product with factor 1, for which a coefficient is fitted."""
        return Product(1.0, self.powers)

    def times(self, other: Product, power: Fraction | int = 1) -> Product:
        """Return the product self * other ^ power."""
        powers = dict(self.powers)
        for atom, exponent in other.powers:
            powers[atom] = powers.get(atom, Fraction(0)) + exponent * power
        rest = sorted(((a, e) for a, e in powers.items() if e), key=lambda pair: plain_atom(pair[0]))
        return Product(self.factor * float(other.factor) ** float(power), tuple(rest))

    def value(self, values: Mapping[str, Any]) -> Any:
        """Evaluate the product at values of the parameters, numbers or arrays. Not finite where undefined."""
        found: Any = self.factor
        with np.errstate(all="ignore"):
            for atom, power in self.powers:
                base = atom_value(atom, values)
                found = found * (base if power == 1 else np.power(np.asarray(base, float), float(power)))
        return found

    def names(self) -> set[str]:
        """Return the names of the parameters in the product."""
        return set().union(*(atom_names(atom) for atom, _ in self.powers)) if self.powers else set()

    def __str__(self) -> str:
        return plain(self)


def by_text(terms: Iterable[Product]) -> tuple[Product, ...]:
    """Sort terms as a formula has them: the constant first, then by text."""
    return tuple(sorted(terms, key=lambda term: (not term.constant, str(term))))


def atom_value(atom: Atom, values: Mapping[str, Any]) -> Any:
    """Evaluate an atom at values of the parameters, numbers or arrays."""
    if isinstance(atom, ParameterName):
        return values[atom.name]
    if isinstance(atom, ProductSum):
        return sum(part.value(values) for part in atom.parts)
    return FUNCTIONS[atom.function](*(argument.value(values) for argument in atom.arguments))


def atom_names(atom: Atom) -> set[str]:
    """Return the names of the parameters in an atom."""
    if isinstance(atom, ParameterName):
        return {atom.name}
    inside = atom.parts if isinstance(atom, ProductSum) else atom.arguments
    return set().union(*(product.names() for product in inside))


def plain_atom(atom: Atom) -> str:
    """Return an atom as text for readers."""
    if isinstance(atom, ParameterName):
        return atom.name
    if isinstance(atom, ProductSum):
        return "(" + " + ".join(plain(part) for part in atom.parts) + ")"
    return f"{atom.function}({', '.join(plain(argument) for argument in atom.arguments)})"


def plain(product: Product) -> str:
    """Return a product as text in the language of terms: "n^2*log2(p)/p"."""
    above = [_powered(a, e) for a, e in product.powers if e > 0]
    below = [_powered(a, -e) for a, e in product.powers if e < 0]
    divisor = f"{1 / product.factor:.12g}" if product.factor else ""
    factor = f"{product.factor:.12g}"
    if above and divisor and len(divisor) < len(factor):
        below.append(divisor)
    elif factor != "1" or not above:
        above.insert(0, factor)
    return "/".join(["*".join(above), *below])


def _powered(atom: Atom, power: Fraction) -> str:
    text = plain_atom(atom)
    if power == 1:
        return text
    return f"{text}^{power}" if power.denominator == 1 else f"{text}^({power})"
