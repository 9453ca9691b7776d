"""Random parameters in the reference simulator, as docs/machine.md says that they are drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from analyzer.machine.description import Count, ExponentialNumber, GaussianNumber, Quantity, UniformNumber


def mixed(*words: int) -> int:
    """The words, one after the other, into 64 bits."""
    x = 0
    for word in words:
        x ^= word
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x = (x ^ x >> shift) * factor % 2**64
        x ^= x >> 31
    return x


@dataclass
class Draws:
    """Random numbers of one operation: of thread number `who`, and `record` with its run."""

    seed: int
    who: int = 0
    record: int = 0
    taken: int = field(default=0, init=False)

    def uniform(self, parameter: int) -> float:
        """The next, above 0 and below 1."""
        start = (self.seed + 0x9E3779B97F4A7C15) % 2**64
        x = mixed(start, parameter, self.who, self.record, self.taken)
        self.taken += 1
        return ((x >> 11) + 0.5) / 2**53

    def value(self, of: Quantity, parameter: int, least: float) -> float:
        """Draw a parameter; values below `least` become `least`."""
        if isinstance(of, UniformNumber):
            found = of.low + (of.high - of.low) * self.uniform(parameter)
        elif isinstance(of, GaussianNumber):
            u, w = self.uniform(parameter), self.uniform(parameter)
            found = of.mean + of.deviation * math.sqrt(-2 * math.log(u)) * math.cos(2 * math.pi * w)
        elif isinstance(of, ExponentialNumber):
            found = of.least - of.mean * math.log(self.uniform(parameter))
        else:
            return of
        return max(found, least)

    def time(self, of: Quantity, parameter: int) -> float:
        """A latency."""
        return self.value(of, parameter, 0.0)

    def count(self, of: Count, parameter: int) -> int:
        """A number of CPUs, links or buses: at least 1; of a uniform one each number is as likely as the others."""
        if isinstance(of, int):
            return of
        if isinstance(of, UniformNumber):
            return max(math.floor(of.low + (of.high + 1 - of.low) * self.uniform(parameter)), 1)
        return max(math.floor(self.value(of, parameter, 0.0) + 0.5), 1)

    def rate(self, of: Quantity, parameter: int) -> float:
        """A bandwidth or a speed."""
        return self.value(of, parameter, 1e-12)
