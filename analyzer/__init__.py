"""Analysis of MPI runs: `with analyzer.open("run.h5") as run: print(run.waits())`.

What is public is the names in `__all__`, their public methods, and the classes of their results in `analyzer.results`;
docs/python.md describes them. All else may change.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from analyzer.errors import TracelibError

if TYPE_CHECKING:
    from analyzer.frames.tables import Tables
    from analyzer.interface.frames import calls_frame, experiments_frame, fit, regions_frame
    from analyzer.interface.run import Run
    from analyzer.interface.run import open_run as open
    from analyzer.interface.several import diff, efficiencies, predict, speedup
    from analyzer.machine.description import Machine
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
    "calls_frame": "analyzer.interface.frames:calls_frame",
    "diff": "analyzer.interface.several:diff",
    "efficiencies": "analyzer.interface.several:efficiencies",
    "experiments_frame": "analyzer.interface.frames:experiments_frame",
    "fit": "analyzer.interface.frames:fit",
    "open": "analyzer.interface.run:open_run",
    "predict": "analyzer.interface.several:predict",
    "regions_frame": "analyzer.interface.frames:regions_frame",
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
