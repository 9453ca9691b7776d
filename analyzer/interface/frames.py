"""Functions that return DataFrames, or fit models to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

import numpy as np
import pandas

from analyzer.arguments import Count, Natural, checked
from analyzer.errors import TracelibError
from analyzer.frames.tables import OpenRun
from analyzer.interface.choices import PathArgument, one_of
from analyzer.metrics.regions import VISIT, region_visits
from analyzer.models.described_terms import DEFAULTS, FitOptions
from analyzer.models.model import Model
from analyzer.models.terms.formula import Formula
from analyzer.trace import CALL, CallPaths, Regions, Trace


class TableOptions(TypedDict, total=False):
    """Rows and columns of a table of experiments, as the options of `analyze table`.

    Attributes:
        by: Kinds of time, such as "call" or "place", that give rows instead of executions of regions.
        settings: Parameters of runs that are not in the runs' files.
        network: Path of a model of the network, whose parameters become columns.
        message_size: Size of the messages for these parameters, bytes.
        ganglia: Metrics of nodes.
        computed: Further columns: name and expression of each.
        where: Conditions on rows, such as "n > 100".
        per: Level at which repeated measurements are combined, such as "run". "": they are not combined.
        statistic: Statistic by which they are combined, such as "median".
        rule: Rule by which outliers are removed. "": none are removed.
        observable: Column in which outliers are searched. "": the usual one.
        factors: Columns by whose values settings differ.
    """

    by: tuple[str, ...]
    settings: tuple[Any, ...]
    network: str
    message_size: Count
    ganglia: tuple[str, ...]
    computed: tuple[tuple[str, ...], ...]
    where: tuple[str, ...]
    per: str
    statistic: str
    rule: str
    observable: str
    factors: tuple[str, ...]


@checked
def calls_frame(trace: Trace | OpenRun, rank: Natural) -> pandas.DataFrame:
    """Read all calls of one rank with the columns and the units of the trace itself.

    Args:
        trace: A run.
        rank: The rank; all its calls are held in memory. `trace.calls(rank, begin, end)` gives a part of them.

    Returns:
        A row for each call: the columns of `analyzer.trace.CALL` (ns, bytes), with names of procedures. Where the run
        knows it, `place` is where in the program the call is ("exchange.c:212 in exchange").
    """
    source = _trace_of(trace)
    if rank >= source.size:
        raise TracelibError(f"{source.path} has no rank {rank}", f"ranks are 0 to {source.size - 1}")
    calls = np.concatenate([np.zeros(0, CALL), *source.calls(rank)])
    frame = pandas.DataFrame(calls)
    frame["call"] = pandas.Categorical.from_codes(calls["call"], list(source.procedures))
    if (paths := source.extra(CallPaths)).known:
        places = paths.named()
        of_calls = places.place[np.concatenate([np.zeros(0, np.int64), *paths.of(rank)])]
        frame["place"] = pandas.Categorical.from_codes(of_calls, [places.text(p) for p in range(len(places))])
    return frame


@checked
def regions_frame(trace: Trace | OpenRun) -> pandas.DataFrame:
    """Read every time that a thread was in a region of the program.

    Args:
        trace: A run.

    Returns:
        A row for each visit, by rank, thread and begin: rank, thread, region (its name), begin and end (ns), depth (0:
        in no other region), parallel (number of threads that it stands for; 1 where the program did not say). A region
        that was left open ends with its thread's last record.
    """
    source = _trace_of(trace)
    visits = [region_visits(source, rank) for rank in range(source.size)]
    rows = np.concatenate([np.zeros(0, VISIT), *visits])
    frame = pandas.DataFrame(rows)
    frame["region"] = pandas.Categorical.from_codes(rows["region"], list(source.extra(Regions).names))
    frame.insert(0, "rank", np.repeat(np.arange(source.size), [len(v) for v in visits]))
    return frame


@checked
def experiments_frame(inputs: Sequence[PathArgument], **options: Unpack[TableOptions]) -> pandas.DataFrame:
    """Make the table that `analyze table` makes of runs and tables.

    Args:
        inputs: Paths of runs and tables.
        options: Rows and columns (`TableOptions`), such as by=("call",), where=("n > 100",), per="run".

    Returns:
        A row for each group of experiments.

    Raises:
        TracelibError: An input cannot be read, or there is no such column.
    """
    from analyzer.experiments import table as experiments
    from analyzer.experiments.filters import RULES
    from analyzer.experiments.groupings import KINDS
    from analyzer.experiments.table import LEVELS, STATISTICS, table

    for name in options.get("by", ()):
        one_of("by", name, list(KINDS))
    for option, known in (("per", LEVELS), ("statistic", STATISTICS), ("rule", RULES)):
        one_of(option, str(options.get(option, "")) or None, list(known))
    return table(inputs, experiments.ExperimentTableOptions(**options)).frame  # type: ignore[arg-type]


@checked
def fit(
    frame: pandas.DataFrame,
    observable: str,
    parameters: Sequence[str],
    terms: str | Formula | None = None,
    options: FitOptions = DEFAULTS,
) -> Model:
    """Fit a model to a table of measurements (`analyze fit`).

    >>> model = analyzer.fit(frame, "time", ["p", "n"])
    >>> model.predict(p=512, n=160)

    Args:
        frame: Measurements, a row each.
        observable: Column that is modelled.
        parameters: Columns that it depends on.
        terms: Candidate terms, as "{n*log2(n),n^2},{1/p}". None: they are chosen from the data.
        options: How the model is chosen.

    Raises:
        TracelibError: There is no such column, or too few measurements.
    """
    from analyzer.models.study import fit

    return fit(frame, observable, parameters, terms, options)


def _trace_of(run: Trace | OpenRun) -> Trace:
    return run.trace if isinstance(run, OpenRun) else run
