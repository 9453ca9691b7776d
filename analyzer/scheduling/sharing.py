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
    """Divide each application's time together by its time alone: how many times as long it takes, 1 or more.

    Source: F11, the slowdown of the first study.
    """
    return np.asarray(together, float) / np.asarray(alone, float)


def stretch_ratio(stretched: Sequence[float]) -> float:
    """Return the largest stretch divided by the smallest (F12). 1 is fair. `stretched` comes from `stretches`."""
    return float(np.max(stretched) / np.min(stretched))


def speeds(alone: Sequence[float], together: Sequence[float]) -> np.ndarray:
    """Divide each application's time alone by its time together: the share of its speed that it keeps, 0 to 1.

    Source: F13 and F18, the slowdown of the second and third study.
    """
    return np.asarray(alone, float) / np.asarray(together, float)


def gain_over_batch(kept: Sequence[float]) -> float:
    """Return the sum of the kept shares of speed (F13). Above 1, sharing beats running in sequence."""
    return float(np.sum(kept))


def gain_by_repetition(alone: Sequence[float], together: Sequence[float]) -> float:
    """Return the gain over running in sequence, for the work done while the slowest runs once (F14)."""
    slowest = float(np.max(together))
    in_sequence = np.asarray(alone, float) * slowest / np.asarray(together, float)
    return float(in_sequence.sum() / slowest)


def spread_of_speeds(kept: Sequence[float]) -> float:
    """Return the standard deviation of the kept shares of speed (F15). 0 is fair.

    The divisor is n - 1, as the study has it for three applications.
    """
    return float(np.std(kept, ddof=1))


def is_fair(kept: Sequence[float]) -> bool:
    """Return True if each of n applications keeps at least 1/n of its speed (F18)."""
    return bool(np.min(kept) >= 1 / len(kept))


def batch_throughput(alone: Sequence[float]) -> float:
    """Return the throughput of applications that run one after the other, in jobs/s (F16). `alone` is in s."""
    return len(alone) / float(np.sum(alone))


def shared_throughput(together: Sequence[float]) -> float:
    """Return the throughput of applications that run at once and begin again at their end, in jobs/s (F17)."""
    return float(np.sum(1 / np.asarray(together, float)))


def longest_wait(slice_: float, processes: int) -> float:
    """Return the longest time that a process waits for a processor after its message has arrived (F20, round robin).

    Args:
        slice_: Time slice, in any unit. The result has the same unit.
        processes: Number of processes that share the processor.
    """
    return slice_ * (processes - 1)


@dataclass(frozen=True)
class SharingTimes:
    """Times of applications, alone and together on one machine. All times are s.

    Attributes:
        alone: Duration of each application alone.
        together: Mean duration of each application's complete runs, during all of which the others run, too.
        runs: Number of complete runs of each application.
    """

    alone: tuple[float, ...]
    together: tuple[float, ...]  # the mean of its complete runs, in all of which the others run, too
    runs: tuple[int, ...]

    @property
    def speeds(self) -> list[float]:
        """Share of its speed that each application keeps, 0 to 1 (F18)."""
        return speeds(self.alone, self.together).tolist()

    @property
    def gain(self) -> float:
        """Sum of the kept shares of speed (F13). Above 1, sharing beats running one application after the other."""
        return gain_over_batch(self.speeds)

    @property
    def ratio(self) -> float:
        """Largest stretch divided by the smallest (F12). 1 is fair."""
        return stretch_ratio(stretches(self.together, self.alone).tolist())

    @property
    def fair(self) -> bool:
        """Whether each of n applications keeps at least 1/n of its speed (F18)."""
        return is_fair(self.speeds)

    @property
    def shared_throughput(self) -> float:
        """Throughput of all applications at once, in jobs/s (F17)."""
        return shared_throughput(self.together)

    @property
    def batch_throughput(self) -> float:
        """Throughput of the applications one after the other, in jobs/s (F16)."""
        return batch_throughput(self.alone)


def closed(programs: Sequence[Program], machine: Machine, prediction: ReplayPrediction) -> SharingTimes:
    """Compute the times of applications that share a machine and begin again at their end.

    Args:
        programs: Program of each application; each is also replayed alone on its nodes of the machine.
        machine: The shared machine.
        prediction: Replay of all programs together, with repetitions.
    """
    machines = [machine.of_application(k) for k in range(len(programs))]
    alone = [simulate(program, m).end_ns / 1e9 for program, m in zip(programs, machines, strict=True)]
    of = [prediction.runs[prediction.runs["application"] == number] for number in range(len(programs))]
    together = [float(np.mean(runs["end"] - runs["begin"])) / 1e9 for runs in of]
    return SharingTimes(tuple(alone), tuple(together), tuple(map(len, of)))
