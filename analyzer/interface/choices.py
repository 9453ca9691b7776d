"""Conversion of Python arguments for the analyses. A wrong argument raises a TracelibError of one line."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, Any, TypedDict

from analyzer.arguments import Count, Factor, Natural, Range
from analyzer.errors import TracelibError
from analyzer.machine.description import Machine
from analyzer.machine.options import MachineOverrides, changed, read_machine
from analyzer.machine.parameters import MB, parameter, value_of
from analyzer.machine.read_cfg import MachineConfiguration
from analyzer.results.machine_choice import MachineChoice
from analyzer.results.open_part import IterationChoice
from analyzer.trace.at_places import PlaceChoice
from analyzer.trace.chosen import Choice
from tracelib.units import BYTES, NS, split_quantity

PathArgument = str | os.PathLike[str]
"""Path of a file."""
RanksArgument = str | int | Iterable[int]
"""List of ranks: 3, "0-63,1000", or [0, 1, 2]."""
IterationArgument = str | int
"""Iterations of a loop, from 1: 113 or "10-20". "2:113" is iteration 113 of loop 2."""
TimeArgument = str | int
"""Time with a unit, such as "2us", or a whole number of ns."""
SizeArgument = str | int
"""Size with a unit, such as "32K", or a number of bytes."""
MachineArgument = str | os.PathLike[str] | Machine
"""Machine of a replay: a .toml file, a Dimemas .cfg file, "ideal", or a Machine."""

Speed = Annotated[float, Range(0, 1e300, is_open=True)]
"""Speed of CPUs relative to the traced ones."""

_NS = {unit: NS[unit] for unit in ("ns", "us", "ms", "s")}


class MachineOptions(TypedDict, total=False):
    """Parameters that replace the parameters of a machine, as the options of the commands do.

    Attributes:
        dialect: Rules that the replay follows: "standard", "dimemas-5.5" or "thesis".
        latency: Latency of messages between nodes, such as "5us", or seconds.
        bandwidth: Bandwidth between nodes, such as "100MB/s" (1 MB = 2^20 bytes), or MB/s.
        buses: Number of messages that can travel at once. 0: any number.
        links: Number of links of each node in each direction. 0: any number.
        cpus: Number of CPUs of each node.
        speed: Speed of all CPUs relative to the traced ones.
        eager: Message size from which on sends wait for their receive (rendezvous), such as "32K", or bytes.
        seed: Seed of random parameters.
    """

    dialect: str
    latency: str | Factor
    bandwidth: str | Factor
    buses: Natural
    links: Natural
    cpus: Count
    speed: Speed
    eager: SizeArgument
    seed: int


class ScalingOptions(TypedDict, total=False):
    """Options of comparisons of several runs: which parts of the runs are compared, and how.

    Attributes:
        region: Region whose visits are compared. None: iterations are compared, if no run has regions and all runs
            have the same main loop.
        loop: Number of the loop that is compared; 1 is the main loop. None: as `region` says.
        whole: Whether to compare from MPI_Init to MPI_Finalize, even if iterations are found.
        scaling: "strong" or "weak". None: as the work of the runs shows.
        eager_limit: Message size from which on sends wait for their receive on the ideal network. None: as the runs
            show.
    """

    region: str | None
    loop: Count | None
    whole: bool
    scaling: str | None
    eager_limit: SizeArgument | None


def ranks_choice(ranks: RanksArgument | None, cluster: int | None) -> Choice | None:
    """Convert arguments to a choice of ranks and of a cluster of bursts.

    Args:
        ranks: List of ranks. None: all ranks.
        cluster: Number of a cluster of bursts, from 1. None: all bursts.

    Returns:
        The choice. None: everything.

    Raises:
        TracelibError: `ranks` is no list of ranks.
    """
    if ranks is None:
        return Choice("", (), cluster) if cluster else None
    text = str(ranks) if isinstance(ranks, str | int) else ",".join(map(str, ranks))
    try:
        choice = Choice.parse(text)
    except ValueError as error:
        raise TracelibError(f"ranks={ranks!r} is not a list of ranks", 'such as 3, "0-63,1000" or [0, 1]') from error
    return Choice(choice.text, choice.stretches, cluster or 0)


def place_choice(place: str | None) -> PlaceChoice | None:
    """Convert a regular expression for functions, file:line and modules to a choice of calls. None: all calls.

    Raises:
        TracelibError: `place` is no regular expression.
    """
    if place is None:
        return None
    try:
        return PlaceChoice.parse(place)
    except (re.error, TypeError) as error:
        raise TracelibError(f"place={place!r} is not a regular expression: {error}") from error


def iteration_choice(loop: int | None, iteration: IterationArgument | None) -> IterationChoice | None:
    """Convert arguments to a choice of a loop and its iterations.

    Args:
        loop: Number of the loop, from 1. None: as `iteration` says, or else the main loop.
        iteration: Iterations, from 1. None: all iterations of the loop.

    Returns:
        The choice. None: the whole run.

    Raises:
        TracelibError: `iteration` is no iteration, or two different loops are named.
    """
    if iteration is None:
        return IterationChoice(loop=loop) if loop else None
    found = re.fullmatch(r"(?:(\d{1,9}):)?(\d{1,9})(?:-(\d{1,9}))?", str(iteration))
    number, first, last = (int(text or 0) for text in found.groups()) if found else (0, 0, 0)
    last = last or first
    if not 0 < first <= last or (found and found[1] and not number):
        raise TracelibError(f"iteration={iteration!r} is no iteration", 'such as 113, "10-20" or "2:113", from 1 on')
    if loop and number and loop != number:
        raise TracelibError(f"loop={loop} and iteration={iteration!r} name two loops", "leave one of them out")
    return IterationChoice(loop or number, first, last)


def time_ns(name: str, value: TimeArgument) -> int:
    """Convert a time to ns. The name of the argument is for the error.

    Raises:
        TracelibError: `value` is no time.
    """
    needs_unit = isinstance(value, str) and value.strip("0. ")  # "0" has none
    units = _NS if needs_unit else {**_NS, "": 1}
    quantity = split_quantity(str(value), units, r"\d{1,12}(?:\.\d+)?\s*")
    if quantity is None:
        raise TracelibError(f"{name}={value!r} is not a time", 'such as "2us", or whole nanoseconds')
    return round(float(quantity[0]) * quantity[1])


def size_bytes(name: str, value: SizeArgument | None) -> int | None:
    """Convert a size to bytes; None stays None. The name of the argument is for the error.

    Raises:
        TracelibError: `value` is no size.
    """
    if value is None:
        return None
    quantity = split_quantity(str(value).upper(), BYTES, r"\d{1,12}")
    if quantity is None:
        raise TracelibError(f"{name}={value!r} is not a size", 'such as "32K", or bytes')
    return int(quantity[0]) * int(quantity[1])


def one_of(name: str, value: str | None, known: Collection[str]) -> None:
    """Raise TracelibError if `value` is not in `known`. None is allowed. The name of the argument is for the error."""
    if value is not None and value not in known:
        raise TracelibError(f"{name}={value!r} is not known", f"give {', '.join(map(repr, known))}")


def machine_choice(machine: MachineArgument | None, options: Mapping[str, Any]) -> MachineChoice:
    """Return the chosen machine with the options applied. Without a machine, it is the machine of the run."""
    changes = _overrides(options)
    if isinstance(machine, Machine):
        return MachineChoice(None, changes, machine)
    return MachineChoice(None if machine is None else os.fspath(machine), changes)


def configuration(machine: MachineArgument | None, options: Mapping[str, Any]) -> MachineConfiguration:
    """Return the chosen machine with the options applied, and the file's factors of modules.

    The default is an ideal machine.
    """
    changes = _overrides(options)
    if isinstance(machine, Machine):
        return MachineConfiguration(changed(machine, changes))
    return read_machine(None if machine is None else os.fspath(machine), changes)


def _overrides(options: Mapping[str, Any]) -> MachineOverrides:
    given = dict(options)
    if "latency" in given:
        given["latency_s"] = _amount("latency", given.pop("latency"))
    if "bandwidth" in given:
        rate = given.pop("bandwidth")
        amount = _amount("bandwidth", rate) / MB if isinstance(rate, str) else float(rate)
        given["bandwidth_mb"] = 0.0 if math.isinf(amount) else amount
    if "eager" in given:
        given["eager_limit"] = size_bytes("eager", given.pop("eager"))
    return MachineOverrides(**given)


def _amount(name: str, value: str | float) -> float:
    if not isinstance(value, str):
        return float(value)
    try:
        return value_of(parameter(name), value)
    except TracelibError as error:
        raise TracelibError(f"{name}={value!r}: {error}", error.hint) from error
