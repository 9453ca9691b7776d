"""Parser of numbers with a unit, such as 100us or 64K, and the units of times and sizes.

C reads the same texts by csrc/runtime/common/settings.c.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

NS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
"""Nanoseconds of each unit of time."""
BYTES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
"""Bytes of each unit of size; the letters may be small."""
NUMBER = r"[0-9]+\.?[0-9]*|\.[0-9]+"


def split_quantity(text: str, units: Mapping[str, float], number: str = NUMBER) -> tuple[str, float] | None:
    """Split "1.5ms" into its number, as text, and the factor of its unit.

    Args:
        text: The whole text.
        units: Unit -> factor; "" if the unit may be left out.
        number: Regular expression of the number, without groups that capture.

    Returns:
        Number and factor; None if the text is no such number, or has another unit.
    """
    match = re.fullmatch(f"({number})({'|'.join(map(re.escape, sorted(units, reverse=True)))})", text)
    return (match[1], units[match[2]]) if match else None
