"""Fit of a LoOgGP model to the rows of a network measurement, its errors, and differences between pairs of ranks."""

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
    """Relative errors of lines at each size, when the line is fitted to the other sizes only.

    Attributes:
        median: Median over the sizes.
    """

    median: float
    most: float  # error that 95 % of the sizes do not exceed


@dataclass(frozen=True)
class LinkEstimate:
    """A fitted LoOgGP model, and the data on which it is based."""

    detector: str
    model: LoOgGP
    sample: PairSample
    curves: SizeCurves  # curves of the sizes that were fitted
    standing_out: np.ndarray  # sizes in bytes that were left out because they differ from their neighbours
    begins: tuple[int, ...]  # index of the first size of each interval
    changes: tuple[ChangePoint, ...]  # boundaries between the intervals
    overhead_errors: LineErrors
    gap_errors: LineErrors
    way_errors: LineErrors
    levels: Mapping[int, PairLevels]  # speed levels of each pair, by the pair's number
    at_other_levels: np.ndarray  # sizes in bytes that have no rows at the chosen speed level
    joined: tuple[tuple[int, int], ...] = ()  # (from, to) in bytes of joined intervals, which had no parameters


def estimate(
    rows: np.ndarray, options: EstimateOptions = DEFAULTS, about: dict[str, Any] | None = None
) -> LinkEstimate:
    """Fit a LoOgGP model to rows of similar pairs with the default detector, "changepoint".

    Args:
        rows: Rows of the measurement (`net.ROW`).
        options: Options of the fit.
        about: Further attributes for the model.

    Raises:
        TracelibError: No message size has rows left.
    """
    return next(iter(estimates(rows, ("changepoint",), options, about)))


def estimates(
    rows: np.ndarray, detectors: Sequence[str], options: EstimateOptions = DEFAULTS, about: dict[str, Any] | None = None
) -> list[LinkEstimate]:
    """Fit one LoOgGP model for each detector to rows of similar pairs.

    Args:
        rows: Rows of the measurement (`net.ROW`).
        detectors: Names of detectors, see `DETECTORS`.
        options: Options of the fit.
        about: Further attributes for the models.

    Raises:
        TracelibError: No message size has rows left.
    """
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
    """Fit the line of each interval, and compute how well lines through the other sizes predict each size."""
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
    """Parameters of one pair of ranks, compared with the common model.

    Attributes:
        ranks: The two ranks.
        rows: Number of rows of the pair.
        latency_s: Latency of the pair.
        overhead: Mean ratio of the pair's overhead to the common model's.
        gap: Mean ratio of the pair's gap to the common model's.
    """

    ranks: tuple[int, int]
    rows: int
    latency_s: float
    overhead: float
    gap: float


def compared_pairs(of: LinkEstimate, ranks: Callable[[int], tuple[int, int]]) -> list[PairModel]:
    """Compare each pair of ranks with the common model, by the pair's undisturbed rows.

    Args:
        of: The common model, with its sample.
        ranks: Returns the two ranks of a pair's number.

    Returns:
        One model for each pair. Empty if there is only one pair.
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
