"""The models that a user who names no terms gets: those of all families that are likely, with their weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import fdtrc

from analyzer.errors import TracelibError
from analyzer.models.choose.evidence import Weighed, weigh
from analyzer.models.choose.families import Family, families
from analyzer.models.choose.free import Free
from analyzer.models.choose.plainness import plainest
from analyzer.models.choose.settings import Settings, settings_from
from analyzer.models.choose.shapes import shapes_on
from analyzer.models.member import Member
from analyzer.models.terms.product import Product

_LEAST_WEIGHT = 1e-3
_MOST = 60
MOST_PARAMETERS = 5
"""There are 52 ways to put 5 parameters into groups, and more than 10^23 for 30."""
_NEARLY = 5.0
_ROUNDS = 6
_SURE = 0.01


Posterior = tuple[Family, Weighed, np.ndarray]


def choose_models(values: Mapping[str, np.ndarray], observed: np.ndarray) -> list[Member]:
    """The likeliest models, with weights that sum to 1; the one to be shown first, the others by weight. Those below a
    thousandth of the best are left out, and all but 60. Raises TracelibError for parameters below 0."""
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


def _members(found: Sequence[Posterior]) -> Iterator[Member]:
    """Each model once, as likely as its likeliest family says, the likeliest first; weights beside that one's."""
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
        yield Member(
            terms=terms,
            coefficients=weighed.coefficients[place] / length,
            spread=weighed.spread[place] / length,
            sigma=float(weighed.sigma[place]),
            freedom=weighed.freedom,
            weight=float(np.exp(posterior - best)),
        )


def _weighed(family: Family, settings: Settings) -> Posterior:
    weighed = weigh(family.columns, settings)
    lighter = replace(family, columns=family.columns[:0].copy())  # all families' together would be gigabytes
    return lighter, weighed, family.log_prior + weighed.log_evidence


def _free(settings: Settings, others: list[Posterior]) -> list[Posterior]:
    """Models of freely combined terms. Where the others do not explain the data, or not better, terms of the likeliest
    of each size, then of the likeliest, are exchanged for any other, added and left out, until that is no likelier."""
    free = Free.of(settings)
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


def _explains(one: Posterior, settings: Settings) -> bool:
    """Whether the likeliest model leaves no more than repetitions scatter (the F test of lack of fit)."""
    _, weighed, posterior = one
    place = int(posterior.argmax())
    terms, different = weighed.coefficients.shape[1], len(settings.mean)
    repeated = settings.rows - different
    pure = float((settings.scatter * settings.weight / settings.number).sum())
    if repeated < 1 or different <= terms or pure <= 0:
        return False
    lack = float(weighed.sigma[place]) ** 2 * weighed.freedom - pure
    return bool(fdtrc(different - terms, repeated, max(lack, 0) / (different - terms) / (pure / repeated)) > _SURE)


def _normalised(members: Iterable[Member]) -> list[Member]:
    """The same with weights that sum to 1."""
    every = list(members)
    total = sum(member.weight for member in every)
    return [member.with_weight(member.weight / total) for member in every]
