"""The machine that runs are replayed on, and what of a run its replay leaves out."""

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
    """Machine that a user names; by default that of the run itself.

    Attributes:
        file: A .toml, a Dimemas .cfg, or "ideal". None: the machine of the run, as its messages show it.
        overrides: Parameters that replace the machine's own.
        machine: A machine that was made in Python, instead of a file.
    """

    file: str | None
    overrides: MachineOverrides
    machine: Machine | None = None

    @property
    def own(self) -> bool:
        """Whether it is the machine of the run."""
        named = self.file is not None or self.machine is not None
        return not named and (self.overrides.latency_s is None or self.overrides.bandwidth_mb is None)

    def known(self, trace: Trace, team: Team) -> Machine | None:
        """Return the named machine, else that of the run; None if the messages of the run do not show it."""
        if self.machine is not None:
            return changed(self.machine, self.overrides)
        if not self.own:
            return read_machine(self.file, self.overrides).alone
        found = own_machine(trace, team)
        return changed(found, self.overrides) if found else None

    def of(self, trace: Trace, team: Team) -> Machine:
        """Return the same machine. Raises TracelibError if it is not known."""
        found = self.known(trace, team)
        if found is None:
            raise TracelibError(f"the messages of {trace.path} do not show its network", NAME_ONE)
        return found

    def or_ideal(self) -> Machine:
        """Return the ideal machine, as the overrides change it."""
        return read_machine(None, self.overrides).machine

    def text(self, *, unknown: bool) -> str:
        """Name the machine. unknown: it should be that of the run, which is not known."""
        if unknown:
            return "an ideal machine (the messages of the run do not show its network; --machine names a machine)"
        if self.machine is not None:
            return "the machine given"
        return self.file or ("the machine of the run" if self.own else "an ideal machine with the options")


@contextmanager
def replaying(trace: Trace, team: Team) -> Iterator[None]:
    """Wrap replays of the trace. If one blocks, the error says what the trace lacks, if one process can find out."""
    try:
        yield
    except ReplayBlocked as error:
        reason = incomplete(trace, team) if team.size == 1 else ""
        hint = f"likely reason in {Path(trace.path).name}: {reason}" if reason else error.hint
        raise TracelibError(str(error), hint) from error


def cpu_time_of(trace: Trace, program: Program) -> bool | None:
    """Tell whether bursts of the replay are CPU time, not the time that passed; None: as a Dimemas trace has them."""
    return program.cpu_time if trace.has_call_times else None


def incomplete(trace: Trace, team: Team) -> str:
    """Say in one line why a replay of the trace is not one of the whole run; "": nothing is known to be missing."""
    return not_whole(trace, unrecorded(trace, team)) if trace.has_call_times else ""


def lacking_at_once(trace: Trace) -> str:
    """Say in one line what of the run is missing in the trace, without reading its messages; "": nothing."""
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
