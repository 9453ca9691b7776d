"""Applications that run at once, each beginning again when it ends: what sharing costs each, and what it gains.

Source: "Dimemas specification", sections 8.2.3 and 8.3.2 (closed systems; F12 to F18).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.machine.machine import Machine
from analyzer.program.program import Program
from analyzer.replay.simulate import Prediction, simulate
from analyzer.scheduling import indices


@dataclass(frozen=True)
class Closed:
    """Times of each application, in s."""

    alone: tuple[float, ...]
    together: tuple[float, ...]  # the mean of its complete runs, in all of which the others run, too
    runs: tuple[int, ...]

    @property
    def speeds(self) -> list[float]:
        """The share of its speed that each keeps (F18)."""
        return indices.speeds(self.alone, self.together).tolist()

    @property
    def gain(self) -> float:
        """The sum of the speeds (F13): above 1, sharing beats running one after the other."""
        return indices.gain_over_batch(self.speeds)

    @property
    def ratio(self) -> float:
        """The largest stretch over the smallest (F12)."""
        return indices.stretch_ratio(indices.stretches(self.together, self.alone).tolist())

    @property
    def fair(self) -> bool:
        """Whether each of n keeps 1/n of its speed (F18)."""
        return indices.is_fair(self.speeds)

    @property
    def shared_throughput(self) -> float:
        """Jobs/s of all applications at once (F17)."""
        return indices.shared_throughput(self.together)

    @property
    def batch_throughput(self) -> float:
        """Jobs/s of the applications one after the other (F16)."""
        return indices.batch_throughput(self.alone)


def closed(programs: Sequence[Program], machine: Machine, prediction: Prediction) -> Closed:
    """What each application loses and all gain in `prediction`, a replay of the programs with repetitions; each is
    replayed alone on the same machine for comparison."""
    machines = [machine.of_application(k) for k in range(len(programs))]
    alone = [simulate(program, m).end_ns / 1e9 for program, m in zip(programs, machines, strict=True)]
    of = [prediction.runs[prediction.runs["application"] == number] for number in range(len(programs))]
    together = [float(np.mean(runs["end"] - runs["begin"])) / 1e9 for runs in of]
    return Closed(tuple(alone), tuple(together), tuple(map(len, of)))
