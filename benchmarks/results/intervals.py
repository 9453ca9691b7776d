"""R8: samples of intervals of all lengths up to two periods."""

from __future__ import annotations

import numpy as np

from analyzer.representative.sampling import SamplingErrors, sweep
from analyzer.representative.series import StepMetric
from benchmarks.results.published import table
from benchmarks.results.rows import Part, Row, listed, percent
from benchmarks.results.sampling import series_of

SWEPT = ("Applu", "Fma3d", "Lucas", "Swim", "Mgrid")
PRINTED = {"Applu": (51, 102), "Fma3d": (61, 122), "Lucas": (102, 204), "Swim": (26, 520), "Mgrid": (48, 96)}
"""R and 2R of the captions of figures 5.5 to 5.9, in 10^7 instructions."""
PERIODS = 60
WAYS = ("msp", "ssp", "lsp")
NEAR = 0.1
"""A length is near R that differs by this share of R at most."""
SAMPLINGS = (30, 51, 80)
"""Sampling lengths of Applu in figure 5.4, in 10^7 instructions."""


def part() -> Part:
    """Compute the figures of captions and text, and the three ways of sampling on planted series."""
    published = table("subsets").set_index("benchmark").period
    stated = [_printed(name, int(published[name])) for name in SWEPT]
    said = []
    for number, name in enumerate(SWEPT):
        period = int(published[name])
        cpi, misses = series_of(period, PERIODS * period, number)
        if name == "Applu":
            said.append(_variances(cpi))
        said += _errors(name, period, sweep(cpi, misses, 2 * period))
    return Part(
        "R8: samples by intervals",
        (
            ("The captions of figures 5.5 to 5.9 beside table 5.1, in 10^7 instructions.", tuple(stated)),
            (
                f"To the letter: series like those of R5, {PERIODS} periods, four clusters of L1 misses that predict "
                "CPI, intervals of 1, 2, 3, ... steps up to 2R; Casas 2009 gives curves only. The least error is asked "
                "for at R and 2R; the shares are of the lengths that have a lower one.",
                tuple(said),
            ),
        ),
    )  # fmt: skip


def _printed(name: str, period: int) -> Row:
    once, twice = PRINTED[name]
    note = "" if twice == 2 * period else "misprint of the caption: 5.2 10^9 instructions"
    return Row(f"{name}: R, 2R", f"{once}, {twice}", f"{period}, {2 * period}", note)


def _variances(cpi: StepMetric) -> Row:
    """Compute figure 5.4: how much samples of three lengths differ."""
    spread = {}
    for steps in SAMPLINGS:
        count = len(cpi.above) // steps
        spread[steps] = float(np.var(cpi.above[: count * steps].reshape(count, steps).mean(axis=1)))
    text = listed(f"{value:.2g}" for value in spread.values())
    lowest = min(spread, key=lambda steps: spread[steps])
    return Row(f"Applu: variance of samples of {listed(SAMPLINGS)} steps", "lowest at 51", f"lowest at {lowest}", text)


def _errors(name: str, period: int, found: list[SamplingErrors]) -> list[Row]:
    said = []
    for way in WAYS:
        steps, errors = zip(*((one.steps, off) for one in found if (off := getattr(one, way)) is not None), strict=True)
        lengths, values = np.array(steps), np.array(errors)
        once, twice = (float(values[lengths == n * period][0]) for n in (1, 2))
        lower = [percent(float((values < at).mean()), 0) for at in (once, twice)]
        short = float(np.median(values[lengths <= period / 4]))
        note = (
            f"{listed(lower)} are lower; median {percent(float(np.median(values)), 2)}, up to R/4 {percent(short, 2)}"
        )
        text = f"{percent(once, 2)}, {percent(twice, 2)}"
        said.append(Row(f"{name} (R = {period}), {way.upper()}: errors at R, 2R", "least", text, note))
        least = [_least_near(lengths, values, n * period, period) for n in (1, 2)]
        said.append(Row("... the least within 10 % of R, of 2R is at", f"{period}, {2 * period}", listed(least)))
    return said


def _least_near(lengths: np.ndarray, values: np.ndarray, at: int, period: int) -> int:
    near = np.abs(lengths - at) <= max(NEAR * period, 1)
    return int(lengths[near][values[near].argmin()])
