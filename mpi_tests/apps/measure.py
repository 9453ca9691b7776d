"""One application under one MPI: run untraced, then traced with an independent counter in front of the tracer."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import matrix
from apps.application import Application
from matrix import ROOT, Leg
from result import RankFile, rank_files, read_truth
from running import Finished, run

LIBRARY = ROOT / "tracelib" / "libtrace.so"
LIMIT_S = 120


@dataclass(frozen=True)
class Measured:
    """Both runs' results, and where the traced one left its files."""

    application: Application
    ranks: int
    folder: Path
    expected: list[str]
    found: list[str]
    wall_s: float  # of the traced mpirun, from outside

    @property
    def run(self) -> Path:
        """The run that the tracer wrote."""
        return self.folder / "run.h5"

    @cached_property
    def rank_files(self) -> list[RankFile]:
        """The rank files, read with h5py alone."""
        return rank_files(self.run)

    @cached_property
    def counted(self) -> list[Counter[str]]:
        """Counts of the independent counter on each rank; "receives" is among them."""
        return [read_truth(self.folder / f"truth-{rank}.jsonl").calls for rank in range(self.ranks)]


def measure(
    application: Application, leg: Leg, counter: Path, folder: Path, environment: Mapping[str, str]
) -> Measured:
    """Run `application` twice in folders of its own below `folder`; AssertionError where a run fails."""
    plain, traced = folder / "plain", folder / "traced"
    for place in (plain, traced):
        place.mkdir(parents=True)
        application.prepare_folder(leg, place)
    untraced = start(application, leg, plain, {})
    begin = time.monotonic()
    # Counter first: it hands every call on to the tracer.
    finished = start(application, leg, traced, {"LD_PRELOAD": f"{counter}:{LIBRARY}"} | environment)
    wall_s = time.monotonic() - begin
    results = application.result(plain, untraced.stdout), application.result(traced, finished.stdout)
    return Measured(application, leg.ranks, traced, *results, wall_s)


def start(application: Application, leg: Leg, folder: Path, environment: Mapping[str, str]) -> Finished:
    """Run `application` once, with the environment that it and the MPI need and `environment`; it must end well."""
    everything = matrix.environment(leg) | application.environment | environment
    return run([leg.mpirun, "-n", str(leg.ranks), *application.words(leg)], folder, everything, LIMIT_S).check()
