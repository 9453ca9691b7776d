"""Which sizes are measured: by segments as in the thesis, or logarithmically, to be refined (refine.py)."""

from __future__ import annotations

from collections.abc import Sequence

from tracelib.errors import TracelibError

PER_OCTAVE = 4
MOST_BYTES = 2**31 - 1


def by_segments(segments: Sequence[tuple[int, int]], largest: int) -> list[int]:
    """Sizes from 1 byte by the step of each (step, end), which goes on from where the one before stopped.

    No size is larger than `largest`. Raises TracelibError for segments that do not ascend. (TIA, Fig. 3.8.)
    """
    sizes, size, begin = [], 1, 0
    for step, end in segments:
        if step < 1 or end <= begin:
            raise TracelibError(f"segment {step} {end}: a step of 1 byte or more up to an end above {begin} is wanted")
        begin = end
        while size <= min(end, largest):
            sizes.append(size)
            size += step
    return sizes


def logarithmic(least: int, largest: int, per_octave: int = PER_OCTAVE) -> list[int]:
    """From `least` to `largest`, both included, equally many sizes between powers of two."""
    sizes = {least, largest}
    octave = 1
    while octave <= largest:
        sizes.update(octave * (per_octave + k) // per_octave for k in range(per_octave))
        octave *= 2
    return sorted(size for size in sizes if least <= size <= largest)
