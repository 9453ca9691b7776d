"""Result of `analyze validate`: predictions from runs beside another run of the same program."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.console import Console

from analyzer.efficiency.ideal import not_whole, obstacle
from analyzer.errors import TracelibError
from analyzer.machine.description import Machine
from analyzer.metrics.unrecorded import unrecorded
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.replay.section import ReplaySection, section_of
from analyzer.replay.simulate import simulate
from analyzer.report.validate import ValidatedRun, ValidationReport, print_validation, validation_json
from analyzer.report.words.eager import Eager
from analyzer.report.words.left_out import left_out_lines, left_out_text
from analyzer.results.machine_choice import MachineChoice
from analyzer.results.open_part import RunOpener
from analyzer.results.result import Result
from analyzer.trace import Trace
from analyzer.validation import PredictedParts, measured_parts, predicted_parts, validate


@dataclass(frozen=True, repr=False)
class ValidateResult(Result):
    """Errors of predictions: in total and by rank, procedure and region, and where they come from."""

    _main: ClassVar[tuple[str, ...]] = ("runs",)

    _report: ValidationReport

    def to_dict(self) -> dict[str, Any]:
        return validation_json(self._report)

    def print(self, console: Console) -> None:
        print_validation(self._report, console)


def compute(
    host: RunOpener, files: Sequence[str], against: str, *, choice: MachineChoice, untraced_s: float | None = None
) -> ValidateResult:
    """Replay runs on the machine of another run, and compare the predictions with it. Collective over the team.

    Args:
        host: The program that opens the runs.
        files: Paths of the runs whose replays are compared.
        against: Path of the run that is predicted.
        choice: The machine; by default that of the run `against`.
        untraced_s: How long the run `against` takes without the tracer, seconds. None: it is not known.

    Raises:
        TracelibError: A run cannot be replayed, or has another number of ranks.
    """
    with closing(_open(against, host.team)) as other:
        host.mention_problems(other)
        machine = choice.of(other, host.team)
        untraced_ns = None if untraced_s is None else untraced_s * 1e9
        found, counts, eager = _compare(host, files, other, machine, untraced_ns)
    return ValidateResult(ValidationReport(against, untraced_ns is not None, counts, eager, found))


def _compare(
    host: RunOpener, files: Sequence[str], other: Trace, machine: Machine, untraced_ns: float | None
) -> tuple[list[ValidatedRun], dict[str, int], Eager]:
    """Compare each run with the other one; also the calls of the other by procedure, and which of its sends wait."""
    shown, team = machine.eager_limit is None, host.team
    section = section_of(other, team, buffered=shown)
    measured, counts = measured_parts(other, section, host.team)
    host.mention(left_out_lines([section.program], machine))
    own = _predicted(host, other, section, machine)
    found = []
    for file in files:
        with closing(_open(file, host.team)) as trace:
            host.mention_problems(trace)
            if trace.size != other.size:
                raise TracelibError(
                    f"the runs have different numbers of ranks: {file} {trace.size}, {other.path} {other.size}",
                    "compare runs with the same number of ranks",
                )
            mine = section_of(trace, team, buffered=shown)
            host.mention(left_out_lines([mine.program], machine))
            as_traced, calls = measured_parts(trace, mine, host.team)
            predicted = _predicted(host, trace, mine, machine)
            found.append(
                ValidatedRun(
                    file,
                    as_traced.total,
                    calls,
                    mine.program.cpu_time,
                    left_out_text(mine.program, machine),
                    validate(predicted, own, measured, untraced_ns),
                )
            )
    return found, counts, Eager.from_replay(machine, section.program)


def _predicted(host: RunOpener, trace: Trace, section: ReplaySection, machine: Machine) -> PredictedParts:
    with host.step(f"Replaying {trace.path}"):
        return predicted_parts(trace, section, simulate(section.program, machine, times=True), host.team)


def _open(file: str, team: Team) -> Trace:
    """Open a run that can be replayed and has times. Raises TracelibError."""
    trace = open_trace(file, team)
    if not trace.has_call_times:
        reason, hint = "it holds no times", "compare with a traced run"
    else:
        missed = unrecorded(trace, team)
        hint = "trace the whole run" if not_whole(trace, missed) else "only one thread of each rank may call MPI"
        reason = obstacle(trace, missed)
    if reason:
        trace.close()
        raise TracelibError(f"{file} cannot be compared: {reason}", hint)
    return trace
