"""Candidate terms from a description of groups: products of one element of each, and starred groups (TIA, 1.6.2)."""

from __future__ import annotations

from itertools import product as combinations

from analyzer.errors import TracelibError
from analyzer.models.terms.parsing import parse
from analyzer.models.terms.product import Product

_MOST_TERMS = 4096


def candidates(description: str, degree: int | None = None) -> list[Product]:
    """Return the candidate terms of a description such as "{n,n^2},{1/p},{n*p}*", without duplicates.

    A group stands for its elements or 1. The terms are all products with one element of each group, in the order of
    nested loops: 1, n, n^2, 1/p, n/p, n^2/p. Elements of a starred group are terms by themselves. Numeric factors are
    removed: 2*n is the term n.

    Args:
        description: The groups.
        degree: Largest number of groups of which a product has an element other than 1. None: no limit.

    Raises:
        TracelibError: The description cannot be read, or has more than 4096 terms.
    """
    groups = _groups(description)
    ordinary = [[Product(), *elements] for elements, star in groups if not star]
    number = 1
    for group in ordinary:
        number *= len(group)
    if number + sum(len(elements) for elements, star in groups if star) > _MOST_TERMS:
        raise TracelibError(f"the terms describe more than {_MOST_TERMS} candidates", "name fewer elements", 2)
    found: dict[Product, None] = {}
    for chosen in combinations(*reversed(ordinary)) if ordinary else ():
        if degree is not None and sum(not element.constant for element in chosen) > degree:
            continue
        whole = Product()
        for element in reversed(chosen):
            whole = whole.times(element)
        found[whole.term] = None
    for elements, star in groups:
        if star:
            found.update((element.term, None) for element in elements)
    return list(found)


def _groups(description: str) -> list[tuple[list[Product], bool]]:
    groups: list[tuple[list[Product], bool]] = []
    rest = description.strip()
    while rest:
        end = rest.find("}")
        if not rest.startswith("{") or end < 0:
            raise _unread(rest)
        elements = [parse(element) for element in _split(rest[1:end])]
        rest = rest[end + 1 :].lstrip()
        star = rest.startswith("*")
        rest = rest[star:].lstrip()
        if rest and (not rest.startswith(",") or not rest[1:].strip()):
            raise _unread(rest)
        rest = rest[1:].lstrip()
        groups.append((elements, star))
    if not groups:
        raise _unread(description)
    return groups


def _unread(text: str) -> TracelibError:
    shown = text if len(text) < 40 else text[:37] + "..."
    hint = 'write groups such as "{n,n^2},{1/p},{n*p}*"'
    return TracelibError(f"the terms cannot be read from {shown!r} on", hint, 2)


def _split(text: str) -> list[str]:
    """Split a text at commas outside of parentheses."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts
