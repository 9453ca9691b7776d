"""Generator of workloads: classes of jobs by Jann's model, with jobs of a predicted application among them.

Source: "TIA specification", sections 1.12 and 3.7 (2, 3). The source does not print the coefficients of its classes.
`CLASSES` are ours, chosen to give the printed sums: more than 3500 h of run time, of which HPL has 2.2 % of the node
time, and about 300 h where it has 30 %.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.errors import TracelibError
from analyzer.jobs.application import Application
from analyzer.jobs.hpl import HPL
from analyzer.jobs.workload import Workload

_MOST_STAGES = 1000
_SLACK = 1e-9


@dataclass(frozen=True)
class HyperErlang:
    """Hyper-Erlang distribution of times: a mixture of two Erlang distributions of the same order.

    Attributes:
        order: Number of stages.
        probability: Probability of the first branch.
        stages_s: Mean time of a stage of each branch, s.
    """

    order: int
    probability: float  # of the first branch
    stages_s: tuple[float, float]  # mean of a stage of each branch

    @classmethod
    def of_moments(cls, first: float, second: float, third: float) -> HyperErlang:
        """Make the distribution with the moments E[T], E[T^2], E[T^3], in s, s^2, s^3.

        Raises:
            ValueError: No order up to 1000 has these moments.
        """
        for order in range(1, _MOST_STAGES + 1):
            a = first / order
            b = second / (order * (order + 1))
            c = third / (order * (order + 1) * (order + 2))
            if (found := _two_points(a, b, c)) is not None:
                return cls(order, *found)
        raise ValueError(f"no hyper-Erlang distribution has the moments {first:g}, {second:g}, {third:g}")

    @classmethod
    def of_variation(cls, mean: float, variation: float) -> HyperErlang:
        """Make the distribution with a mean (s), a coefficient of variation, and a gamma distribution's third moment.

        Raises:
            ValueError: The mean or the coefficient is not above 0, or no distribution has these moments.
        """
        square = variation * variation
        if not (mean > 0 and variation > 0):
            raise ValueError("a mean and a coefficient of variation are above 0")
        return cls.of_moments(mean, mean**2 * (1 + square), mean**3 * (1 + square) * (1 + 2 * square))

    def moment(self, number: int) -> float:
        """Return the raw moment E[T^number], s^number."""
        rising = float(np.prod(np.arange(self.order, self.order + number)))
        p, (x, y) = self.probability, self.stages_s
        return rising * (p * x**number + (1 - p) * y**number)

    def draw(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Draw random times, s, shape (size,)."""
        first = rng.random(size) < self.probability
        return rng.gamma(self.order, size=size) * np.where(first, *self.stages_s)


def _two_points(a: float, b: float, c: float) -> tuple[float, tuple[float, float]] | None:
    """Find the distribution on two positive points with three given raw moments.

    Returns:
        The probability of the first point, and the points. None: there is no such distribution.
    """
    spread = b - a * a
    if abs(spread) <= _SLACK * b and abs(c - a**3) <= 3 * _SLACK * abs(c):
        return 1.0, (a, a)
    if spread <= 0:
        return None
    total, product = (c - a * b) / spread, (a * c - b * b) / spread  # of the two points
    under = total * total - 4 * product
    if product < -_SLACK * b or under <= 0:
        return None
    low, high = (total - np.sqrt(under)) / 2, (total + np.sqrt(under)) / 2
    probability = (high - a) / (high - low)
    if not (low > 0 and 0 <= probability <= 1):
        return None
    return float(probability), (float(low), float(high))


@dataclass(frozen=True)
class JobClass:
    """Class of jobs whose numbers of nodes lie in a range. All numbers of the range are equally likely.

    Attributes:
        fewest: Fewest nodes.
        most: Most nodes.
        part: Share of all jobs, 0 to 1.
        run_s: Mean run time, s.
        run_variation: Coefficient of variation of the run time.
        gap_variation: Coefficient of variation of the time between two jobs of the class.
    """

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
"""Classes of jobs of the study's cluster."""


@dataclass(frozen=True)
class WorkloadDesign:
    """Settings of a generated workload. The defaults are the study's cluster `burdeos` and its numbers of jobs.

    Attributes:
        jobs: Number of all jobs.
        application_jobs: Number of jobs of the predicted application.
        nodes: Number of nodes of the cluster.
        load: Node time of all jobs / node time of the cluster while jobs are submitted.
        classes: Classes of the other jobs.
        application: The predicted application.
    """

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


def generate(design: WorkloadDesign, share: float, seed: int) -> Workload:
    """Generate a workload. The run times of other jobs, and the times between all jobs, are scaled to match `share`.

    Args:
        design: Settings of the workload.
        share: Share of all node time that the application has, between 0 and 1, both exclusive.
        seed: Seed of the random numbers.
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


def _others(design: WorkloadDesign, jobs: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw jobs of all classes: number of nodes, run time (s), and time of arrival (0 to 1) of each."""
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
