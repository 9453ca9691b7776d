"""Checks of the user's settings for the library, before a program is started.

Sizes and times are written as in csrc/runtime/common/settings.c. There, a wrong setting is reported and ignored.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from functools import partial

from tracelib import units
from tracelib.errors import TracelibError
from tracelib.variables import BUFFER_BYTES, LIMIT_BYTES, NAMES

_NS = {"": units.NS["s"], **units.NS}
_LONGEST_NS = 9e18

SIZES = {"buffer": BUFFER_BYTES, "limit": LIMIT_BYTES}
"""Options that are sizes, with their smallest and largest value in bytes."""
LEAST_SAMPLE_NS = 10_000
"""Shortest time between two samples, ns."""
TIMES = ("delay", "duration", "bursts")
"""Options of `tracelib run` that are times."""


def size_bytes(text: str, least: int, most: int) -> int:
    """Convert a size such as "64K", "1.5G" or "4096" to bytes.

    Raises:
        TracelibError: The text is no size, or out of the bounds `least` and `most` (bytes).
    """
    number, factor = units.split_quantity(text.upper(), units.BYTES) or ("-1", 1)
    value = float(number) * factor
    if not least <= value <= most:
        raise TracelibError(f"{text!r} is not a size from {_readable(least)} to {_readable(most)}", "write it as 200M")
    return int(value)


def _readable(size: int) -> str:
    unit = 0
    while unit < 4 and size >= 1024 and size % 1024 == 0:
        size, unit = size // 1024, unit + 1
    return f"{size}{' KMGT'[unit].strip()}"


def time_ns(text: str) -> int:
    """Convert a time such as "100us", "2m" or "1.5" (seconds) to ns.

    Raises:
        TracelibError: The text is no time, or 0.
    """
    number, factor = units.split_quantity(text, _NS) or ("0", 1)
    value = float(number) * factor
    if not 0 < value < _LONGEST_NS:
        raise TracelibError(f"{text!r} is not a time", "write it as 100us, 5ms, 10s or 2m")
    return int(value)


def check_sampling(text: str) -> None:
    """Check a setting of sampling: a time from 10 us on, or an event with a number.

    Raises:
        TracelibError: The text is neither.
    """
    if re.fullmatch(r"(perf::|PAPI_)\w[^:]*:0*[1-9][0-9]*", text):
        return
    try:
        sampled_ns = 0 if ":" in text else time_ns(text)
    except TracelibError:
        sampled_ns = 0
    if sampled_ns < LEAST_SAMPLE_NS:
        text = f"{text!r} is neither a time from 10us on nor an event with a number"
        raise TracelibError(text, "write it as 1ms or perf::INSTRUCTIONS:1000000")


def check_options(options: Mapping[str, object], environment: Mapping[str, str]) -> None:
    """Check the options of `tracelib run`, also for options that would have no effect.

    Args:
        options: Options by name. None: the option was not given.
        environment: Environment variables.

    Raises:
        TracelibError: An option is wrong. The message names it.
    """
    readers: dict[str, Callable[[str], object]] = {"sample": check_sampling, **dict.fromkeys(TIMES, time_ns)}
    for name, (least, most) in SIZES.items():
        readers[name] = partial(size_bytes, least=least, most=most)
    for name, read in readers.items():
        if options.get(name) is not None:
            try:
                read(str(options[name]))
            except TracelibError as error:
                raise TracelibError(f"--{name}: {error}", error.hint) from None
    if options.get("policy") and not options.get("limit") and not environment.get("TRACELIB_LIMIT"):
        raise TracelibError("--policy says what happens at a limit, and there is none", "add --limit 200M")
    regions = options.get("regions")
    if regions is not None and not str(regions).strip(","):
        raise TracelibError(f"--regions: {regions!r} names no region", "write it as solve,output")


def unknown(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables TRACELIB_* that are no settings, each with the most similar known name.

    "": none is similar.
    """
    strangers = sorted(name for name in environment if name.startswith("TRACELIB_") and name not in NAMES)
    return {name: next(iter(difflib.get_close_matches(name, NAMES, 1, 0.75)), "") for name in strangers}
