"""Measurements put together by setting: repetitions become a mean and how they scatter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from analyzer.models.fitting.cross_validation import settings_of


@dataclass(frozen=True)
class SettingMeans:
    """values: of each parameter at each setting; mean, number, scatter: of its measurements, scatter being the sum of
    squares about the mean. relative: the error is a share of the value (all are positive), else the same everywhere.
    signed: some values are below 0, so coefficients may be, too."""

    values: dict[str, np.ndarray]
    mean: np.ndarray
    number: np.ndarray
    scatter: np.ndarray
    relative: bool
    signed: bool

    @property
    def rows(self) -> int:
        """Measurements."""
        return int(self.number.sum())

    @property
    def varying(self) -> list[str]:
        """Parameters with more than one value."""
        return [name for name, x in self.values.items() if np.ptp(x) > 0]

    @property
    def weight(self) -> np.ndarray:
        """Weight of each mean by its measured value, shape (settings,)."""
        return self.number / self.errors_at(self.mean) ** 2

    @property
    def scale(self) -> float:
        """The largest mean."""
        return float(np.abs(self.mean).max())

    def errors_at(self, expected: np.ndarray) -> np.ndarray:
        """Compute the relative standard deviation of a measurement where given values are expected."""
        if not self.relative:
            return np.full(expected.shape, self.scale)
        return np.maximum(expected, _LEAST * self.mean)


_LEAST = 0.05
"""A model that expects less than this share of what was measured is not taken at its word."""


MOST_SETTINGS = 1000
"""More of them do not say more of which terms there are, and many models of each take time and memory."""


def settings_from(values: Mapping[str, np.ndarray], observed: np.ndarray) -> SettingMeans:
    """Group rows of measurements by setting. Above MOST_SETTINGS a random selection is taken, always the same."""
    setting = settings_of(values)
    first = np.unique(setting, return_index=True)[1]
    if len(first) > MOST_SETTINGS:
        drawn = np.random.default_rng(0).choice(len(first), MOST_SETTINGS, replace=False)
        rows = np.isin(setting, drawn)
        return settings_from({name: np.asarray(column)[rows] for name, column in values.items()}, observed[rows])
    number = np.bincount(setting)
    mean = np.bincount(setting, observed) / number
    scatter = np.bincount(setting, (observed - mean[setting]) ** 2)
    at = {name: np.asarray(column, float)[first] for name, column in values.items()}
    return SettingMeans(at, mean, number, scatter, bool((observed > 0).all()), bool((observed < 0).any()))
