"""Models whose parameters are themselves modelled, such as cache misses in a time (TIA, 1.13 and 3.8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from math import hypot

import numpy as np
from scipy.special import stdtrit

from analyzer.errors import TracelibError
from analyzer.models.model import CONFIDENCE, Model, ModelPrediction


@dataclass(frozen=True)
class ComposedModel:
    """A model whose parameters are partly quantities that other models predict.

    Attributes:
        outer: The model of the observable.
        inner: Model of each quantity, by the name of the outer model's parameter. It is a `Model`, or a function whose
            arguments are the other parameters (such as a collective's time from the network's parameters).
    """

    outer: Model
    inner: Mapping[str, Model | Callable[..., float]]

    def __post_init__(self) -> None:
        strange = sorted(set(self.inner) - set(self.outer.parameters))
        if strange:
            raise TracelibError(f"the outer model has no {', '.join(strange)}", f"it is of {self.outer.parameters}")

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters that a prediction needs, of the outer model and of all quantities."""
        own = [name for name in self.outer.parameters if name not in self.inner]
        return tuple(dict.fromkeys([*own, *(name for model in self.inner.values() for name in _arguments(model))]))

    @property
    def observable(self) -> str:
        """Name of the outer model's observable."""
        return self.outer.observable

    def quantity(self, name: str, **values: float) -> float:
        """Return the predicted value of a quantity at these values of the parameters, at least 0."""
        model = self.inner[name]
        of = {argument: values[argument] for argument in _arguments(model)}
        return max(model.predict(**of) if isinstance(model, Model) else float(model(**of)), 0.0)

    def predict(self, **values: float) -> float:
        """Predict the outer model's observable, with predicted values of all quantities."""
        return self.outer.predict(**self._all(values))

    def prediction(self, **values: float) -> ModelPrediction:
        """Predict the outer model's observable with its 95 % interval.

        The uncertainty of each quantity adds to that of the outer model, as independent errors do. A quantity that a
        function predicts counts as exactly known.
        """
        every = self._all(values)
        outer = self.outer.prediction(**every)
        ends = [[self.outer.predict(**{**every, name: end}) for end in self._ends(name, values)] for name in self.inner]
        low = hypot(outer.value - outer.interval[0], *(outer.value - min(*pair, outer.value) for pair in ends))
        high = hypot(outer.interval[1] - outer.value, *(max(*pair, outer.value) - outer.value for pair in ends))
        least = outer.value - low
        if self.outer.relative and outer.value > 0:  # all that was measured is positive
            least = max(least, 0.0)
        return ModelPrediction(outer.value, (least, outer.value + high))

    def share_prediction(self, name: str, **values: float) -> ModelPrediction:
        """Predict the share of a quantity in the observable, with its 95 % interval.

        The interval follows from the errors of the coefficients and the interval of the quantity. If all terms were
        described, the coefficients come from the model of all terms, so that the interval does not depend on the
        choice of terms.
        """
        every = self._all(values)
        share = self.share(name, **values)
        member = self.outer.whole or self.outer.selected
        if not np.isfinite(member.sigma) or member.freedom < 1:
            return ModelPrediction(share, (-np.inf, np.inf))
        terms = np.array([float(term.value(every)) for term in member.terms])
        inside = np.where([name in term.names() for term in member.terms], terms, 0.0)
        total = float(member.coefficients @ terms)
        middle = float(member.coefficients @ inside) / total
        times = float(stdtrit(member.freedom, (1 + CONFIDENCE) / 2)) * member.sigma
        of_costs = times * float(np.linalg.norm(member.spread @ (inside - middle * terms))) / abs(total)
        ends = [self._share_of({**every, name: end}, name) - share for end in self._ends(name, values)]
        low, high = middle - hypot(of_costs, min(0.0, *ends)), middle + hypot(of_costs, max(0.0, *ends))
        return ModelPrediction(share, (min(low, share), max(high, share)))

    def beyond(self, **values: float) -> list[str]:
        """Return sentences about values that lie outside of the data of one of the models."""
        models = [self.outer, *(model for model in self.inner.values() if isinstance(model, Model))]
        said = [model.beyond(**{k: v for k, v in values.items() if k in model.parameters}) for model in models]
        return list(dict.fromkeys(one for some in said for one in some))

    def _ends(self, name: str, values: Mapping[str, float]) -> tuple[float, float]:
        """Return the ends of a quantity's 95 % interval, at least 0."""
        model = self.inner[name]
        if not isinstance(model, Model):
            return (self.quantity(name, **values),) * 2
        low, high = model.prediction(**{argument: values[argument] for argument in model.parameters}).interval
        return max(low, 0.0), max(high, 0.0)

    def share(self, name: str, **values: float) -> float:
        """Return the share of a quantity in the observable: the terms that contain it, in the selected model."""
        return self._share_of(self._all(values), name)

    def part(self, name: str, **values: float) -> float:
        """Return the sum of the terms that contain a quantity, in the observable's unit.

        Args:
            name: Name of the quantity.
            **values: Values of all parameters of the outer model, quantities included.
        """
        return float(self.outer.selected.coefficients @ self._terms_with(name, values))

    def _share_of(self, every: Mapping[str, float], name: str) -> float:
        return self.part(name, **every) / self.outer(**every)

    def has_part(self, name: str) -> bool:
        """Check whether the selected model has a term that contains a quantity."""
        return any(name in term.names() for term in self.outer.selected.terms)

    def _terms_with(self, name: str, values: Mapping[str, float]) -> np.ndarray:
        """Return the values of the terms that contain a quantity, and 0 for other terms, shape (terms,)."""
        terms = self.outer.selected.terms
        return np.array([float(term.value(values)) if name in term.names() else 0.0 for term in terms])

    def _all(self, values: Mapping[str, float]) -> dict[str, float]:
        if missing := [name for name in self.parameters if name not in values]:
            raise TracelibError(f"no value of {', '.join(missing)}", f"the model is of {', '.join(self.parameters)}")
        own = {name: values[name] for name in self.outer.parameters if name not in self.inner}
        return own | {name: self.quantity(name, **values) for name in self.inner}


def _arguments(model: Model | Callable[..., float]) -> tuple[str, ...]:
    return model.parameters if isinstance(model, Model) else tuple(signature(model).parameters)
