"""Places whose lines moved, because something was put into the source above them: known again by file, function and
order."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from analyzer.differences.figures import Family, Figure, Measured

_LINES = re.compile(r":(\d+)(?:-(\d+))?")
_OF_PLACES = (Family.PLACE, Family.COMPUTING)

Value = TypeVar("Value")


def aligned(before: Sequence[Measured], after: Sequence[Measured]) -> tuple[list[Measured], int]:
    """The runs of the second side with the names of places that the first one has, and how many were renamed.

    Of the places that only one side has, those of the same call in the same function and file are the same ones in the
    order of their lines, if there are equally many on both sides.
    """
    one, other = (_places(side) for side in (before, after))
    gone, new = _alike(one - other), _alike(other - one)
    names: dict[str, str] = {}
    for text, figures in new.items():
        if len(gone.get(text, ())) == len(figures):
            names |= {b.name: a.name for a, b in zip(gone[text], figures, strict=True)}
    return [_renamed(run, names) for run in after] if names else list(after), len(names)


def _places(side: Iterable[Measured]) -> set[Figure]:
    return {figure for run in side for figure in run.values if figure.family in _OF_PLACES}


def _alike(figures: Iterable[Figure]) -> dict[tuple[Family, str], list[Figure]]:
    """By their names without lines, each in the order of its lines. Names without lines are left out."""
    found: dict[tuple[Family, str], list[Figure]] = defaultdict(list)
    for figure in figures:
        text = _LINES.sub(":", figure.name)
        if text != figure.name:
            found[figure.family, text].append(figure)
    for group in found.values():
        group.sort(key=lambda figure: [int(line or 0) for pair in _LINES.findall(figure.name) for line in pair])
    return found


def _renamed(run: Measured, names: dict[str, str]) -> Measured:
    def of(figures: dict[Figure, Value]) -> dict[Figure, Value]:
        return {
            replace(figure, name=names.get(figure.name, figure.name)) if figure.family in _OF_PLACES else figure: value
            for figure, value in figures.items()
        }

    waiting = {names.get(name, name): ns for name, ns in run.waiting_at.items()}
    return replace(run, values=of(run.values), samples=of(run.samples), waiting_at=waiting)
