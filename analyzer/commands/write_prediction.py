"""Writing what was predicted: one run as a run or for Paraver, several at once for Paraver."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from analyzer.commands.common import Session, check_writable, output_base
from analyzer.commands.write import write_paraver
from analyzer.ending import discard
from analyzer.errors import TracelibError
from analyzer.operations.operation import Program
from analyzer.parallel import Team
from analyzer.replay.carried import Carried
from analyzer.replay.machine import Machine
from analyzer.replay.predicted import write_predicted
from analyzer.replay.simulate import Prediction
from analyzer.replay.together import Together
from analyzer.sources.opening import open_trace
from analyzer.trace import Trace
from analyzer.writers.whole import temporary_name


def write_prediction(
    traces: Sequence[Trace],
    programs: Sequence[Program],
    prediction: Prediction,
    machine: Machine,
    output: str,
    force: bool,
) -> Path:
    """By one process alone; several traces as .prv only. prediction: with `times`, as .prv with `transfers`, too."""
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
    prediction: Prediction,
    machine: Machine,
    base: Path,
    force: bool,
) -> Path:
    """By way of temporary runs."""
    prv = base.with_name(f"{base.name}.prv")
    for trace in traces:
        check_writable(prv, trace, force)
    parts = [temporary_name(base.with_name(f"{base.name}.h5"), f"predicted{k}") for k in range(len(traces))]
    opened: list[Trace] = []
    runs: list[Trace] = []
    try:
        for k, (trace, program, part) in enumerate(zip(traces, programs, parts, strict=True)):
            own = prediction.of(programs, k)
            write_predicted(trace, program, own, part, "replay", called=prv)
            opened.append(open_trace(str(part)))
            runs.append(Carried(opened[-1], program, own, of_calls=trace.program is None))
        written = runs[0] if len(runs) == 1 else Together(runs, programs, machine)
        return write_paraver(written, base, Session(Team()), force)[0]
    finally:
        for run in opened:
            run.close()
        for part in parts:
            discard(part)
