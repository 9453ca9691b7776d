"""Candidate terms on data: values of the terms, terms that are equal on the data, and the matrix of all fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analyzer.errors import TracelibError
from analyzer.models.fitting.least_squares import most_telling
from analyzer.models.terms.product import Product

_SAME = 1e-12
"""Largest distance at which columns of length 1 count as equal, or as dependent on others."""


@dataclass(frozen=True)
class TermSpace:
    """Terms that differ on the data, the most informative first.

    Attributes:
        triangle: R of the QR decomposition of the weighted columns, scaled to length 1, and y; shape (terms + 1, terms
            + 1).
        length: Length of each column before scaling, shape (terms,).
        rows: Number of rows of the data.
        excluded: Why each excluded term is left out, by the term's text.
    """

    terms: tuple[Product, ...]
    triangle: np.ndarray
    length: np.ndarray
    rows: int
    excluded: Mapping[str, str]

    @property
    def dependent(self) -> list[str]:
        """Sentences about terms that are sums of earlier terms on these data."""
        return self._told_apart[1]

    @property
    def independent_places(self) -> list[int]:
        """Indices of the terms that are not sums of earlier terms."""
        return self._told_apart[0]

    @property
    def independent(self) -> list[Product]:
        """Terms that are not sums of earlier terms."""
        return [self.terms[k] for k in self.independent_places]

    @cached_property
    def _told_apart(self) -> tuple[list[int], list[str]]:
        said: list[str] = []
        independent: list[int] = []
        for k, term in enumerate(self.terms):
            column, before = self.triangle[:-1, k], self.triangle[:-1, independent]
            shares = np.linalg.lstsq(before, column, rcond=None)[0]
            if independent and np.linalg.norm(column - before @ shares) < _SAME:
                others = [str(self.terms[i]) for i, share in zip(independent, shares, strict=True) if abs(share) > 1e-9]
                said.append(f"{term} is a sum of {', '.join(others)} in these data")
            else:
                independent.append(k)
        return independent, said

    @property
    def least_rss(self) -> float:
        """Largest sum of squares that rounding errors explain."""
        return float((self.triangle[:, -1] ** 2).sum()) * (1e-14**2) * self.rows

    def rss(self, models: np.ndarray) -> np.ndarray:
        """Return the weighted sum of squares of each model's residuals, at least `least_rss`, shape (models,).

        Args:
            models: Masks of terms, shape (models, terms).

        Returns:
            The sums. Infinite: the model's terms depend on each other.
        """
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
) -> TermSpace:
    """Make the space of terms on data.

    Args:
        terms: The candidate terms.
        values: Values of each parameter by name, shape (rows,).
        observed: Measured values, shape (rows,).
        weight: Weight of each row, shape (rows,).

    Raises:
        TracelibError: No term has a value in all rows.
    """
    root = np.sqrt(weight)
    excluded: dict[str, str] = {}
    kept: list[Product] = []
    matrix = np.empty((len(observed), len(terms)))
    lengths: list[float] = []
    for term in terms:
        column = np.broadcast_to(np.asarray(term.value(values), float), observed.shape) * root
        length = float(np.linalg.norm(column)) if np.isfinite(column).all() else np.inf
        why = "is not defined in all rows" if not np.isfinite(length) else "is 0 in all rows" if not length else ""
        if not why:
            column = column / length
            why = _same(column, matrix[:, : len(kept)], kept)
        if why:
            excluded[str(term)] = why
            continue
        matrix[:, len(kept)] = column
        kept.append(term)
        lengths.append(length)
    if not kept:
        raise TracelibError("no term has a value in all rows", "name other terms")
    # The first ones are dropped first: where that costs most, the walk over subsets can pass over most of them.
    order = most_telling(matrix[:, : len(kept)], observed * root, len(kept))
    # more rows than columns, so that the triangle has all rows
    whole = np.zeros((max(len(observed), len(kept) + 1), len(kept) + 1))
    whole[: len(observed)] = np.column_stack([matrix[:, order], observed * root])
    triangle: np.ndarray = np.asarray(np.linalg.qr(whole, mode="r"))
    return TermSpace(tuple(kept[i] for i in order), triangle, np.array(lengths)[order], len(observed), excluded)


def _same(column: np.ndarray, columns: np.ndarray, kept: list[Product]) -> str:
    """Return why a column of length 1 adds nothing to other columns (rows, kept). "": it does add something."""
    cosine = np.sign(column @ columns)
    near = np.linalg.norm(column[:, None] - cosine * columns, axis=0) < _SAME
    return f"is proportional to {kept[int(near.argmax())]} in these data" if near.any() else ""


def none_can_be_fitted(space: TermSpace) -> TracelibError:
    """Return the error that no model can be fitted: too few rows, or terms that depend on each other."""
    return TracelibError(f"no model can be fitted to {space.rows} rows", "measure more, or name fewer terms")
