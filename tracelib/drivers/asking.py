"""Asks drivers while a program runs, and records what they say as parameters of the region."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tracelib import regions
from tracelib.drivers.driver import BEGIN, END, Driver
from tracelib.drivers.registry import driver_named
from tracelib.errors import TracelibError
from tracelib.schema.asking import asking_parameter


def ask(driver: Driver, moment: str, experiment: str) -> Mapping[str, float]:
    """Ask a driver for its quantities at a moment.

    A driver that fails gives a line on stderr and an empty mapping: the program has to go on.

    Args:
        driver: The driver.
        moment: "begin" or "end". A driver that does not serve this moment is not asked.
        experiment: Name of the experiment.

    Returns:
        The values, by name.
    """
    try:
        return driver.read(moment, experiment) if moment in driver.moments else {}
    except (TracelibError, OSError) as error:
        print(f"tracelib: {driver.name}: {error}", file=sys.stderr)
        return {}


@contextmanager
def measured(experiment: str, /, *names: str, first: bool = True, **parameters: float) -> Iterator[None]:
    """Measure a region of a Python program, and record the answers of some drivers at its begin and end.

    `with measured("exchange", "Ganglia", first=rank == 0, n=500): ...` asks on the ranks where `first` is true. Raises
    LookupError for a driver that there is not.
    """
    asked = [driver_named(name) for name in names]
    with regions.region(experiment, **parameters):
        _record(asked, BEGIN, experiment, first)
        try:
            yield
        finally:
            _record(asked, END, experiment, first)


def _record(asked: list[Driver], moment: str, experiment: str, first: bool) -> None:
    """Record the driver's answer, and how long the program waited for it."""
    for driver in asked if first else ():
        if moment not in driver.moments:
            continue
        began = time.perf_counter()
        said = ask(driver, moment, experiment)
        waited_s = time.perf_counter() - began
        for name, value in {**said, asking_parameter(driver.name, moment): waited_s}.items():
            regions.parameter(name, value)
