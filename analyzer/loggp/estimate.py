"""From the rows of a network measurement to its LoOgGP model, and how good that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from analyzer.errors import TracelibError
from analyzer.loggp.intervals.changepoint import Change, misfit, significance, significant_pieces
from analyzer.loggp.intervals.detectors import DETECTORS
from analyzer.loggp.intervals.determined import determined
from analyzer.loggp.lines import fit_line, left_out
from analyzer.loggp.model import Interval, LoOgGP, Piece
from analyzer.loggp.options import DEFAULTS, TYPICAL, Options
from analyzer.loggp.roughness import noise, standing_out
from analyzer.loggp.sample import Curve, Curves, Sample, curves, latency, sample
from tracelib.schema.levels import Levels, at_one_level, levels_of_pairs


@dataclass(frozen=True)
class Errors:
    """How far predictions are off the measured times: of each size by the lines through the others. As fractions."""

    median: float
    most: float  # of 95 % of the sizes


@dataclass(frozen=True)
class Estimate:
    """One model and what it rests on."""

    detector: str
    model: LoOgGP
    sample: Sample
    curves: Curves  # of the sizes that count
    standing_out: np.ndarray  # sizes in bytes that were left out
    begins: tuple[int, ...]  # places of the first size of each interval
    changes: tuple[Change, ...]  # one fewer
    overhead_errors: Errors
    gap_errors: Errors
    way_errors: Errors
    levels: Mapping[int, Levels]  # of each pair
    at_other_levels: np.ndarray  # sizes in bytes that have no rows at the reported one
    joined: tuple[tuple[int, int], ...] = ()  # sizes in bytes, from and to, that had no parameters of their own


def estimate(rows: np.ndarray, options: Options = DEFAULTS, about: dict[str, Any] | None = None) -> Estimate:
    """The model of the rows (net.ROW) of pairs that are alike, by the default detector."""
    return next(iter(estimates(rows, ("changepoint",), options, about)))


def estimates(
    rows: np.ndarray, detectors: Sequence[str], options: Options = DEFAULTS, about: dict[str, Any] | None = None
) -> list[Estimate]:
    """One model for each detector. Raises TracelibError where no size is left."""
    levels = levels_of_pairs(rows, options.level) if TYPICAL in options.rules else {}
    of = sample(rows, options.rules, options.window, at_one_level(rows, levels))
    whole = curves(of)
    if not len(whole.size) or not of.latency_counts.any():
        raise TracelibError("no message size has rows left", "measure more rows, or leave out --filter")
    out = standing_out(whole, options.tolerance)
    kept = whole.only(~out)
    found = []
    for name in detectors:
        intervals = determined(kept, DETECTORS[name](kept, of, options), options.tolerance)
        one = _estimate(name, of, kept, list(intervals.begins), options, about or {})
        found.append(replace(one, joined=intervals.joined))
    elsewhere = np.setdiff1d(rows["size"], of.size)
    return [replace(e, standing_out=whole.size[out], levels=levels, at_other_levels=elsewhere) for e in found]


def _estimate(
    name: str, of: Sample, over: Curves, begins: list[int], options: Options, about: dict[str, Any]
) -> Estimate:
    way_begins = significant_pieces(misfit(over.size, (over.way,), options.tolerance), 1)
    overhead, overhead_errors = _fitted(over.size, over.overhead, begins, options.tolerance)
    gap, gap_errors = _fitted(over.size, over.gap, begins, options.tolerance)
    way, way_errors = _fitted(over.size, over.way, way_begins, options.tolerance)
    model = LoOgGP(
        *latency(of),
        tuple(Interval(*ends, *lines) for ends, *lines in zip(_ranges(over.size, begins), overhead, gap, strict=True)),
        tuple(Piece(*ends, line) for ends, line in zip(_ranges(over.size, way_begins), way, strict=True)),
        {**about, "detector": name},
    )
    cost = misfit(over.size, (over.overhead, over.gap), options.tolerance)
    changes = tuple(significance(cost, begins, 2))
    none = np.zeros(0, np.int64)
    errors = overhead_errors, gap_errors, way_errors
    return Estimate(name, model, of, over, none, tuple(begins), changes, *errors, {}, none)


def _ranges(size: np.ndarray, begins: Sequence[int]) -> list[tuple[int, int]]:
    ends = [*begins[1:], len(size)]
    return [(int(size[begin]), int(size[end - 1])) for begin, end in zip(begins, ends, strict=True)]


def _fitted(size: np.ndarray, curve: Curve, begins: Sequence[int], tolerance: float) -> tuple[list, Errors]:
    """The line of each interval, and how well lines through the other sizes predict each."""
    weight, variance = 1 / np.maximum(noise(size, curve, tolerance), 1e-150), noise(size, curve)
    lines, predicted = [], []
    for begin, end in zip(begins, [*begins[1:], len(size)], strict=True):
        part = slice(begin, end)
        lines.append(fit_line(size[part], curve.time_s[part], weight[part], variance[part]))
        predicted.append(left_out(size[part], curve.time_s[part], weight[part]))
    with np.errstate(divide="ignore", invalid="ignore"):
        off = np.abs(np.concatenate(predicted) / curve.time_s - 1)
    off = off[np.isfinite(off)]
    return lines, Errors(*(float(np.quantile(off, q)) for q in (0.5, 0.95))) if len(off) else Errors(np.nan, np.nan)
