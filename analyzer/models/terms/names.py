"""Identifiers for columns whose names are none, such as the C variables `v[1]`, `p->n` and `grid.n`.

A formula is also written in C, Python and LaTeX. So such a column has an identifier in formulas: `v_1`, `p_n`,
`grid_n`.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Mapping

_QUOTED = r"'[^']*'|\"[^\"]*\""


def identifiers(names: Iterable[object]) -> dict[str, str]:
    """Return an identifier for each name that is none. All identifiers and other names are different."""
    every = [str(name) for name in names]
    taken, found = {name for name in every if _is_identifier(name)}, {}
    for name in every:
        if _is_identifier(name):
            continue
        new = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_") or "x"
        new = f"x_{new}" if new[0].isdigit() else new
        while new in taken or keyword.iskeyword(new):
            new += "_"
        taken.add(new)
        found[name] = new
    return found


def with_identifiers(text: str, renamed: Mapping[str, str]) -> str:
    """Replace names by their identifiers in a text. Text in quotes stays as it is.

    Args:
        text: The text.
        renamed: Identifiers by name.
    """
    if not renamed:
        return text
    names = sorted(renamed, key=len, reverse=True)
    pattern = "|".join((_QUOTED, *(_standing_alone(name) for name in names)))
    return re.sub(pattern, lambda found: renamed.get(found[0], found[0]), text)


def _standing_alone(name: str) -> str:
    """Return a pattern that matches a name which is not part of a longer name.

    A name such as `*p` does not match where it continues a product.
    """
    before = r"(?<![\w.)\]*])" if name.startswith("*") else r"(?<![\w.])(?<!->)" if re.match(r"\w", name) else ""
    after = r"(?![\w\[.]|->)" if re.search(r"[\w\]]$", name) else ""
    return before + re.escape(name) + after


def _is_identifier(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)
