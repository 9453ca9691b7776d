"""Families of models: each has a prior, and many models with the same number of terms, made of shapes of parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from analyzer.models.choose.setting_means import SettingMeans
from analyzer.models.choose.shapes import TermShape, shapes_on
from analyzer.models.terms.product import Product

_MODELS = 300
"""Approximate number of combinations of shapes that are weighed for each way to combine the parameters."""
_UNLIKELY = 12.0
"""Difference of the log-likelihood from the best shape above which a shape of one parameter is left out."""
FREE = 0.1
"""Prior of all models of freely combined terms; the others have one term for each group of parameters."""
_CONSTANT = 0.02
"""Prior of models without any parameter."""
_BARE = 0.2
"""Prior of models without a constant, as a share of models with the same terms."""


@dataclass(frozen=True)
class ModelFamily:
    """A family of models with the same number of terms, q.

    Attributes:
        log_prior: Logarithm of the prior of each model, shape (models,).
        columns: Values of the terms, shape (models, settings, q), scaled so that the largest value is 1.
        length: Divisors of the columns, shape (models, q).
        terms: Returns the terms of the model at an index, in the order of the columns.
    """

    log_prior: np.ndarray  # (models)
    columns: np.ndarray
    length: np.ndarray
    terms: Callable[[int], tuple[Product, ...]]


def families(settings: SettingMeans) -> Iterator[ModelFamily]:
    """Yield the families with one term for each group of varying parameters, with and without a constant."""
    varying = settings.varying
    rows = len(settings.mean)
    yield ModelFamily(np.array([np.log(_CONSTANT)]), np.ones((1, rows, 1)), np.ones((1, 1)), lambda _: (Product(),))
    if not varying:
        return
    shapes = {name: likely_shapes(settings, name, len(varying)) for name in varying}
    ways = [way for size in range(1, len(varying) + 1) for some in combinations(varying, size) for way in _ways(some)]
    full = [way for way in ways if sum(map(len, way)) == len(varying)]
    for way in ways:
        # all parameters matter, most likely: who varies one expects it to
        prior = 0.9 / len(full) if way in full else 0.1 / (len(ways) - len(full))
        for constant, share in ((True, 1 - _BARE), (False, _BARE)):
            if len(way) + constant < settings.rows - 1:
                yield _combined(settings, shapes, way, prior * share, constant)
    if len(varying) == 2:
        yield _combined(settings, shapes, ((varying[0],), (varying[1],), tuple(varying)), FREE)


Way = tuple[tuple[str, ...], ...]


def _ways(names: tuple[str, ...]) -> Iterator[Way]:
    """Yield all partitions of the names. Each group is one term, the product of one shape of each name."""
    if not names:
        yield ()
        return
    first, rest = names[0], names[1:]
    for size in range(len(rest) + 1):
        for others in combinations(rest, size):
            for way in _ways(tuple(name for name in rest if name not in others)):
                yield ((first, *others), *way)


def likely_shapes(settings: SettingMeans, name: str, parameters: int) -> list[TermShape]:
    """Return the shapes that one parameter may have, whatever the shapes of the others are.

    They are found by fits of straight lines in each slice of the data in which only this parameter varies.

    Args:
        settings: The measurements by setting.
        name: Name of the parameter.
        parameters: Number of varying parameters; with more parameters, fewer shapes are returned.
    """
    x = settings.values[name]
    shapes = shapes_on(x)
    number = len(shapes) if parameters == 1 else max(3, round(_MODELS ** (1 / parameters)))
    if len(shapes) <= number:
        return shapes
    others = [column for other, column in settings.values.items() if other != name]
    together = np.unique(np.column_stack(others), axis=0, return_inverse=True)[1].ravel()
    columns = np.array([shape.value(x) for shape in shapes])
    columns /= np.abs(columns).max(1)[:, None]
    left, used, sliced = (
        np.full(len(shapes), float((settings.scatter / settings.errors_at(settings.mean) ** 2).sum())),
        0,
        0,
    )
    for one in np.unique(together):
        slice_ = together == one
        if len(np.unique(x[slice_])) >= 3:
            left += _line_misfit(columns[:, slice_], settings.mean[slice_], settings.weight[slice_])
            used, sliced = used + int(settings.number[slice_].sum()), sliced + 1
    prior = np.log([shape.prior for shape in shapes])
    if not sliced:
        return [shapes[k] for k in np.argsort(-prior, kind="stable")[:number]]
    evidence = prior - max(used - 2 * sliced, 1) / 2 * np.log(np.maximum(left, used * 1e-18))
    order = np.argsort(-evidence, kind="stable")[:number]
    return [shapes[k] for k in order if evidence[k] > evidence[order[0]] - _UNLIKELY]


def _line_misfit(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the weighted sum of squares about the best line y = a + b x for each row of x, shape (shapes,)."""
    mean_x, mean_y = x @ weight / weight.sum(), y @ weight / weight.sum()
    across, along = x - mean_x[:, None], y - mean_y
    sxx, sxy = across**2 @ weight, across @ (weight * along)
    return float(weight @ along**2) - np.where(sxx > 0, sxy**2 / np.where(sxx > 0, sxx, 1), 0)


def _combined(
    settings: SettingMeans, shapes: dict[str, list[TermShape]], way: Way, prior: float, constant: bool = True
) -> ModelFamily:
    """Return the family with a term for each group of `way`, and perhaps a constant, for all combinations of shapes."""
    names = sorted({name for group in way for name in group})
    places = np.meshgrid(*(np.arange(len(shapes[name])) for name in names), indexing="ij")
    chosen = {name: place.ravel() for name, place in zip(names, places, strict=True)}
    values = {name: np.array([s.value(settings.values[name]) for s in shapes[name]]) for name in names}
    models = len(chosen[names[0]])
    raw = np.ones((models, len(settings.mean), len(way) + constant))
    for column, group in enumerate(way, int(constant)):
        for name in group:
            raw[:, :, column] *= values[name][chosen[name]]
    length = np.abs(raw).max(1)
    log_prior = np.full(models, np.log(prior))
    for name in names:
        of = np.array([shape.prior for shape in shapes[name]])
        log_prior += np.log(of / sum(shape.prior for shape in shapes_on(settings.values[name])))[chosen[name]]

    def terms(model: int) -> tuple[Product, ...]:
        found = [Product()] if constant else []
        for group in way:
            term = Product()
            for name in group:
                term = term.times(shapes[name][chosen[name][model]].product(name))
            found.append(term)
        return tuple(found)

    return ModelFamily(log_prior, raw / length[:, None], length, terms)
