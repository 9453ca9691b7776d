"""Name of the region's parameter that holds the time a running program waits for a driver (docs/drivers.md)."""

import re

_NAME = re.compile(r"ask_(\w+)_(begin|end)_s")


def asking_parameter(driver: str, moment: str) -> str:
    """Return the parameter's name; its value is in seconds. tracelib_drivers.h makes the same name."""
    return f"ask_{driver}_{moment}_s"


def asked_driver(parameter: str) -> str | None:
    """Return the driver whose time a parameter is; None: it is another parameter."""
    found = _NAME.fullmatch(parameter)
    return found[1] if found else None
