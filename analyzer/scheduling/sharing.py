"""Applications that run at once, each beginning again when it ends: what sharing costs each, and what it gains.

Source: "Dimemas specification", sections 8.2.3 and 8.3.2 (closed systems; F12 to F18).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.machine.description import Machine
from analyzer.program.model import Program
from analyzer.replay.simulate import ReplayPrediction, simulate


def stretches(together: Sequence[float], alone: Sequence[float]) -> np.ndarray:
    """Compute how many times as long each application takes as alone, 1 or more (F11, the first study's slowdown)."""
    return np.asarray(together, float) / np.asarray(alone, float)


def stretch_ratio(stretched: Sequence[float]) -> float:
    """Return the largest over the smallest of `stretches` (F12): 1 is fair."""
    return float(np.max(stretched) / np.min(stretched))


def speeds(alone: Sequence[float], together: Sequence[float]) -> np.ndarray:
    """Return the share of its speed alone that each keeps, 0 to 1.

    Source: F13 and F18, the slowdown of the second and third.
    """
    return np.asarray(alone, float) / np.asarray(together, float)


def gain_over_batch(kept: Sequence[float]) -> float:
    """Return the sum of `speeds` (F13): above 1, sharing beats running one after the other."""
    return float(np.sum(kept))


def gain_by_repetition(alone: Sequence[float], together: Sequence[float]) -> float:
    """Compute the gain over running in sequence, from the work done while the slowest application runs once (F14)."""
    slowest = float(np.max(together))
    in_sequence = np.asarray(alone, float) * slowest / np.asarray(together, float)
    return float(in_sequence.sum() / slowest)


def spread_of_speeds(kept: Sequence[float]) -> float:
    """Return the standard deviation of `speeds` (F15; with n - 1, as the study has it for three): 0 is fair."""
    return float(np.std(kept, ddof=1))


def is_fair(kept: Sequence[float]) -> bool:
    """Check whether each of n applications keeps 1/n of its speed (F18)."""
    return bool(np.min(kept) >= 1 / len(kept))


def batch_throughput(alone: Sequence[float]) -> float:
    """Return throughput of applications that run one after the other, jobs/s (F16)."""
    return len(alone) / float(np.sum(alone))


def shared_throughput(together: Sequence[float]) -> float:
    """Return throughput of applications that run at once, each beginning again when it ends, jobs/s (F17)."""
    return float(np.sum(1 / np.asarray(together, float)))


def longest_wait(slice_: float, processes: int) -> float:
    """Return the longest wait for a processor with round robin (F20), in the unit of the slice.

    The process waits after its message has arrived.
    """
    return slice_ * (processes - 1)


@dataclass(frozen=True)
class SharingTimes:
    """Times of each application, in s."""

    alone: tuple[float, ...]
    together: tuple[float, ...]  # the mean of its complete runs, in all of which the others run, too
    runs: tuple[int, ...]

    @property
    def speeds(self) -> list[float]:
        """The share of its speed that each keeps (F18)."""
        return speeds(self.alone, self.together).tolist()

    @property
    def gain(self) -> float:
        """The sum of the speeds (F13): above 1, sharing beats running one after the other."""
        return gain_over_batch(self.speeds)

    @property
    def ratio(self) -> float:
        """The largest stretch over the smallest (F12)."""
        return stretch_ratio(stretches(self.together, self.alone).tolist())

    @property
    def fair(self) -> bool:
        """Check whether each of n applications keeps 1/n of its speed (F18)."""
        return is_fair(self.speeds)

    @property
    def shared_throughput(self) -> float:
        """Jobs/s of all applications at once (F17)."""
        return shared_throughput(self.together)

    @property
    def batch_throughput(self) -> float:
        """Jobs/s of the applications one after the other (F16)."""
        return batch_throughput(self.alone)


def closed(programs: Sequence[Program], machine: Machine, prediction: ReplayPrediction) -> SharingTimes:
    """Compute the losses of each application and the gain of all in `prediction`, a replay with repetitions.

    Each program is also replayed alone on the same machine, for comparison.
    """
    machines = [machine.of_application(k) for k in range(len(programs))]
    alone = [simulate(program, m).end_ns / 1e9 for program, m in zip(programs, machines, strict=True)]
    of = [prediction.runs[prediction.runs["application"] == number] for number in range(len(programs))]
    together = [float(np.mean(runs["end"] - runs["begin"])) / 1e9 for runs in of]
    return SharingTimes(tuple(alone), tuple(together), tuple(map(len, of)))
