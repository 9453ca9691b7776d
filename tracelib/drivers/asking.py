"""Asks drivers while a program runs, and records what they say as parameters of the region."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tracelib import regions
from tracelib.drivers.driver import BEGIN, END, Driver
from tracelib.drivers.registry import driver_named
from tracelib.errors import TracelibError


def ask(driver: Driver, moment: str, experiment: str) -> Mapping[str, float]:
    """What a driver says; where it fails a line on stderr and nothing, because the program has to go on."""
    try:
        return driver.read(moment, experiment) if moment in driver.moments else {}
    except (TracelibError, OSError) as error:
        print(f"tracelib: {driver.name}: {error}", file=sys.stderr)
        return {}


@contextmanager
def measured(experiment: str, /, *names: str, first: bool = True, **parameters: float) -> Iterator[None]:
    """A region of a Python program that also records what some drivers say at its begin and end.

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
    for driver in asked if first else ():
        for name, value in ask(driver, moment, experiment).items():
            regions.parameter(name, value)
