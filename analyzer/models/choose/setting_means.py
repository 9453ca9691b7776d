"""Measurements by setting: the mean of a setting's repetitions, and their scatter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from analyzer.models.fitting.cross_validation import settings_of


@dataclass(frozen=True)
class SettingMeans:
    """Measurements by setting. Arrays have shape (settings,).

    Attributes:
        values: Value of each parameter by name.
        mean: Mean of the setting's measurements.
        number: Number of the setting's measurements.
        scatter: Sum of squares of the setting's measurements about their mean.
        relative: The error is a share of the value, as all values are positive. False: it is the same everywhere.
        signed: Some values are below 0, so that coefficients may be negative.
    """

    values: dict[str, np.ndarray]
    mean: np.ndarray
    number: np.ndarray
    scatter: np.ndarray
    relative: bool
    signed: bool

    @property
    def rows(self) -> int:
        """Number of measurements."""
        return int(self.number.sum())

    @property
    def varying(self) -> list[str]:
        """Names of the parameters with more than one value."""
        return [name for name, x in self.values.items() if np.ptp(x) > 0]

    @property
    def weight(self) -> np.ndarray:
        """Weight of each mean: number of measurements / error^2 at the mean, shape (settings,)."""
        return self.number / self.errors_at(self.mean) ** 2

    @property
    def scale(self) -> float:
        """The largest absolute mean."""
        return float(np.abs(self.mean).max())

    def errors_at(self, expected: np.ndarray) -> np.ndarray:
        """Return the size of the error where given values are expected, as a multiple of sigma.

        It is the expected value if errors are relative, but at least 5 % of the mean. Otherwise it is the largest mean.
        """
        if not self.relative:
            return np.full(expected.shape, self.scale)
        return np.maximum(expected, _LEAST * self.mean)


_LEAST = 0.05
"""Least expected value for the size of the error, as a share of the measured mean."""


MOST_SETTINGS = 1000
"""Largest number of settings: more settings hardly help to find terms, but take time and memory."""


def settings_from(values: Mapping[str, np.ndarray], observed: np.ndarray) -> SettingMeans:
    """Group measurements by setting. Of more than MOST_SETTINGS settings, a random selection is taken, always the same.

    Args:
        values: Values of each parameter by name, shape (rows,).
        observed: Measured values, shape (rows,).
    """
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
