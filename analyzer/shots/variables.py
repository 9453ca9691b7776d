"""What is drawn for each shot: the variables of a study and their distributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from analyzer.errors import TracelibError
from analyzer.machine.toml_table import Table
from analyzer.montecarlo.design import points
from analyzer.montecarlo.distribution import Varied, distribution
from analyzer.shots import words


@dataclass(frozen=True)
class Variable:
    """A number of a program's input; any number, unless it is a whole one."""

    name: str
    whole: bool = False
    unit: str = ""
    least: float = -inf
    positive: bool = False


def read_variables(table: Table) -> tuple[Varied, ...]:
    """The variables of a study file, in its order. Raises TracelibError."""
    given = table.rest()
    if not given:
        raise TracelibError("there are no variables", 'write [variables] and NAME = "900..1100" below it')
    return tuple(_variable(name, value) for name, value in given.items())


def _variable(name: str, value: Any) -> Varied:
    words.name("a variable", name)
    if isinstance(value, Mapping):
        table = Table(f"[variables.{name}]", value, "docs/analyze-study.md")
        law, is_whole = words.text(f"{name}.from", table.take("from", "")), table.flag("whole")
        table.end()
    else:
        law, is_whole = words.text(name, value), False
    return distribution(Variable(name, is_whole), f"{name}={law}", _two_numbers)


def _two_numbers(of: Variable, *texts: str) -> tuple[float, float]:
    first, last = (words.number(text) for text in texts)
    if first is None or last is None:
        raise TracelibError(f"{of.name} = {', '.join(texts)!r}", "the values of a variable must be numbers")
    return first, last


def draw(varied: Sequence[Varied], design: str, count: int, seed: int) -> np.ndarray:
    """Values of all shots, float64 of shape (count, variables)."""
    cube = points(design, count, len(varied), seed & (2**64 - 1))
    return np.array([[of.at(u) for of, u in zip(varied, row, strict=True)] for row in cube.tolist()])
