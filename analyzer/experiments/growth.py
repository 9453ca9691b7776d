"""Shares of a run that grow: each kind of time of several runs, modelled over their ranks and settings.

The parts of a run (MPI calls by place and the computation before them) are fitted one by one, predicted where no run
was, and divided by their sum there (as Extra-P does for call paths; Calotoiu et al. 2013).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from analyzer.errors import TracelibError
from analyzer.experiments.columns import KIND, NAME, RANKS, RUN, SCALE, TIME
from analyzer.experiments.kinds import BURST_KIND, CALL_KIND, CLUSTER_KIND, CPU, MEASURED, REGION_KIND
from analyzer.models.described_terms import DEFAULTS, FitOptions
from analyzer.models.model import Model, ModelPrediction
from analyzer.models.study import fit
from analyzer.models.terms.product import plain
from tracelib.schema.procedures import FINALIZE, INIT

if TYPE_CHECKING:
    import pandas

REST_KIND, REST = "rest", "all else"
OUTSIDE = INIT | FINALIZE
"""A long run has them as often as a short one: they are no part of the run's time here, nor is what is before them."""
FARTHER = 4.0
"""Factor from the largest measured number of ranks to the number at which shares are predicted by default."""
_PARTITION = (CALL_KIND, BURST_KIND)
_MODELLED = (*_PARTITION, REGION_KIND, CLUSTER_KIND)
_MOST = 200
_SETTINGS = 3
_GREATEST = 1e100
_HAD = 0.8
"""Ranks that have a CPU for less of their computation wait for one."""
_STEADY = 0.05
"""A time that changes by less than this share is steady."""


@dataclass(frozen=True)
class ExpectedTime:
    """A part at a point: seconds of a rank on average, and of the run's time its share, each with 95 % intervals."""

    time: ModelPrediction
    share: float
    share_interval: tuple[float, float]


@dataclass(frozen=True)
class TimePart:
    """A kind of time. `now` is at the largest setting that was measured; expected: at each point."""

    kind: str
    name: str
    model: Model
    now_s: float
    now_share: float
    expected: tuple[ExpectedTime, ...]
    grows_as: str  # the term that changes it most from now to the last point; "": it is steady
    outside: bool  # it begins or ends a run

    @property
    def is_in_sum(self) -> bool:
        """Check whether this is one of the parts whose sum is the run's time."""
        return _in_sum((self.kind, self.name))

    @property
    def growth(self) -> float:
        """Factor by which the part's share of the run grows until the last point."""
        return self.expected[-1].share - self.now_share


@dataclass(frozen=True)
class TimeGrowth:
    """parts: those whose share grows most first, what begins and ends a run last. run_s: a rank's mean time at the
    points, by the sum of the parts."""

    runs: int
    parameters: tuple[str, ...]
    largest: Mapping[str, float]
    points: tuple[Mapping[str, float], ...]
    parts: tuple[TimePart, ...]
    now_s: float
    run_s: tuple[float, ...]
    notes: tuple[str, ...] = field(default=())


def growth(
    frame: pandas.DataFrame,
    factors: Sequence[str],
    points: Sequence[Mapping[str, float]] = (),
    terms: str | None = None,
    options: FitOptions = DEFAULTS,
) -> TimeGrowth:
    """Model all kinds of time in a table that `table` makes by kinds: a row for each kind and run.

    factors: columns that may matter; points: values of some of these, the others are as at the largest setting.

    Raises TracelibError where runs differ in too few settings, or a point names something else.
    """
    frame = _checked(frame)
    parameters, notes = _parameters(frame, factors)
    notes += _waited(frame)
    largest = _largest(frame, parameters)
    at = tuple(_point(point, parameters, largest) for point in points) or (_farther(parameters, largest),)
    measured = frame[[KIND, NAME, RUN, *parameters]].assign(**{TIME: frame[TIME] * frame[MEASURED[0]] / frame[RANKS]})
    fitted = _fitted(measured, parameters, terms, options)
    now = {key: _now(rows, largest) for key, (rows, _) in fitted.items()}
    then = {key: [model.prediction(**point) for point in at] for key, (_, model) in fitted.items()}
    summed = [key for key in fitted if _in_sum(key)]
    now_s = sum(now[key] for key in summed)
    run_s = tuple(sum(max(then[key][k].value, 0.0) for key in summed) for k in range(len(at)))
    if not summed or now_s <= 0 or min(run_s) <= 0:
        raise TracelibError("the runs have no time outside MPI_Init and MPI_Finalize", "trace longer runs")
    found = []
    for key, (_, model) in fitted.items():
        whole = now_s + (now[key] if _outside(key) else 0.0)
        expected = tuple(_expected(time, total, _outside(key)) for time, total in zip(then[key], run_s, strict=True))
        grows = _grows_as(model, largest, at[-1])
        found.append(TimePart(*key, model, now[key], now[key] / whole, expected, grows, _outside(key)))
    order = sorted(found, key=lambda p: (p.outside, -p.growth, -p.expected[-1].time.value, p.kind, p.name))
    runs = int(frame[RUN].nunique())
    return TimeGrowth(runs, parameters, largest, at, tuple(order), now_s, run_s, tuple(notes))


def _checked(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Return the table with texts as texts. Raises TracelibError if a column is missing, or numbers are none."""
    texts, numbers = (KIND, NAME, RUN), (RANKS, TIME, MEASURED[0])
    for column in (*texts, *numbers):
        if column not in frame.columns:
            raise TracelibError(
                f"the table has no column {column!r}", "name runs, or what the table depends on: --parameters p,n"
            )
    for column in numbers:
        least = 0.0 if column == TIME else 1.0
        if frame[column].dtype.kind not in "iuf" or not frame[column].between(least, _GREATEST).all():
            raise TracelibError(f"column {column!r} is not all numbers from {least:g} on", "make the table again")
    return frame.astype(dict.fromkeys(texts, str))


def _parameters(frame: pandas.DataFrame, factors: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """Return the columns of numbers that differ between runs, ranks first; not those that only change with others."""
    runs = frame.drop_duplicates(RUN)
    others = [name for name in factors if name not in (KIND, NAME, *SCALE)]
    numbers = [name for name in (RANKS, *others) if runs[name].dtype.kind in "iufb"]
    notes = [f"{name} is no number: it is not modelled." for name in others if name not in numbers]
    kept: list[str] = []
    for name in numbers:
        if runs[name].isna().any():
            notes.append(f"Not all runs say {name}: it is not modelled.")
        elif runs[name].nunique() > 1:
            if kept and (runs.groupby(kept)[name].nunique() == 1).all():
                notes.append(f"{name} changes only with {', '.join(kept)}: what it does cannot be told from these.")
            else:
                kept.append(name)
    settings = len(runs.drop_duplicates(kept)) if kept else 1
    if settings < _SETTINGS:
        raise TracelibError(
            f"the runs differ in {settings} setting{'s' * (settings > 1)}: a model needs at least {_SETTINGS}",
            "name runs of three numbers of ranks, or sizes (--set n=64,128,256)",
        )
    return tuple(kept), notes


def _waited(frame: pandas.DataFrame) -> list[str]:
    """Warn where ranks waited for a CPU while they computed, as far as CPU time was recorded."""
    if CPU not in frame.columns or frame[CPU].dtype.kind != "f":
        return []
    bursts = frame[(frame[KIND] == BURST_KIND) & frame[CPU].notna() & ~frame[NAME].str.split(" ").str[0].isin(OUTSIDE)]
    sums = bursts[[TIME, CPU]].mul(bursts[MEASURED[0]], axis=0).groupby(bursts[RUN]).sum()
    had = sums[CPU] / sums[TIME]
    few = had[had < _HAD]
    if few.empty:
        return []
    return [
        f"In {len(few)} of {frame[RUN].nunique()} runs the ranks waited for a CPU: in the worst they had one for "
        f"{100 * few.min():.0f} % of their computation. All times contain such waiting, and so do predictions. Trace "
        "on a machine with a core for each rank."
    ]


def _largest(frame: pandas.DataFrame, parameters: Sequence[str]) -> dict[str, float]:
    """Return the setting with the most ranks, and of these the largest in the other parameters, one after the other."""
    values = frame[list(parameters)].to_numpy(float)
    return dict(zip(parameters, max(map(tuple, values.tolist())), strict=True))


def _point(given: Mapping[str, float], parameters: Sequence[str], largest: Mapping[str, float]) -> dict[str, float]:
    for name in given:
        if name not in parameters:
            raise TracelibError(
                f"nothing says how {name} matters", f"the runs differ in {', '.join(parameters)}", 2
            )  # fmt: skip
    return {**largest, **given}


def _farther(parameters: Sequence[str], largest: Mapping[str, float]) -> dict[str, float]:
    return {**largest, parameters[0]: FARTHER * largest[parameters[0]]}


Key = tuple[str, str]


def _in_sum(key: Key) -> bool:
    return key[0] in (*_PARTITION, REST_KIND) and not _outside(key)


def _outside(key: Key) -> bool:
    return key[0] in _PARTITION and key[1].split(" ")[0] in OUTSIDE


def _fitted(
    measured: pandas.DataFrame, parameters: Sequence[str], terms: str | None, options: FitOptions
) -> dict[Key, tuple[pandas.DataFrame, Model]]:
    """Fit a model to each kind of time; returns the rows and the model by kind.

    Kinds in too few settings, and small kinds where there are very many, are added up as the rest.
    """
    import pandas

    whole = measured[measured[KIND].isin(_MODELLED)]
    sizes = whole.groupby([KIND, NAME])[TIME].max().sort_values(ascending=False, kind="stable")
    found: dict[Key, tuple[pandas.DataFrame, Model]] = {}
    rest = []
    for key in sizes.index:
        rows = whole[(whole[KIND] == key[0]) & (whole[NAME] == key[1])]
        settings = len(rows.drop_duplicates(list(parameters)))
        if settings >= _SETTINGS and rows[TIME].max() > 0 and len(found) < _MOST:
            found[key] = rows, fit(rows, TIME, parameters, terms, options)
        elif _in_sum(key):
            rest.append(rows)
    if rest:
        runs = measured.drop_duplicates(RUN)[[RUN, *parameters]]
        times = pandas.concat(rest).groupby(RUN)[TIME].sum().rename(TIME)
        rows = runs.join(times, on=RUN).fillna({TIME: 0.0})
        if rows[TIME].max() > 0:
            found[REST_KIND, REST] = rows, fit(rows, TIME, parameters, terms, options)
    return found


def _now(rows: pandas.DataFrame, largest: Mapping[str, float]) -> float:
    """Return the mean of the measurements at the largest setting; 0 if the part is not in these runs."""
    there = np.all([rows[name] == value for name, value in largest.items()], axis=0)
    return float(rows[TIME][there].mean()) if there.any() else 0.0


def _expected(time: ModelPrediction, run_s: float, outside: bool) -> ExpectedTime:
    """Return the expected time. outside: the run's time is without it."""
    others = run_s if outside else max(run_s - max(time.value, 0.0), 0.0)

    def share(seconds: float) -> float:
        seconds = max(seconds, 0.0)
        return 1.0 if np.isinf(seconds) else seconds / max(seconds + others, 1e-300)

    return ExpectedTime(time, share(time.value), (share(time.interval[0]), share(time.interval[1])))


def _grows_as(model: Model, largest: Mapping[str, float], point: Mapping[str, float]) -> str:
    """Return the term that changes the predicted value most between two settings; "": that hardly changes."""
    member = model.central(**point)
    before, after = (
        np.array([c * float(term.value(at)) for c, term in zip(member.coefficients, member.terms, strict=True)])
        for at in (largest, point)
    )
    if abs((after - before).sum()) <= _STEADY * abs(before.sum()):
        return ""
    return plain(member.terms[int(np.abs(after - before).argmax())])
