"""R5 and R6: representative parts of sequential programs, and their lengths."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analyzer.representative.series import StepMetric
from analyzer.representative.subset import SHARES, error, lengths, representative
from benchmarks.results.published import table
from benchmarks.results.rows import Part, Row, listed, percent

NOT_FOUND = ("Gap", "Perlbmk", "Sixtrack")
LONGEST = 200_000
"""Samples of a planted series at most."""
PLANTED = (
    "Series with the period and the length that are published of each program (in 10^7 instructions): within a period "
    "CPI and L1 misses are steps of random height and length, with 2 % of noise; of the three programs without period "
    "random walks."
)


def series_of(period: float, steps: int, seed: int) -> tuple[StepMetric, StepMetric]:
    """Draw CPI and misses; period NaN: random walks."""
    random = np.random.default_rng(seed)
    if np.isnan(period):
        return tuple(_column(name, 50 + np.cumsum(random.normal(0, 0.3, steps))) for name in ("CPI", "L1"))
    at = np.arange(steps) % int(period)
    found = []
    for name in ("CPI", "L1"):
        pieces = int(min(6, max(period // 2, 2)))
        heights = 1 + random.permutation(np.linspace(0, 2, pieces))
        cuts = np.sort(random.choice(np.arange(1, int(period)), pieces - 1, replace=False))
        found.append(_column(name, heights[np.searchsorted(cuts, at, side="right")] * random.normal(1, 0.02, steps)))
    return found[0], found[1]


def _column(name: str, values: np.ndarray) -> StepMetric:
    values = np.abs(values)
    return StepMetric(name, values, np.ones(len(values)))


def part() -> Part:
    """Compute R5: periods and errors."""
    published = table("subsets")
    found = published[published.period.notna()]
    cpi, misses = (
        (found[name] - found[f"{name}_whole"]).abs() / found[f"{name}_whole"] for name in ("cpi", "l1")
    )  # fmt: skip
    factors = found.whole / found.period
    stated = [
        Row("programs with a period", "21 of 24", f"{len(found)} of {len(published)}"),
        Row("mean error of CPI", "0.37 %", percent(cpi.mean(), 2), "of the value of the whole"),
        Row("mean error of L1 misses", "4.60 %", percent(misses.mean(), 2), "of the value of the whole"),
        Row("mean error of L1 misses as printed", "4.69 %", f"{found.l1_error.mean():.2f} %", "most are of the part"),
        Row("periods of more than 10^9 instructions", "8 programs", f"{(found.period > 100).sum()} programs",
            listed(found.benchmark[found.period > 100])),
        Row("reduction, least and most", "5, 10539.7", listed(round(k, 1) for k in (min(factors), max(factors)))),
    ]  # fmt: skip
    return Part(
        "R5: representative parts of sequential programs",
        (("Recomputed from table 5.1.", tuple(stated)), (PLANTED, tuple(_planted(published)))),
    )


def _planted(published: pd.DataFrame) -> list[Row]:
    said, errors = [], []
    for number, one in enumerate(published.itertuples()):
        cpi, misses = series_of(one.period, min(int(one.whole), LONGEST), number)
        found = representative(cpi.values())
        target = "not found" if np.isnan(one.period) else f"{one.period:.0f}"
        if found is None:
            said.append(Row(one.benchmark, target, "not found"))
            continue
        off = error(cpi, found.part), error(misses, found.part)
        errors.append(off)
        said.append(
            Row(one.benchmark, target, str(found.levels[0]), f"errors {percent(off[0], 2)}, {percent(off[1], 2)}")
        )
    mean = np.mean(errors, axis=0) if errors else (np.nan, np.nan)
    return [*said, Row("mean errors of CPI, L1", "0.37 %, 4.60 %", f"{percent(mean[0], 2)}, {percent(mean[1], 2)}")]


def length_part() -> Part:
    """Compute R6: errors of parts that are shorter or longer than the period."""
    every = table("lengths")
    names = [str(share) for share in SHARES]
    found = every[(every.benchmark != "Mean Error") & every["100"].notna()]
    sums = found.groupby("benchmark", sort=False)[names].sum()
    stated = []
    for metric, rows in found.groupby("metric"):
        printed = every[(every.benchmark == "Mean Error") & (every.metric == metric)][names].iloc[0]
        ours = rows[names].mean()
        for share in ("20", "100", "200"):
            stated.append(Row(f"mean error of {metric} at {share} %", f"{printed[share]} %", f"{ours[share]:.2f} %"))
        lowest = listed(f"{share} %" for share in ours.nsmallest(2).index)
        stated.append(Row(f"lengths with the lowest means, {metric}", "100 %, 200 %", lowest))
    stated += _ranked(sums, {"100": 19, "200": 13, "140": 6, "180": 6}, 10)
    planted = [_sums_of(one.period, number) for number, one in enumerate(table("subsets").itertuples())]
    own = pd.DataFrame([one for one in planted if one], columns=names)
    return Part(
        "R6: lengths of 20 to 200 % of the period",
        (
            ("Recomputed from table 5.2, ranked by the sum of both errors.", tuple(stated)),
            (
                "The same of the planted series of R5. There 100 % and 200 % should be best in nearly all.",
                tuple(_ranked(own, {"100": 19, "200": 13}, 10)),
            ),
        ),
    )


def _ranked(sums: pd.DataFrame, targets: dict[str, int], alone: int) -> list[Row]:
    first = sums.rank(axis=1, method="min") <= 3
    said = [
        Row(f"{share} % among the three best", f"{count} of 21", f"{int(first[share].sum())} of {len(sums)}")
        for share, count in targets.items()
    ]
    best = int((sums.drop(columns="100").min(axis=1) > sums["100"]).sum())
    return [*said, Row("100 % the best alone", f"{alone} of 21", f"{best} of {len(sums)}")]


def _sums_of(period: float, seed: int) -> list[float] | None:
    if np.isnan(period):
        return None
    cpi, misses = series_of(period, int(12 * period), seed)
    found = representative(cpi.values())
    return [one.sum for one in lengths(found, (cpi, misses))] if found else None
