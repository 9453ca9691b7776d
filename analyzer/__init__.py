"""Analysis of MPI runs: `with analyzer.open("run.h5") as run: print(run.waits())`.

What is public is the names in `__all__`, their public methods, and the classes of their results in `analyzer.results`;
docs/python.md describes them. All else may change.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any

from analyzer.errors import TracelibError

if TYPE_CHECKING:
    import pandas

    from analyzer.frames.tables import Tables
    from analyzer.interface.run import Run
    from analyzer.interface.run import open_run as open
    from analyzer.interface.several import diff, efficiencies, predict, speedup
    from analyzer.machine.description import Machine
    from analyzer.models.study import fit
    from analyzer.trace import Trace

__all__ = [
    "Machine",
    "Run",
    "Tables",
    "Trace",
    "TracelibError",
    "calls_frame",
    "diff",
    "efficiencies",
    "experiments_frame",
    "fit",
    "open",
    "predict",
    "regions_frame",
    "speedup",
]

_PLACES = {
    "Machine": "analyzer.machine.description:Machine",
    "Run": "analyzer.interface.run:Run",
    "Tables": "analyzer.frames.tables:Tables",
    "Trace": "analyzer.trace:Trace",
    "diff": "analyzer.interface.several:diff",
    "efficiencies": "analyzer.interface.several:efficiencies",
    "fit": "analyzer.models.study:fit",
    "open": "analyzer.interface.run:open_run",
    "predict": "analyzer.interface.several:predict",
    "speedup": "analyzer.interface.several:speedup",
}
"""Where each name is. It is imported when it is used: `analyze --help` does not wait for numpy and h5py."""


def __getattr__(name: str) -> Any:
    if name == "tables":
        import warnings

        warnings.warn("analyzer.tables is now analyzer.Tables, or run.tables", DeprecationWarning, stacklevel=2)
        name = "Tables"
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _PLACES[name].partition(":")
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    """List the public names, for TAB."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


def calls_frame(trace: Trace | Run, rank: int) -> pandas.DataFrame:
    """Read all calls of one rank with the columns and the units of the trace itself.

    Args:
        trace: A run.
        rank: The rank; all its calls are held in memory. `trace.calls(rank, begin, end)` gives a part of them.

    Returns:
        A row for each call: the columns of `analyzer.trace.CALL` (ns, bytes), with names of procedures. Where the run
        knows it, `place` is where in the program the call is ("exchange.c:212 in exchange").
    """
    import numpy as np
    import pandas

    from analyzer.trace import CALL, CallPaths

    source = _trace_of(trace)
    calls = np.concatenate([np.zeros(0, CALL), *source.calls(rank)])
    frame = pandas.DataFrame(calls)
    frame["call"] = pandas.Categorical.from_codes(calls["call"], list(source.procedures))
    if (paths := source.extra(CallPaths)).known:
        places = paths.named()
        of_calls = places.place[np.concatenate([np.zeros(0, np.int64), *paths.of(rank)])]
        frame["place"] = pandas.Categorical.from_codes(of_calls, [places.text(p) for p in range(len(places))])
    return frame


def regions_frame(trace: Trace | Run) -> pandas.DataFrame:
    """Read every time that a thread was in a region of the program.

    Args:
        trace: A run.

    Returns:
        A row for each visit, by rank, thread and begin: rank, thread, region (its name), begin and end (ns), depth (0:
        in no other region), parallel (number of threads that it stands for; 1 where the program did not say). A region
        that was left open ends with its thread's last record.
    """
    import numpy as np
    import pandas

    from analyzer.metrics.regions import VISIT, region_visits
    from analyzer.trace import Regions

    source = _trace_of(trace)
    visits = [region_visits(source, rank) for rank in range(source.size)]
    rows = np.concatenate([np.zeros(0, VISIT), *visits])
    frame = pandas.DataFrame(rows)
    frame["region"] = pandas.Categorical.from_codes(rows["region"], list(source.extra(Regions).names))
    frame.insert(0, "rank", np.repeat(np.arange(source.size), [len(v) for v in visits]))
    return frame


def experiments_frame(inputs: Sequence[str | PathLike[str]], **wanted: Any) -> pandas.DataFrame:
    """Make the table that `analyze table` makes of runs and tables.

    Args:
        inputs: Paths of runs and tables.
        wanted: Fields of analyzer.experiments.table.TableOptions, such as by=("call",), where=("n > 100",), per="run".

    Returns:
        A row for each group of experiments.

    Raises:
        TracelibError: An input cannot be read, or there is no such column.
    """
    from analyzer.experiments.table import TableOptions, table

    return table(inputs, TableOptions(**wanted)).frame


def _trace_of(run: Trace | Run) -> Trace:
    from analyzer.frames.tables import OpenRun

    return run.trace if isinstance(run, OpenRun) else run
