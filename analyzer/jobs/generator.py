"""Makes workloads: classes of jobs by Jann's model, and jobs of a predicted application between them.

Source: "TIA specification", sections 1.12 and 3.7 (2, 3). The source does not print the coefficients of its classes.
`CLASSES` are ours, chosen so that the sums that it prints come out: more than 3500 h of run time, of which HPL has
2.2 % of the node time, and about 300 h where it has 30 %.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.errors import TracelibError
from analyzer.jobs.application import Application
from analyzer.jobs.hpl import HPL
from analyzer.jobs.hyper_erlang import HyperErlang
from analyzer.jobs.workload import Workload


@dataclass(frozen=True)
class JobClass:
    """Jobs of a range of node counts, each as likely."""

    fewest: int
    most: int
    part: float  # of all jobs
    run_s: float  # mean
    run_variation: float  # coefficient of variation
    gap_variation: float  # of the times between jobs of this class


CLASSES = (
    JobClass(1, 1, 0.52, 10_800, 1.6, 1.8),
    JobClass(2, 2, 0.20, 10_800, 1.6, 1.8),
    JobClass(3, 4, 0.16, 10_800, 1.5, 1.8),
    JobClass(5, 7, 0.12, 10_800, 1.4, 1.8),
)


@dataclass(frozen=True)
class Design:
    """What is generated: defaults are the study's cluster `burdeos` and its numbers of jobs."""

    jobs: int = 1674
    application_jobs: int = 521
    nodes: int = 7
    load: float = 1.0  # node time of all jobs / node time there is while they come
    classes: tuple[JobClass, ...] = CLASSES
    application: Application = HPL

    def __post_init__(self) -> None:
        if not 0 < self.application_jobs < self.jobs:
            raise TracelibError(
                f"{self.application_jobs} of {self.jobs} jobs cannot be those of the application",
                "there are some of it, and some others",
            )
        if max(one.most for one in self.classes) > self.nodes:
            raise TracelibError(
                f"the generated jobs need up to {max(one.most for one in self.classes)} nodes", "give --nodes"
            )


def generate(design: Design, share: float, seed: int) -> Workload:
    """A workload in which the application has this share (0 to 1, exclusive) of all node time.

    The run times of other jobs, and with them the times between all jobs, are scaled until it has.
    """
    rng = np.random.default_rng(seed)
    others = design.jobs - design.application_jobs
    nodes, run, gaps_from = _others(design, others, rng)
    own = design.application.runs(rng.choice(nodes, design.application_jobs), rng)
    work = float((own.run_s * own.nodes).sum())
    run = run * (work * (1 - share) / share / float((run * nodes).sum()))
    span = work / share / (design.nodes * design.load)
    submit = np.concatenate([gaps_from * span, rng.random(design.application_jobs) * span])
    order = np.argsort(submit, kind="stable")
    return Workload(
        submit[order] - submit[order[0]],
        np.concatenate([nodes, own.nodes])[order],
        np.concatenate([run, own.run_s])[order],
        np.repeat([False, True], [others, design.application_jobs])[order],
        {name: np.concatenate([run, values])[order] for name, values in own.predictions_s.items()},
    )


def _others(design: Design, jobs: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Jobs of all classes: nodes, run times (s), and when they come (0 to 1)."""
    parts = np.array([one.part for one in design.classes])
    counts = rng.multinomial(jobs, parts / parts.sum())
    found = []
    for one, count in zip(design.classes, counts, strict=True):
        nodes = rng.integers(one.fewest, one.most + 1, count)
        run = HyperErlang.of_variation(one.run_s, one.run_variation).draw(int(count), rng)
        gaps = HyperErlang.of_variation(1.0, one.gap_variation).draw(int(count) + 1, rng)
        found.append((nodes, run, np.cumsum(gaps)[:-1] / gaps.sum()))
    nodes, run, when = (np.concatenate(columns) for columns in zip(*found, strict=True))
    return nodes, run, when
