"""LoOgGP model from the rows of a network measurement, its errors, and how pairs of ranks differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from analyzer.errors import TracelibError
from analyzer.loggp.line_fit import fit_line, left_out
from analyzer.loggp.model import LinePiece, LoOgGP, SizeInterval
from analyzer.network_measurement.intervals.changepoint import ChangePoint, misfit, significance, significant_pieces
from analyzer.network_measurement.intervals.detectors import DETECTORS
from analyzer.network_measurement.intervals.joined_intervals import determined
from analyzer.network_measurement.options import DEFAULTS, TYPICAL, EstimateOptions
from analyzer.network_measurement.repetitions import groups, typical
from analyzer.network_measurement.roughness import noise, standing_out
from analyzer.network_measurement.sample import PairSample, SizeCurve, SizeCurves, curves, latency, sample
from tracelib.schema.levels import PairLevels, at_one_level, levels_of_pairs


@dataclass(frozen=True)
class LineErrors:
    """Relative errors of predictions at each size by lines through the other sizes."""

    median: float
    most: float  # of 95 % of the sizes


@dataclass(frozen=True)
class LinkEstimate:
    """One model and what it rests on."""

    detector: str
    model: LoOgGP
    sample: PairSample
    curves: SizeCurves  # of the sizes that count
    standing_out: np.ndarray  # sizes in bytes that were left out
    begins: tuple[int, ...]  # places of the first size of each interval
    changes: tuple[ChangePoint, ...]  # one fewer
    overhead_errors: LineErrors
    gap_errors: LineErrors
    way_errors: LineErrors
    levels: Mapping[int, PairLevels]  # of each pair
    at_other_levels: np.ndarray  # sizes in bytes that have no rows at the reported one
    joined: tuple[tuple[int, int], ...] = ()  # sizes in bytes, from and to, that had no parameters of their own


def estimate(
    rows: np.ndarray, options: EstimateOptions = DEFAULTS, about: dict[str, Any] | None = None
) -> LinkEstimate:
    """Estimate the model of the rows (net.ROW) of pairs that are alike, by the default detector."""
    return next(iter(estimates(rows, ("changepoint",), options, about)))


def estimates(
    rows: np.ndarray, detectors: Sequence[str], options: EstimateOptions = DEFAULTS, about: dict[str, Any] | None = None
) -> list[LinkEstimate]:
    """Estimate one model for each detector. Raises TracelibError if no size is left."""
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
    name: str, of: PairSample, over: SizeCurves, begins: list[int], options: EstimateOptions, about: dict[str, Any]
) -> LinkEstimate:
    way_begins = significant_pieces(misfit(over.size, (over.way,), options.tolerance), 1)
    overhead, overhead_errors = _fitted(over.size, over.overhead, begins, options.tolerance)
    gap, gap_errors = _fitted(over.size, over.gap, begins, options.tolerance)
    way, way_errors = _fitted(over.size, over.way, way_begins, options.tolerance)
    model = LoOgGP(
        *latency(of),
        tuple(
            SizeInterval(*ends, *lines) for ends, *lines in zip(_ranges(over.size, begins), overhead, gap, strict=True)
        ),
        tuple(LinePiece(*ends, line) for ends, line in zip(_ranges(over.size, way_begins), way, strict=True)),
        {**about, "detector": name},
    )
    cost = misfit(over.size, (over.overhead, over.gap), options.tolerance)
    changes = tuple(significance(cost, begins, 2))
    none = np.zeros(0, np.int64)
    errors = overhead_errors, gap_errors, way_errors
    return LinkEstimate(name, model, of, over, none, tuple(begins), changes, *errors, {}, none)


def _ranges(size: np.ndarray, begins: Sequence[int]) -> list[tuple[int, int]]:
    ends = [*begins[1:], len(size)]
    return [(int(size[begin]), int(size[end - 1])) for begin, end in zip(begins, ends, strict=True)]


def _fitted(size: np.ndarray, curve: SizeCurve, begins: Sequence[int], tolerance: float) -> tuple[list, LineErrors]:
    """Fit the line of each interval. Also return how well lines through the other sizes predict each size."""
    weight, variance = 1 / np.maximum(noise(size, curve, tolerance), 1e-150), noise(size, curve)
    lines, predicted = [], []
    for begin, end in zip(begins, [*begins[1:], len(size)], strict=True):
        part = slice(begin, end)
        lines.append(fit_line(size[part], curve.time_s[part], weight[part], variance[part]))
        predicted.append(left_out(size[part], curve.time_s[part], weight[part]))
    with np.errstate(divide="ignore", invalid="ignore"):
        off = np.abs(np.concatenate(predicted) / curve.time_s - 1)
    off = off[np.isfinite(off)]
    return lines, LineErrors(*(float(np.quantile(off, q)) for q in (0.5, 0.95))) if len(off) else LineErrors(
        np.nan, np.nan
    )


@dataclass(frozen=True)
class PairModel:
    """Model of one pair: its latency, and its overheads and gaps as multiples of the common model's."""

    ranks: tuple[int, int]
    rows: int
    latency_s: float
    overhead: float
    gap: float


def compared_pairs(of: LinkEstimate, ranks: Callable[[int], tuple[int, int]]) -> list[PairModel]:
    """Compare pairs: one model for each, by its typical rows; none if there is one pair only.

    ranks: of a pair's number.
    """
    rows = of.sample
    numbers, places = groups(rows.pair)
    if len(numbers) < 2:
        return []

    def means(value: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        keep = chosen.copy()
        keep[chosen] = typical(rows.pair[chosen], value[chosen])
        return np.array([value[at][keep[at]].mean() if keep[at].any() else np.nan for at in places])

    with np.errstate(divide="ignore", invalid="ignore"):
        shares = [rows.overhead_s / of.model.overhead(rows.size), rows.gap_s / of.model.gap(rows.size)]
    latency_s = means(rows.latency_s, np.ones(len(rows.size), bool))
    overhead, gap = (means(share, np.isfinite(share)) for share in shares)
    return [
        PairModel(ranks(int(number)), len(at), float(latency_s[i]), float(overhead[i]), float(gap[i]))
        for i, (number, at) in enumerate(zip(numbers, places, strict=True))
    ]
