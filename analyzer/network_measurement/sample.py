"""Overheads and gaps from rows of PRTTs, row by row, and their mean and variance for each size.

T_o(s) = (PRTT(n,d,s) - PRTT(1,0,s)) / (n-1) - d and T_g(s) = (PRTT(n,0,s) - PRTT(1,0,s)) / (n-1) (Rodriguez 2011, Eqs.
3.1 and 3.2). A message's transfer takes half of PRTT(1,0,s).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.loggp.line_fit import student
from analyzer.network_measurement.neighbourhood import neighbours
from analyzer.network_measurement.options import RULES, TYPICAL
from analyzer.network_measurement.repetitions import groups, mean_and_variance, running_median, typical
from tracelib.schema.levels import visits
from tracelib.schema.net import RowFlag
from tracelib.schema.prtt import gaps_s, overheads_s

DEVIATIONS = 2
NEAR = 1 / 3
"""Share of a neighbourhood's range of sizes, around the mean size, that counts as its middle."""
EXTREME = 0.05
"""Share of the lowest, and of the highest, times that count as extreme. The thesis gives no numbers for both."""


def negative(size: np.ndarray, time_s: np.ndarray, window: float) -> np.ndarray:
    """Return a mask of the rows that rule 1 keeps: times of 0 or more.

    Each rule takes the size in bytes and the time in s of each row, and the share of rows in a neighbourhood.
    """
    return time_s >= 0


def deviation(size: np.ndarray, time_s: np.ndarray, window: float) -> np.ndarray:
    """Return a mask of the rows that rule 2 keeps: times within two standard deviations of the mean of their size."""
    stay = np.ones(len(size), bool)
    for of in groups(size)[1]:
        times = time_s[of]
        if len(of) > 2:
            stay[of] = np.abs(times - times.mean()) <= DEVIATIONS * times.std(ddof=1)
    return stay


def neighbourhood(size: np.ndarray, time_s: np.ndarray, window: float) -> np.ndarray:
    """Return a mask of the rows that rule 3 keeps.

    It removes rows whose size is in the middle of their neighbourhood, but whose time is extreme in it.
    """
    near = neighbours(size, time_s, window, "size")
    sizes, times = size[near], time_s[near]
    least, most = sizes.min(axis=1), sizes.max(axis=1)
    inside = np.abs(size - sizes.mean(axis=1)) <= NEAR / 2 * (most - least)
    low, high = np.quantile(times, [EXTREME, 1 - EXTREME], axis=1)
    return ~(inside & ((time_s < low) | (time_s > high)))


_RULES = dict(zip(RULES, (negative, deviation, neighbourhood), strict=True))


def kept(rules: tuple[str, ...], size: np.ndarray, time_s: np.ndarray, window: float) -> np.ndarray:
    """Return a mask of the rows that are left after the rules, which apply one after the other in the thesis's order.

    Args:
        rules: Names of rules, see `RULES`. Other names are ignored.
        size: Size of each row in bytes.
        time_s: Time of each row.
        window: Share of all rows that are in a neighbourhood.
    """
    stay = np.ones(len(size), bool)
    for name, rule in _RULES.items():
        if name in rules and stay.any():
            stay[stay] = rule(size[stay], time_s[stay], window)
    return stay


PRIOR = 10
"""Degrees of freedom of the neighbouring sizes' variance, when it is combined with one size's own variance."""
FEWEST_VISITS = 4
"""Number of visits of a size from which each visit gives one value, as disturbances are common to a visit's rows."""


@dataclass(frozen=True)
class PairSample:
    """Rows of similar pairs, and masks of the rows that count for each quantity.

    Arrays have shape (rows,). Times are in s.
    """

    pair: np.ndarray
    visit: np.ndarray  # number of the visit; rows measured one after the other have the same number
    size: np.ndarray  # bytes
    train: np.ndarray  # number of messages n
    overhead_s: np.ndarray  # T_o
    gap_s: np.ndarray  # T_g
    way_s: np.ndarray
    latency_s: np.ndarray  # half of PRTT(1, 0, 1)
    overhead_counts: np.ndarray  # mask (bool) of rows that count
    gap_counts: np.ndarray
    way_counts: np.ndarray
    latency_counts: np.ndarray


@dataclass(frozen=True)
class SizeCurve:
    """A quantity over the sizes. Arrays have shape (sizes,).

    Attributes:
        time_s: Mean value.
        variance: Variance of the mean, s^2.
        rows: Number of rows, or of visits, in the mean.
    """

    time_s: np.ndarray
    variance: np.ndarray
    rows: np.ndarray


@dataclass(frozen=True)
class SizeCurves:
    """Curves of overhead, gap and transfer time over the same sizes (bytes, ascending)."""

    size: np.ndarray
    overhead: SizeCurve
    gap: SizeCurve
    way: SizeCurve

    def only(self, chosen: np.ndarray) -> SizeCurves:
        """Return the curves at some of the sizes. `chosen`: a mask or indices."""

        def part(c: SizeCurve) -> SizeCurve:
            return SizeCurve(c.time_s[chosen], c.variance[chosen], c.rows[chosen])

        return SizeCurves(self.size[chosen], part(self.overhead), part(self.gap), part(self.way))


def sample(
    rows: np.ndarray, rules: tuple[str, ...] = (TYPICAL,), window: float = 0.1, of_level: np.ndarray | None = None
) -> PairSample:
    """Compute overheads and gaps of the rows of similar pairs.

    With the rule "typical", PRTT(1,0,s) is the mean of the undisturbed rows of a size, so that a disturbed row does not
    affect others. Otherwise each row has its own PRTT(1,0,s), as in the thesis, and the rules for outliers apply.

    Args:
        rows: Rows of the measurement (net.ROW).
        rules: Names of rules, see `FILTERS`.
        window: Share of all rows that are in a neighbourhood.
        of_level: Mask of the rows to use. None: all.
    """
    visit = visits(rows)
    chosen = np.ones(len(rows), bool) if of_level is None else of_level
    warm = chosen & (rows["flags"] & RowFlag.WARM_UP == 0)
    chosen = warm if warm.any() else chosen
    rows, visit = rows[chosen], visit[chosen]
    size = rows["size"].astype(np.int64)
    robust = TYPICAL in rules

    def counts(value: np.ndarray, hit: RowFlag) -> np.ndarray:
        stay = kept(rules, size, value, window)
        if robust:
            stay[stay] = typical(size[stay], value[stay], (rows["flags"] & hit == 0)[stay])
        return stay

    way_s, latency_s = rows["one_s"] / 2, rows["zero_s"] / 2
    way_counts = counts(way_s, RowFlag.HIT_ONE)
    one_s = 2 * _means(size, way_s, way_counts) if robust else rows["one_s"]
    overhead_s, gap_s = overheads_s(rows, one_s), gaps_s(rows, one_s)
    if robust:
        latency_counts = typical(np.zeros(len(rows)), latency_s, rows["flags"] & RowFlag.HIT_ZERO == 0)
    else:
        latency_counts = kept(rules, np.zeros(len(rows)), latency_s, 1.0)
    return PairSample(
        rows["pair"],
        visit,
        size,
        rows["train"].astype(np.int64),
        overhead_s,
        gap_s,
        way_s,
        latency_s,
        counts(overhead_s, RowFlag.HIT_DELAYED),
        counts(gap_s, RowFlag.HIT_TRAIN),
        way_counts,
        latency_counts,
    )


def curves(of: PairSample) -> SizeCurves:
    """Compute the mean and its variance for each size that has rows of overhead, gap and transfer time."""
    both = np.intersect1d(of.size[of.overhead_counts], of.size[of.gap_counts])
    sizes = np.intersect1d(both, of.size[of.way_counts])
    way = _curve(of, of.way_s, of.way_counts, sizes)
    train = np.array([of.train[of.size == size].mean() for size in sizes])
    shared = way.variance * (2 / np.maximum(train - 1, 1)) ** 2  # PRTT(1,0,s) is in both differences
    overhead, gap = (
        _curve(of, value, counts, sizes, shared)
        for value, counts in ((of.overhead_s, of.overhead_counts), (of.gap_s, of.gap_counts))
    )
    return SizeCurves(sizes, overhead, gap, way)


def _means(size: np.ndarray, value: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return for each row the mean value of the rows of its size that count."""
    sizes, place = np.unique(size, return_inverse=True)
    total = np.bincount(place[counts], value[counts], minlength=len(sizes))
    number = np.bincount(place[counts], minlength=len(sizes))
    return (total / np.maximum(number, 1))[place]


def latency(of: PairSample) -> tuple[float, tuple[float, float]]:
    """Return the latency L and its 95 % confidence interval, in s.

    L is the median over visits if there are many, else over rows. A mean would follow the rows after large messages,
    whose bytes take longer because caches are cold.
    """
    chosen = of.latency_counts
    _, value = _by_visits(np.zeros(int(chosen.sum())), of.visit[chosen], of.latency_s[chosen])
    if len(value) < FEWEST_VISITS:
        return float(np.median(value)), (-np.inf, np.inf)
    aside = student(len(value) - 1) * 0.5 / len(value) ** 0.5
    low, middle, high = np.quantile(value, np.clip([0.5 - aside, 0.5, 0.5 + aside], 0, 1))
    return float(middle), (float(low), float(high))


def _by_visits(size: np.ndarray, visit: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return size and mean value of each visit, or of each row if most sizes had fewer than 4 visits."""
    pairs, place = np.unique(np.stack([size, visit]), axis=1, return_inverse=True)
    sizes, number = np.unique(pairs[0], return_counts=True)
    if not len(sizes) or np.median(number) < FEWEST_VISITS:
        return size, value
    place = place.ravel()
    return pairs[0], np.bincount(place, value) / np.bincount(place)


def _curve(
    of: PairSample, value: np.ndarray, counts: np.ndarray, sizes: np.ndarray, shared: np.ndarray | float = 0.0
) -> SizeCurve:
    """Reduce values to one mean for each size. Variances of few values are combined with variances of nearby sizes."""
    chosen = counts & np.isin(of.size, sizes)
    size, value = _by_visits(of.size[chosen], of.visit[chosen], value[chosen])
    parts = [value[places] for places in groups(size)[1]]
    number = np.array([len(part) for part in parts])
    mean, own = mean_and_variance(parts)
    freedom = np.maximum(number - 1, 0)
    level = np.maximum(np.abs(mean), 0.02 * np.median(np.abs(mean))) if len(mean) else mean
    median_of_chi = (1 - 2 / (9 * np.maximum(freedom, 1))) ** 3
    near = running_median(own / median_of_chi / level**2) * level**2
    moderated = (PRIOR * near + freedom * np.nan_to_num(own)) / (PRIOR + freedom)
    return SizeCurve(mean, moderated / np.maximum(number, 1) + shared, number)
