"""Claims of the study about E1 to E7, each as a statement that is true or false of every policy.

A claim holds if its statement is true of the policies that the study says it is true of, and of none that it says it is
not. "The same" and "the maximum" mean to 1 %; other tolerances stand in the statements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.scheduling.experiments import A_US, NAMES, POLICIES, SLICE_US, Results, most, rings_of

Answer = tuple[bool, str] | None
"""Whether the statement is true of a policy, and the number that says so; None: it does not apply."""

FAVOURS = {policy.name: policy.favours for policy in POLICIES}
FIXED = ("PF_1", "PF_2", "PP_1", "PP_2")
CP = ("CP_FIFO", "CP_RR", "CP_FIFO_DEP", "CP_RR_DEP")
UNFAIR = 1.02


@dataclass(frozen=True)
class Claim:
    """A statement, and of which policies the study says that it is true, and that it is not."""

    experiment: str
    text: str
    statement: Callable[[Any, str], Answer]  # of the experiment's view, and a policy
    true_of: Sequence[str]
    false_of: Sequence[str] = ()


@dataclass(frozen=True)
class Verdict:
    """A claim on the measured results."""

    claim: Claim
    answers: dict[str, Answer] = field(default_factory=dict)

    @property
    def against(self) -> list[str]:
        """Policies that do not do what the study says."""
        wanted = dict.fromkeys(self.claim.true_of, True) | dict.fromkeys(self.claim.false_of, False)
        found = {name: self.answers.get(name) for name in wanted}
        return [name for name, answer in found.items() if answer is not None and answer[0] != wanted[name]]

    @property
    def holds(self) -> bool:
        return not self.against


@dataclass(frozen=True)
class View:
    """The results of one experiment."""

    experiment: str
    results: Results

    def points(self, least: float = 0, most_: float = np.inf) -> list[float]:
        """Return the values of the varied parameter between two bounds."""
        first = next(iter(self.results[self.experiment].values()))
        return [x for x in first if least <= x <= most_]

    def unlike(self) -> list[float]:
        """Return the computations very unlike the other application's."""
        return [x for x in self.points() if max(x / A_US, A_US / x) > 4]

    def throughput(self, policy: str, x: float) -> float:
        return self.results[self.experiment][policy][x].throughput

    def rates(self, policy: str, x: float) -> np.ndarray:
        return self.results[self.experiment][policy][x].rates

    def ratio(self, policy: str, x: float) -> float:
        return self.results[self.experiment][policy][x].ratio

    def of_most(self, policy: str, x: float) -> float:
        """Return throughput, as a share of the possible."""
        return self.throughput(policy, x) / most(self.experiment, x)

    def of_best(self, policy: str, x: float) -> float:
        """Return throughput, as a share of the best policy's."""
        names = self.results[self.experiment]
        return self.throughput(policy, x) / max(self.throughput(name, x) for name in names)

    def against(self, policy: str, other: str, x: float) -> float:
        """Return throughput, as a multiple of another policy's."""
        return self.throughput(policy, x) / self.throughput(other, x)

    def differs(self, policy: str, other: str, xs: Iterable[float]) -> float:
        """Return the largest difference between the rates of two policies, as a share of the larger."""
        pairs = [(self.rates(policy, x), self.rates(other, x)) for x in xs]
        return max(float(np.max(np.abs(a - b) / np.maximum(np.maximum(a, b), 1e-9))) for a, b in pairs)

    def settled_after(self, policy: str, x: float) -> int:
        """Return the iterations until none takes longer than alone any more."""
        shared = self.results[self.experiment][policy][x]
        late = [np.diff(d) > 1.01 * r.cycle_ns for d, r in zip(shared.done, shared.rings, strict=True)]
        return max((int(np.flatnonzero(one)[-1]) + 1 if one.any() else 0) for one in late)


def least(values: Iterable[float], bound: float) -> Answer:
    """Answer whether all are at least the bound, with the least."""
    found = sorted(values)
    return (found[0] >= bound, f"{found[0]:.2f}") if found else None


def largest(values: Iterable[float], bound: float) -> Answer:
    """Answer whether none is above the bound, with the largest."""
    found = sorted(values)
    return (found[-1] <= bound, f"{found[-1]:.2f}") if found else None


def same(v: View, policy: str, other: str, xs: Iterable[float], within: float = 0.01) -> Answer:
    """Answer whether the rates of two policies are the same."""
    found = v.differs(policy, other, xs)
    return found <= within, f"{100 * found:.0f} %"


def around(values: Iterable[float], centre: float, within: float) -> Answer:
    """Answer whether all are about the same as the centre, with the farthest."""
    found = max(values, key=lambda value: abs(value / centre - 1))
    return abs(found / centre - 1) <= within, f"{found:.2f}"


def as_unfair(v: View, policy: str) -> Answer:
    """Answer whether it is at least as unfair as PF that favours the same application."""
    other = "PF_2" if FAVOURS[policy] == 2 else "PF_1"
    return least((v.ratio(policy, x) / v.ratio(other, x) for x in v.points(60) if np.isfinite(v.ratio(other, x))), 0.99)


def grows(v: View, policy: str) -> Answer:
    """Answer whether unfairness grows, from 50 % on."""
    ratios = [v.ratio(policy, x) for x in v.points(50)]
    rises = all(b >= 0.99 * a for a, b in pairwise(ratios)) and ratios[-1] > UNFAIR
    return rises, f"{ratios[0]:.1f} to {ratios[-1]:.1f}"


def less_demanding_first(v: View, policy: str) -> Answer:
    """Answer whether favouring the application of less demand is no worse than favouring the other."""
    mine = [x for x in v.points(40) if x != 60 and FAVOURS[policy] == (2 if x < 60 else 1)]
    other = policy[:-1] + ("1" if policy.endswith("2") else "2")
    return least((v.against(policy, other, x) for x in mine), 0.99) if FAVOURS[policy] and mine else None


def favouring(v: View, policy: str, longer: bool) -> list[float]:
    """Return the values where the policy favours the application with the longer, or the shorter, computation."""
    wanted = {x: (2 if (x > A_US) == longer else 1) for x in v.unlike()}
    return [x for x, number in wanted.items() if FAVOURS[policy] == number]


def longer_is_worst(v: View, policy: str) -> Answer:
    """Answer whether no policy is worse when it favours the longer."""
    names = v.results[v.experiment]
    xs = favouring(v, policy, longer=True)
    return largest((max(v.against(policy, name, x) for name in names) for x in xs), 1.01) if xs else None


def shorter_beats_rr(v: View, policy: str) -> Answer:
    """Answer whether favouring the shorter does a little more than RR (to 1.25 times) and is less fair."""
    xs = favouring(v, policy, longer=False)
    if not xs:
        return None
    more = [v.against(policy, "RR", x) for x in xs]
    fair = all(v.ratio(policy, x) >= 0.99 * v.ratio("RR", x) for x in xs)
    return min(more) >= 0.99 and max(more) <= 1.25 and fair, f"{min(more):.2f} to {max(more):.2f}"


def between(v: View, policy: str, low: str, high: str, xs: Sequence[float]) -> Answer:
    """Answer whether it is no less than one policy and no more than another, whichever is which."""
    outside = []
    for x in xs:
        a, b = sorted((v.throughput(low, x), v.throughput(high, x)))
        outside.append(max(a / v.throughput(policy, x), v.throughput(policy, x) / b))
    return largest(outside, 1.01)


def steady(v: View, policy: str) -> Answer:
    """Answer whether throughput is the same share of the possible, with computations longer than the slice."""
    shares = [v.of_most(policy, x) for x in v.points(4 * SLICE_US)]
    return largest([max(shares) / min(shares)], 1.05)


def worse_alone(v: View, policy: str) -> Answer:
    """Answer whether both applications make about as many iterations as the slower would alone."""
    found = []
    for x in v.unlike():
        rate = 1e9 / max(ring.cycle_ns for ring in rings_of(v.experiment, x))
        found += (v.rates(policy, x) / rate).tolist()
    return around(found, 1, 0.05)


ALL_BUT_CP_RR = tuple(name for name in NAMES if name != "CP_RR")
CLAIMS = (
    Claim("E1", "reaches the maximum up to a demand of 50 %",
          lambda v, p: least((v.of_most(p, x) for x in v.points(0, 50)), 0.99), ALL_BUT_CP_RR, ("CP_RR",)),
    Claim("E1", "gets half of the maximum up to 50 % (to 5 %)",
          lambda v, p: around((v.of_most(p, x) for x in v.points(0, 50)), 0.5, 0.05), ("CP_RR",)),
    Claim("E1", "needs fewer iterations than RR until the two no longer meet, up to 50 %",
          lambda v, p: (max(v.settled_after(p, x) for x in v.points(0, 50))
                        < max(v.settled_after("RR", x) for x in v.points(0, 50)),
                        str(max(v.settled_after(p, x) for x in v.points(0, 50)))), ("FIFO", *FIXED, "CP_FIFO")),
    Claim("E1", "is unfair above 50 %", lambda v, p: least((v.ratio(p, x) for x in v.points(51)), UNFAIR), FIXED),
    Claim("E1", "is the less fair the higher the demand", grows, FIXED),
    Claim("E1", "is at least as unfair as PF", as_unfair, ("PP_1", "PP_2")),
    Claim("E1", "leaves nobody without any progress",
          lambda v, p: largest((v.ratio(p, x) for x in v.points()), 1e6), FIXED),
    Claim("E1", "is fair: SR = 1", lambda v, p: largest((v.ratio(p, x) for x in v.points()), UNFAIR),
          ("FIFO", "RR", *CP), FIXED),
    Claim("E2", "does the same as FIFO", lambda v, p: same(v, p, "FIFO", v.points()), ("FIFO", "RR")),
    Claim("E2", "is fair", lambda v, p: largest((v.ratio(p, x) for x in v.points()), UNFAIR), ("FIFO", "RR")),
    Claim("E2", "reaches 85 % of what is possible", lambda v, p: least((v.of_most(p, x) for x in v.points()), 0.85),
          ("FIFO", "RR")),
    Claim("E2", "gets half of what is possible at 40 %, whatever the demand (to 5 %)",
          lambda v, p: around((v.throughput(p, x) / most("E2", 40) for x in v.points()), 0.5, 0.05), ("CP_RR",)),
    Claim("E2", "favouring the less demanding, does no less than favouring the other, from 40 % on",
          less_demanding_first, FIXED),
    Claim("E2", "is at least as unfair as PF", as_unfair, ("PP_1", "PP_2")),
    Claim("E2", "does as much as PP_2 or more, from 40 % on",
          lambda v, p: least((v.against(p, "PP_2", x) for x in v.points(40)), 0.99), ("CP_FIFO",)),
    Claim("E2", "at 80 % and more does less than 90 % of what is possible",
          lambda v, p: largest((v.of_most(p, x) for x in v.points(80)), 0.9), ("CP_FIFO",)),
    Claim("E2", "at 80 % and more is unfair: SR of 2 and more",
          lambda v, p: least((v.ratio(p, x) for x in v.points(80)), 2), ("CP_FIFO",)),
    Claim("E2", "does the same as CP_FIFO", lambda v, p: same(v, p, "CP_FIFO", v.points()), ("CP_FIFO_DEP",)),
    Claim("E2", "does more than CP_RR somewhere",
          lambda v, p: least([max(v.against(p, "CP_RR", x) for x in v.points())], 1.01), ("CP_RR_DEP",)),
    Claim("E3", "does the same as FIFO where computations are unlike",
          lambda v, p: same(v, p, "FIFO", v.unlike()), ("CP_FIFO",)),
    Claim("E3", "lets both be as slow as the slower alone, where they are unlike (to 5 %)", worse_alone,
          ("FIFO", "CP_FIFO")),
    Claim("E3", "is the best where they are unlike (to 5 %)",
          lambda v, p: least((v.of_best(p, x) for x in v.unlike()), 0.95), ("RR", "CP_RR")),
    Claim("E3", "may be unfair: SR above 2 somewhere",
          lambda v, p: least([max(v.ratio(p, x) for x in v.points())], 2), ("RR", "CP_RR")),
    Claim("E3", "does more than RR where a is below the slice",
          lambda v, p: least((v.against(p, "RR", x) for x in v.points(0, SLICE_US - 1)), 1.05), ("CP_RR",)),
    Claim("E3", "favouring the longer, is the worst", longer_is_worst, FIXED),
    Claim("E3", "favouring the shorter, does a little more than RR and is less fair", shorter_beats_rr, FIXED),
    Claim("E3", "does a tenth of the best somewhere",
          lambda v, p: largest([min(v.of_best(p, x) for x in v.points())], 0.1), ("PP_1",)),
    Claim("E3", "lies between RR and CP_RR where a is near the slice",
          lambda v, p: between(v, p, "RR", "CP_RR", v.points(SLICE_US / 2, 2.1 * SLICE_US)), ("CP_RR_DEP",)),
    Claim("E3", "does the same as CP_RR where a is large (to 2 %)",
          lambda v, p: same(v, p, "CP_RR", v.points(4 * A_US), 0.02), ("CP_RR_DEP",)),
    Claim("E4", "does no less than FIFO",
          lambda v, p: least((v.against(p, "FIFO", x) for x in v.points()), 0.99), NAMES),
    Claim("E4", "is the best from 30 to 80 %", lambda v, p: least((v.of_best(p, x) for x in v.points(30, 80)), 0.99),
          CP, ("FIFO", "RR")),
    Claim("E4", "does the same as CP at 90 % and more", lambda v, p: same(v, p, "CP_FIFO", v.points(90)), ("RR",)),
    Claim("E4", "does about half of the maximum somewhere up to 40 % (55 % and less)",
          lambda v, p: largest([min(v.of_most(p, x) for x in v.points(0, 40))], 0.55), ("RR",)),
    Claim("E5", "is the best", lambda v, p: least((v.of_best(p, x) for x in v.points()), 0.99), CP, ("FIFO", "RR")),
    Claim("E5", "does no less than FIFO",
          lambda v, p: least((v.against(p, "FIFO", x) for x in v.points()), 0.99), NAMES),
    Claim("E5", "lies between FIFO and CP",
          lambda v, p: between(v, p, "FIFO", "CP_FIFO", v.points()), ("RR",)),
    Claim("E5", "does as little as FIFO where a is a fifth of the slice (to 5 %)",
          lambda v, p: around((v.against(p, "FIFO", x) for x in v.points(0, SLICE_US / 5)), 1, 0.05), ("RR",)),
    Claim("E5", "keeps its share of the possible where a is above the slice (to 5 %)", steady, ("RR",)),
    Claim("E6", "reaches the maximum", lambda v, p: least((v.of_most(p, x) for x in v.points()), 0.99), NAMES),
    Claim("E7", "reaches the maximum", lambda v, p: least((v.of_most(p, x) for x in v.points()), 0.99), NAMES),
)  # fmt: skip


def verdicts(results: Results) -> list[Verdict]:
    """Judge all claims, on all policies that were run."""
    return [verdict(claim, View(claim.experiment, results), results[claim.experiment]) for claim in CLAIMS]


def verdict(claim: Claim, view: Any, policies: Iterable[str]) -> Verdict:
    """Judge a claim on policies, of which `view` knows the results."""
    return Verdict(claim, {name: claim.statement(view, name) for name in policies})
