"""What the replay on an ideal network says of a run, in one sentence each."""

from __future__ import annotations

from analyzer.efficiency.factors import Efficiency
from analyzer.efficiency.ideal import EAGER_LIMIT, Ideal
from analyzer.report.words.basis import by
from analyzer.report.words.left_out import ideal_note
from analyzer.report.words.units import percent, size, time


def serialization(efficiency: Efficiency) -> str:
    """How much the ranks wait for each other, and for files, even where messages take no time."""
    runtime, useful = efficiency.ideal.runtime_ns, efficiency.ideal.useful_ns
    if not runtime or useful is None:
        return ""
    whom = "others and for files" if efficiency.ideal.has_files else "others"
    return f"on an ideal network the rank that computes longest would still wait {time(runtime - useful)} for {whom}"


def transfer(efficiency: Efficiency, waits_ns: int | None = None) -> str:
    """What would be gained if messages and calls took no time. waits_ns: at most so much of that gain is waiting for a
    CPU."""
    runtime = efficiency.ideal.runtime_ns
    if not runtime:
        return ""
    gain = efficiency.runtime_ns - runtime
    if gain <= 0:
        return f"a faster network gains nothing: on an ideal one the run takes {time(runtime)} ({by(cpu_time=False)})"
    less = f"{time(gain)} ({percent(gain / efficiency.runtime_ns)}) less"
    waits = f"; of that up to {time(waits_ns)} is waiting for a CPU" if waits_ns else ""
    return f"on an ideal network the run takes {time(runtime)} ({by(cpu_time=False)}), {less}{waits}"


def notes(ideal: Ideal) -> list[str]:
    """What is to be known of the replay on the ideal network, in one sentence each."""
    said = (
        _eager(ideal) if ideal.eager_shown else "",
        f"{ideal.left_over}: in the replay they wait for nobody." if ideal.left_over else "",
        ideal_note(ideal, "Transfer"),
        f"Serialization and transfer are not known: {ideal.reason}." if ideal.reason else "",
    )
    return [*filter(None, said)]


def _eager(ideal: Ideal) -> str:
    return (
        f"On the ideal network sends of {size(ideal.eager_limit or 0)} or more wait for their receive. In the run "
        f"smaller ones did not wait: with a limit of {size(EAGER_LIMIT)} it could not have ended."
    )
