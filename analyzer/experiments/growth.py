"""Growth of the parts of a run: each kind of time of several runs is modelled over ranks and settings.

The parts of a run are MPI calls by place, and the computation before them. Each part is fitted by itself, predicted
where no run was, and divided by the sum of all predictions there (as Extra-P does for call paths; Calotoiu et al.
2013).
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
"""Procedures that are no part of the run's time here, nor is the computation before them.

A long run has them as often as a short one.
"""
FARTHER = 4.0
"""Factor from the largest measured number of ranks to the number for which parts are predicted by default."""
_PARTITION = (CALL_KIND, BURST_KIND)
_MODELLED = (*_PARTITION, REGION_KIND, CLUSTER_KIND)
_MOST = 200
_SETTINGS = 3
_GREATEST = 1e100
_HAD = 0.8
"""Share of their computation for which ranks must have a CPU; below it, a note warns that they waited for one."""
_STEADY = 0.05
"""Relative change of a time below which it counts as steady."""


@dataclass(frozen=True)
class ExpectedTime:
    """Expected time of a part at a point, with 95 % confidence intervals.

    Attributes:
        time: Time in s, mean over the ranks.
        share: Share of the run's time.
        share_interval: Confidence interval of the share.
    """

    time: ModelPrediction
    share: float
    share_interval: tuple[float, float]


@dataclass(frozen=True)
class TimePart:
    """A kind of time as a part of the run, with its model.

    Attributes:
        kind: Kind of the part, such as "call" or "burst".
        now_s: Mean time of a rank in s, at the largest measured setting.
        now_share: Share of the run's time at the largest measured setting.
        expected: Expected time at each point.
    """

    kind: str
    name: str
    model: Model
    now_s: float
    now_share: float
    expected: tuple[ExpectedTime, ...]
    grows_as: str  # the term that changes most from the largest setting to the last point; "": the part is steady
    outside: bool  # the part begins or ends the run (MPI_Init, MPI_Finalize)

    @property
    def is_in_sum(self) -> bool:
        """True if the part is one of those whose sum is the run's time."""
        return _in_sum((self.kind, self.name))

    @property
    def growth(self) -> float:
        """Difference of the part's share of the run between the last point and the largest measured setting."""
        return self.expected[-1].share - self.now_share


@dataclass(frozen=True)
class TimeGrowth:
    """Growth of all parts of a run.

    Attributes:
        runs: Number of runs.
        parameters: Names of the parameters that differ between runs.
        largest: The largest measured setting.
        points: Settings at which times are predicted.
        parts: Parts by growth of their share, largest first. Parts that begin or end a run are last.
        now_s: Mean time of a rank in s at the largest setting, as the sum of the parts.
        run_s: The same at each point.
    """

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
    """Model the kinds of time in a table that `table` made by kinds, and predict their shares.

    Args:
        frame: Table with a row for each kind of time and run.
        factors: Columns that may influence the times.
        points: Settings to predict. Parameters that a point does not name are as at the largest setting. Empty: four
            times the largest number of ranks.
        terms: Candidate terms, as `candidates` reads them. None: chosen from the data.
        options: Options of the fit.

    Raises:
        TracelibError: Runs have fewer than three different settings, or a point names another parameter.
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
    """Return the table with texts as texts. Raises TracelibError if a column is missing or has wrong values."""
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
    """Return the numeric columns that differ between runs, ranks first, and notes about the others.

    A column that changes only with other columns is left out.
    """
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
    """Return a note if ranks waited for a CPU while they computed, as far as CPU time was recorded."""
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
    """Return the setting with the most ranks; among these, the largest values of the other parameters in turn."""
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
    """Fit a model to each kind of time. Return the rows and the model by kind.

    Kinds that were measured in too few settings are added up as the rest. So are small kinds if there are more than
    200.
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
    """Return the mean of the measurements at the largest setting. 0: the part is not in these runs."""
    there = np.all([rows[name] == value for name, value in largest.items()], axis=0)
    return float(rows[TIME][there].mean()) if there.any() else 0.0


def _expected(time: ModelPrediction, run_s: float, outside: bool) -> ExpectedTime:
    """Return the expected time of a part. `outside`: the run's time does not include the part."""
    others = run_s if outside else max(run_s - max(time.value, 0.0), 0.0)

    def share(seconds: float) -> float:
        seconds = max(seconds, 0.0)
        return 1.0 if np.isinf(seconds) else seconds / max(seconds + others, 1e-300)

    return ExpectedTime(time, share(time.value), (share(time.interval[0]), share(time.interval[1])))


def _grows_as(model: Model, largest: Mapping[str, float], point: Mapping[str, float]) -> str:
    """Return the term that changes the predicted value most between two settings. "": the value hardly changes."""
    member = model.central(**point)
    before, after = (
        np.array([c * float(term.value(at)) for c, term in zip(member.coefficients, member.terms, strict=True)])
        for at in (largest, point)
    )
    if abs((after - before).sum()) <= _STEADY * abs(before.sum()):
        return ""
    return plain(member.terms[int(np.abs(after - before).argmax())])
