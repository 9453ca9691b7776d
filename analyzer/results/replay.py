"""Result of `analyze replay`: what a run would do on another machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from rich.console import Console

from analyzer.errors import TracelibError
from analyzer.machine.read_cfg import MachineConfiguration
from analyzer.operations.program import program_of
from analyzer.parallel import Team
from analyzer.program.model import Program, has_ports
from analyzer.replay.by_place import changes_by_place
from analyzer.replay.simulate import simulate
from analyzer.report.replay import PARTS, ReplayReport, print_replay, replay_json
from analyzer.report.words.left_out import not_replayed
from analyzer.results.machine_choice import lacking_at_once, replaying
from analyzer.results.result import Result, in_seconds
from analyzer.scheduling.sharing import closed
from analyzer.trace import CallPaths, Trace
from analyzer.what_if.modules import with_modules


@dataclass(frozen=True, repr=False)
class ReplayResult(Result):
    """Prediction of a replay: how long the run would take, and where the time would go."""

    _main: ClassVar[tuple[str, ...]] = ("ranks",)

    _replayed: ReplayReport

    def to_dict(self) -> dict[str, Any]:
        return replay_json(self._replayed)

    @property
    def predicted_s(self) -> float:
        """Predicted duration of the run, seconds."""
        return self._replayed.prediction.end_ns / 1e9

    def _rows(self) -> dict[str, list[dict[str, Any]]]:
        rows = super()._rows()
        return rows | {"ranks": in_seconds(rows["ranks"], PARTS)}

    def print(self, console: Console) -> None:
        print_replay(self._replayed, console)


def compute(
    traces: Sequence[Trace], team: Team, *, configuration: MachineConfiguration, repeat: int | None = None,
    by_place: bool = False, times: bool = False, transfers: bool = False,
    share: Callable[[Trace, Program], Program] | None = None,
) -> ReplayResult:  # fmt: skip
    """Replay runs on a machine, at the same time if there are several. Collective over the team.

    Args:
        traces: Opened runs.
        team: Processes that share the reading; each of them replays.
        configuration: The machine, and factors of modules.
        repeat: Number of executions of each run; a run begins again when it ends. None: one.
        by_place: Whether to compute how the time in calls changes at each place.
        times: Whether to compute the times of all records, so that the prediction can be written as a run.
        transfers: Whether to compute the times of messages on links, so that Paraver can show them.
        share: Function that distributes the first run's computation differently to its ranks. None: as it was.

    Raises:
        TracelibError: A replay never ends, or the run does not know where calls come from.
    """
    files = tuple(str(trace.path) for trace in traces)
    if by_place and not traces[0].extra(CallPaths).known:
        raise TracelibError(f"{files[0]} does not say where its calls come from", "record it without TRACELIB_STACK=0")
    with replaying(traces[0], team):
        machine, modules = configuration.machine, configuration.modules
        shown = machine.eager_limit is None
        programs = [with_modules(program_of(trace, team, buffered=shown), modules) for trace in traces]
        if share:
            if modules:
                raise TracelibError("the machine's modules and --shares cannot both change the computation")
            programs[0] = share(traces[0], programs[0])
        prediction = simulate(
            programs, machine, times=times or by_place, transfers=transfers, cpu_waits=times, repetitions=repeat or 0
        )
        apart = not any(map(has_ports, programs))  # each could run without the others
        together = closed(programs, machine, prediction) if len(traces) > 1 and repeat and apart else None
        changes = changes_by_place(traces[0], programs[0], prediction) if by_place and team.rank == 0 else []
    measured = tuple(trace.duration_ns if trace.has_call_times else 0 for trace in traces)
    lacking = not_replayed("; ".join(filter(None, map(lacking_at_once, traces))), programs, machine)
    replayed = ReplayReport(files, measured, tuple(programs), prediction, machine, None, together, lacking)
    if changes:
        replayed = replace(replayed, changes=changes, places=traces[0].extra(CallPaths).named())
    return ReplayResult(replayed)
