"""Sums of a few products of plain shapes: for data that one term for each group of parameters does not explain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from analyzer.models.choose.families import FREE, Family
from analyzer.models.choose.settings import Settings
from analyzer.models.choose.shapes import PLAIN, Shape, shapes_on
from analyzer.models.fitting.criteria import criterion_of
from analyzer.models.search.exact import search_all
from analyzer.models.search.space import make_space, most_telling
from analyzer.models.terms.product import Product, atom_names

_POOL = 12
"""Terms of which all subsets are tried."""
_MODELS = 100
"""The best of these that are weighed."""
_MOST_PRODUCTS = 1000
_FEW = 50
_TRIED = 40
"""So many products are tried in place of a term, or beside others."""
_DEPENDENT = 1e-9
"""What is left of a column beside others that give it."""
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
        positive = None if self.settings.signed else np.ones(len(space.terms), bool)
        found = search_all(space, criterion, keep=_MODELS, positive=positive)
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
        """Models with one of these terms exchanged for another product; with one more; with one less."""
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
        """The likeliest products beside these, with a coefficient above 0 if all are: by least squares with the errors
        of what was measured, which are done in a moment, so that few models must be weighed."""
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
        scatter = float((settings.scatter * settings.weight / settings.number).sum())
        left = np.maximum(rest @ rest - gain**2, 0) + scatter
        likely = self.log_prior - settings.rows / 2 * np.log(np.maximum(left, settings.rows * 1e-18))
        order = np.argsort(-np.where(gain > 0, likely, -np.inf), kind="stable")
        return [int(place) for place in order[:_TRIED] if gain[place] > 0]

    def _family(self, places: np.ndarray) -> Family:
        """Models (models, terms): as likely as to draw their terms one after the other."""
        size = places.shape[1]
        log_prior = np.log(FREE / self.most) + gammaln(size + 1) + self.log_prior[places].sum(1)
        columns = np.moveaxis(self.columns[:, places], 0, 1)
        return Family(
            log_prior, columns, self.length[places], lambda model: tuple(self._term(int(p)) for p in places[model])
        )

    @cached_property
    def _places(self) -> dict[Shapes, int]:
        return {shapes: place for place, shapes in enumerate(self.products)}

    @cached_property
    def _factors(self) -> dict[str, dict[Product, Shape | None]]:
        """Of each parameter what a product of shapes can have of it."""
        values, names = self.settings.values, self.settings.varying
        shapes = {name: shapes_on(values[name], PLAIN) for name in names}
        return {name: {Product(): None} | {s.product(name): s for s in shapes[name]} for name in names}

    def _shapes_of(self, term: Product) -> Shapes | None:
        """The shapes whose product a term is; None: there are none. (To write all products as terms would take longer
        than the rest of a fit.)"""
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
