"""List of all drivers: our own, and the drivers of other packages."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from tracelib.drivers.driver import Driver

GROUP = "tracelib.drivers"
"""Entry points of other packages' drivers: NAME = "module:Class"."""
_OURS = (
    "intrinsic:ClockDriver", "intrinsic:CounterDriver", "intrinsic:SystemDriver", "intrinsic:NetworkDriver",
    "ganglia:GangliaDriver", "nws:NwsDriver",
)  # fmt: skip


@cache
def drivers() -> tuple[Driver, ...]:
    """Return all drivers, our own first."""
    found = []
    for place in _OURS:
        module, _, name = place.partition(":")
        found.append(getattr(import_module(f"tracelib.drivers.{module}"), name)())
    return (*found, *(entry.load()() for entry in entry_points(group=GROUP)))


def driver_named(name: str) -> Driver:
    """Return the driver that `#pragma cll uses` names. Raises LookupError, which says which there are."""
    for driver in drivers():
        if driver.name == name:
            return driver
    raise LookupError(f"there is no driver {name}: {', '.join(driver.name for driver in drivers())}")


def driver_of(observable: str) -> Driver:
    """Return the driver that an observable belongs to. Raises LookupError, which says what can be observed."""
    for driver in drivers():
        if driver.has(observable):
            return driver
    known = ", ".join(pattern for driver in drivers() for pattern in driver.observables)
    raise LookupError(f"no driver observes {observable}: {known}")
