"""Options of commands that replay: the machine, and what overrides its file."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analyzer.commands.shared.options import FiniteRange, LazyChoice
from analyzer.errors import TracelibError
from analyzer.parallel import Team

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.machine.description import Machine
    from analyzer.machine.options import Overrides
    from analyzer.program.program import Program
    from analyzer.trace import Trace

OUTSIDE = "messages with processes outside of the run are left out"


class _Amount(click.ParamType):
    """The value of a parameter of the machine, with its unit."""

    def __init__(self, name: str, example: str) -> None:
        self.name, self._example = name, example

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        from analyzer.machine.parameters import parameter, value_of

        of = parameter(self.name)
        try:
            found = value_of(of, str(value))
        except TracelibError as error:
            self.fail(f"{value!r} is not a value such as {self._example}: {error.hint}", param, ctx)
        if math.isinf(found) and not of.endless:
            self.fail(f"{value!r} is not a value such as {self._example}", param, ctx)
        return found


class _Count(click.IntRange):
    """A whole number that the simulator can count."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        from analyzer.machine.description import MOST

        found = super().convert(value, param, ctx)
        if found > MOST:
            self.fail(f"{value!r} is more than {MOST}", param, ctx)
        return found


LATENCY, BANDWIDTH, BYTES = _Amount("latency", "5us"), _Amount("bandwidth", "100MB/s"), _Amount("eager", "32k")

_IDEAL = click.option("--machine", "machine_file", metavar="FILE", help="A .toml or a Dimemas .cfg (default: ideal).")
_OWN = click.option(
    "--machine", "machine_file", metavar="FILE", help='A .toml, a .cfg, or "ideal" (default: that of the run).'
)
_MEASURED = click.option(
    "--machine", "machine_file", metavar="FILE", help='A .toml, a .cfg, or "ideal" (default: no replay).'
)
_OPTIONS = (
    click.option(
        "--dialect", type=LazyChoice("analyzer.machine.description", "DIALECTS"), help="Whose rules the replay follows."
    ),
    click.option("--latency", type=LATENCY, metavar="TIME", help="Of messages between nodes, such as 5us."),
    click.option(
        "--bandwidth", type=BANDWIDTH, metavar="RATE", help="Between nodes, such as 100MB/s (1 MB = 2^20 bytes)."
    ),
    click.option("--buses", type=_Count(0), metavar="N", help="Messages that can travel at once; 0: any number."),
    click.option("--links", type=_Count(0), metavar="N", help="Links of each node, each way; 0: any number."),
    click.option("--cpus", type=_Count(1), metavar="N", help="CPUs of each node."),
    click.option("--speed", type=FiniteRange(0, min_open=True), metavar="X", help="Speed of all CPUs; 1: as traced."),
    click.option(
        "--eager",
        "eager_limit",
        type=BYTES,
        metavar="BYTES",
        help="Sends from this size on use rendezvous, such as 32k [as the run shows].",
    ),
    click.option("--seed", type=int, metavar="N", help="Seed of random parameters."),
)


@dataclass(frozen=True)
class MachineChoice:
    """The machine that the options name, for commands whose default is the machine of the run itself."""

    file: str | None
    overrides: Overrides

    @property
    def own(self) -> bool:
        """Whether it is the machine of the run."""
        return self.file is None and (self.overrides.latency_s is None or self.overrides.bandwidth_mb is None)

    def known(self, trace: Trace, team: Team) -> Machine | None:
        """The named machine, else that of the run; None if the messages of the run do not show it."""
        from analyzer.machine.observed_machine import own_machine
        from analyzer.machine.options import changed, read_machine

        if not self.own:
            return read_machine(self.file, self.overrides).alone
        found = own_machine(trace, team)
        return changed(found, self.overrides) if found else None

    def of(self, trace: Trace, team: Team) -> Machine:
        """The same, but raises TracelibError if the machine is not known."""
        from analyzer.machine.observed_machine import NAME_ONE

        found = self.known(trace, team)
        if found is None:
            raise TracelibError(f"the messages of {trace.path} do not show its network", NAME_ONE)
        return found

    def or_ideal(self) -> Machine:
        """The ideal machine, as the options change it."""
        from analyzer.machine.options import read_machine

        return read_machine(None, self.overrides).machine


@contextmanager
def replaying(trace: Trace, team: Team) -> Iterator[None]:
    """Around replays of the trace. If one blocks, the error says what the trace lacks, if one process can find out."""
    from analyzer.replay.failure import ReplayBlocked

    try:
        yield
    except ReplayBlocked as error:
        reason = incomplete(trace, team) if team.size == 1 else ""
        hint = f"likely reason in {Path(trace.path).name}: {reason}" if reason else error.hint
        raise TracelibError(str(error), hint) from error


def cpu_time_of(trace: Trace, program: Program) -> bool | None:
    """Whether bursts of the replay are CPU time, not the time that passed; None: as a Dimemas trace has them."""
    return program.cpu_time if trace.has_call_times else None


def incomplete(trace: Trace, team: Team) -> str:
    """Why a replay of the trace is not a replay of the whole run, in one line; "": nothing is known to be missing."""
    from analyzer.efficiency.ideal import not_whole
    from analyzer.metrics.unrecorded import unrecorded

    return not_whole(trace, unrecorded(trace, team)) if trace.has_call_times else ""


def lacking_at_once(trace: Trace) -> str:
    """What of the run is missing in the trace, in one line, without reading its messages; "": nothing."""
    from analyzer.efficiency.ideal import ADDED_UP, NOT_RECORDED
    from analyzer.trace import Losses, SummedCalls, ranks_named
    from analyzer.trace.chosen import ranks_lacking

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
        return OUTSIDE
    wrong = [problem.text for problem in trace.problems if not problem.note]
    return wrong[0] if wrong and trace.origin.imported else ""


def machine_options(command: Callable) -> Callable:
    """Add the options; the command gets `configuration`, the machine as they change it."""

    @wraps(command)
    def with_machine(*args: Any, machine_file: str | None, **given: Any) -> Any:
        from analyzer.machine.options import read_machine

        overrides = _take_overrides(given)
        return command(*args, configuration=read_machine(machine_file, overrides), **given)

    return _with_options(with_machine, _IDEAL)


def machine_argument(command: Callable) -> Callable:
    """The same for a machine that is the command's argument."""

    @wraps(command)
    def with_machine(*args: Any, machine_file: str, **given: Any) -> Any:
        from analyzer.machine.options import read_machine

        overrides = _take_overrides(given)
        return command(*args, configuration=read_machine(machine_file, overrides), **given)

    return _with_options(with_machine, click.argument("machine_file", metavar="FILE"))


def machine_choice(command: Callable) -> Callable:
    """Add the options; the command gets `choice`, a MachineChoice."""

    @wraps(command)
    def with_choice(*args: Any, machine_file: str | None, **given: Any) -> Any:
        overrides = _take_overrides(given)
        return command(*args, choice=MachineChoice(machine_file, overrides), **given)

    return _with_options(with_choice, _OWN)


def machine_if_named(command: Callable) -> Callable:
    """Add the options; the command gets `configuration`, None if none of them is used."""

    @wraps(command)
    def with_machine(*args: Any, machine_file: str | None, **given: Any) -> Any:
        from analyzer.machine.options import Overrides, read_machine

        overrides = _take_overrides(given)
        named = machine_file is not None or overrides != Overrides()
        return command(*args, configuration=read_machine(machine_file, overrides) if named else None, **given)

    return _with_options(with_machine, _MEASURED)


def _take_overrides(given: dict[str, Any]) -> Overrides:
    """Take the options of the machine out of a command's arguments."""
    from analyzer.machine.options import Overrides
    from analyzer.machine.parameters import MB

    names = {"latency": "latency_s", "bandwidth": "bandwidth_mb"}
    taken = {name: given.pop(name) for name in ("dialect", "latency", "bandwidth", "buses", "links", "cpus")}
    taken |= {name: given.pop(name) for name in ("speed", "eager_limit", "seed")}
    if taken["eager_limit"] is not None:
        taken["eager_limit"] = int(min(taken["eager_limit"], 2**62))
    if taken["bandwidth"] is not None:
        taken["bandwidth"] = 0.0 if math.isinf(taken["bandwidth"]) else taken["bandwidth"] / MB
    return Overrides(**{names.get(name, name): value for name, value in taken.items()})


def _with_options(command: Callable, machine: Callable) -> Callable:
    for option in (*reversed(_OPTIONS), machine):
        command = option(command)
    return command
