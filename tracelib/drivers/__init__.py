"""Drivers: what an experiment can observe besides the program's own variables (docs/drivers.md)."""

from tracelib.drivers.driver import Driver
from tracelib.drivers.registry import driver_named, driver_of, drivers

__all__ = ["Driver", "driver_named", "driver_of", "drivers"]
