"""Sums of a few products of plain shapes, for data that one term for each group of parameters does not explain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from analyzer.models.choose.families import FREE, ModelFamily
from analyzer.models.choose.setting_means import SettingMeans
from analyzer.models.choose.shapes import TermShape, shapes_on
from analyzer.models.fitting.criteria import criterion_of
from analyzer.models.fitting.least_squares import most_telling
from analyzer.models.search.exact import search_all
from analyzer.models.search.space import make_space
from analyzer.models.terms.product import Product, atom_names

_BLOCK = 32
"""Number of columns whose pairs are examined together: few enough to stay in the cache."""
_EXACT = 1e-18


def likeliest_pairs(
    columns: np.ndarray, target: np.ndarray, scatter: float, rows: int, log_prior: np.ndarray, signed: bool, number: int
) -> np.ndarray:
    """Return the pairs of columns with the largest prior times likelihood, by least squares.

    Args:
        columns: Weighted values of the terms, shape (settings, terms). Columns of zeros are in no pair.
        target: Weighted means, shape (settings,).
        scatter: Weighted sum of squares of repetitions about their means.
        rows: Number of measurements.
        log_prior: Logarithm of the prior of each term, shape (terms,).
        signed: Coefficients may be negative.
        number: Largest number of pairs.

    Returns:
        Indices of columns, shape (pairs, 2), the likeliest pair first.
    """
    length = np.linalg.norm(columns, axis=0)
    there = np.flatnonzero(length)
    unit, log_prior = columns[:, there] / length[there], log_prior[there]
    along = target @ unit
    total = float(target @ target) + scatter
    best, places = np.empty(0), np.empty((0, 2), int)
    for begin in range(0, len(along) - 1, _BLOCK):
        end = min(begin + _BLOCK, len(along))
        a, b = (
            along[begin:end, None],
            along[begin:],
        )  # all pairs of a column of the block with one that is not before it
        cosine = unit[:, begin:end].T @ unit[:, begin:]
        determinant = 1 - cosine * cosine
        first, second = a - cosine * b, b - cosine * a
        # the determinant of equal columns is 0, and so is that of a column and itself
        sound = np.triu(determinant > _DEPENDENT, 1)
        if not signed:
            sound &= (first > 0) & (second > 0)
        pairs = np.flatnonzero(sound)
        gain = (a * first + b * second).ravel()[pairs] / determinant.ravel()[pairs]
        prior = (log_prior[begin:end, None] + log_prior[begin:]).ravel()[pairs]
        likely = prior - rows / 2 * np.log(np.maximum(total - gain, rows * _EXACT * total))
        few = np.argpartition(-likely, number)[:number] if len(likely) > number else np.arange(len(likely))
        best = np.append(best, likely[few])
        places = np.append(places, begin + np.column_stack(np.divmod(pairs[few], len(b))), axis=0)
    order = np.argsort(-best, kind="stable")[:number]
    return there[places[order]]


_POOL = 12
"""Number of terms of which all subsets are tried."""
_MODELS = 100
"""Number of the best subsets that are weighed."""
_MOST_PRODUCTS = 4000
"""Largest number of products that are tried, the likeliest ones.

Three parameters have at most 21^3 products if each has few settings.
"""
_TRIED = 40
"""Number of products that are tried in place of a term, or in addition to others."""
_DEPENDENT = 1e-9
"""Least relative distance of a column from the others. Below it the column depends on them."""
_PARTS = 2
"""Largest number of terms besides the constant and one for each parameter."""
_CONSTANT = 0.1
"""Prior probability that a term is the constant."""

Shapes = tuple[TermShape | None, ...]


@dataclass(frozen=True)
class FreeSums:
    """Products of plain shapes, and sums of a few of them as models.

    Attributes:
        settings: The measurements by setting.
        products: Shape of each parameter in each product; None: the product does not contain the parameter. The
            constant is first.
        columns: Values of the products, shape (settings, products), scaled so that the largest value is 1.
        length: Divisors of the columns, shape (products,).
        log_prior: Logarithm of the prior of each product, shape (products,).
    """

    settings: SettingMeans
    products: tuple[Shapes, ...]
    columns: np.ndarray
    length: np.ndarray
    log_prior: np.ndarray

    @classmethod
    def of(cls, settings: SettingMeans) -> FreeSums:
        """Return all products of plain shapes of the parameters that vary, at most 4000."""
        rows, names = len(settings.mean), settings.varying
        shapes: list[list[TermShape | None]] = [[None, *shapes_on(settings.values[name], plain=True)] for name in names]
        prior = np.ones(1)
        for of in shapes:
            prior = np.multiply.outer([1.0 if shape is None else shape.free_prior for shape in of], prior).ravel()
        # in the order of the shapes, so that equal products stay in it; the constant is the first of all
        likeliest = np.sort(np.argsort(-np.append(np.inf, prior[1:]), kind="stable")[:_MOST_PRODUCTS])
        places = np.unravel_index(likeliest, [len(of) for of in reversed(shapes)])[::-1]
        products = [
            tuple(of[place] for of, place in zip(shapes, product, strict=True)) for product in zip(*places, strict=True)
        ]
        columns = np.ones((rows, len(products)))
        for name, of, place in zip(names, shapes, places, strict=True):
            x = settings.values[name]
            columns *= np.column_stack([np.ones(rows) if shape is None else shape.value(x) for shape in of])[:, place]
        length = np.abs(columns).max(0)
        telling = np.flatnonzero(length)  # a product of logarithms is 0 where in each run some parameter is the least
        columns, length, prior = columns[:, telling], length[telling], prior[likeliest[telling]]
        prior[0] = _CONSTANT * prior[1:].sum()
        products = [products[place] for place in telling.tolist()]
        return cls(settings, tuple(products), columns / length, length, np.log(prior / prior.sum()))

    @property
    def most(self) -> int:
        """Largest number of terms in a model."""
        return min(1 + _PARTS + len(self.settings.varying), len(self.settings.mean) - 2)

    def families(self) -> Iterator[ModelFamily]:
        """Yield families of sums by number of terms, then of the likeliest pairs.

        The sums are the best subsets of the terms that explain most of the data one after the other.
        """
        weight = self.settings.weight
        criterion = criterion_of("bic", weight)
        if self.most < 2 or not np.isfinite(criterion.penalty(1)):
            return
        weighted = self.columns * np.sqrt(weight)[:, None]
        telling = most_telling(weighted / np.linalg.norm(weighted, axis=0), self.settings.mean * np.sqrt(weight), _POOL)
        places = {self._term(place): place for place in {0, *telling}}
        space = make_space(list(places), self.settings.values, self.settings.mean, weight)
        positive = None if self.settings.signed else np.ones(len(space.terms), bool)
        found = search_all(space, criterion, keep=_MODELS, positive=positive)
        sizes = found.models.sum(1)
        for size in range(2, self.most + 1):
            chosen = [[places[term] for term in found.terms_of(model)] for model in found.models[sizes == size]]
            if chosen:
                yield self._family(np.array(chosen))
        yield from self._pairs(weighted)

    def _pairs(self, weighted: np.ndarray) -> Iterator[ModelFamily]:
        """Yield the likeliest sums of two products, without and with a constant."""
        settings = self.settings
        target, constant = settings.mean * np.sqrt(settings.weight), weighted[:, :1] / np.linalg.norm(weighted[:, 0])
        beside = constant @ (constant.T @ weighted), constant[:, 0] * (constant[:, 0] @ target)
        for removed, size in (((0.0, 0.0), 2), (beside, 3)):
            if size > self.most:
                return
            columns = (weighted - removed[0])[:, 1:]
            columns[:, np.linalg.norm(columns, axis=0) < _DEPENDENT * np.linalg.norm(weighted[:, 1:], axis=0)] = 0
            pairs = 1 + likeliest_pairs(
                columns, target - removed[1], self._scatter, settings.rows, self.log_prior[1:], settings.signed, _MODELS
            )
            if len(pairs):
                yield self._family(np.insert(pairs, 0, 0, axis=1) if size == 3 else pairs)

    @property
    def _scatter(self) -> float:
        """Weighted sum of squares of the repetitions about their means."""
        return float((self.settings.scatter * self.settings.weight / self.settings.number).sum())

    def around(self, terms: Sequence[Product]) -> Iterator[ModelFamily]:
        """Yield models that differ from these terms in one: exchanged for another product, added, or removed."""
        places = [self._places[shapes] for term in terms if (shapes := self._shapes_of(term)) in self._places]
        size = len(places)
        rests = [places[:k] + places[k + 1 :] for k in range(size)]
        exchanged = [
            [*places[:k], place, *places[k + 1 :]]
            for k, rest in enumerate(rests)
            for place in self.telling(rest)
            if place not in places
        ]
        more = [[*places, place] for place in self.telling(places)] if size < self.most else []
        for models in (exchanged, more, rests if size > 2 else []):
            if models:
                yield self._family(np.array(models))

    def telling(self, places: list[int]) -> list[int]:
        """Return the products that are likeliest as an addition to some products.

        Their coefficients are above 0 unless the measurements are `signed`.

        This uses least squares with the errors of the measurements, which is fast, so that few models must be weighed.

        Args:
            places: Indices of the products in the model.

        Returns:
            Indices of at most 40 products.
        """
        settings, root = self.settings, np.sqrt(self.settings.weight)
        weighted = self.columns * root[:, None]
        q = np.linalg.qr(weighted[:, places])[0]
        beside = weighted - q @ (q.T @ weighted)
        target = settings.mean * root
        rest = target - q @ (q.T @ target)
        length = np.linalg.norm(beside, axis=0)
        new = length > _DEPENDENT * np.linalg.norm(weighted, axis=0)
        gain = np.where(new, rest @ beside / np.where(new, length, 1), 0.0)
        gain = np.abs(gain) if settings.signed else gain
        left = np.maximum(rest @ rest - gain**2, 0) + self._scatter
        likely = self.log_prior - settings.rows / 2 * np.log(np.maximum(left, settings.rows * 1e-18))
        order = np.argsort(-np.where(gain > 0, likely, -np.inf), kind="stable")
        return [int(place) for place in order[:_TRIED] if gain[place] > 0]

    def _family(self, places: np.ndarray) -> ModelFamily:
        """Return a family of models (models, terms). Its prior is that of drawing the terms one after the other."""
        size = places.shape[1]
        log_prior = np.log(FREE / self.most) + gammaln(size + 1) + self.log_prior[places].sum(1)
        columns = np.moveaxis(self.columns[:, places], 0, 1)
        return ModelFamily(
            log_prior, columns, self.length[places], lambda model: tuple(self._term(int(p)) for p in places[model])
        )

    @cached_property
    def _places(self) -> dict[Shapes, int]:
        return {shapes: place for place, shapes in enumerate(self.products)}

    @cached_property
    def _factors(self) -> dict[str, dict[Product, TermShape | None]]:
        """Return the possible factors of each parameter in a product, each with its shape."""
        values, names = self.settings.values, self.settings.varying
        shapes = {name: shapes_on(values[name], plain=True) for name in names}
        return {name: {Product(): None} | {s.product(name): s for s in shapes[name]} for name in names}

    def _shapes_of(self, term: Product) -> Shapes | None:
        """Return the shapes whose product a term is. None: it is no such product.

        To write all products as terms instead would take longer than the rest of a fit.
        """
        found = []
        for name, shapes in self._factors.items():
            part = Product(1.0, tuple(power for power in term.powers if name in atom_names(power[0])))
            if part not in shapes:
                return None
            found.append(shapes[part])
        return tuple(found)

    def _term(self, place: int) -> Product:
        term = Product()
        for name, shape in zip(self.settings.varying, self.products[place], strict=True):
            term = term if shape is None else term.times(shape.product(name))
        return term
