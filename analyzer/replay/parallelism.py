"""Parallelism of a replay: how many threads compute at each instant, and how many messages wait for the network."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.machine.description import Machine
from analyzer.metrics.parallelism import COLLECTIVES, COMPUTING, MESSAGES, QUEUE, CountBins, Parallelism, means
from analyzer.program.model import Program
from analyzer.replay.simulate import ProfiledActivity, simulate

_ROWS = {
    COMPUTING: ProfiledActivity.COMPUTING, MESSAGES: ProfiledActivity.MESSAGES,
    COLLECTIVES: ProfiledActivity.COLLECTIVES, QUEUE: ProfiledActivity.QUEUE,
}  # fmt: skip


def replayed_parallelism(programs: Program | Sequence[Program], machine: Machine, bins: int) -> Parallelism:
    """Compute the parallelism over time with two replays; the first gives the duration.

    Args:
        programs: Programs that run at once.
        machine: Machine to replay on.
        bins: Number of bins of the time axis, as in CountBins.
    """
    end_ns = simulate(programs, machine).end_ns
    layout = CountBins(end_ns, bins)
    found = simulate(programs, machine, bins=(layout.count, layout.width_ns))
    assert found.profile is not None
    rows = {name: found.profile[row] for name, row in _ROWS.items()}
    series = {name: means(row["change"], row["area"], layout.width_ns, end_ns) for name, row in rows.items()}
    return Parallelism(end_ns, layout.width_ns, len(found.usage), series)
