"""Options of commands that replay: the machine, and parameters that override its file."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from analyzer.commands.shared.options import FiniteRange, LazyChoice, Option, rare_option
from analyzer.errors import TracelibError

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.machine.options import MachineOverrides


class _Amount(click.ParamType):
    """Type of an option: a value of a machine's parameter, with its unit."""

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
    """Type of an option: a whole number up to the largest that the simulator can count."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        from analyzer.machine.description import MOST

        found = super().convert(value, param, ctx)
        if found > MOST:
            self.fail(f"{value!r} is more than {MOST}", param, ctx)
        return found


LATENCY, BANDWIDTH, BYTES = _Amount("latency", "5us"), _Amount("bandwidth", "100MB/s"), _Amount("eager", "32k")


def _machine_option(default: str) -> Callable:
    return click.option(
        "--machine", "machine_file", metavar="FILE", show_default=default,
        help="Machine of the replay: a .toml or Dimemas .cfg file, or ideal.",
    )  # fmt: skip


_OPTIONS = (
    rare_option(
        "--dialect", type=LazyChoice("analyzer.machine.description", "DIALECTS"), help="Rules that the replay follows."
    ),
    click.option("--latency", type=LATENCY, metavar="TIME", help="Latency of messages between nodes, such as 5us."),
    click.option(
        "--bandwidth",
        type=BANDWIDTH,
        metavar="RATE",
        help="Bandwidth between nodes, such as 100MB/s (1 MB = 2^20 bytes).",
    ),
    rare_option(
        "--buses", type=_Count(0), metavar="N", help="Number of messages that can travel at once (0: no limit)."
    ),
    rare_option(
        "--links", type=_Count(0), metavar="N", help="Number of links of each node in each direction (0: no limit)."
    ),
    click.option("--cpus", type=_Count(1), metavar="N", help="Number of CPUs of each node."),
    click.option(
        "--speed",
        type=FiniteRange(0, min_open=True),
        metavar="X",
        help="Speed of all CPUs, relative to the traced ones.",
    ),
    click.option(
        "--eager-limit",
        "eager_limit",
        cls=Option,
        old=("--eager",),
        type=BYTES,
        metavar="SIZE",
        show_default="as the run shows",
        help="Size from which sends wait for their receive, such as 32k.",
    ),
    rare_option("--seed", type=int, metavar="N", help="Seed of the random numbers."),
)


def machine_options(command: Callable) -> Callable:
    """Add the options of a machine.

    The command gets the machine with them applied as `configuration`; default: ideal.
    """

    @wraps(command)
    def with_machine(*args: Any, machine_file: str | None, **given: Any) -> Any:
        from analyzer.machine.options import read_machine

        overrides = _take_overrides(given)
        return command(*args, configuration=read_machine(machine_file, overrides), **given)

    return _with_options(with_machine, _machine_option("ideal"))


def machine_argument(command: Callable) -> Callable:
    """Add the machine as argument FILE, and its options. The command gets `configuration`."""

    @wraps(command)
    def with_machine(*args: Any, machine_file: str, **given: Any) -> Any:
        from analyzer.machine.options import read_machine

        overrides = _take_overrides(given)
        return command(*args, configuration=read_machine(machine_file, overrides), **given)

    return _with_options(with_machine, click.argument("machine_file", metavar="FILE"))


def machine_choice(command: Callable) -> Callable:
    """Add the options of a machine. The command gets a MachineChoice as `choice`; default: the machine of the run."""

    @wraps(command)
    def with_choice(*args: Any, machine_file: str | None, **given: Any) -> Any:
        from analyzer.results.machine_choice import MachineChoice

        overrides = _take_overrides(given)
        return command(*args, choice=MachineChoice(machine_file, overrides), **given)

    return _with_options(with_choice, _machine_option("as the run shows"))


def machine_if_named(command: Callable) -> Callable:
    """Add the options of a machine. The command gets `configuration`. None: no option was used."""

    @wraps(command)
    def with_machine(*args: Any, machine_file: str | None, **given: Any) -> Any:
        from analyzer.machine.options import MachineOverrides, read_machine

        overrides = _take_overrides(given)
        named = machine_file is not None or overrides != MachineOverrides()
        return command(*args, configuration=read_machine(machine_file, overrides) if named else None, **given)

    return _with_options(with_machine, _machine_option("no replay"))


def _take_overrides(given: dict[str, Any]) -> MachineOverrides:
    """Remove the options of the machine from a command's arguments, and return them."""
    from analyzer.machine.options import MachineOverrides
    from analyzer.machine.parameters import MB

    names = {"latency": "latency_s", "bandwidth": "bandwidth_mb"}
    taken = {name: given.pop(name) for name in ("dialect", "latency", "bandwidth", "buses", "links", "cpus")}
    taken |= {name: given.pop(name) for name in ("speed", "eager_limit", "seed")}
    if taken["eager_limit"] is not None:
        taken["eager_limit"] = int(min(taken["eager_limit"], 2**62))
    if taken["bandwidth"] is not None:
        taken["bandwidth"] = 0.0 if math.isinf(taken["bandwidth"]) else taken["bandwidth"] / MB
    return MachineOverrides(**{names.get(name, name): value for name, value in taken.items()})


def _with_options(command: Callable, machine: Callable) -> Callable:
    for option in (*reversed(_OPTIONS), machine):
        command = option(command)
    return command
