"""The models that a user who names no terms gets: those of all families that are likely, with their weights."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from analyzer.models.choose.evidence import Weighed, weigh
from analyzer.models.choose.families import Family, families
from analyzer.models.choose.free import Free
from analyzer.models.choose.settings import Settings, settings_from
from analyzer.models.member import Member

_LEAST_WEIGHT = 1e-3
_MOST = 60
_NEARLY = 5.0
_ROUNDS = 6


def choose_models(values: Mapping[str, np.ndarray], observed: np.ndarray) -> list[Member]:
    """The likeliest models, the best first, with weights that sum to 1. Those below a thousandth of the best are left
    out, and all but 60."""
    settings = settings_from(values, observed)
    found = [_weighed(family, settings) for family in families(settings)]
    if settings.varying:
        found += _free(settings, max(float(posterior.max()) for _, _, posterior in found))
    best = max(float(posterior.max()) for _, _, posterior in found)
    members: dict[frozenset, Member] = {}
    for family, weighed, posterior in found:
        for place in np.flatnonzero(posterior > best + np.log(_LEAST_WEIGHT)):
            length = family.length[place]
            member = Member(
                terms=family.terms(int(place)),
                coefficients=weighed.coefficients[place] / length,
                spread=weighed.spread[place] / length,
                sigma=float(weighed.sigma[place]),
                freedom=weighed.freedom,
                weight=float(np.exp(posterior[place] - best)),
            )
            same = members.setdefault(frozenset(member.terms), member)
            if same.weight < member.weight:
                members[frozenset(member.terms)] = member
    return normalised(list(members.values()))


Posterior = tuple[Family, Weighed, np.ndarray]


def _weighed(family: Family, settings: Settings) -> Posterior:
    weighed = weigh(family.columns, settings)
    return family, weighed, family.log_prior + weighed.log_evidence


def _free(settings: Settings, best: float) -> list[Posterior]:
    """Models of freely combined terms. Where these are nearly as likely as the best of the others or likelier, terms of
    the likeliest are exchanged for any other, added and left out, until that makes it no likelier."""
    free = Free.of(settings)
    found = [_weighed(family, settings) for family in free.families()]
    for _ in range(_ROUNDS if found else 0):
        family, _, posterior = max(found, key=lambda one: float(one[2].max()))
        now = float(posterior.max())
        if now < best - _NEARLY:
            break
        around = [_weighed(other, settings) for other in free.around(family.terms(int(posterior.argmax())))]
        found += around
        if max(float(one[2].max()) for one in around) <= now + 1e-6:
            break
    return found


def normalised(members: list[Member]) -> list[Member]:
    """The heaviest, by weight, with weights that sum to 1."""
    kept = sorted(members, key=lambda member: -member.weight)[:_MOST]
    total = sum(member.weight for member in kept)
    return [member.with_weight(member.weight / total) for member in kept]
