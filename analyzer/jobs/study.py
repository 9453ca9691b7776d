"""Comparison of policies and models of run times on many generated workloads.

Source: "TIA specification", sections 3.7 (6 to 8) and 4.8 (tables 5.6 to 5.8), and 7 (estimates are T (1 + k sigma)).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analyzer.jobs.cluster import QueuePolicy, Schedule, schedule
from analyzer.jobs.generator import WorkloadDesign, generate
from analyzer.jobs.workload import Workload

NOBODY = ""
"""Name of the model for policies that need no estimates."""
_HOUR, _MINUTE = 3600.0, 60.0


def estimates_s(workload: Workload, model: str, deviation: float, k: float) -> np.ndarray:
    """Return the estimated run times that the scheduler gets, s, shape (jobs,).

    They are T (1 + k sigma) for jobs of the application, and the true run times for other jobs.

    Args:
        workload: The jobs.
        model: Name of the model that predicts T.
        deviation: Relative standard deviation sigma of the model.
        k: Number of standard deviations that are added.
    """
    return np.where(workload.application, workload.predictions_s[model] * (1 + k * deviation), workload.run_s)


def smallest_k(workload: Workload, model: str, deviation: float) -> int:
    """Return the smallest whole k for which no job is cancelled. 0: no job exceeds the model's time.

    Args:
        workload: The jobs.
        model: Name of the model.
        deviation: Relative standard deviation sigma of the model.
    """
    chosen = workload.application
    ratio = float((workload.run_s[chosen] / workload.predictions_s[model][chosen]).max())
    if ratio <= 1:
        return 0
    k = max(int((ratio - 1) / deviation), 0)
    while (workload.run_s > estimates_s(workload, model, deviation, k)).any():
        k += 1
    return k


@dataclass(frozen=True)
class WorkloadStudy:
    """Workloads of a study, and the policies and models that are tried on each.

    Attributes:
        design: Settings of the workloads.
        shares: Shares of the application in all node time, 0 to 1.
        ks: Numbers of standard deviations that are added to predictions.
        seeds: Seeds of the workloads.
        policies: Policies of the scheduler.
    """

    design: WorkloadDesign
    shares: tuple[float, ...]  # of the application in all node time, 0 to 1
    ks: tuple[float, ...]
    seeds: tuple[int, ...]
    policies: tuple[QueuePolicy, ...] = tuple(QueuePolicy)


def run_study(
    study: WorkloadStudy, progress: Callable[[str], None] = lambda text: None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Simulate all runs and compare models two by two.

    Returns:
        Runs: share, seed, policy, model, k, fair (no job is cancelled, with the smallest such k), length_h (T_sim),
            wait_h (of the application's jobs), cancelled (jobs), cancelled_min, finished_share, cancelled_share,
            idle_share.
        Comparisons of the first model with each other, both at their fair k: share, seed, policy, model, k_first, k,
            less_share (share of the application's jobs that wait less with the first), wait_gain, idle_gain (relative
            to the other).
    """
    runs: list[dict[str, object]] = []
    pairs: list[dict[str, object]] = []
    for share in study.shares:
        for seed in study.seeds:
            progress(f"share {share:.1%}, workload {seed}")
            workload = generate(study.design, share, seed)
            for policy in study.policies:
                labels = {"share": share, "seed": seed, "policy": policy.value}
                found = dict(_trials(study, workload, policy))
                runs += [{**labels, **_row(key, outcome)} for key, outcome in found.items()]
                pairs += [{**labels, **row} for row in _pairs(found)]
    return pd.DataFrame(runs), pd.DataFrame(pairs)


Key = tuple[str, float, bool]
"""Model, k, and whether k is the smallest one without cancelled jobs."""


def _trials(study: WorkloadStudy, workload: Workload, policy: QueuePolicy) -> Iterator[tuple[Key, Schedule]]:
    nodes = study.design.nodes
    if not policy.needs_estimates:
        yield (NOBODY, 0.0, False), schedule(workload, nodes, policy)
        return
    for model, deviation in study.design.application.deviations.items():
        fair = smallest_k(workload, model, deviation)
        for k, is_fair in [(float(k), False) for k in study.ks] + [(float(fair), True)]:
            estimates = estimates_s(workload, model, deviation, k)
            yield (model, k, is_fair), schedule(workload, nodes, policy, estimates)


def _row(key: Key, outcome: Schedule) -> dict[str, object]:
    model, k, fair = key
    return {
        "model": model,
        "k": k,
        "fair": fair,
        "length_h": outcome.length_s / _HOUR,
        "wait_h": float(outcome.wait_s[outcome.workload.application].sum()) / _HOUR,
        "cancelled": int(outcome.cancelled.sum()),
        "cancelled_min": float(outcome.used_s[outcome.cancelled].sum()) / _MINUTE,
        "finished_share": outcome.finished_share,
        "cancelled_share": outcome.cancelled_share,
        "idle_share": outcome.idle_share,
    }


def _pairs(found: dict[Key, Schedule]) -> Iterator[dict[str, object]]:
    fair = [(key, outcome) for key, outcome in found.items() if key[2]]
    for (_, k_first, _), first in fair[:1]:
        chosen = first.workload.application
        for (model, k, _), other in fair[1:]:
            waits, others = first.wait_s[chosen], other.wait_s[chosen]
            yield {
                "model": model,
                "k_first": k_first,
                "k": k,
                "less_share": float((waits < others).mean()),
                "wait_gain": _gain(float(waits.sum()), float(others.sum())),
                "idle_gain": other.idle_share - first.idle_share,
            }


def _gain(mine: float, other: float) -> float:
    return (other - mine) / other if other else 0.0


@dataclass(frozen=True)
class WorkloadMean:
    """Mean over workloads with its 95 % confidence interval.

    Attributes:
        value: The mean.
        half: Half width of the interval. None: there is only one workload.
    """

    value: float
    half: float | None

    @classmethod
    def of(cls, values: Sequence[float] | pd.Series) -> WorkloadMean:
        """Compute mean and interval (Student's t) of one value for each workload."""
        numbers = np.asarray(values, float)
        if len(numbers) < 2:
            return cls(float(numbers.mean()), None)
        from scipy.special import stdtrit

        t = float(stdtrit(len(numbers) - 1, 0.975))
        return cls(float(numbers.mean()), t * float(numbers.std(ddof=1)) / np.sqrt(len(numbers)))
