"""Reduction of a LoOgGP model to older models: LogGP (overhead of one size), LogP (no sizes), Hockney (one line)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.loggp.line_fit import fit_line
from analyzer.loggp.model import LoOgGP
from analyzer.network_measurement.sample import SizeCurve, SizeCurves


@dataclass(frozen=True)
class LogP:
    """The LogP model, with overhead and gap of one byte. It describes small messages."""

    latency_s: float  # L
    overhead_s: float  # o
    gap_s: float  # g


@dataclass(frozen=True)
class LogGP:
    """The LogGP model: the gap is one line over all sizes, the overhead is constant.

    The overhead is the overhead of one byte (Rodriguez 2011, Eqs. 3.3 and 3.4).
    """

    latency_s: float  # L
    overhead_s: float  # o
    gap_s: float  # g
    gap_s_per_byte: float  # G
    gap_error: float  # median relative error of the gap over the measured sizes, as a fraction

    def gap(self, size: np.ndarray) -> np.ndarray:
        """Return the time in s between two messages of `size` bytes."""
        return self.gap_s + self.gap_s_per_byte * (np.asarray(size, float) - 1)


@dataclass(frozen=True)
class Hockney:
    """The Hockney model: a message of m bytes takes alpha + beta m (Eq. 1.1)."""

    alpha_s: float
    beta_s_per_byte: float
    error: float  # median relative error of the time over the measured sizes, as a fraction

    def time(self, size: np.ndarray) -> np.ndarray:
        """Return the time in s that a message of `size` bytes takes."""
        return self.alpha_s + self.beta_s_per_byte * np.asarray(size, float)


def logp(model: LoOgGP) -> LogP:
    """Reduce a LoOgGP model to LogP: its parameters at one byte."""
    return LogP(model.latency_s, float(model.overhead(1)), float(model.gap(1)))


def loggp(model: LoOgGP, of: SizeCurves) -> LogGP:
    """Reduce a LoOgGP model to LogGP.

    The gap is a line through the gaps of all sizes, by least squares of the relative errors.

    Args:
        model: The model.
        of: Measured curves over the sizes.
    """
    start, slope, error = _one_line(of.size, of.gap)
    return LogGP(model.latency_s, float(model.overhead(1)), start, slope, error)


def hockney(of: SizeCurves) -> Hockney:
    """Fit the Hockney model: a line through all transfer times, by least squares of the relative errors."""
    start, slope, error = _one_line(of.size, of.way)
    return Hockney(start - slope, slope, error)


def _one_line(size: np.ndarray, curve: SizeCurve) -> tuple[float, float, float]:
    """Fit one line; return time in s at one byte, time for each further byte, and median relative error."""
    known = curve.time_s > 0
    size, time_s = size[known], curve.time_s[known]
    line = fit_line(size, time_s, 1 / time_s**2, time_s**2)
    return line.start, line.slope, float(np.median(np.abs(line(size) / time_s - 1)))
