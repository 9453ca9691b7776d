"""How good predictions are: their bias, their scatter and the whole, each said by itself.

A scatter alone says little: predictions that are all 40 % too low scatter by nothing (Rodriguez 2011, section 4.5.3,
calls such a scatter the error of a model).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Accuracy:
    """Relative errors (predicted - measured) / measured, as fractions; NaN where there are none."""

    settings: int  # that were compared
    bias: float  # mean error: below 0, predictions are too low
    dispersion: float  # root mean square of the errors around the bias
    rms: float  # of the errors themselves: rms^2 = bias^2 + dispersion^2
    mape: float  # mean absolute error


def accuracy(predicted: np.ndarray, measured: np.ndarray) -> Accuracy:
    """Compare predictions with what was measured (> 0), setting by setting; arrays of one shape."""
    with np.errstate(over="ignore", invalid="ignore"):  # of a damaged file they are infinite, or not numbers
        error = np.asarray(predicted, float) / np.asarray(measured, float) - 1
        if error.size == 0:
            return Accuracy(0, *[float("nan")] * 4)
        rms = float(np.sqrt((error**2).mean()))
        return Accuracy(error.size, float(error.mean()), float(error.std()), rms, float(abs(error).mean()))
