"""Reduction of a LoOgGP model to older models: LogGP (no O), LogP (no sizes at all), Hockney (one line)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.loggp.line_fit import fit_line
from analyzer.loggp.model import LoOgGP
from analyzer.network_measurement.sample import SizeCurve, SizeCurves


@dataclass(frozen=True)
class LogP:
    """Small messages: overhead and gap of one byte."""

    latency_s: float  # L
    overhead_s: float  # o
    gap_s: float  # g


@dataclass(frozen=True)
class LogGP:
    """The gap is one line over all sizes, the overhead that of one byte (Rodriguez 2011, Eqs. 3.3 and 3.4)."""

    latency_s: float  # L
    overhead_s: float  # o
    gap_s: float  # g
    gap_s_per_byte: float  # G
    gap_error: float  # median over the measured sizes, as a fraction

    def gap(self, size: np.ndarray) -> np.ndarray:
        """Return the seconds between two messages of `size` bytes."""
        return self.gap_s + self.gap_s_per_byte * (np.asarray(size, float) - 1)


@dataclass(frozen=True)
class Hockney:
    """A message of m bytes takes alpha + beta m (Eq. 1.1)."""

    alpha_s: float
    beta_s_per_byte: float
    error: float  # median over the measured sizes, as a fraction

    def time(self, size: np.ndarray) -> np.ndarray:
        """Return the seconds that a message of `size` bytes takes."""
        return self.alpha_s + self.beta_s_per_byte * np.asarray(size, float)


def logp(model: LoOgGP) -> LogP:
    """Reduce the model to its values at one byte."""
    return LogP(model.latency_s, float(model.overhead(1)), float(model.gap(1)))


def loggp(model: LoOgGP, of: SizeCurves) -> LogGP:
    """Fit one line through the gaps of all sizes, by least squares of the relative errors."""
    start, slope, error = _one_line(of.size, of.gap)
    return LogGP(model.latency_s, float(model.overhead(1)), start, slope, error)


def hockney(of: SizeCurves) -> Hockney:
    """Fit one line through the ways of all sizes, by least squares of the relative errors."""
    start, slope, error = _one_line(of.size, of.way)
    return Hockney(start - slope, slope, error)


def _one_line(size: np.ndarray, curve: SizeCurve) -> tuple[float, float, float]:
    """Return time at one byte, time for each further byte, median relative error."""
    known = curve.time_s > 0
    size, time_s = size[known], curve.time_s[known]
    line = fit_line(size, time_s, 1 / time_s**2, time_s**2)
    return line.start, line.slope, float(np.median(np.abs(line(size) / time_s - 1)))
