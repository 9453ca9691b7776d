"""Values of a machine's parameters as people read them, and what several reports of replays say."""

from __future__ import annotations

import math

from analyzer.machine.parameters import Variable
from analyzer.report.words import units

NOT_ALL_KNOWN = "What ranks waited for is not known everywhere: {}."
_NS = {"s": 1e9, "us": 1e3}
_BYTES = {"bytes/s": 1.0, "MB/s": float(1 << 20)}


def value_text(of: Variable, value: float) -> str:
    """ "5.00 us", "100 MiB/s", "4", "infinite"."""
    if math.isnan(value):
        return "as traced"
    if math.isinf(value):
        return "infinite"
    if of.name == "cpus" and not value:
        return "one for each thread"
    if of.unit in _NS:
        ns = value * _NS[of.unit]
        return units.time(ns) if ns >= 1 or not ns else f"{ns:.3g} ns"
    if of.unit in _BYTES:
        return f"{units.size(value * _BYTES[of.unit])}/s"
    return units.size(value) if of.unit == "bytes" else f"{value:.4g}"
