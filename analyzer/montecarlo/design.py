"""Which points of the space of parameters are tried; the same for the same seed, whoever tries them.

Source: "Dimemas specification", section 1.17; McKay, Beckman and Conover 1979 (Latin hypercube); Sobol 1967, scrambled
after Owen 1998.
"""

from __future__ import annotations

import numpy as np

RANDOM, LATIN, SOBOL = DESIGNS = ("random", "latin", "sobol")


def points(design: str, count: int, dimensions: int, seed: int) -> np.ndarray:
    """Points in the unit cube, float64 of shape (count, dimensions) from 0, below 1.

    Independent ones, a Latin hypercube (each of `count` equal parts of each axis holds one), or a Sobol sequence. The
    first of many random ones or of a Sobol sequence are those of few; a Latin hypercube is another for each count.
    """
    if not dimensions:
        return np.zeros((count, 0))
    generator = np.random.Generator(np.random.Philox(seed))
    if design == RANDOM:
        return generator.random((count, dimensions))
    from scipy.stats import qmc

    if design == LATIN:
        return qmc.LatinHypercube(dimensions, rng=generator).random(count)
    power = max(int(np.ceil(np.log2(count))), 0)
    return np.minimum(qmc.Sobol(dimensions, rng=generator).random_base2(power)[:count], np.nextafter(1.0, 0.0))
