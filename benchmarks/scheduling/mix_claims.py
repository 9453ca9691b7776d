"""Claims of the second and third study about three applications at once: statements that are true or false of a policy.

Source: "Dimemas specification", sections 4.9 and 4.10. "About" means to 10 %, "the same" in either index; what "fair"
is, F18 says. Claims about bandwidth in the second study are left out: it does not say how large its messages are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from analyzer.scheduling import sharing
from benchmarks.scheduling.claims import Answer, Claim, Verdict, largest, least, verdict
from benchmarks.scheduling.mixes import CG, LOADS, Mixed, Mixes

ABOUT = 0.1
FAVOURED = ("FFT", "IS")
"""Long computations between few messages."""


@dataclass(frozen=True)
class MixView:
    """The results of one experiment."""

    experiment: str
    mixes: Mixes

    def of(self, policy: str, part: str = "") -> list[Mixed]:
        """Return the points with these words in their names, in order."""
        return [mixed for name, mixed in self.mixes[self.experiment][policy].items() if part in name]

    def others(self, policy: str) -> list[str]:
        return [name for name in self.mixes[self.experiment] if name != policy]


def same_indices(v: MixView, policy: str, other: str) -> Answer:
    """Answer whether gain and fairness of two policies are about the same at each point."""
    pairs = zip(v.of(policy), v.of(other), strict=True)
    far = max(max(abs(a.gain / b.gain - 1), abs(a.spread / b.spread - 1)) for a, b in pairs)
    return far <= ABOUT, f"{100 * far:.0f} %"


def gains_alike(v: MixView, policy: str) -> Answer:
    """Answer whether gains are alike whatever the slice."""
    gains = [mixed.gain for mixed in v.of(policy)]
    return largest([max(gains) / min(gains)], 1 + ABOUT)


def less_fair_with_slices(v: MixView, policy: str) -> Answer:
    """Answer whether longer slices are less fair, to 5 %."""
    spreads = [mixed.spread for mixed in v.of(policy)]
    rises = all(b >= 0.95 * a for a, b in pairwise(spreads)) and spreads[-1] > 1.05 * spreads[0]
    return rises, f"{spreads[0]:.2f} to {spreads[-1]:.2f}"


def fairest(v: MixView, policy: str) -> Answer:
    """Count the slices at which nobody is fairer; true if at most of them."""
    rivals = [[mixed.spread for mixed in v.of(name)] for name in v.others(policy)]
    mine = [mixed.spread for mixed in v.of(policy)]
    count = sum(x <= 1.01 * min(others) for x, others in zip(mine, zip(*rivals, strict=True), strict=True))
    return count > len(mine) / 2, f"{count} of {len(mine)}"


def worst_of_all(v: MixView, policy: str) -> Answer:
    """Answer whether nobody gains less or is less fair, at each slice."""

    def worse(other: str) -> int:
        return sum(a.gain > 1.01 * b.gain or a.spread < 0.99 * b.spread
                   for a, b in zip(v.of(policy), v.of(other), strict=True))  # fmt: skip

    beaten = [name for name in v.others(policy) if worse(name)]
    return not beaten, f"{len(beaten)} are worse somewhere"


def ratio(of: Callable[[Mixed], float], to: Callable[[Mixed], float], bound: float, part: str = "") -> Callable:
    """Answer whether the least ratio of two numbers of the points is at least the bound."""
    return lambda v, p: least((of(mixed) / to(mixed) for mixed in v.of(p, part)), bound)


def slower_than_on_the_hpc(v: MixView, policy: str) -> Answer:
    slow = zip(v.of(policy, "NOW,"), v.of(policy, "HPC"), strict=True)
    bus = zip(v.of(policy, "NOW with a bus"), v.of(policy, "HPC"), strict=True)
    return largest((a.shared / b.shared for a, b in [*slow, *bus]), 0.99)


def favours_long_bursts(v: MixView, policy: str) -> Answer:
    """Answer whether FFT and IS keep more of their speed than LU and MG, wherever they meet."""
    found = []
    for name, mixed in v.mixes[v.experiment][policy].items():
        kept = dict(zip(LOADS[name.split(",")[0]], mixed.kept, strict=True))
        long = [x for application, x in kept.items() if application in FAVOURED]
        found.append(min(long) / max(x for application, x in kept.items() if application not in FAVOURED))
    return least(found, 1)


def second_study(tasks: int) -> str:
    return f"S2 {tasks}"


SIX = ("FIFO", "RR", "DECAY", "BOOST1", "BOOST2", "BOOST3")
BOTH: Sequence[str] = ("FIFO", "RR")
_EIGHT_WITHOUT = "NOW, 8"
MIX_CLAIMS = (
    Claim(second_study(4), "gains over batch", ratio(lambda m: m.gain, lambda _: 1, 1.0), SIX[1:]),
    Claim(second_study(4), "does about as much as batch",
          lambda v, p: largest((abs(m.gain - 1) for m in v.of(p)), ABOUT), ("FIFO",)),
    Claim(second_study(4), "leaves CG less than a third of its speed",
          lambda v, p: largest((m.kept[CG] for m in v.of(p)), 1 / 3), ("FIFO",)),
    Claim(second_study(4), "gains about the same whatever the slice", gains_alike, ("RR", "DECAY")),
    Claim(second_study(4), "is the less fair the longer the slice", less_fair_with_slices, ("RR", "DECAY")),
    Claim(second_study(4), "with the shortest slice gains about what DECAY does",
          lambda v, p: largest([abs(v.of(p)[0].gain / v.of("DECAY")[0].gain - 1)], ABOUT), ("RR",)),
    Claim(second_study(4), "with the shortest slice is fairer than DECAY",
          lambda v, p: largest([v.of(p)[0].spread / v.of("DECAY")[0].spread], 0.99), ("RR",)),
    Claim(second_study(4), "is the fairest at most slices", fairest, ("DECAY",)),
    Claim(second_study(4), "does about the same as FIFO", lambda v, p: same_indices(v, p, "FIFO"), ("BOOST1",)),
    Claim(second_study(8), "is the worst in both indices", worst_of_all, ("FIFO", "BOOST1"), ("DECAY",)),
    Claim(second_study(8), "is the less fair the longer the slice", less_fair_with_slices, ("RR",)),
    Claim(second_study(8), "gains about the same whatever the slice", gains_alike, ("BOOST2", "BOOST3")),
    Claim(second_study(16), "is the fairest at most slices", fairest, ("DECAY",)),
    Claim(second_study(16), "gains over batch", ratio(lambda m: m.gain, lambda _: 1, 1.0), SIX),
    Claim("S3", "does no less than batch, 8 tasks on the NOW without bus conflict (Table 22)",
          ratio(lambda m: m.shared, lambda m: m.batch, 1.0, _EIGHT_WITHOUT), BOTH),
    Claim("S3", "does about as much as batch, or more, everywhere",
          ratio(lambda m: m.shared, lambda m: m.batch, 1 - ABOUT), BOTH),
    Claim("S3", "does less on the NOW than on the HPC", slower_than_on_the_hpc, BOTH),
    Claim("S3", "is unfair on the NOW with a bus: somebody keeps less than a third",
          lambda v, p: largest((min(m.kept) for m in v.of(p, "with a bus")), 1 / 3), BOTH),
    Claim("S3", "is fair with 8 tasks on the NOW without bus conflict (Table 21)",
          lambda v, p: (all(sharing.is_fair(m.kept) for m in v.of(p, _EIGHT_WITHOUT)),
                        f"{min(min(m.kept) for m in v.of(p, _EIGHT_WITHOUT)):.2f}"), ("RR",), ("FIFO",)),
    Claim("S3", "favours long computations between few messages", favours_long_bursts, BOTH),
)  # fmt: skip


def mix_verdicts(mixes: Mixes) -> list[Verdict]:
    """Judge all claims on experiments that were run, on all policies."""
    return [
        verdict(claim, MixView(claim.experiment, mixes), mixes[claim.experiment])
        for claim in MIX_CLAIMS
        if claim.experiment in mixes
    ]
