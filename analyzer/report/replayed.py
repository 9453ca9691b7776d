"""What the replay on an ideal network says of a run, in one sentence each."""

from __future__ import annotations

from analyzer.metrics.efficiency import Efficiency
from analyzer.metrics.ideal import EAGER_LIMIT, Ideal
from analyzer.report.units import percent, size, time


def serialization(efficiency: Efficiency) -> str:
    """How much the ranks wait for each other even where messages take no time."""
    runtime, useful = efficiency.ideal.runtime_ns, efficiency.ideal.useful_ns
    if not runtime or useful is None:
        return ""
    return f"without any network time, the rank that computes longest would wait {time(runtime - useful)} for others"


def transfer(efficiency: Efficiency) -> str:
    """What would be gained if messages and calls took no time."""
    runtime = efficiency.ideal.runtime_ns
    if not runtime:
        return ""
    gain = efficiency.runtime_ns - runtime
    if gain <= 0:
        return f"nothing to gain from a faster network: an ideal one takes {time(runtime)}"
    return f"on an ideal network {time(runtime)}, {time(gain)} ({percent(gain / efficiency.runtime_ns)}) less"


def eager_note(ideal: Ideal) -> str:
    """Which sends waited, where that is not as usual."""
    return (
        f"Sends of {size(ideal.eager_limit or 0)} or more wait on the ideal network: the run shows that smaller ones "
        f"did not, and with {size(EAGER_LIMIT)} it could not have ended."
    )


def unknown(efficiency: Efficiency) -> str:
    """Why neither is known."""
    return f"Serialization and transfer are not known: {efficiency.ideal.reason}."
