"""The lengths that computation can have in a replay, named alike by all reports."""

from __future__ import annotations


def basis(*, cpu_time: bool | None) -> str:
    """How bursts are measured: in CPU time, or in wall-clock time; None: as a Dimemas trace has them."""
    return {True: "CPU time", False: "clock", None: "trace"}[cpu_time]


def by(*, cpu_time: bool | None) -> str:
    """The same as part of a sentence."""
    ways = {
        True: "with bursts in CPU time",
        False: "with bursts in wall-clock time",
        None: "with the bursts of the trace",
    }
    return ways[cpu_time]
