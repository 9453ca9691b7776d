"""Result of `analyze limits`: what limits runs on a machine, and the worst network that they tolerate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from rich.console import Console

from analyzer.efficiency.cpu_use import cpus, starts_mpi
from analyzer.machine.description import Machine
from analyzer.metrics.lost_at import lost_at
from analyzer.metrics.profile import Profile, profile
from analyzer.operations.program import program_of
from analyzer.parallel import Team
from analyzer.replay.replays import counted
from analyzer.report.limits import LimitsReport, MachineOrigin, limits_json, print_limits
from analyzer.report.words import units
from analyzer.report.words.eager import Eager
from analyzer.report.words.left_out import not_replayed
from analyzer.results.machine_choice import MachineChoice, cpu_time_of, incomplete, replaying
from analyzer.results.result import Result
from analyzer.sensitivity.limits import limits
from analyzer.sensitivity.tolerance import tolerance
from analyzer.trace import Losses, Trace
from tracelib.schema.procedures import FINALIZE, INIT


@dataclass(frozen=True, repr=False)
class LimitsResult(Result):
    """Limits of runs on a machine: the network, the load balance, or computation."""

    _main: ClassVar[tuple[str, ...]] = ("scenarios",)

    _runs: tuple[LimitsReport, ...]

    def to_dict(self) -> dict[str, Any] | list[dict[str, Any]]:
        data = limits_json(self._runs)
        return data if len(data) > 1 else data[0]

    def print(self, console: Console) -> None:
        print_limits(self._runs, console)


def compute_run(
    trace: Trace, team: Team, *, choice: MachineChoice, quick: bool = False, jobs: int | None = None,
    first: LimitsReport | None = None, tell: Callable[[str], None] = lambda text: None, calls: Profile | None = None,
) -> LimitsReport:  # fmt: skip
    """Replay one run on a machine, with and without costs of the network. Collective over the team.

    Args:
        trace: An opened run.
        team: Processes that share the work.
        choice: The machine. If the run's machine is chosen but not known, an ideal one shows the program's own limits.
        quick: Whether to skip the search for the worst network that the run tolerates.
        jobs: Number of replays at the same time. None: one for each CPU.
        first: Earlier run, on whose machine this run is replayed. None: `choice` counts.
        tell: Called with a text about the number of replays done.
        calls: Profile of the run. None: it is computed.
    """
    with counted(lambda done: tell(units.plural(done, "replay"))), replaying(trace, team):
        machine, origin = (first.machine, first.origin) if first else _machine(trace, choice, team)
        program = program_of(trace, team, buffered=machine.eager_limit is None)
        found = limits(program, machine, team, jobs)
        bears = None if quick else tolerance(program, machine, team, jobs)
        lacking = not_replayed(incomplete(trace, team), [program], machine)
        lost = lost_at(trace, team, INIT | FINALIZE)
        had, starting_ns = cpus(trace, team), _starting_ns(trace, calls or profile(trace, team))
    return LimitsReport(
        file=str(trace.path),
        measured_ns=trace.duration_ns if trace.has_call_times else 0,
        machine=machine,
        origin=origin,
        eager=Eager.from_replay(machine, program),
        found=found,
        tolerance=bears,
        cpu_time=cpu_time_of(trace, program),
        incomplete=lacking,
        cpus=had,
        starting_ns=starting_ns,
        lost_at=lost,
    )


def compute(trace: Trace, team: Team, **options: Any) -> LimitsResult:
    """Find what limits one run. Collective over the team. `options` are the arguments of `compute_run`."""
    return LimitsResult((compute_run(trace, team, **options),))


def _starting_ns(trace: Trace, calls: Profile) -> float:
    """Return the shortest time in MPI_Init and MPI_Finalize, ns, among ranks that could be read.

    The other ranks also wait there for ranks that come later, and a replay has this waiting.
    """
    chosen = starts_mpi(calls.procedures) | np.array([name in FINALIZE for name in calls.procedures], bool)
    present = np.setdiff1d(np.arange(trace.size), trace.extra(Losses).missing)
    return float(min(calls.inside_ns[present][:, chosen].sum(axis=1), default=0))


def _machine(trace: Trace, choice: MachineChoice, team: Team) -> tuple[Machine, MachineOrigin]:
    """Return the machine of the replays, and its origin."""
    known = choice.known(trace, team)
    if known is None:
        return choice.or_ideal(), MachineOrigin.UNKNOWN
    return known, MachineOrigin.RUN if choice.own else MachineOrigin.NAMED
