"""How long a test waits for a program: on a machine that does much else, everything takes longer."""

import os

IDLE = 1.5
"""Factor of the limits that are written in the tests, which were chosen on an idle machine."""


def crowd() -> float:
    """How many processes want each CPU now; at least 1."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def patient(limit_s: float) -> float:
    """The time limit for now: as many times as long as there are processes for each CPU that want it."""
    return limit_s * IDLE * crowd()
