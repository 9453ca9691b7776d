"""The time between two samples of the system as a user writes it.

C reads the same text (csrc/runtime/node/start_sampler.c).
"""

from __future__ import annotations

import re

from tracelib.errors import TracelibError
from tracelib.schema.node import SYSTEM_PERIOD_MS

_PERIOD = re.compile(r"([0-9]+\.?[0-9]*)(s|ms|)")


def period_ns(text: str) -> int:
    """Nanoseconds of "500ms", "1s" or "1.5" (seconds). Raises TracelibError for anything else."""
    match = _PERIOD.fullmatch(text)
    milliseconds = float(match[1]) * (1 if match[2] == "ms" else 1000) if match else 0.0
    if not SYSTEM_PERIOD_MS[0] <= milliseconds <= SYSTEM_PERIOD_MS[1]:
        raise TracelibError(f"{text!r} is not a period from 10ms to 3600s", "write it as 500ms or 1s")
    return int(milliseconds * 1e6)
