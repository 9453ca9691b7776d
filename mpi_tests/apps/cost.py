"""Cost of tracing an application: runs with and without the library, in turns, on the same machine."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from apps.application import Application
from apps.measure import LIBRARY, start
from matrix import Leg

PAIRS = 3


@dataclass(frozen=True)
class Cost:
    """Median wall-clock times of mpirun, its start and MPI_Init included."""

    untraced_s: float
    traced_s: float


def measure_cost(application: Application, leg: Leg, folder: Path, environment: Mapping[str, str]) -> Cost:
    """Run `application` PAIRS times without the library and with it, as it is without settings, in an empty `folder`.

    Raises:
        AssertionError: A run failed.
    """
    application.prepare_folder(leg, folder)
    traced = {"LD_PRELOAD": str(LIBRARY)} | environment
    pairs = [[_wall_s(application, leg, folder, settings) for settings in ({}, traced)] for _ in range(PAIRS)]
    return Cost(*map(statistics.median, zip(*pairs, strict=True)))


def _wall_s(application: Application, leg: Leg, folder: Path, environment: Mapping[str, str]) -> float:
    begin = time.monotonic()
    start(application, leg, folder, environment)
    return time.monotonic() - begin
