"""The machine on which runs are replayed, and reasons why a replay is incomplete."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from analyzer.efficiency.ideal import ADDED_UP, NOT_RECORDED, not_whole
from analyzer.errors import TracelibError
from analyzer.machine.description import Machine
from analyzer.machine.observed_machine import NAME_ONE, own_machine
from analyzer.machine.options import MachineOverrides, changed, read_machine
from analyzer.metrics.unrecorded import unrecorded
from analyzer.parallel import Team
from analyzer.program.model import Program
from analyzer.replay.failure import ReplayBlocked
from analyzer.trace import Losses, SummedCalls, Trace, ranks_named
from analyzer.trace.chosen import ranks_lacking

_OUTSIDE = "messages with processes outside of the run are left out"


@dataclass(frozen=True)
class MachineChoice:
    """Machine that a user chose for a replay. By default it is the machine of the run itself.

    Attributes:
        file: A .toml file, a Dimemas .cfg file, or "ideal". None: the machine of the run, as its messages show it.
        overrides: Parameters that replace the machine's own.
        machine: A machine made in Python, instead of a file. None: there is none.
    """

    file: str | None
    overrides: MachineOverrides
    machine: Machine | None = None

    @property
    def own(self) -> bool:
        """True if the machine of the run is chosen. With both a latency and a bandwidth, it is not needed."""
        named = self.file is not None or self.machine is not None
        return not named and (self.overrides.latency_s is None or self.overrides.bandwidth_mb is None)

    def known(self, trace: Trace, team: Team) -> Machine | None:
        """Return the chosen machine. None: the run's machine is chosen, but the messages of the run do not show it."""
        if self.machine is not None:
            return changed(self.machine, self.overrides)
        if not self.own:
            return read_machine(self.file, self.overrides).alone
        found = own_machine(trace, team)
        return changed(found, self.overrides) if found else None

    def of(self, trace: Trace, team: Team) -> Machine:
        """Return the chosen machine, as `known` does.

        Raises:
            TracelibError: The run's machine is chosen, but the messages of the run do not show it.
        """
        found = self.known(trace, team)
        if found is None:
            raise TracelibError(f"the messages of {trace.path} do not show its network", NAME_ONE)
        return found

    def or_ideal(self) -> Machine:
        """Return an ideal machine with the chosen parameters."""
        return read_machine(None, self.overrides).machine

    def text(self, *, unknown: bool) -> str:
        """Return the name of the machine for texts.

        Args:
            unknown: Whether the run's machine was chosen but is not known, so that an ideal one is used.
        """
        if unknown:
            return "an ideal machine (the messages of the run do not show its network; --machine names a machine)"
        if self.machine is not None:
            return "the machine given"
        return self.file or ("the machine of the run" if self.own else "an ideal machine with the options")


@contextmanager
def replaying(trace: Trace, team: Team) -> Iterator[None]:
    """Make errors of replays inside the context helpful.

    If a replay blocks, the error names what the trace lacks, provided that the team has one process only.

    Raises:
        TracelibError: A replay blocked.
    """
    try:
        yield
    except ReplayBlocked as error:
        reason = incomplete(trace, team) if team.size == 1 else ""
        hint = f"likely reason in {Path(trace.path).name}: {reason}" if reason else error.hint
        raise TracelibError(str(error), hint) from error


def cpu_time_of(trace: Trace, program: Program) -> bool | None:
    """Return True if the bursts of a replay are CPU time, False if wall time. None: a Dimemas trace decides."""
    return program.cpu_time if trace.has_call_times else None


def incomplete(trace: Trace, team: Team) -> str:
    """Return one line on why a replay does not cover the whole run. "": nothing is known to be missing."""
    return not_whole(trace, unrecorded(trace, team)) if trace.has_call_times else ""


def lacking_at_once(trace: Trace) -> str:
    """Return one line on what the trace lacks of the run, without reading its messages. "": nothing."""
    losses = trace.extra(Losses)
    if reason := ranks_lacking(trace):
        return reason
    lost = [rank for rank in range(trace.size) if losses.lost_calls(rank)]
    if lost:
        return f"calls of {ranks_named(lost)} were lost"
    if any(len(trace.extra(SummedCalls).of(rank)) for rank in range(trace.size)):
        return ADDED_UP
    if any(len(losses.unrecorded(rank)) or losses.dropped_calls(rank) for rank in range(trace.size)):
        return NOT_RECORDED
    if losses.left_out:
        return losses.left_out
    if any(communicator.outside for communicator in trace.communicators):
        return _OUTSIDE
    wrong = [problem.text for problem in trace.problems if not problem.note]
    return wrong[0] if wrong and trace.origin.imported else ""
