"""Numbers that programs stumble over."""

from __future__ import annotations

from random import Random

EDGES = (0, 1, 2, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53, 2**62,
         2**63 - 1, 2**63, 2**64 - 1)  # fmt: skip
TEXTS = (
    "", "0", "-0", "1", "-1", "2", "3", "007", "2147483647", "2147483648", "-2147483649", "4294967296",
    "9223372036854775807", "9223372036854775808", "-9223372036854775809", "18446744073709551615", "9" * 40, "9" * 5000,
    "0.5", "-0.5", "1e308", "1e400", "1e-400", "nan", "inf", "-inf", "0x10", "1_000", "+1", " 1", "1 ", "\u0661", "x",
    "true", "null", "[]", "{}", '""', "''", "[[1, 2], 3]", "{ uniform = [2, 1] }", "{ gaussian = [1e300, 1e300] }",
    "1979-05-27", "\u00e9", "\0", "a" * 300,
)  # fmt: skip
"""Values that a field of a text may become."""


def edge(random: Random, bits: int = 64) -> int:
    """A number of so many bits, as unsigned: at an edge, or near one."""
    number = random.choice(EDGES)
    if random.random() < 0.3:
        number = -number
    if random.random() < 0.2:
        number += random.choice((-1, 1, random.randrange(-1000, 1000)))
    return number % 2**bits
