"""Base class of drivers. A driver reads one kind of quantity (Rodriguez 2011, section 2.3.1)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

BEGIN, END = "begin", "end"
MOMENTS = (BEGIN, END)

FOLDER = "TRACELIB_DRIVERS"
"""Environment variable with the folder in which drivers leave files. Default: the folder in which the program runs."""


class Driver:
    """Base class of a driver. A package names its drivers in the entry points `tracelib.drivers`.

    Attributes:
        name: Name in `#pragma cll uses`.
        observables: Patterns of the observables that the driver reads, such as "GANGLIA_*".
        declared: Whether a source has to contain `#pragma cll uses NAME`.
        moments: When the running program asks the driver: BEGIN, END. (): the runtime records all of its observables.
        advice: What the user has to do in addition to the run. "": nothing.
    """

    name = ""  # what #pragma cll uses says
    observables: tuple[str, ...] = ()  # patterns of the observables that are its own: "GANGLIA_*"
    declared = True  # a source has to say #pragma cll uses NAME
    moments: tuple[str, ...] = ()  # when the running program asks it: BEGIN, END; (): the runtime records all of it

    advice = ""  # what the user does beside the run, where that is how its quantities come

    def environment(self, observable: str) -> dict[str, str]:
        """Return the environment variables that a run needs to record an observable."""
        return {}

    def read(self, moment: str, experiment: str) -> Mapping[str, float]:
        """Read numbers at the begin or the end of an experiment. They become parameters of its region.

        Raises:
            TracelibError: The driver has no numbers. The program goes on without them.
        """
        return {}

    def has(self, observable: str) -> bool:
        """Return True if the driver has the observable."""
        return any(fnmatchcase(observable, pattern) for pattern in self.observables)


def folder() -> Path:
    """Return the folder in which drivers leave files."""
    return Path(os.environ.get(FOLDER) or ".")
