"""Options that several subcommands have, and the types of their values."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:  # rich takes as long to import as click: only who prints pays for it
    pass


def common_options(*, as_json: bool = False, output: str = "") -> Callable:
    """Add -q/--quiet and, where a command can serve them, --json, -o/--output with this help text, and -f/--force."""

    def decorate(command: Callable) -> Callable:
        command = click.option("-q", "--quiet", is_flag=True, help="Print only errors.")(command)
        if output:
            command = click.option(
                "-f", "--force", is_flag=True, help="Replace an existing file even if it is not a trace."
            )(command)
            command = click.option("-o", "--output", type=click.Path(), help=output)(command)
        if as_json:
            command = click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")(command)
        return command

    return decorate


file_argument = click.argument("file", type=click.Path())

jobs_option = click.option(
    "--jobs", type=click.IntRange(1), metavar="N", help="Replays at once (default: one for each CPU)."
)


class FiniteRange(click.FloatRange):
    """A finite number from a range: not nan, not inf."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found = super().convert(value, param, ctx)
        if not isfinite(found):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        return found


_UNITS_NS = {"": 1, "ns": 1, "us": 1000, "ms": 10**6}


class Latency(click.ParamType):
    """A time such as 0, 500ns, 2us as nanoseconds."""

    name = "latency"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = re.fullmatch(r"(\d{1,9}(?:\.\d+)?)\s*(ns|us|ms|)", str(value))
        if not found or (not found[2] and float(found[1])):
            self.fail(f"{value!r} is not a time such as 0, 500ns or 2us", param, ctx)
        return round(float(found[1]) * _UNITS_NS[found[2]])


class Size(click.ParamType):
    """A number of bytes such as 100, 32K, 1M as an integer."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = re.fullmatch(r"(\d{1,12})([KMG]?)", str(value), re.IGNORECASE)
        if not found:
            self.fail(f"{value!r} is not a size such as 100, 32K or 1M", param, ctx)
        return int(found[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[found[2].upper()]


repair_option = click.option(
    "--repair-clocks",
    "repair_ns",
    type=Latency(),
    metavar="LATENCY",
    help="Move times so that each message takes at least this long (0, 500ns, 2us).",
)
