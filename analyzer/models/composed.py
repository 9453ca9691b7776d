"""A model of quantities that are themselves modelled (TIA, 1.13 and 3.8): cache misses in a time, for example."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature

from analyzer.errors import TracelibError
from analyzer.models.model import Model


@dataclass(frozen=True)
class Composed:
    """outer: a model of which some parameters are quantities; inner: for each of these what predicts it, a `Model` or a
    function whose arguments are the other parameters (a collective's time from the network's parameters)."""

    outer: Model
    inner: Mapping[str, Model | Callable[..., float]]

    def __post_init__(self) -> None:
        strange = sorted(set(self.inner) - set(self.outer.parameters))
        if strange:
            raise TracelibError(f"the outer model has no {', '.join(strange)}", f"it is of {self.outer.parameters}")

    @property
    def parameters(self) -> tuple[str, ...]:
        """Those that a prediction needs."""
        own = [name for name in self.outer.parameters if name not in self.inner]
        return tuple(dict.fromkeys([*own, *(name for model in self.inner.values() for name in _arguments(model))]))

    def quantity(self, name: str, **values: float) -> float:
        """One of the quantities at these values of the parameters; not negative."""
        model = self.inner[name]
        of = {argument: values[argument] for argument in _arguments(model)}
        return max(model.predict(**of) if isinstance(model, Model) else float(model(**of)), 0.0)

    def predict(self, **values: float) -> float:
        """The outer observable, with all quantities as predicted."""
        return self.outer.predict(**self._all(values))

    def share(self, name: str, **values: float) -> float:
        """What part of the outer observable is the quantity's: its coefficient times it, by the selected model."""
        every = self._all(values)
        without = self.outer(**{**every, name: 0.0})
        return 1 - without / self.outer(**every)

    def _all(self, values: Mapping[str, float]) -> dict[str, float]:
        if missing := [name for name in self.parameters if name not in values]:
            raise TracelibError(f"no value of {', '.join(missing)}", f"the model is of {', '.join(self.parameters)}")
        own = {name: values[name] for name in self.outer.parameters if name not in self.inner}
        return own | {name: self.quantity(name, **values) for name in self.inner}


def _arguments(model: Model | Callable[..., float]) -> tuple[str, ...]:
    return model.parameters if isinstance(model, Model) else tuple(signature(model).parameters)
