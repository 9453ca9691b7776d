"""Options of commands that replay: the machine, and what overrides its file."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from analyzer.replay.machine import DIALECTS
from analyzer.replay.machine_options import Overrides, read_machine

_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


class _Amount(click.ParamType):
    """A number with a unit."""

    def __init__(self, name: str, units: dict[str, float], default: str, example: str) -> None:
        self.name, self._units, self._default, self._example = name, units, default, example

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found = re.fullmatch(r"(\d+(?:\.\d+)?(?:e-?\d+)?)\s*([a-zA-Z/]*)", str(value).strip())
        unit = (found[2] or self._default) if found else ""
        if not found or unit not in self._units:
            self.fail(f"{value!r} is not such as {self._example}", param, ctx)
        return float(found[1]) * self._units[unit]


LATENCY = _Amount("latency", _SECONDS, "us", "5us")
BANDWIDTH = _Amount("bandwidth", {"MB/s": 1.0, "GB/s": 1024.0, "MB": 1.0, "GB": 1024.0}, "MB/s", "100MB/s")
BYTES = _Amount("bytes", {"": 1, "B": 1, "k": 1024, "K": 1024, "M": 1 << 20}, "", "32k")

_OPTIONS = (
    click.option("--machine", "machine_file", metavar="FILE", help="A .toml, a Dimemas .cfg; ideal if not given."),
    click.option("--dialect", type=click.Choice(DIALECTS), help="Where the thesis and Dimemas 5.5 differ."),
    click.option("--latency", type=LATENCY, metavar="TIME", help="Of all messages between nodes: 5us."),
    click.option("--bandwidth", type=BANDWIDTH, metavar="RATE", help="Between nodes: 100MB/s (of 2^20 bytes)."),
    click.option("--buses", type=click.IntRange(0), metavar="N", help="Messages that travel at once; 0: any number."),
    click.option("--links", type=click.IntRange(0), metavar="N", help="Of each node, each way; 0: any number."),
    click.option("--cpus", type=click.IntRange(1), metavar="N", help="Of each node."),
    click.option("--speed", type=click.FloatRange(0, min_open=True), metavar="X", help="Of all CPUs, 1 as traced."),
    click.option("--eager", "eager_limit", type=BYTES, metavar="BYTES", help="Rendezvous from this size on: 32k."),
    click.option("--seed", type=int, metavar="N", help="Of random parameters."),
)


def machine_options(command: Callable) -> Callable:
    """Adds the options; the command gets `configuration`, what they make of the machine."""

    @wraps(command)
    def with_machine(*args: Any, machine_file: str | None, **given: Any) -> Any:
        names = {"latency": "latency_s", "bandwidth": "bandwidth_mb"}
        taken = {name: given.pop(name) for name in ("dialect", "latency", "bandwidth", "buses", "links", "cpus")}
        taken |= {name: given.pop(name) for name in ("speed", "eager_limit", "seed")}
        if taken["eager_limit"] is not None:
            taken["eager_limit"] = int(taken["eager_limit"])
        overrides = Overrides(**{names.get(name, name): value for name, value in taken.items()})
        return command(*args, configuration=read_machine(machine_file, overrides), **given)

    for option in reversed(_OPTIONS):
        with_machine = option(with_machine)
    return with_machine
