"""Sums of a few products of plain shapes: for data that one term for each group of parameters does not explain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from analyzer.models.choose.families import FREE, Family
from analyzer.models.choose.settings import Settings
from analyzer.models.choose.shapes import PLAIN, Shape, shapes_on
from analyzer.models.fitting.criteria import criterion_of
from analyzer.models.search.exact import search_all
from analyzer.models.search.space import make_space, most_telling
from analyzer.models.terms.product import Product

_POOL = 12
"""Terms of which all subsets are tried."""
_MODELS = 100
"""The best of these that are weighed."""
_MOST_PRODUCTS = 1000
_FEW = 50
_PARTS = 2
"""The most terms in a model beside the constant and one for each parameter."""
_CONSTANT = 0.1
"""How likely a term is the constant, beside all others together."""

Shapes = tuple[Shape | None, ...]


@dataclass(frozen=True)
class Free:
    """products: of each the shape of each parameter (None: it is not in it), the constant first; columns: (settings,
    products) their values, with the largest value 1, and length: by what they were divided; log_prior: of each."""

    settings: Settings
    products: tuple[Shapes, ...]
    columns: np.ndarray
    length: np.ndarray
    log_prior: np.ndarray

    @classmethod
    def of(cls, settings: Settings) -> Free:
        """All products of plain shapes of the parameters that vary."""
        products: list[Shapes] = [()]
        columns = np.ones((len(settings.mean), 1))
        for name in settings.varying:
            x = settings.values[name]
            shapes = [None, *shapes_on(x, PLAIN)]
            values = np.column_stack([np.ones(len(x)) if shape is None else shape.value(x) for shape in shapes])
            products = [(*product, shape) for shape in shapes for product in products][:_MOST_PRODUCTS]
            columns = (values[:, :, None] * columns[:, None, :]).reshape(len(x), -1)[:, :_MOST_PRODUCTS]
        length = np.abs(columns).max(0)
        prior = np.array([np.prod([shape.free_prior for shape in shapes if shape]) for shapes in products])
        prior[0] = _CONSTANT * prior[1:].sum()
        return cls(settings, tuple(products), columns / length, length, np.log(prior / prior.sum()))

    @property
    def most(self) -> int:
        """The most terms of a model."""
        return min(1 + _PARTS + len(self.settings.varying), len(self.settings.mean) - 2)

    def families(self) -> Iterator[Family]:
        """Of the terms that explain most one after the other, the best subsets of each size; of few products all pairs,
        and these with the constant."""
        weight = self.settings.weight
        criterion = criterion_of("bic", weight)
        if self.most < 2 or not np.isfinite(criterion.penalty(1)):
            return
        weighted = self.columns * np.sqrt(weight)[:, None]
        telling = most_telling(weighted / np.linalg.norm(weighted, axis=0), self.settings.mean * np.sqrt(weight), _POOL)
        places = {self._term(place): place for place in {0, *telling}}
        space = make_space(list(places), self.settings.values, self.settings.mean, weight)
        found = search_all(space, criterion, keep=_MODELS, positive=np.ones(len(space.terms), bool))
        sizes = found.models.sum(1)
        for size in range(2, self.most + 1):
            chosen = [[places[term] for term in found.terms_of(model)] for model in found.models[sizes == size]]
            if chosen:
                yield self._family(np.array(chosen))
        if len(self.products) <= _FEW:
            pairs = np.column_stack(np.triu_indices(len(self.products) - 1, 1)) + 1
            yield self._family(pairs)
            if self.most >= 3:
                yield self._family(np.insert(pairs, 0, 0, axis=1))

    def around(self, terms: Sequence[Product]) -> Iterator[Family]:
        """Models with one of these terms exchanged for any product; with one more; with one less."""
        every = np.arange(len(self.products))
        known = {self._term(int(place)): int(place) for place in every}
        places = [known[term] for term in terms if term in known]
        others = np.setdiff1d(every, places)
        size = len(places)
        exchanged = np.repeat([places], size * len(others), axis=0)
        for k in range(size):
            exchanged[k * len(others) : (k + 1) * len(others), k] = others
        yield self._family(exchanged)
        if size < self.most:
            yield self._family(np.column_stack([np.repeat([places], len(others), axis=0), others]))
        if size > 2:
            yield self._family(np.array([places[:k] + places[k + 1 :] for k in range(size)]))

    def _family(self, places: np.ndarray) -> Family:
        """Models (models, terms): as likely as to draw their terms one after the other."""
        size = places.shape[1]
        log_prior = np.log(FREE / self.most) + gammaln(size + 1) + self.log_prior[places].sum(1)
        columns = np.moveaxis(self.columns[:, places], 0, 1)
        return Family(
            log_prior, columns, self.length[places], lambda model: tuple(self._term(int(p)) for p in places[model])
        )

    def _term(self, place: int) -> Product:
        term = Product()
        for name, shape in zip(self.settings.varying, self.products[place], strict=True):
            term = term if shape is None else term.times(shape.product(name))
        return term
