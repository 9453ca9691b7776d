"""The reading side: `analyzer.open(path)` gives a `Trace`, every analysis is a function of one."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from analyzer.errors import TracelibError

if TYPE_CHECKING:
    import pandas

    from analyzer.frames.tables import Tables as tables
    from analyzer.models.study import fit
    from analyzer.opening import open_trace as open
    from analyzer.trace import Trace

__all__ = ["Trace", "TracelibError", "calls_frame", "experiments_frame", "fit", "open", "regions_frame", "tables"]


def __getattr__(name: str) -> Any:
    """What needs numpy and h5py is imported when it is used: `analyze --help` need not wait for them."""
    if name == "open":
        from analyzer.opening import open_trace

        return open_trace
    if name == "fit":
        from analyzer.models.study import fit

        return fit
    if name == "tables":
        from analyzer.frames.tables import Tables

        return Tables
    if name == "Trace":
        from analyzer.trace import Trace

        return Trace
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def calls_frame(trace: Trace, rank: int) -> pandas.DataFrame:
    """All calls of one rank as a pandas DataFrame: the columns of `analyzer.trace.CALL`, with procedure names.

    Where the source says it, `place` is where in the program the call is ("exchange.c:212 in exchange").

    Holds the whole rank in memory; `trace.calls(rank, begin, end)` gives a window of time.
    """
    import numpy as np
    import pandas

    from analyzer.trace import CALL, CallPaths

    calls = np.concatenate([np.zeros(0, CALL), *trace.calls(rank)])
    frame = pandas.DataFrame(calls)
    frame["call"] = pandas.Categorical.from_codes(calls["call"], list(trace.procedures))
    if (paths := trace.extra(CallPaths)).known:
        places = paths.named()
        of_calls = places.place[np.concatenate([np.zeros(0, np.int64), *paths.of(rank)])]
        frame["place"] = pandas.Categorical.from_codes(of_calls, [places.text(p) for p in range(len(places))])
    return frame


def regions_frame(trace: Trace) -> pandas.DataFrame:
    """Every time that a thread was in a region of the program, as a pandas DataFrame, by rank, thread and begin.

    Columns: rank, thread, region (its name), begin and end (ns), depth (0: in no other region), parallel (it stands for
    so many threads; 1 where the program did not say). A region that was left open ends with its thread's last record.
    """
    import numpy as np
    import pandas

    from analyzer.metrics.regions import VISIT, region_visits
    from analyzer.trace import Regions

    visits = [region_visits(trace, rank) for rank in range(trace.size)]
    rows = np.concatenate([np.zeros(0, VISIT), *visits])
    frame = pandas.DataFrame(rows)
    frame["region"] = pandas.Categorical.from_codes(rows["region"], list(trace.extra(Regions).names))
    frame.insert(0, "rank", np.repeat(np.arange(trace.size), [len(v) for v in visits]))
    return frame


def experiments_frame(inputs: Sequence[str | PathLike[str]], **wanted: Any) -> pandas.DataFrame:
    """The table that `analyze table` makes of runs and tables, as a pandas DataFrame.

    `wanted`: fields of analyzer.experiments.table.Wanted, such as by=("call",), where=("n > 100",), per="run". Raises
    TracelibError.
    """
    from analyzer.experiments.table import Wanted, table

    return table(inputs, Wanted(**wanted)).frame
