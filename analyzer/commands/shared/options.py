"""Options that several subcommands have, and the types of their values."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, wraps
from importlib import import_module
from math import isfinite
from typing import TYPE_CHECKING, Any

import click

from tracelib.command_line import Option
from tracelib.units import BYTES, NS, split_quantity

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.trace.at_places import PlaceChoice
    from analyzer.trace.chosen import Choice


def common_options(*, as_json: bool = False, output: str = "") -> Callable:
    """Return a decorator that adds the options that commands share: -q/--quiet, and further ones on request.

    Args:
        as_json: Whether to add --json.
        output: Help text of -o/--output. "": neither -o/--output nor -f/--force is added.
    """

    def decorate(command: Callable) -> Callable:
        command = click.option("-q", "--quiet", is_flag=True, help="Print only errors.")(command)
        if output:
            command = click.option(
                "-f", "--force", is_flag=True, help="Replace existing files that analyze did not write."
            )(command)
            command = click.option("-o", "--output", type=click.Path(), help=output)(command)
        if as_json:
            command = click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")(command)
        return command

    return decorate


class LazyChoice(click.Choice):
    """Choice among names that another module defines. The module is imported only when the names are needed."""

    def __init__(self, module: str, names: str, *more: str) -> None:
        """Remember where the names are defined.

        Args:
            module: Name of the module to import.
            names: Name of a constant of the module: a collection of names or an enumeration.
            more: Further choices.
        """
        self._module, self._names, self._more = module, names, more
        self.case_sensitive = True

    @cached_property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        """All names that may be chosen. The first access imports the module."""
        known = getattr(import_module(self._module), self._names)
        return (*(str(getattr(one, "value", one)) for one in known), *self._more)


def rare_option(*names: str, **more: Any) -> Callable:
    """Add an option that only --help-all shows."""
    return click.option(*names, cls=Option, rare=True, **more)


file_argument = click.argument("file", type=click.Path())

jobs_option = click.option(
    "--jobs",
    type=click.IntRange(1),
    metavar="N",
    show_default="one for each CPU",
    help="Number of replays at the same time.",
)


class FiniteRange(click.FloatRange):
    """Type of an option: a floating-point number within limits that is neither nan nor inf."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found = super().convert(value, param, ctx)
        if not isfinite(found):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        return found


_UNITS_NS = {"": 0, "ns": NS["ns"], "us": NS["us"], "ms": NS["ms"]}  # a bare number: only 0


class LatencyType(click.ParamType):
    """Type of an option: a time with a unit (ns, us, ms) or 0, such as 500ns or 2us. The command gets ns as int."""

    name = "latency"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        quantity = split_quantity(str(value), _UNITS_NS, r"\d{1,9}(?:\.\d+)?\s*")
        if quantity is None or (not quantity[1] and float(quantity[0])):
            self.fail(f"{value!r} is not a time such as 0, 500ns or 2us", param, ctx)
        return round(float(quantity[0]) * quantity[1])


_UNITS_BYTES = {unit: BYTES[unit] for unit in ("", "K", "M", "G")}


class SizeType(click.ParamType):
    """Type of an option: a number of bytes, also with K, M or G (100, 32K, 1M). The command gets an int."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        quantity = split_quantity(str(value).upper(), _UNITS_BYTES, r"\d{1,12}")
        if quantity is None:
            self.fail(f"{value!r} is not a size such as 100, 32K or 1M", param, ctx)
        return int(quantity[0]) * int(quantity[1])


class RanksType(click.ParamType):
    """Type of an option: a list of ranks such as 0-63,1000. The command gets a `Choice`."""

    name = "ranks"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Choice:
        from analyzer.trace.chosen import Choice

        if isinstance(value, Choice):
            return value
        try:
            return Choice.parse(value)
        except ValueError:
            self.fail(f"{value!r} is not a list of ranks such as 3 or 0-63,1000", param, ctx)


def ranks_option(command: Callable) -> Callable:
    """Add --ranks and --cluster to a command, which gets both as `choice`. None: neither option was given."""

    @wraps(command)
    def with_choice(*args: Any, choice: Choice | None, cluster: int | None, **given: Any) -> Any:
        if cluster:
            from analyzer.trace.chosen import Choice

            choice = replace(choice, cluster=cluster) if choice else Choice("", (), cluster)
        return command(*args, choice=choice, **given)

    with_choice = rare_option(
        "--cluster", type=click.IntRange(1), metavar="N", help="Count only the bursts of this cluster as computation."
    )(with_choice)
    return click.option(
        "--ranks", "choice", type=RanksType(), metavar="RANKS", help="Read only these ranks, such as 3 or 0-63,1000."
    )(with_choice)


class PlaceType(click.ParamType):
    """Type of an option: a regular expression for functions, file:line and modules."""

    name = "place"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> PlaceChoice:
        from analyzer.trace.at_places import PlaceChoice

        if isinstance(value, PlaceChoice):
            return value
        try:
            return PlaceChoice.parse(value)
        except re.error as error:
            self.fail(f"{value!r} is not a regular expression: {error}", param, ctx)


place_option = click.option(
    "--place", type=PlaceType(), metavar="REGEX", help="Use only calls through functions, lines or modules that match."
)


def all_calls_needed(why: str) -> Callable:
    """Return a decorator that makes a command refuse --place, for a command that needs all calls.

    Args:
        why: The reason, which the error message repeats.
    """

    def refuse(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
        if value is not None:
            raise click.UsageError(f"--place cannot be used here: {why}", ctx)

    return click.option("--place", "unwanted_places", expose_value=False, hidden=True, callback=refuse)


replays_all_calls = all_calls_needed("a replay needs all calls, because ranks wait for each other in them")


def all_ranks_needed(why: str) -> Callable:
    """Return a decorator that makes a command refuse --ranks and --cluster, for a command that needs all ranks.

    Args:
        why: The reason, which the error message repeats.
    """

    def refuse(ctx: click.Context, option: click.Parameter, value: str | None) -> None:
        if value is not None:
            raise click.UsageError(f"{option.opts[0]} cannot be used here: {why}", ctx)

    def decorate(command: Callable) -> Callable:
        for name in ("--cluster", "--ranks"):
            unwanted = f"unwanted_{name[2:]}"
            command = click.option(name, unwanted, expose_value=False, hidden=True, callback=refuse)(command)
        return command

    return decorate


replays_all_ranks = all_ranks_needed("a replay needs all ranks, because they wait for each other")

repair_option = rare_option(
    "--repair-clocks",
    "repair_ns",
    type=LatencyType(),
    metavar="TIME",
    help="Move times so that each message takes at least this long, such as 500ns.",
)
