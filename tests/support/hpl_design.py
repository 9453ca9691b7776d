"""HPL of the thesis: the design of table 5.5, equations 5.4 and 5.6 (TIA, 4.7), and data as measured."""

from itertools import product

import numpy as np

TERMS = "{N^2,N^3},{1/NB},{1/P},{1/Q}"
DESIGN = np.array(
    list(product((6144, 12288, 18432, 24576, 30720), (8, 16, 32, 64, 128, 256), range(1, 8), range(1, 9))), float
)


def selected(n, nb, p, q):
    """Eq. 5.4, seconds."""
    return (
        1.812 - 2.749e-12 * n**3 + 1.974e-7 * n**2 - 29.65 / nb - 3.239 / q + 48.49 / (nb * q) + 7.099 / (q * p)
        - 7.903e-7 * n**2 / nb + 8.228e-8 * n**2 / q + 4.059e-12 * n**3 / p - 2.706e-7 * n**2 / p
        + 7.940e-10 * n**3 / (nb * p) - 5.817e-7 * n**2 / (nb * p) + 1.613e-10 * n**3 / (q * p)
        - 1.666e-10 * n**3 / (nb * q * p)
    )  # fmt: skip


def theory(n, nb, p, q, log=np.log2):
    """Eq. 5.2 with the coefficients of eq. 5.6, seconds."""
    gamma, beta, alpha = 3.195e-10, 1.015e-7, 2.823e-4
    return (
        gamma * 2 * n**3 / (3 * p * q) + beta * n**2 * (3 * p + q) / (2 * p * q)
        + alpha * n * ((nb + 1) * log(p) + p) / nb
    )  # fmt: skip


def measured(rows=1680, noise=0.136, seed=1):
    """Values of N, NB, P, Q and times with relative noise; fewer rows are drawn from the design."""
    random = np.random.default_rng(seed)
    design = DESIGN if rows == len(DESIGN) else DESIGN[random.choice(len(DESIGN), rows, replace=False)]
    times = np.abs(selected(*design.T) * (1 + noise * random.standard_normal(rows)))
    return dict(zip(("N", "NB", "P", "Q"), design.T, strict=True)), times
