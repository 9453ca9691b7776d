"""Words that all reports of replays share: lengths of bursts, the ideal network, and parameters of machines."""

from __future__ import annotations

import math

from analyzer.efficiency.factors import Efficiency
from analyzer.efficiency.ideal import EAGER_LIMIT, IdealReplay
from analyzer.machine.parameters import Variable
from analyzer.report.words import units
from analyzer.report.words.left_out import ideal_note
from analyzer.report.words.units import percent, size, time


def basis_text(*, cpu_time: bool | None) -> str:
    """Return how bursts were measured, as a word for JSON.

    True: CPU time. False: wall-clock time. None: a Dimemas trace.
    """
    return {True: "CPU time", False: "clock", None: "trace"}[cpu_time]


def basis_phrase(*, cpu_time: bool | None) -> str:
    """Say how bursts were measured, as part of a sentence.

    True: CPU time. False: wall-clock time. None: a Dimemas trace.
    """
    ways = {
        True: "with bursts in CPU time",
        False: "with bursts in wall-clock time",
        None: "with the bursts of the trace",
    }
    return ways[cpu_time]


def serialization_text(efficiency: Efficiency) -> str:
    """Say how long the rank that computes longest still waits if messages take no time. "": there is no replay."""
    runtime, useful = efficiency.ideal.runtime_ns, efficiency.ideal.useful_ns
    if not runtime or useful is None:
        return ""
    whom = "others and for files" if efficiency.ideal.has_files else "others"
    return f"on an ideal network the rank that computes longest would still wait {time(runtime - useful)} for {whom}"


def transfer_text(efficiency: Efficiency, waits_ns: int | None = None) -> str:
    """Say how much shorter the run would be if messages and calls took no time. "": there is no replay.

    waits_ns: upper bound in ns of the waiting for a CPU within this gain. None or 0: not mentioned.
    """
    runtime = efficiency.ideal.runtime_ns
    if not runtime:
        return ""
    gain = efficiency.runtime_ns - runtime
    if gain <= 0:
        length = basis_phrase(cpu_time=False)
        return f"a faster network gains nothing: on an ideal one the run takes {time(runtime)} ({length})"
    less = f"{time(gain)} ({percent(gain / efficiency.runtime_ns)}) less"
    waits = f"; of that up to {time(waits_ns)} is waiting for a CPU" if waits_ns else ""
    return f"on an ideal network the run takes {time(runtime)} ({basis_phrase(cpu_time=False)}), {less}{waits}"


def ideal_notes(ideal: IdealReplay) -> list[str]:
    """List notes on the replay on the ideal network, one sentence each."""
    said = (
        _eager(ideal) if ideal.eager_shown else "",
        f"{ideal.left_over}: in the replay they wait for nobody." if ideal.left_over else "",
        ideal_note(ideal, "Transfer"),
        f"Serialization and transfer are not known: {ideal.reason}." if ideal.reason else "",
    )
    return [*filter(None, said)]


def _eager(ideal: IdealReplay) -> str:
    return (
        f"On the ideal network sends of {size(ideal.eager_limit or 0)} or more wait for their receive. In the run "
        f"smaller ones did not wait: with a limit of {size(EAGER_LIMIT)} it could not have ended."
    )


NOT_ALL_KNOWN = "What ranks waited for is not known everywhere: {}."
_NS = {"s": 1e9, "us": 1e3}
_BYTES = {"bytes/s": 1.0, "MB/s": float(1 << 20)}


def value_text(of: Variable, value: float) -> str:
    """Format a value of a machine's parameter with its unit, such as "5.00 us", "100 MiB/s", "4" or "infinite".

    NaN is "as traced".
    """
    if math.isnan(value):
        return "as traced"
    if math.isinf(value):
        return "infinite"
    if of.name == "cpus" and not value:
        return "one for each thread"
    if of.unit in _NS:
        ns = value * _NS[of.unit]
        return units.time(ns) if ns >= 1 or not ns else f"{ns:.3g} ns"
    if of.unit in _BYTES:
        return f"{units.size(value * _BYTES[of.unit])}/s"
    return units.size(value) if of.unit == "bytes" else f"{value:.4g}"
