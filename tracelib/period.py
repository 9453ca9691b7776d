"""The time between two samples of the system as a user writes it.

C reads the same text (csrc/runtime/node/start_sampler.c).
"""

from __future__ import annotations

from tracelib.errors import TracelibError
from tracelib.schema.node import SYSTEM_PERIOD_MS
from tracelib.units import split_quantity

_MS = {"": 1000, "s": 1000, "ms": 1}


def period_ns(text: str) -> int:
    """Return the nanoseconds of "500ms", "1s" or "1.5" (seconds). Raises TracelibError for anything else."""
    number, factor = split_quantity(text, _MS, r"[0-9]+\.?[0-9]*") or ("0", 1)
    milliseconds = float(number) * factor
    if not SYSTEM_PERIOD_MS[0] <= milliseconds <= SYSTEM_PERIOD_MS[1]:
        raise TracelibError(f"{text!r} is not a period from 10ms to 3600s", "write it as 500ms or 1s")
    return int(milliseconds * 1e6)
