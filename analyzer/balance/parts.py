"""A process's time as the sum of the parts of the program, and the fractions of work that follow.

Source: PEMPIs-Het, formula 2: T = sum t_cpu + sum t_com + alpha. Computing of the shared work grows with a process's
fraction. Communication, and computing that all processes repeat, does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from analyzer.balance.formula import TimeFormula, reach_text, sum_text
from analyzer.errors import TracelibError
from analyzer.models.part_file import PartModel, PartModels
from analyzer.models.terms.product import Product

CPU, COM, REST = "cpu", "com", "alpha"
"""Kinds of parts: computing, communication, and the rest, which has no model of its own."""
_KINDS = {"burst": CPU, "call": COM}
_RANKS, _SIZE, _PROCESSES = "ranks", "n", "p"


@dataclass(frozen=True)
class MachinePart:
    """Model of one part of a program on a type of machine. Formulas are in s, of n and p.

    Attributes:
        kind: CPU, COM or REST.
        name: Name of the part.
        shared: Time of shared work, for a process with 1/p of the work. None: no shared work.
        fixed: Time that does not depend on a process's share. None: no such time.
        reach: Half of the 95 % interval of the sum. None: not known.
    """

    kind: str
    name: str
    shared: TimeFormula | None  # of a process that has 1/p of the work
    fixed: TimeFormula | None  # the same whatever part of the work a process has
    reach: TimeFormula | None = None  # half of the 95 % interval of their sum

    def shared_s(self, n: float, p: float) -> float:
        """Return the time of a process with 1/p of the work that grows with its share, s; at least 0."""
        return max(self.shared(n, p), 0.0) if self.shared else 0.0

    def fixed_s(self, n: float, p: float) -> float:
        """Return the time of a process that does not grow with its share, s; at least 0."""
        return max(self.fixed(n, p), 0.0) if self.fixed else 0.0

    def reach_s(self, n: float, p: float) -> float:
        """Return half of the 95 % interval of the time, s. 0: not known."""
        return self.reach(n, p) if self.reach else 0.0


def machine_parts(found: PartModels, machine: str) -> tuple[list[MachinePart], tuple[float, float]]:
    """Make the parts of a machine's model from fitted models.

    Of computing, the terms that fall with the number of processes are shared work. If all runs had the same number of
    processes, all computing is shared work.

    Returns:
        The parts, and the smallest and the largest n of the runs.

    Raises:
        TracelibError: The models do not depend on exactly one parameter besides the number of ranks.
    """
    names = {name for part in found.parts for name in part.model.parameters} - {_RANKS}
    if len(names) != 1:
        depends = ", ".join(sorted(names)) or "the ranks alone"
        raise TracelibError(
            f"the parts of {machine} depend on {depends}",
            "runs of several sizes are needed: analyze fit --set n=...",
            2,
        )
    (size,) = names
    low, high = (end(part.model.ranges[size][k] for part in found.parts) for k, end in ((0, min), (1, max)))
    return [_machine_part(part, size, found.ranks) for part in found.parts], (low, high)


def _machine_part(part: PartModel, size: str, ranks: int) -> MachinePart:
    member, kind = part.model.selected, _KINDS.get(part.kind, REST)
    shared = [kind == CPU and (bool(ranks) or _falls(term, part)) for term in member.terms]
    texts = [
        sum_text(
            [float(c) for c, one in zip(member.coefficients, shared, strict=True) if one == wanted],
            [term for term, one in zip(member.terms, shared, strict=True) if one == wanted],
        )
        for wanted in (True, False)
    ]
    if texts[0] and ranks:
        texts[0] = f"({texts[0]}) * {ranks} / {_PROCESSES}"
    reach = reach_text(part.model.whole or member)
    own, same, half = (TimeFormula(_renamed(text, size)) if text else None for text in (*texts, reach))
    return MachinePart(kind, part.name, own, same, half)


def _falls(term: Product, part: PartModel) -> bool:
    """Return True if a term is smaller with twice as many ranks."""
    at = {name: ends[1] for name, ends in part.model.ranges.items()}
    return bool(term.value({**at, _RANKS: 2 * at[_RANKS]}) < term.value(at))


def _renamed(text: str, size: str) -> str:
    """Rename a formula's parameters to n and p; the size first, since it may be called p."""
    text = re.sub(rf"\b{re.escape(size)}\b", "<n>", text)
    return re.sub(rf"\b{_RANKS}\b", _PROCESSES, text).replace("<n>", _SIZE)


def equal_finish(whole_s: Sequence[float], fixed_s: Sequence[float], counts: Sequence[int]) -> list[float]:
    """Compute the fraction of the work for one machine of each type with which all machines finish together.

    From f_i W_i + c_i = T for all i and sum p_i f_i = 1: T = (1 + sum p_i c_i / W_i) / sum p_i / W_i.

    Args:
        whole_s: W_i, time of all shared work on one machine of each type, s.
        fixed_s: c_i, time of a process that does not depend on its share, s.
        counts: p_i, number of machines of each type.

    Returns:
        f_i by type. 0 or less: the fixed time alone is as long as the other machines need in all.
    """
    rows = list(zip(whole_s, fixed_s, counts, strict=True))
    time = (1 + sum(p * c / w for w, c, p in rows)) / sum(p / w for w, _, p in rows)
    return [(time - c) / w for w, c, _ in rows]
