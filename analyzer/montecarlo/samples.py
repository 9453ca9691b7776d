"""Machines drawn at random, and the predicted times of the runs on them, for fits and Monte Carlo studies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.errors import TracelibError
from analyzer.montecarlo.distribution import VariedParameter
from analyzer.montecarlo.replay_jobs import ReplayJob
from analyzer.montecarlo.workers import JobWorkers


@dataclass(frozen=True)
class MachineSamples:
    """The drawn machines on which all runs could be replayed, in the order in which they were drawn."""

    varied: tuple[VariedParameter, ...]
    values: np.ndarray  # (samples, parameters) float64, in the parameters' units
    times_ns: np.ndarray  # (samples, runs) float64
    failed: int  # number of machines on which a run could not be replayed
    error: str = ""  # error of the first of these machines

    @property
    def shares(self) -> np.ndarray:
        """Positions of the values in their distributions, in [0, 1), shape (samples, parameters)."""
        rows = [[of.share(x) for of, x in zip(self.varied, row, strict=True)] for row in self.values.tolist()]
        return np.array(rows, float).reshape(self.values.shape)

    def __add__(self, other: MachineSamples) -> MachineSamples:
        """Return the samples of both, one after the other."""
        return MachineSamples(
            self.varied,
            np.concatenate([self.values, other.values]),
            np.concatenate([self.times_ns, other.times_ns]),
            self.failed + other.failed,
            self.error or other.error,
        )


def replayed(
    workers: JobWorkers, varied: Sequence[VariedParameter], cube: np.ndarray, seeds: Sequence[int]
) -> MachineSamples:
    """Replay all runs on the machines at some points of the unit cube.

    Args:
        workers: Workers that replay.
        varied: Parameters and their distributions.
        cube: Positions in the distributions, in [0, 1), shape (samples, parameters).
        seeds: Seed of each machine's own random numbers.

    Raises:
        TracelibError: No machine can replay all runs.
    """
    rows = zip(cube.tolist(), seeds, strict=True)
    jobs = [ReplayJob(tuple(of.at(u) for of, u in zip(varied, row, strict=True)), seed) for row, seed in rows]
    outcomes = workers.do_all(jobs)
    good = [(job.values, outcome.times_ns) for job, outcome in zip(jobs, outcomes, strict=True) if outcome.times_ns]
    errors = [outcome.error for outcome in outcomes if outcome.times_ns is None]
    if not good:
        raise TracelibError(
            f"none of the machines drawn can replay the runs: {errors[0]}", "correct the machine, or what is varied"
        )
    values = np.array([row for row, _ in good], float).reshape(len(good), len(varied))
    return MachineSamples(
        tuple(varied), values, np.array([t for _, t in good], float), len(errors), (errors or [""])[0]
    )
