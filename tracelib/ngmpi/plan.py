"""Which sizes are measured: by segments as in the thesis, or logarithmically, to be refined (refine.py)."""

from __future__ import annotations

from collections.abc import Sequence

from tracelib.errors import TracelibError

PER_OCTAVE = 4
MOST_BYTES = 2**31 - 1
MOST_SIZES = 100_000
"""Measuring more takes more than a day, so asking for more is taken as a mistake."""


def by_segments(segments: Sequence[tuple[int, int]], largest: int) -> list[int]:
    """Return sizes from 1 byte by the step of each (step, end), which goes on from where the one before stopped.

    No size is larger than `largest`. Raises TracelibError for segments that do not ascend, that go beyond what MPI can
    send at once, and that are too many sizes. (TIA, Fig. 3.8.)
    """
    sizes: list[int] = []
    size, begin = 1, 0
    for step, end in segments:
        if step < 1 or end <= begin:
            raise TracelibError(f"segment {step} {end}: the step must be 1 byte or more, and the end above {begin}")
        if end > MOST_BYTES:
            raise TracelibError(f"segment {step} {end}: no message can have more than {MOST_BYTES} bytes")
        begin = end
        some = range(size, min(end, largest) + 1, step)
        if len(sizes) + len(some) > MOST_SIZES:
            raise TracelibError(f"segment {step} {end}: more than {MOST_SIZES} sizes; make its step longer")
        sizes.extend(some)
        size += step * len(some)
    return sizes


def logarithmic(least: int, largest: int, per_octave: int = PER_OCTAVE) -> list[int]:
    """Return sizes from `least` to `largest`, both included, equally many between powers of two."""
    sizes = {least, largest}
    octave = 1
    while octave <= largest:
        sizes.update(octave * (per_octave + k) // per_octave for k in range(per_octave))
        octave *= 2
    return sorted(size for size in sizes if least <= size <= largest)
