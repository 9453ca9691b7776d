"""IMPORT: one table from several runs and earlier tables (Rodriguez 2011, section 2.5.2; cll.import)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from analyzer.errors import TracelibError
from analyzer.experiments.columns import (
    BEGIN,
    CLOCK,
    EXECUTION,
    FIXED,
    KIND,
    NAME,
    NODE,
    RANK,
    REGION,
    RUN,
    SCALE,
    THREAD,
    TIME,
    parameter_columns,
)
from analyzer.experiments.executions import executions
from analyzer.experiments.expression import evaluate
from analyzer.experiments.external_data import REPLY, add_ganglia, network_columns
from analyzer.experiments.filters import observable_of, outliers, select
from analyzer.experiments.formats import is_table, read_table
from analyzer.experiments.groupings import KINDS
from analyzer.experiments.run_factors import RunFactor
from analyzer.metrics.region_parameters import parameter_column
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.trace import Mark, Regions, Trace

if TYPE_CHECKING:
    import pandas

RUNS, EXECUTIONS = "run", "execution"
LEVELS = {RUNS: (REGION, RUN), EXECUTIONS: (REGION, RUN, EXECUTION)}
"""Columns, besides factors, that are equal in rows that `per` puts together, by level."""
STATISTICS = ("median", "min", "mean", "max")
COUNT = "rows"
_DROPPED = (NODE, RANK, THREAD, EXECUTION, BEGIN)


def per(level: str, frame: pandas.DataFrame, factors: Sequence[str], statistic: str) -> pandas.DataFrame:
    """Put repeated rows together: one row for each run (and region), or execution, and setting of the factors.

    Each measured column has its `statistic` over the rows. Column `rows` has their number (`rows_` if there is such a
    column already).

    Args:
        level: "run" or "execution".
        frame: The table.
        factors: Columns that identify a setting.
        statistic: One of STATISTICS.

    Raises:
        TracelibError: The table has no column that distinguishes runs or settings.
    """
    keys = [name for name in dict.fromkeys([*LEVELS[level], *factors]) if name in frame.columns]
    values = [
        name for name in frame.columns
        if name not in keys and name not in _DROPPED and frame[name].dtype.kind in "iufb"
    ]  # fmt: skip
    if not keys:
        raise TracelibError(f"nothing says which rows are of one {level}", "name the parameters: --parameters n,ranks")
    groups = frame.groupby(keys, dropna=False, sort=False)
    found = groups.size().to_frame(COUNT + "_" * sum(name in (COUNT, COUNT + "_") for name in frame.columns))
    for name in values:
        found[name] = groups[name].agg(statistic)
    return found.reset_index()


def join(frames: Sequence[pandas.DataFrame]) -> tuple[pandas.DataFrame, tuple[str, ...]]:
    """Join the rows of several tables, one table after the other.

    Tables without rows are ignored. If all tables have regions, rows are ordered by region. TIA's CLOCK and our `time`
    are both wall-clock time in s. If some tables have only CLOCK and others `time`, the column is `time`.

    Args:
        frames: The tables.

    Returns:
        The joined table with the common columns, and the names of columns that a table lacks.
    """
    import pandas

    frames = [frame for frame in frames if len(frame)] or list(frames[:1])
    if not frames:
        return pandas.DataFrame({name: [] for name in FIXED}), ()
    frames = _with_time(frames)
    every = list(dict.fromkeys(name for frame in frames for name in frame.columns))
    common = [name for name in every if all(name in frame.columns for frame in frames)]
    joined = pandas.concat([frame[common] for frame in frames], ignore_index=True)
    if REGION in common and len(frames) > 1:
        joined = joined.sort_values(REGION, kind="stable", ignore_index=True)
    return joined, tuple(name for name in every if name not in common)


def _with_time(frames: Sequence[pandas.DataFrame]) -> list[pandas.DataFrame]:
    alone = [CLOCK in frame.columns and TIME not in frame.columns for frame in frames]
    if not any(TIME in frame.columns for frame in frames):
        return list(frames)
    return [frame.rename(columns={CLOCK: TIME}) if only else frame for frame, only in zip(frames, alone, strict=True)]


@dataclass(frozen=True)
class ExperimentTableOptions:
    """Options of a table; see docs/analyze-table.md."""

    by: tuple[str, ...] = ()  # kinds of time (KINDS) instead of executions of regions
    settings: tuple[RunFactor, ...] = ()  # parameters from command lines and file names
    network: str = ""  # file of a LoOgGP model, whose parameters become columns; "": none
    message_size: int = 1  # size in bytes for which the network's parameters are taken
    ganglia: tuple[str, ...] = ()  # names of Ganglia's metrics, which become columns
    computed: tuple[tuple[str, str], ...] = ()  # computed columns: name, expression
    where: tuple[str, ...] = ()  # conditions on rows
    per: str = ""  # put repeated rows together by this level, one of LEVELS; "": no
    statistic: str = "median"  # statistic of repeated rows, one of STATISTICS
    rule: str = ""  # rule by which outliers are removed, one of filters.RULES; "": none
    observable: str = ""  # column in which outliers are searched; "": as observable_of chooses
    factors: tuple[str, ...] = ()  # columns that identify a setting; (): the known ones of the runs


@dataclass(frozen=True)
class ExperimentTable:
    """A table of experiments, and what was left out of it."""

    frame: pandas.DataFrame
    factors: tuple[str, ...]  # columns that identify the setting of a row, as far as they are known
    left_out: tuple[str, ...]  # columns that were left out because an input lacks them
    outliers: int  # number of rows that were removed as outliers
    problems: tuple[tuple[str, str], ...] = field(default=())  # problems of runs: file, message


def table(
    inputs: Sequence[str | os.PathLike[str]], wanted: ExperimentTableOptions | None = None, team: Team | None = None
) -> ExperimentTable:
    """Build one table from runs and tables. Collective over the team.

    Rows are made and joined. Then columns are computed, rows selected, repeated measurements put together, and outliers
    removed, in this order.

    Args:
        inputs: Runs that `open_trace` opens, and tables (.csv, .parquet, .xml).
        wanted: Options. None: the defaults.
        team: Processes that share the work. None: this process alone.

    Raises:
        TracelibError: An input cannot be read, or a column, condition or expression is not valid.
    """
    wanted, team = wanted or ExperimentTableOptions(), team or Team()
    frames, factors, problems = [], list[str](), []
    for name in inputs:
        path = Path(name)
        if is_table(path) and path.is_file():
            frames.append(read_table(path))
            continue
        frame, known, lines = _of_run(path, wanted, team)
        frames.append(frame)
        factors += [factor for factor in known if factor not in factors]
        problems += [(str(path), line) for line in lines]
    frame, left_out = join(frames)
    if wanted.network:
        for column, value in network_columns(wanted.network, wanted.message_size).items():
            frame[column] = value
    for column, text in wanted.computed:
        frame[column] = evaluate(text, frame)
    frame = select(frame, wanted.where)
    chosen = wanted.factors or tuple(factor for factor in factors if factor in frame.columns)
    _check(frame, chosen)
    if wanted.per:
        frame = per(wanted.per, frame, chosen, wanted.statistic)
    removed = np.zeros(len(frame), bool)
    if wanted.rule and len(frame):
        removed = outliers(frame, wanted.observable or observable_of(frame), _needed(chosen), wanted.rule)
    frame = frame[~removed].reset_index(drop=True)
    return ExperimentTable(frame, chosen, left_out, int(removed.sum()), tuple(problems))


def _check(frame: pandas.DataFrame, factors: Sequence[str]) -> None:
    for name in factors:
        if name not in frame.columns:
            raise TracelibError(f"there is no column {name}", f"columns: {', '.join(map(str, frame.columns))}")


def _needed(factors: tuple[str, ...]) -> tuple[str, ...]:
    if not factors:
        raise TracelibError("nothing says which rows repeat each other", "name the parameters: --parameters n,ranks")
    return factors


def _of_run(
    path: Path, wanted: ExperimentTableOptions, team: Team
) -> tuple[pandas.DataFrame, tuple[str, ...], list[str]]:
    """Return the rows of one run, the columns of its factors, and its problems."""
    trace = open_trace(path, team)
    try:
        if not trace.has_call_times:
            raise TracelibError(f"{path} holds no times", "take a traced run")
        problems = [problem.line for problem in trace.problems if not problem.note]
        if wanted.by:
            frame, known = _by_kind(trace, wanted.by, team)
        else:
            frame = executions(trace, team)
            known = (REGION, *SCALE, *parameter_columns(trace.extra(Regions).parameters, frame.columns))
            known = tuple(name for name in known if name != REPLY)
            if wanted.ganglia:
                frame = add_ganglia(frame, wanted.ganglia, (path.parent, Path()))
        frame[RUN] = str(path)
        for setting in wanted.settings:
            if setting.name in frame.columns:
                raise TracelibError(f"{path} has a column {setting.name} already", "give the parameter another name")
            frame[setting.name] = setting.of(trace)
        return frame, (*known, *(setting.name for setting in wanted.settings)), problems
    finally:
        trace.close()


def _by_kind(trace: Trace, by: Sequence[str], team: Team) -> tuple[pandas.DataFrame, tuple[str, ...]]:
    """Return the rows of some kinds of time, and the columns of their factors."""
    import pandas

    frames = [KINDS[name](trace, team) for name in dict.fromkeys(by)]
    frame = pandas.concat([one for one in frames if len(one)] or frames[:1], ignore_index=True)
    said = {parameter_column(name, frame.columns): value for name, value in constant_parameters(trace).items()}
    for name, value in said.items():
        frame[name] = value
    return frame, (KIND, NAME, *SCALE, *said)


def constant_parameters(trace: Trace) -> dict[str, float]:
    """Return the parameters of regions that have one value wherever rank 0 gives them.

    These are parameters of the whole run, such as a problem's size.
    """
    extra, found = trace.extra(Regions), {}
    marks = extra.marks(0)
    for number in np.unique(marks["number"][np.isin(marks["what"], (Mark.INTEGER, Mark.REAL))]).tolist():
        rows = marks[np.isin(marks["what"], (Mark.INTEGER, Mark.REAL)) & (marks["number"] == number)]
        if number <= len(extra.parameters) and (rows[["what", "value"]] == rows[["what", "value"]][0]).all():
            value = rows["value"][:1]
            real = rows["what"][0] == Mark.REAL
            found[extra.parameters[number - 1]] = float(value.view(np.float64)[0]) if real else int(value[0])
    return found
