"""The factors of the speedup model: the definition of each, and the meaning of a fall.

Source: M. Casas, "Spectral analysis of executions" (2009), sections 4.3.2.2 and 4.3.2.3, equation 4.13. Two things go
beyond it. Where counters are missing, factors are joined. The clock, and the CPUs that ranks share, are shown beside
the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from analyzer.speedup_model.parameters import SpeedupParameters

Value = Callable[[SpeedupParameters], float | None]


@dataclass(frozen=True)
class SpeedupFactor:
    """One factor of the speedup model's product.

    Attributes:
        value: Function that returns the factor's value in a run; None if it is not known. Efficiencies are shares of 1,
            larger is better. Of amounts, such as instructions, less is better.
        is_amount: The value is an amount. The quotient is then the reference's value / the run's value.
    """

    key: str
    name: str
    value: Value
    meaning: str  # meaning of a fall, as the end of a sentence
    is_amount: bool = False
    is_share: bool = False  # never more than 1
    in_model: bool = True  # False: equation 4.13 takes it as constant

    def of(self, run: SpeedupParameters) -> float | None:
        """Return the factor's value in a run. None: the value is not known, or not above 0."""
        value = self.value(run)
        return value if value and value > 0 else None


TRANSFER = SpeedupFactor(
    "transfer",
    "real communication",
    lambda run: run.transfer,
    "a larger share of the time goes to communication that computation does not overlap",
    is_share=True,
)
DEPENDENCIES = SpeedupFactor(
    "dependencies",
    "micro load balance",
    lambda run: run.dependencies,
    "ranks wait more for each other along the way, which no faster network cures",
    is_share=True,
)
COMMUNICATION = SpeedupFactor(
    "communication",
    "communication",
    lambda run: run.communication,
    "even the rank that computes longest spends a larger share of the time in MPI",
    is_share=True,
)
BALANCE = SpeedupFactor(
    "balance",
    "load balance",
    lambda run: run.balance,
    "the computation is spread less evenly over the ranks",
    is_share=True,
)
IPC = SpeedupFactor(
    "ipc", "instructions per cycle", lambda run: run.ipc, "each core executes fewer instructions per cycle"
)
INSTRUCTIONS = SpeedupFactor(
    "instructions",
    "instructions",
    lambda run: None if run.instructions is None else run.instructions / run.iterations,
    "the ranks together execute more instructions: work is replicated",
    is_amount=True,
)
COMPUTING = SpeedupFactor(
    "computation",
    "computing time",
    lambda run: run.useful_ns / run.iterations,
    "the ranks together compute longer: more instructions, or slower ones",
    is_amount=True,
)
CPU_TIME = SpeedupFactor(
    "computation",
    "computing CPU time",
    lambda run: None if run.cpu_share is None else run.useful_ns * run.cpu_share / run.iterations,
    "the ranks together need more CPU time: more instructions, or slower ones",
    is_amount=True,
)
CPU_SHARE = SpeedupFactor(
    "cpu",
    "share of a CPU",
    lambda run: run.cpu_share,
    "ranks that compute have to wait for a CPU, because they share CPUs",
    is_share=True,
)


def _rate(run: SpeedupParameters) -> float | None:
    """Return cycles per ns of useful time. None: instructions or IPC are not known."""
    return run.instructions / (run.ipc * run.useful_ns) if run.instructions and run.ipc else None


CLOCK = SpeedupFactor(
    "clock",
    "cycles per second",
    _rate,
    "cores run at a lower frequency, or ranks that compute have to wait for a CPU",
    in_model=False,
)


@dataclass(frozen=True)
class CommonFactors:
    """The factors that all runs have, in the order of equation 4.13, and why factors were joined or left out."""

    factors: tuple[SpeedupFactor, ...]
    notes: tuple[str, ...]


def factors_of(runs: Sequence[SpeedupParameters]) -> CommonFactors:
    """Return the most detailed factors whose values all runs have."""
    notes: list[str] = []

    def known(*factors: SpeedupFactor) -> bool:
        return all(factor.of(run) is not None for run in runs for factor in factors)

    network: tuple[SpeedupFactor, ...] = (TRANSFER, DEPENDENCIES)
    if not known(*network):
        why = next((f"{run.file}: {run.not_replayed}" for run in runs if run.ideal_ns is None), "")
        notes.append(
            "Real communication and micro load balance are joined as communication, because not every run could be "
            f"replayed on an ideal network ({why})."
        )
        network = (COMMUNICATION,)
    if known(IPC, INSTRUCTIONS):
        return CommonFactors((*network, BALANCE, IPC, INSTRUCTIONS, CLOCK), tuple(notes))
    lacking = [run.file for run in runs if INSTRUCTIONS.of(run) is None]
    counted = "in no run" if len(lacking) == len(runs) else f"in some runs, but not in {', '.join(lacking)}"
    notes.append(
        f"Instructions and cycles were counted {counted}: instructions, IPC and clock are joined as computing time, so "
        "the modelled speedup equals the measured one by construction."
    )
    if known(CPU_SHARE) and any((run.cpu_share or 1) < 1 for run in runs):
        return CommonFactors((*network, BALANCE, CPU_SHARE, CPU_TIME), tuple(notes))
    return CommonFactors((*network, BALANCE, COMPUTING), tuple(notes))
