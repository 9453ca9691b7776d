"""Writing what was predicted: one run as a run or for Paraver, several at once for Paraver."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.atomic_file import temporary_name
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError
from analyzer.parallel import Team
from analyzer.results.output_files import check_writable, output_base
from analyzer.signal_handling import discard

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.machine.description import Machine
    from analyzer.program.model import Program
    from analyzer.replay.simulate import ReplayPrediction
    from analyzer.trace import Trace


def write_prediction(
    traces: Sequence[Trace],
    programs: Sequence[Program],
    prediction: ReplayPrediction,
    machine: Machine,
    output: str,
    force: bool,
) -> Path:
    """Write a prediction, by one process alone; several traces only as .prv. The prediction needs `times`, and for a
    .prv also `transfers` and `cpu_waits`."""
    from analyzer.replay.predicted import write_predicted

    base = output_base(Path(traces[0].path), output, (".prv", ".h5"))
    if output.endswith(".prv"):
        return _write_prv(traces, programs, prediction, machine, base, force)
    path = base.with_name(f"{base.name}.h5")
    check_writable(path, traces[0], force)
    if path.exists() and not force:
        raise TracelibError(f"{path} exists", "name another output, or use --force")
    write_predicted(traces[0], programs[0], prediction, path, "replay")
    return path


def _write_prv(
    traces: Sequence[Trace],
    programs: Sequence[Program],
    prediction: ReplayPrediction,
    machine: Machine,
    base: Path,
    force: bool,
) -> Path:
    """Write a .prv by way of temporary runs."""
    from analyzer.opening import open_trace
    from analyzer.replay.carried import CarriedRun
    from analyzer.replay.on_machine import MachinePlacement
    from analyzer.replay.predicted import write_predicted
    from analyzer.replay.together import JoinedRuns
    from analyzer.results.write_traces import write_paraver

    prv = base.with_name(f"{base.name}.prv")
    for trace in traces:
        check_writable(prv, trace, force)
    parts = [temporary_name(base.with_name(f"{base.name}.h5"), f"predicted{k}") for k in range(len(traces))]
    opened: list[Trace] = []
    runs: list[Trace] = []
    there = MachinePlacement.of(programs, machine, prediction)
    first = 0
    try:
        for k, (trace, program, part) in enumerate(zip(traces, programs, parts, strict=True)):
            own = prediction.of(programs, k)
            write_predicted(trace, program, own, part, "replay", called=prv)
            opened.append(open_trace(str(part)))
            nodes = there.nodes.of(range(first, first + program.ranks))
            runs.append(
                CarriedRun(
                    opened[-1], program, own, nodes, there.cpus[k],
                    of_calls=trace.has_call_times, applications=trace.origin.applications,
                )
            )  # fmt: skip
            first += program.ranks
        written = runs[0] if len(runs) == 1 else JoinedRuns(runs, there.nodes)
        return write_paraver(written, base, Session(Team()), force)[0]
    finally:
        for run in opened:
            run.close()
        for part in parts:
            discard(part)
