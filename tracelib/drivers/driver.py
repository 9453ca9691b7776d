"""Drivers: modules that know how to read one kind of quantity (Rodriguez 2011, section 2.3.1)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

BEGIN, END = "begin", "end"
MOMENTS = (BEGIN, END)

FOLDER = "TRACELIB_DRIVERS"
"""Variable: where drivers leave files (default: the folder in which the program runs)."""


class Driver:
    """Derive from it, and name the class in the entry points `tracelib.drivers` of a package."""

    name = ""  # what #pragma cll uses says
    observables: tuple[str, ...] = ()  # patterns of the observables that are its own: "GANGLIA_*"
    declared = True  # a source has to say #pragma cll uses NAME
    moments: tuple[str, ...] = ()  # when the running program asks it: BEGIN, END; (): the runtime records all of it

    advice = ""  # what the user does beside the run, where that is how its quantities come

    def environment(self, observable: str) -> dict[str, str]:
        """Return the variables that a run needs for an observable to be recorded."""
        return {}

    def read(self, moment: str, experiment: str) -> Mapping[str, float]:
        """Return numbers at the begin or the end of an experiment, which become parameters of its region.

        Raises:
            TracelibError: The driver has none. The program goes on without.
        """
        return {}

    def has(self, observable: str) -> bool:
        """Return True if the driver has the observable."""
        return any(fnmatchcase(observable, pattern) for pattern in self.observables)


def folder() -> Path:
    """Return the folder in which drivers leave files."""
    return Path(os.environ.get(FOLDER) or ".")
