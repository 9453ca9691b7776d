"""Tables of batch scheduling: of a study with generated workloads, and of one log.

Source: "TIA specification", section 4.8 (tables 5.6, 5.7 and 5.8).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from rich.console import Console

from analyzer.jobs.cluster import QueuePolicy, Schedule
from analyzer.jobs.study import NOBODY, WorkloadMean, WorkloadStudy
from analyzer.report.job_times import (
    NodeTime,
    TimesByNodes,
    distribution_json,
    node_time_table,
    node_times,
    run_time_table,
)
from analyzer.report.words import units
from analyzer.report.words.table import plain_table

_SHORT_S = 10.0
"""Least run time in s for a bounded slowdown, as usual. Otherwise the shortest jobs would dominate the mean."""


def study_json(
    study: WorkloadStudy, runs: pd.DataFrame, pairs: pd.DataFrame, distributions: Sequence[TimesByNodes]
) -> dict[str, object]:
    """Return a study for JSON: means with 95 % confidence intervals, and the conditions."""
    keys = ["share", "policy", "model", "k"]
    return {
        "jobs": study.design.jobs,
        "application_jobs": study.design.application_jobs,
        "nodes": study.design.nodes,
        "load": study.design.load,
        "workloads": len(study.seeds),
        "deviations": study.design.application.deviations,
        "runs": _means(runs[~runs.fair], keys),
        "without_cancellations": _means(runs[runs.fair], keys[:3]),
        "compared": _means(pairs, keys[:3]) if len(pairs) else [],
        "run_times": [
            {"share": share, "by_nodes": distribution_json(one)}
            for share, one in zip(study.shares, distributions, strict=True)
        ],
    }


def _means(rows: pd.DataFrame, keys: list[str]) -> list[dict[str, object]]:
    values = [name for name in rows.columns if name not in (*keys, "seed", "fair")]
    found = []
    for key, group in rows.groupby(keys, sort=False):
        means = {name: WorkloadMean.of(group[name]) for name in values}
        numbers = {name: {"mean": mean.value, "ci95": mean.half} for name, mean in means.items()}
        found.append({**dict(zip(keys, key if isinstance(key, tuple) else (key,), strict=True)), **numbers})
    return found


def print_study(
    study: WorkloadStudy,
    runs: pd.DataFrame,
    pairs: pd.DataFrame,
    distributions: Sequence[TimesByNodes],
    console: Console,
) -> None:
    """Print the tables of a study with their conditions, and compare the policies."""
    design = study.design
    seeds = len(study.seeds)
    console.print(
        f"{design.jobs} jobs, {design.application_jobs} of {design.application.name}, on {design.nodes} nodes; mean and"
        f" 95 % interval of {units.plural(seeds, 'workload')}"
    )
    for share, distribution in zip(study.shares, distributions, strict=True):
        here = runs[runs.share == share]
        console.print(f"\n{design.application.name} with {share:.1%} of the node time: simulated time in h")
        console.print(_lengths(here, study))
        for sentence in _orderings(here):
            console.print(sentence)
        _print_node_time([*node_times(here)], console)
        print_run_times(distribution, console)
    if any(policy.needs_estimates for policy in study.policies):
        console.print("\nJobs that ran longer than their estimate, and the time that they had run")
        console.print(_cancellations(runs, study))
    for share in study.shares:
        compared = pairs[pairs.share == share] if len(pairs) else pairs
        if len(compared):
            console.print(f"\nWithout cancelled jobs, {share:.1%} of the node time")
            _print_fair(runs[(runs.share == share) & runs.fair], compared, console)


def _print_node_time(rows: Sequence[NodeTime], console: Console) -> None:
    console.print("\nNode time of jobs that finished, of jobs that were cancelled, and idle")
    console.print(node_time_table(rows))


def print_run_times(found: TimesByNodes, console: Console) -> None:
    """Print the run times of jobs by their number of nodes."""
    console.print("\nRun times of jobs by their nodes")
    console.print(run_time_table(found))


def _text(mean: WorkloadMean, digits: int) -> str:
    return f"{mean.value:.{digits}f}" + (f" ±{mean.half:.{digits}f}" if mean.half is not None else "")


def _lengths(runs: pd.DataFrame, study: WorkloadStudy) -> object:
    """Make Table 5.6: simulated time in h by policy and estimates."""
    table = plain_table("", "policy", "none", *(f"{k:g} sigma" for k in study.ks))
    chosen = runs[~runs.fair]
    digits = 1 if chosen.length_h.max() < 1000 else 0
    for model in chosen.model.unique():
        for policy in study.policies:
            mine = chosen[(chosen.model == model) & (chosen.policy == policy.value)]
            if not len(mine):
                continue
            cells = [_text(WorkloadMean.of(mine[mine.k == k].length_h), digits) for k in mine.k.unique()]
            row = [cells[0], *("-" for _ in study.ks)] if model == NOBODY else ["-", *cells]
            table.add_row(model or "-", policy.label, *row)
    return table


def _orderings(runs: pd.DataFrame) -> list[str]:
    """Compare FCFS with the other policies, workload by workload, in sentences."""
    by_policy = runs.groupby(["policy", "seed"]).length_h.mean().unstack("seed")
    if QueuePolicy.FCFS.value not in by_policy.index or len(by_policy) < 2:
        return []
    others = by_policy.drop(QueuePolicy.FCFS.value)
    fcfs = by_policy.loc[QueuePolicy.FCFS.value]
    longest = int((fcfs >= others.max()).sum())
    ratio = WorkloadMean.of(fcfs / others.mean())
    found = [f"FCFS is the longest in {longest} of {len(fcfs)}, {_text(ratio, 2)} times the mean of the others"]
    if QueuePolicy.FIRST_FIT.value in others.index and len(others) > 1:
        fits = others.loc[QueuePolicy.FIRST_FIT.value]
        backfilled = WorkloadMean.of(others.drop(QueuePolicy.FIRST_FIT.value).mean() / fits)
        found.append(f"Backfilling takes {_text(backfilled, 3)} of First Fit")
    return found


def _cancellations(runs: pd.DataFrame, study: WorkloadStudy) -> object:
    """Make Table 5.7: cancelled jobs by estimate. It is the same for all policies and shares."""
    policy = next(policy for policy in study.policies if policy.needs_estimates)
    rows = runs[(runs.policy == policy.value) & (runs.share == study.shares[0])]
    models = list(study.design.application.deviations)
    table = plain_table("estimate", *(f"{model} {what}" for model in models for what in ("jobs", "min")))
    for k in study.ks:
        here = rows[(rows.k == k) & ~rows.fair]
        cells = [
            _text(WorkloadMean.of(here[here.model == model][name]), digits)
            for model in models
            for name, digits in (("cancelled", 1), ("cancelled_min", 0))
        ]
        table.add_row(f"{k:g} sigma", *cells)
    fair = [WorkloadMean.of(rows[rows.fair & (rows.model == model)].k) for model in models]
    table.add_row("none from", *(cell for mean in fair for cell in (f"{_text(mean, 1)} sigma", "-")))
    return table


def _print_fair(runs: pd.DataFrame, pairs: pd.DataFrame, console: Console) -> None:
    """Print Table 5.8, once for each pair of the first model and another model."""
    first = str(runs.model.iloc[0])
    digits = 1 if runs.length_h.max() < 1000 else 0
    for other in pairs.model.unique():
        table = plain_table("", f"T_sim {first}", f"wait {first}", f"T_sim {other}", f"wait {other}")
        gains = plain_table("", "jobs that wait less", "wait saved", "idle saved")
        for policy, rows in pairs[pairs.model == other].groupby("policy", sort=False):
            mine = runs[runs.policy == policy]
            cells = [
                _text(WorkloadMean.of(mine[mine.model == model][name]), places)
                for model in (first, other)
                for name, places in (("length_h", digits), ("wait_h", 0))
            ]
            title = QueuePolicy(policy).label
            table.add_row(title, *(f"{cell} h" for cell in cells))
            saved = [_text(WorkloadMean.of(100 * rows[name]), 2) for name in ("less_share", "wait_gain", "idle_gain")]
            gains.add_row(title, *(f"{cell} %" for cell in saved))
        console.print(table)
        console.print(f"{first} against {other}:")
        console.print(gains)


@dataclass(frozen=True)
class SimulatedLog:
    """Simulation of a log under one policy with one kind of run time estimates."""

    policy: QueuePolicy
    estimates: str  # "": the policy needs no estimates
    outcome: Schedule


def node_time_of_study(study: WorkloadStudy, runs: pd.DataFrame) -> list[tuple[str, list[NodeTime]]]:
    """Return the node time by policy, with a title, for each share of the application."""
    name = study.design.application.name
    return [
        (f"{name} with {share:.1%} of the node time", [*node_times(runs[runs.share == share])])
        for share in study.shares
    ]


def node_time_of_log(title: str, found: list[SimulatedLog]) -> list[tuple[str, list[NodeTime]]]:
    """Return the node time by policy for one log, with its title."""
    return [(title, [NodeTime.from_schedule(one.policy, one.estimates, one.outcome) for one in found])]


def bounded_slowdown(outcome: Schedule) -> np.ndarray:
    """Return the bounded slowdown of each job: (wait + run) / max(run, _SHORT_S), at least 1."""
    used = np.maximum(outcome.used_s, _SHORT_S)
    return np.maximum((outcome.wait_s + outcome.used_s) / used, 1)


def simulated_json(one: SimulatedLog) -> dict[str, object]:
    """Return one simulation for JSON. Times are in s."""
    outcome = one.outcome
    return {
        "policy": one.policy.value,
        "estimates": one.estimates,
        "length_s": outcome.length_s,
        "mean_wait_s": float(outcome.wait_s.mean()),
        "mean_bounded_slowdown": float(bounded_slowdown(outcome).mean()),
        "cancelled": int(outcome.cancelled.sum()),
        "finished_share": outcome.finished_share,
        "cancelled_share": outcome.cancelled_share,
        "idle_share": outcome.idle_share,
    }


def print_simulated(found: list[SimulatedLog], distribution: TimesByNodes, console: Console) -> None:
    """Print a line for each policy and kind of estimates, then the use of node time, and run times by node count."""
    table = plain_table("policy", "estimates", "time", "mean wait", "slowdown", "cancelled")
    for one in found:
        outcome = one.outcome
        table.add_row(
            one.policy.label,
            one.estimates or "-",
            units.time(outcome.length_s * 1e9),
            units.time(float(outcome.wait_s.mean()) * 1e9),
            f"{bounded_slowdown(outcome).mean():.2f}",
            units.count(int(outcome.cancelled.sum())),
        )
    console.print(table)
    _print_node_time([NodeTime.from_schedule(one.policy, one.estimates, one.outcome) for one in found], console)
    print_run_times(distribution, console)
