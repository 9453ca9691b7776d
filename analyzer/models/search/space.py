"""Candidate terms on data: their columns, which of them say the same, and the triangle that all models share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.errors import TracelibError
from analyzer.models.terms.product import Product

_SAME = 1e-12
"""Columns of length 1 that are no further apart, or that others come so near to, differ by rounding."""


@dataclass(frozen=True)
class Space:
    """Terms that can be told apart on the data, the most telling first.

    triangle: (terms + 1, terms + 1) R of the QR of the weighted columns, scaled to length 1, and y; length: of the
    columns before. excluded: term -> why; dependent: terms that others together can replace, in words.
    """

    terms: tuple[Product, ...]
    triangle: np.ndarray
    length: np.ndarray
    rows: int
    excluded: Mapping[str, str]
    dependent: tuple[str, ...]

    @property
    def least_rss(self) -> float:
        """What is left of y by rounding alone."""
        return float((self.triangle[:, -1] ** 2).sum()) * (1e-14**2) * self.rows

    def rss(self, models: np.ndarray) -> np.ndarray:
        """(models) weighted sum of squares by least squares of each, not less than `least_rss`; infinite where its terms
        depend on each other. models: (models, terms) bool."""
        found = np.empty(len(models))
        sizes = models.sum(1)
        y = self.triangle[:, -1]
        for size in np.unique(sizes):
            which = np.flatnonzero(sizes == size)
            for begin in range(0, len(which), 2048):
                some = which[begin : begin + 2048]
                places = np.nonzero(models[some])[1].reshape(len(some), size)
                q, r = np.linalg.qr(np.moveaxis(self.triangle[:, places], 0, 1))
                left = y - (q @ (q.transpose(0, 2, 1) @ y[:, None]))[:, :, 0]
                whole = (np.abs(np.diagonal(r, axis1=1, axis2=2)) > _SAME).all(1)
                found[some] = np.where(whole, np.maximum((left**2).sum(1), self.least_rss), np.inf)
        return found


def make_space(
    terms: Sequence[Product], values: Mapping[str, np.ndarray], observed: np.ndarray, weight: np.ndarray
) -> Space:
    """The space of these terms on the rows. Raises TracelibError if no term is left."""
    root = np.sqrt(weight)
    excluded: dict[str, str] = {}
    kept: list[Product] = []
    columns: list[np.ndarray] = []
    lengths: list[float] = []
    for term in terms:
        column = np.broadcast_to(np.asarray(term.value(values), float), observed.shape) * root
        length = float(np.linalg.norm(column)) if np.isfinite(column).all() else np.inf
        why = "is not defined in all rows" if not np.isfinite(length) else "is 0 in all rows" if not length else ""
        if not why:
            column = column / length
            why = _same(column, columns, kept)
        if why:
            excluded[str(term)] = why
            continue
        kept.append(term)
        columns.append(column)
        lengths.append(length)
    if not kept:
        raise TracelibError("no term has a value in all rows", "name other terms")
    matrix = np.column_stack(columns)
    order = _most_telling_first(matrix, observed * root)
    # more rows than columns, so that the triangle has all rows
    whole = np.zeros((max(len(observed), len(kept) + 1), len(kept) + 1))
    whole[: len(observed)] = np.column_stack([matrix[:, order], observed * root])
    triangle = np.linalg.qr(whole, mode="r")
    said = _dependent(triangle[:, :-1], [kept[i] for i in order])
    return Space(
        tuple(kept[i] for i in order), triangle, np.array(lengths)[order], len(observed), excluded, tuple(said)
    )


def _same(column: np.ndarray, columns: list[np.ndarray], kept: list[Product]) -> str:
    for other, term in zip(columns, kept, strict=True):
        if np.linalg.norm(column - other) < _SAME or np.linalg.norm(column + other) < _SAME:
            return f"is proportional to {term} in these data"
    return ""


def _most_telling_first(matrix: np.ndarray, y: np.ndarray) -> list[int]:
    """An order in which the walk over subsets can pass over most of them: by how much each explains of what those
    before it left (orthogonal matching), so that doing without the first ones costs most."""
    left, basis, order = y.copy(), matrix.copy(), []
    rest = list(range(matrix.shape[1]))
    while rest:
        length = np.linalg.norm(basis[:, rest], axis=0)
        gain = np.where(length > 1e-9, np.abs(left @ basis[:, rest]) / np.maximum(length, 1e-9), -1.0)
        best = rest.pop(int(np.argmax(gain)))
        order.append(best)
        size = np.linalg.norm(basis[:, best])
        if size > 1e-9:
            direction = basis[:, best] / size
            left = left - direction * (direction @ left)
            basis = basis - np.outer(direction, direction @ basis)
    return order


def _dependent(triangle: np.ndarray, terms: list[Product]) -> list[str]:
    """In words, each term that terms before it can replace."""
    said, independent = [], []
    for k, term in enumerate(terms):
        column = triangle[:, k]
        if independent:
            before = triangle[:, independent]
            shares = np.linalg.lstsq(before, column, rcond=None)[0]
            if np.linalg.norm(column - before @ shares) < _SAME:
                others = [str(terms[i]) for i, share in zip(independent, shares, strict=True) if abs(share) > 1e-9]
                said.append(f"{term} is a sum of {', '.join(others)} in these data")
                continue
        independent.append(k)
    return said


def none_can_be_fitted(space: Space) -> TracelibError:
    """The error where the rows are too few, or the terms depend on each other in every model."""
    return TracelibError(f"no model can be fitted to {space.rows} rows", "measure more, or name fewer terms")
