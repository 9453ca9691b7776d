"""Replay of a run on another machine: a discrete-event simulator over the operations of a trace."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.machine.description import Machine
from analyzer.operations.program import program_of
from analyzer.program.model import Program
from analyzer.replay.simulate import ReplayPrediction, simulate
from analyzer.trace import Trace

__all__ = ["Machine", "ReplayPrediction", "program_of", "replay", "simulate"]


def replay(
    traces: Trace | Program | Sequence[Trace | Program], machine: Machine, *, times: bool = False
) -> ReplayPrediction:
    """Predict a run, or several runs at once, on `machine`.

    Args:
        traces: Traces or programs.
        machine: Machine to replay on.
        times: Also return the times of each operation.

    Raises:
        TracelibError: The program deadlocks, or the machine does not fit.
    """
    several = [traces] if isinstance(traces, Trace | Program) else list(traces)
    shown = machine.eager_limit is None
    programs = [t if isinstance(t, Program) else program_of(t, buffered=shown) for t in several]
    return simulate(programs, machine, times=times)
