"""Choice of models for data without named terms: the likely models of all families, with their weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from scipy.special import fdtrc, log_ndtr

from analyzer.errors import TracelibError
from analyzer.models.averaging import WeightedModel
from analyzer.models.choose.families import ModelFamily, families
from analyzer.models.choose.free_sums import FreeSums
from analyzer.models.choose.setting_means import SettingMeans, settings_from
from analyzer.models.choose.shapes import shapes_on
from analyzer.models.terms.product import FunctionCall, Product

_ROUNDS_EVIDENCE = 3
"""Number of rounds of least squares. Each takes the errors from the values that the round before expected."""
_EXACT = 1e-9
"""Least relative error of a measurement."""


@dataclass(frozen=True)
class WeighedModels:
    """Fitted models with q columns each.

    The standard error of a prediction is sigma * |spread @ columns at the point|.
    """

    coefficients: np.ndarray  # (models, q)
    spread: np.ndarray  # (models, q, q)
    sigma: np.ndarray  # (models)
    freedom: int
    log_evidence: np.ndarray  # (models)


def weigh(columns: np.ndarray, settings: SettingMeans) -> WeighedModels:
    """Fit models, and compute their evidence: the integral of the likelihood over the coefficients.

    Coefficients may be anything from 0 to the largest mean, as columns have the largest value 1. The error has unknown
    size and is a share of the expected value. If measured values are below 0, coefficients may be as far below 0 as
    above, and the error is the same everywhere.

    Args:
        columns: Values of the terms, shape (models, settings, q).
        settings: The measurements by setting.
    """
    q = columns.shape[2]
    expected = np.broadcast_to(settings.mean, columns.shape[:2])
    freedom = settings.rows - q
    for _ in range(_ROUNDS_EVIDENCE):
        error = settings.errors_at(expected)
        root = np.sqrt(settings.number) / error
        weighted = columns * root[:, :, None]
        gram = weighted.transpose(0, 2, 1) @ weighted
        diagonal = np.einsum("mqq->mq", gram)
        inverse = np.linalg.inv(gram + (1e-13 * diagonal + 1e-300)[:, :, None] * np.eye(q))
        along = np.einsum("mkq,mk->mq", weighted, root * settings.mean)
        coefficients = np.einsum("mqr,mr->mq", inverse, along)
        expected = np.einsum("mkq,mq->mk", columns, coefficients)
    error = settings.errors_at(expected)
    left = ((settings.number * (settings.mean - expected) ** 2 + settings.scatter) / error**2).sum(1)
    left = np.maximum(left, settings.rows * _EXACT**2)
    sigma = np.sqrt(left / max(freedom, 1))
    spread, sound = _spread(inverse)
    variance = np.einsum("mqq->mq", inverse)  # of columns that nearly say the same, rounding may make it negative
    sound &= (variance > 0).all(1)
    alone = sigma[:, None] * np.sqrt(np.where(variance > 0, variance, 1.0))
    with np.errstate(divide="ignore"):  # columns that nearly say the same have no evidence
        evidence = (
            -(settings.number * np.log(error)).sum(1)
            - freedom / 2 * np.log(left)
            + np.log(np.einsum("mqq->mq", spread)).sum(1)
            - q * np.log(settings.scale)
            + (-q * np.log(2) if settings.signed else log_ndtr(coefficients / alone).sum(1))
        )
    if settings.relative:  # where its integral is largest, a term with a negative coefficient is not there
        sound &= (coefficients >= 0).all(1)
    evidence = np.where(sound & np.isfinite(evidence), evidence, -np.inf)
    return WeighedModels(coefficients, spread, sigma, freedom, evidence)


def _spread(inverse: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return roots of the inverses, shape (models, q, q), and a mask of the models that have one.

    Nearly equal columns may have none.
    """
    try:
        return np.linalg.cholesky(inverse).transpose(0, 2, 1), np.ones(len(inverse), bool)
    except np.linalg.LinAlgError:
        finite = np.isfinite(inverse).all((1, 2))
        inverse = np.where(finite[:, None, None], inverse, np.eye(inverse.shape[1]))
        inverse = (inverse + inverse.transpose(0, 2, 1)) / 2
        values, vectors = np.linalg.eigh(inverse)
        sound = finite & (values[:, 0] > 0)
        roots = np.sqrt(np.maximum(values, 0))[:, :, None] * vectors.transpose(0, 2, 1)
        triangles = np.asarray(np.linalg.qr(roots, mode="r"))
        return triangles * np.where(np.einsum("mqq->mq", triangles) < 0, -1, 1)[:, :, None], sound


NOISE = 10.0
"""Factor of weights below which the data do not tell two models apart.

This is at most "substantial" evidence (Jeffreys 1961, appendix B).
"""
_LOG = 1.0
_STEEP = 0.5
_NEGATIVE = 1.0
"""Complexity that is added for each power above 1 (`_STEEP`), and for a negative coefficient, which no time has."""
_BY_DENOMINATOR = {1: 1.0, 2: 2.0, 3: 3.0, 4: 3.0}
_ODD = 5.0


def plainest(members: Sequence[WeightedModel]) -> list[WeightedModel]:
    """Return the members with the simplest likely one first, then the others by weight.

    Likely members have at least a tenth (1 / NOISE) of the largest weight.
    """
    enough = max(member.weight for member in members) / NOISE
    chosen = min(
        (member for member in members if member.weight >= enough), key=lambda one: (complexity(one), -one.weight)
    )
    return [chosen, *(member for member in members if member is not chosen)]


def complexity(member: WeightedModel) -> float:
    """Return the complexity of a model: 1 for each term, and more for its powers.

    Whole powers add 1, halves 2, thirds and quarters 3, others 5.
    """
    return sum(map(_of_term, member.terms)) + _NEGATIVE * int((np.asarray(member.coefficients) < 0).sum())


def _of_term(term: Product) -> float:
    return 1 + sum(
        _LOG * float(power) if isinstance(atom, FunctionCall) else _of_power(power) for atom, power in term.powers
    )


def _of_power(power: Fraction) -> float:
    kind = _BY_DENOMINATOR.get(power.denominator, _ODD)
    steep = _STEEP * (abs(power.numerator) - 1) if power.denominator == 1 else 0
    return kind + float(steep) + (1 if power < 0 and power != -1 else 0)


_LEAST_WEIGHT = 1e-3
_MOST = 60
MOST_PARAMETERS = 5
"""Largest number of varying parameters. 5 parameters form 52 partitions into groups, 30 more than 10^23."""
_NEARLY = 5.0
_ROUNDS = 6
_SURE = 0.01


Posterior = tuple[ModelFamily, WeighedModels, np.ndarray]


def choose_models(values: Mapping[str, np.ndarray], observed: np.ndarray) -> list[WeightedModel]:
    """Choose the likeliest models of the data, with weights that sum to 1.

    At most 60 models are returned, each with at least a thousandth of the best one's weight.

    Args:
        values: Values of each parameter by name, shape (rows,).
        observed: Measured values, shape (rows,).

    Returns:
        The models: first the one to show, then the others by weight.

    Raises:
        TracelibError: A parameter has values below 0, or more than 5 parameters vary.
    """
    settings = settings_from(values, observed)
    if len(settings.varying) > MOST_PARAMETERS:
        raise TracelibError(
            f"{len(settings.varying)} parameters vary, and terms are chosen for at most {MOST_PARAMETERS}",
            "name those that matter, or describe --terms",
        )
    for name in settings.varying:
        if not shapes_on(settings.values[name]):
            raise TracelibError(f"{name} has values below 0, where powers and logarithms have none", "describe --terms")
    found = [_weighed(family, settings) for family in families(settings)]
    if settings.varying:
        found += _free(settings, found)
    return plainest(_normalised(_members(found)))


def _members(found: Sequence[Posterior]) -> Iterator[WeightedModel]:
    """Yield each model once, with the probability in its likeliest family, likeliest first. Weights are relative."""
    best = max(map(_likeliest, found))
    likely = [
        (float(posterior[place]), family, weighed, int(place))
        for family, weighed, posterior in found
        for place in np.flatnonzero(posterior > best + np.log(_LEAST_WEIGHT))
    ]
    seen: set[frozenset[Product]] = set()
    for posterior, family, weighed, place in sorted(likely, key=lambda one: -one[0]):
        if len(seen) == _MOST:
            return
        terms = family.terms(place)
        if frozenset(terms) in seen:
            continue
        seen.add(frozenset(terms))
        length = family.length[place]
        yield WeightedModel(
            terms=terms,
            coefficients=weighed.coefficients[place] / length,
            spread=weighed.spread[place] / length,
            sigma=float(weighed.sigma[place]),
            freedom=weighed.freedom,
            weight=float(np.exp(posterior - best)),
        )


def _weighed(family: ModelFamily, settings: SettingMeans) -> Posterior:
    weighed = weigh(family.columns, settings)
    lighter = replace(family, columns=family.columns[:0].copy())  # all families' together would be gigabytes
    return lighter, weighed, family.log_prior + weighed.log_evidence


def _free(settings: SettingMeans, others: list[Posterior]) -> list[Posterior]:
    """Return models of freely combined terms, if other models do not explain the data or are less likely.

    The search starts with the likeliest model of each size. Terms are exchanged, added and removed until the likeliest
    model does not change any more.
    """
    free = FreeSums.of(settings)
    found = [_weighed(family, settings) for family in free.families()]
    best = max(others, key=_likeliest)
    if not found or (max(map(_likeliest, found)) < _likeliest(best) - _NEARLY and _explains(best, settings)):
        return found
    starts, now = found, -np.inf
    for _ in range(_ROUNDS):
        around = [
            _weighed(other, settings)
            for family, _, posterior in starts
            for other in free.around(family.terms(int(posterior.argmax())))
        ]
        found = [*found, *around]
        starts = [max(found, key=_likeliest)]
        if _likeliest(starts[0]) <= now + 1e-6:
            break
        now = _likeliest(starts[0])
    return found


def _likeliest(one: Posterior) -> float:
    return float(one[2].max())


def _explains(one: Posterior, settings: SettingMeans) -> bool:
    """Check whether the likeliest model leaves no more than the scatter of repetitions (F test of lack of fit)."""
    _, weighed, posterior = one
    place = int(posterior.argmax())
    terms, different = weighed.coefficients.shape[1], len(settings.mean)
    repeated = settings.rows - different
    pure = float((settings.scatter * settings.weight / settings.number).sum())
    if repeated < 1 or different <= terms or pure <= 0:
        return False
    lack = float(weighed.sigma[place]) ** 2 * weighed.freedom - pure
    return bool(fdtrc(different - terms, repeated, max(lack, 0) / (different - terms) / (pure / repeated)) > _SURE)


def _normalised(members: Iterable[WeightedModel]) -> list[WeightedModel]:
    """Scale the weights of models so that they sum to 1."""
    every = list(members)
    total = sum(member.weight for member in every)
    return [member.with_weight(member.weight / total) for member in every]
