"""Decides when the shares of a running program change, from the times that its ranks measured.

Source: search-and-balance specification, section 2, MON: it watches a run, and plans again when the estimate is off.
How
it decides is ours, and described in docs/balance.md. `tracelib_replan.h` computes the same numbers in C.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

from tracelib.schema.shares import split

WINDOWS = (3, 6, 12, 24)
"""Numbers of looks from which new shares may be computed. The shortest sufficient window counts."""
FOLDS = 3
"""Number of parts into which a window is divided for the test of a gain."""
SPREADS, NOISES = 0.5, 1.0
"""Margin by which the mean gain must exceed the threshold.

It is SPREADS x (largest - smallest gain of the thirds of a window) + NOISES x noise of a step / sqrt(looks).
`tracelib_replan.h` describes the simulation by which both were chosen."""
LITTLE = 0.1
"""Change of shares, as squared logarithm of items, that shows half of how a pace depends on the share."""
MOST_BENT = 2.0
"""Largest exponent of the dependence of a pace on the share."""


@dataclass
class _Bend:
    """Dependence of a rank's pace on its share: pace ~ items ^ bend, as changes of shares showed it.

    A rank with little to do has its CPU as long as it needs it. With more to do, it waits for others.
    """

    old_count: int = 0  # before the last change
    old_pace: float = 0.0
    xy: float = 0.0  # sums of logarithms, items times pace and items squared; of each change half of the last
    xx: float = 0.0

    @property
    def bend(self) -> float:
        return min(max(self.xy / (self.xx + LITTLE), 0.0), MOST_BENT)

    def learn(self, count: int, pace: float) -> None:
        """Update the sums from the first steps after a change of shares."""
        x = log(count / self.old_count)
        self.xy = self.xy / 2 + x * log(pace / self.old_pace)
        self.xx = self.xx / 2 + x * x


class PaceMonitor:
    """Shares of all ranks, which change by the times that the ranks measured.

    New shares are computed from two thirds of some looks, and must gain enough in the remaining third, for each
    third.
    """

    def __init__(self, counts: Sequence[int], threshold: float) -> None:
        """Begin with shares.

        Args:
            counts: Number of items of each rank.
            threshold: Share of a step's time that new shares must gain, beyond noise.
        """
        self.counts = list(counts)
        self._items, self._threshold = sum(counts), threshold
        self._paces: deque[list[float]] = deque(maxlen=WINDOWS[-1])  # s an item, by rank; the latest look is the first
        self._steps: deque[float] = deque(maxlen=WINDOWS[-1])
        self._looks = 0  # since the last plan
        self._caution = 0  # windows before this one do not count
        self._noise, self._last_s, self._distances = 0.0, 0.0, 0
        self.before_s = self.expected_s = 0.0  # of a step, without and with the last plan; 0: there was none
        self._bends = [_Bend() for _ in counts]
        self._waited_s = 0.0  # lost while the gain was seen, but did not yet pay for moving
        self.move_s = 0.0  # what moving costs
        self.moves = 0  # how often that was seen

    def moved(self, seconds: float) -> None:
        """Record the cost of a change of shares: the seconds that a step took beyond a usual step."""
        now = max(seconds, 0.0)
        self.move_s = (self.move_s + now) / 2 if self.moves else now
        self.moves += 1

    def look(self, seconds: Sequence[float], steps: int) -> bool:
        """Take the times of all ranks since the last look, and decide whether shares change.

        Args:
            seconds: Time in s that each rank computed its items, all steps together.
            steps: Number of steps since the last look.

        Returns:
            True if `counts` has new shares.
        """
        if not all(count > 0 and time > 0 for count, time in zip(self.counts, seconds, strict=True)):
            return False
        self._paces.appendleft([time / (count * steps) for count, time in zip(self.counts, seconds, strict=True)])
        self._steps.appendleft(steps)
        self._looks += 1
        self._note_noise(_last_end(self.counts, self._paces[0]))
        if self._looks == FOLDS and self.expected_s > 0:
            for bend, count, pace in zip(self._bends, self.counts, self._pace(range(FOLDS)), strict=True):
                bend.learn(count, pace)
        if self._looks % (WINDOWS[-1] << self._caution) == 0 and self._caution > 0:
            self._caution -= 1
        for window in WINDOWS[self._caution :]:
            if self._looks >= window and self._looks % (window // FOLDS) == 0 and self._agrees(window):
                counts, before_s, expected_s, saved = self._saves(window)
                if saved > 0:
                    return self._takes(counts, window, before_s, expected_s, saved)
        self._waited_s = 0.0
        return False

    def _note_noise(self, step_s: float) -> None:
        """Update the mean relative difference of a step's time from the step at the look before.

        Recent looks count most.
        """
        if self._looks > 1:
            distance = 2 * abs(step_s - self._last_s) / (step_s + self._last_s)
            self._distances = min(self._distances + 1, WINDOWS[-1])
            self._noise += (distance - self._noise) / self._distances
        self._last_s = step_s

    def _agrees(self, window: int) -> bool:
        """Return True if other shares would gain enough in each third of a window."""
        gains = [self._fold_gain(window, fold) for fold in range(FOLDS)]
        mean = (gains[0] + gains[1] + gains[2]) / FOLDS
        demanded = self._threshold + NOISES * self._noise / sqrt(window)
        return mean - SPREADS * (max(gains) - min(gains)) > demanded

    def _fold_gain(self, window: int, fold: int) -> float:
        """Return the share of the time that a third of the looks would have saved with shares from the others."""
        shares = self._bent(self._shares([k for k in range(window) if k % FOLDS != fold]))
        now = then = 0.0
        for k in range(fold, window, FOLDS):
            now += _last_end(self.counts, self._paces[k])
            then += _last_end(shares, self._paces[k])
        return 1 - then / now

    def _pace(self, looks: Sequence[int]) -> list[float]:
        """Return the pace of each rank in some looks, s per item."""
        return [_middle(values) for values in zip(*(self._paces[k] for k in looks), strict=True)]

    def _shares(self, looks: Sequence[int]) -> list[float]:
        """Return shares with which all ranks finish together: items x speed / sum of speeds.

        If paces depend on shares: items = now x (time / time now) ^ (1 / (1 + bend)). The time is found by Newton's
        method, in
        logarithms.
        """
        paces = self._pace(looks)
        if not any(bend.bend for bend in self._bends):
            speeds = [1 / pace for pace in paces]
            total = _sum(speeds)
            return [self._items * (speed / total) for speed in speeds]
        ends = [log(count * pace) for count, pace in zip(self.counts, paces, strict=True)]
        grow = [1 + bend.bend for bend in self._bends]
        ranks = list(zip(self.counts, ends, grow, strict=True))
        at, change = max(ends), 1.0
        for _ in range(50):
            if abs(change) <= 1e-12:
                break
            shares = [count * exp((at - end) / by) for count, end, by in ranks]
            total = _sum(shares)
            change = log(total / self._items) * total / _sum([one / by for one, by in zip(shares, grow, strict=True)])
            at -= change
        return [count * exp((at - end) / by) for count, end, by in ranks]

    def _bent(self, shares: Sequence[float]) -> list[float]:
        """Return the numbers of items that take as long at the present pace as each share would at its own pace."""
        return [
            share * (share / count) ** bend.bend
            for share, count, bend in zip(shares, self.counts, self._bends, strict=True)
        ]

    def _saves(self, window: int) -> tuple[list[int], float, float, float]:
        """Return new shares, the time of a step without and with them, and the time that they save in a window.

        The saved time is 0 if it is below the threshold. Times are s.
        """
        counts = one_each(split(self._items, self._shares(range(window))))
        ends = self._bent(counts)
        now = then = steps = 0.0
        for k in range(window):
            now += self._steps[k] * _last_end(self.counts, self._paces[k])
            then += self._steps[k] * _last_end(ends, self._paces[k])
            steps += self._steps[k]
        return counts, now / steps, then / steps, now - then if then < now * (1 - self._threshold) else 0.0

    def _takes(self, counts: list[int], window: int, before_s: float, expected_s: float, saved: float) -> bool:
        """Change to new shares if they would by now have saved the cost of moving; return whether they changed."""
        if saved + self._waited_s < self.move_s:
            self._waited_s += self._steps[0] * (before_s - expected_s)
            return False
        self._judge()
        for bend, count, pace in zip(self._bends, self.counts, self._pace(range(window)), strict=True):
            bend.old_count, bend.old_pace = count, pace
        self.counts, self.before_s, self.expected_s = counts, before_s, expected_s
        self._paces.clear()
        self._steps.clear()
        self._looks, self._waited_s = 0, 0.0
        return True

    def _judge(self) -> None:
        """Judge the last plan. If steps took nearly as long as without it, the next plan needs more looks."""
        took = _middle([_last_end(self.counts, pace) for pace in self._paces])
        if self.expected_s > 0 and took > sqrt(self.before_s * self.expected_s):
            self._caution = min(self._caution + 1, len(WINDOWS) - 1)


def one_each(counts: Sequence[int]) -> list[int]:
    """Give each rank at least one item if there are enough, because the speed of an idle rank cannot be measured."""
    found = list(counts)
    while 0 in found and sum(found) >= len(found):
        found[found.index(max(found))] -= 1
        found[found.index(0)] += 1
    return found


def _middle(values: Sequence[float]) -> float:
    """Return the mean without the lowest and the highest quarter."""
    n = len(values)
    return _sum(sorted(values)[n // 4 : n - n // 4]) / (n - 2 * (n // 4))


def _sum(values: Sequence[float]) -> float:
    """Add in order of the values, as in C. The built-in sum() rounds differently."""
    total = 0.0
    for value in values:
        total += value
    return total


def _last_end(shares: Sequence[float], pace: Sequence[float]) -> float:
    return max(share * one for share, one in zip(shares, pace, strict=True))
