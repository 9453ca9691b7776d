"""Options of commands that replay: the machine, and what overrides its file."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from analyzer.commands.common import FiniteRange
from analyzer.errors import TracelibError
from analyzer.metrics.ideal import ADDED_UP, NOT_RECORDED, not_whole
from analyzer.metrics.unrecorded import unrecorded
from analyzer.parallel import Team
from analyzer.replay.failure import ReplayBlocked
from analyzer.replay.machine import DIALECTS, MOST, Machine
from analyzer.replay.machine_options import Overrides, changed, read_machine
from analyzer.replay.own_machine import NAME_ONE, own_machine
from analyzer.replay.parameters import MB, parameter, value_of
from analyzer.trace import Trace, ranks_text

OUTSIDE = "messages with processes outside of the run are left out"


class _Amount(click.ParamType):
    """The value of a parameter of the machine, with its unit."""

    def __init__(self, name: str, example: str) -> None:
        self.name, self._example = name, example

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        of = parameter(self.name)
        try:
            found = value_of(of, str(value))
        except TracelibError as error:
            self.fail(f"{value!r} is not such as {self._example}: {error.hint}", param, ctx)
        if math.isinf(found) and not of.endless:
            self.fail(f"{value!r} is not such as {self._example}", param, ctx)
        return found


class _Count(click.IntRange):
    """A whole number that the simulator can count."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = super().convert(value, param, ctx)
        if found > MOST:
            self.fail(f"{value!r} is more than {MOST}", param, ctx)
        return found


LATENCY, BANDWIDTH, BYTES = _Amount("latency", "5us"), _Amount("bandwidth", "100MB/s"), _Amount("eager", "32k")

_IDEAL = click.option("--machine", "machine_file", metavar="FILE", help="A .toml, a Dimemas .cfg; ideal if not given.")
_OWN = click.option(
    "--machine", "machine_file", metavar="FILE", help='A .toml, a .cfg, or "ideal"; the run\'s own if not given.'
)
_MEASURED = click.option(
    "--machine", "machine_file", metavar="FILE", help='A .toml, a .cfg, or "ideal"; none: the run as it was.'
)
_OPTIONS = (
    click.option("--dialect", type=click.Choice(DIALECTS), help="Where the thesis and Dimemas 5.5 differ."),
    click.option("--latency", type=LATENCY, metavar="TIME", help="Of all messages between nodes: 5us."),
    click.option("--bandwidth", type=BANDWIDTH, metavar="RATE", help="Between nodes: 100MB/s (of 2^20 bytes)."),
    click.option("--buses", type=_Count(0), metavar="N", help="Messages that travel at once; 0: any number."),
    click.option("--links", type=_Count(0), metavar="N", help="Of each node, each way; 0: any number."),
    click.option("--cpus", type=_Count(1), metavar="N", help="Of each node."),
    click.option("--speed", type=FiniteRange(0, min_open=True), metavar="X", help="Of all CPUs, 1 as traced."),
    click.option(
        "--eager",
        "eager_limit",
        type=BYTES,
        metavar="BYTES",
        help="Rendezvous from this size on: 32k [as the run shows].",
    ),
    click.option("--seed", type=int, metavar="N", help="Of random parameters."),
)


@dataclass(frozen=True)
class MachineChoice:
    """What the options say, for commands whose default is the network of the run itself."""

    file: str | None
    overrides: Overrides

    @property
    def own(self) -> bool:
        """Whether it is that of the run."""
        return self.file is None and (self.overrides.latency_s is None or self.overrides.bandwidth_mb is None)

    def known(self, trace: Trace, team: Team) -> Machine | None:
        """The machine, if none is named that of the run; None where its messages do not show it."""
        if not self.own:
            return read_machine(self.file, self.overrides).alone
        found = own_machine(trace, team)
        return changed(found, self.overrides) if found else None

    def of(self, trace: Trace, team: Team) -> Machine:
        """The same. Raises TracelibError where it is not known."""
        found = self.known(trace, team)
        if found is None:
            raise TracelibError(f"the messages of {trace.path} do not show its network", NAME_ONE)
        return found

    def or_ideal(self) -> Machine:
        """The ideal machine, as the options change it."""
        return read_machine(None, self.overrides).machine


@contextmanager
def replaying(trace: Trace, team: Team) -> Iterator[None]:
    """Replays of the trace: one that blocks is explained by what the trace lacks, if one process can find that out."""
    try:
        yield
    except ReplayBlocked as error:
        reason = incomplete(trace, team) if team.size == 1 else ""
        raise TracelibError(str(error), f"of {Path(trace.path).name}, {reason}" if reason else error.hint) from error


def incomplete(trace: Trace, team: Team) -> str:
    """Why a replay of the trace is not one of the whole run, in one line; "": nothing is known to lack."""
    return "" if trace.program else not_whole(trace, unrecorded(trace, team))


def lacking_at_once(trace: Trace) -> str:
    """What of the run is not in the trace, in one line, as far as that is known without its messages; "": nothing."""
    if trace.missing:
        return f"rank {ranks_text(trace.missing)} could not be read"
    lost = [rank for rank in range(trace.size) if trace.lost_calls(rank)]
    if lost:
        return f"calls of rank {ranks_text(lost)} were lost"
    if any(len(trace.summed(rank)) for rank in range(trace.size)):
        return ADDED_UP
    if any(len(trace.unrecorded(rank)) or trace.dropped_calls(rank) for rank in range(trace.size)):
        return NOT_RECORDED
    if any(communicator.outside for communicator in trace.communicators):
        return OUTSIDE
    wrong = [problem.text for problem in trace.problems if not problem.note]
    return wrong[0] if wrong and trace.flush_mode == "keep" else ""


def machine_options(command: Callable) -> Callable:
    """Adds the options; the command gets `configuration`, what they make of the machine."""

    @wraps(command)
    def with_machine(*args: Any, machine_file: str | None, **given: Any) -> Any:
        overrides = _take_overrides(given)
        return command(*args, configuration=read_machine(machine_file, overrides), **given)

    return _with_options(with_machine, _IDEAL)


def machine_argument(command: Callable) -> Callable:
    """The same for a machine that is the command's argument."""

    @wraps(command)
    def with_machine(*args: Any, machine_file: str, **given: Any) -> Any:
        overrides = _take_overrides(given)
        return command(*args, configuration=read_machine(machine_file, overrides), **given)

    return _with_options(with_machine, click.argument("machine_file", metavar="FILE"))


def machine_choice(command: Callable) -> Callable:
    """Adds the options; the command gets `choice`, a MachineChoice."""

    @wraps(command)
    def with_choice(*args: Any, machine_file: str | None, **given: Any) -> Any:
        overrides = _take_overrides(given)
        return command(*args, choice=MachineChoice(machine_file, overrides), **given)

    return _with_options(with_choice, _OWN)


def machine_if_named(command: Callable) -> Callable:
    """Adds the options; the command gets `configuration`, None where none of them is used."""

    @wraps(command)
    def with_machine(*args: Any, machine_file: str | None, **given: Any) -> Any:
        overrides = _take_overrides(given)
        named = machine_file is not None or overrides != Overrides()
        return command(*args, configuration=read_machine(machine_file, overrides) if named else None, **given)

    return _with_options(with_machine, _MEASURED)


def _take_overrides(given: dict[str, Any]) -> Overrides:
    """What the options say of a machine, taken out of a command's arguments."""
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
