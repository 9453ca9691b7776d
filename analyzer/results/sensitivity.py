"""Result of `analyze sensitivity`: parameters of the machine that a run's time depends on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.console import Console

from analyzer.machine.description import Machine
from analyzer.operations.program import program_of
from analyzer.parallel import Team
from analyzer.replay.replays import counted
from analyzer.report.sensitivity import SensitivityReport, print_sensitivity, sensitivity_json
from analyzer.report.words import units
from analyzer.report.words.eager import Eager
from analyzer.report.words.left_out import not_replayed
from analyzer.results.machine_choice import cpu_time_of, incomplete, replaying
from analyzer.results.result import Result
from analyzer.sensitivity.levels import (
    WITHIN,
    ParameterSweep,
    TwoLevelFactor,
    check_number,
    check_regions,
    default_factors,
    default_sweeps,
    factor_of,
    sweep_of,
)
from analyzer.sensitivity.study import sensitivity
from analyzer.trace import Regions, Trace
from analyzer.what_if.blocks import blocks_of_regions

MOST_FACTORS = 12
ALL = "all"


@dataclass(frozen=True, repr=False)
class SensitivityResult(Result):
    """Influence of each parameter of the machine on the run's time."""

    _main: ClassVar[tuple[str, ...]] = ("factors", "sweeps")

    _studied: SensitivityReport

    def to_dict(self) -> dict[str, Any]:
        return sensitivity_json(self._studied)

    def print(self, console: Console) -> None:
        print_sensitivity(self._studied, console)


def compute(
    trace: Trace, team: Team, *, machine: Machine, factors: tuple[str, ...] = (), within: float = WITHIN,
    sweeps: tuple[str, ...] = (), jobs: int | None = None, tell: Callable[[str], None] = lambda text: None,
) -> SensitivityResult:  # fmt: skip
    """Replay a run with parameters of the machine at two levels, or at many. Collective over the team.

    Args:
        trace: An opened run.
        team: Processes that share the work.
        machine: Machine whose parameters are changed.
        factors: Parameters at two levels, such as "latency=1us..5us" or "latency".
        within: Without a range, the levels are this share below and above the machine's value.
        sweeps: Parameters at many values, such as "latency=1us..1ms:13"; "all": the usual ones.
        jobs: Number of replays at once. None: one for each CPU.
        tell: Is given the number of replays done, in words.

    Raises:
        TracelibError: There is no such parameter.
    """
    chosen, wanted, left_out = _chosen(factors, sweeps, within, machine, trace.size)
    check_number(chosen, MOST_FACTORS)
    with counted(lambda done: tell(units.plural(done, "replay"))), replaying(trace, team):
        varied = [*(factor.parameter for factor in chosen), *(sweep.parameter for sweep in wanted)]
        divided = check_regions(varied, trace.extra(Regions).names, str(trace.path))
        program = program_of(trace, team, buffered=machine.eager_limit is None)
        replayed = blocks_of_regions(trace, program) if divided else program
        found = sensitivity(replayed, machine, chosen, wanted, team, jobs)
    return SensitivityResult(
        SensitivityReport(
            file=str(trace.path),
            measured_ns=trace.duration_ns if trace.has_call_times else 0,
            eager=Eager.from_replay(machine, program),
            found=found,
            left_out=tuple(left_out),
            incomplete=not_replayed(incomplete(trace, team), [program], machine),
            cpu_time=cpu_time_of(trace, program),
        )
    )


def _chosen(
    factors: tuple[str, ...], sweeps: tuple[str, ...], within: float, machine: Machine, ranks: int
) -> tuple[list[TwoLevelFactor], list[ParameterSweep], list[str]]:
    """Return the factors and sweeps, or the defaults, and why some of the defaults are left out."""
    chosen = [factor_of(text, machine, within) for text in factors]
    wanted = [sweep_of(text, machine, ranks) for text in sweeps if text != ALL]
    left_out: list[str] = []
    if not factors and not sweeps:
        chosen, left_out = default_factors(machine, within)
    if ALL in sweeps:
        defaults, left_out = default_sweeps(machine, ranks)
        wanted += defaults
    return chosen, wanted, left_out
