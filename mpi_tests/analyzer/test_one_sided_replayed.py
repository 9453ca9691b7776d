"""Ranks that wait for each other's windows do so in replays, too, and their data takes its time."""

import numpy as np
import pytest

from analyzer.machine.description import Network, Node
from analyzer.opening import open_trace
from analyzer.program.operation import OperationKind
from analyzer.replay import Machine, program_of, simulate

DELAY_MS = 40
DELAYS = 5
"""One after the other: a late post, a late complete, a lock that two want alone, and one that they share."""
MB = 8


@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_planted_delays_and_transfers(request, compiled, traced, debian):
    leg = request.getfixturevalue(debian)
    program = compiled(leg, "one_sided_delays.c")
    made = traced(leg, program, str(DELAY_MS), str(MB << 20), ranks=2, env={"TRACELIB_CPUTIME": "on"})
    replayed = program_of(open_trace(made.run))

    def length_ms(on):
        """From the first barrier to the end of the first rank."""
        found = simulate(replayed, on, times=True)
        barrier = np.flatnonzero(replayed.ops[replayed.stream(0)]["kind"] == OperationKind.COLLECTIVE)[1]
        return (found.usage["end"][0] - found.times["end"][barrier]) / 1e6

    ideal = length_ms(Machine.ideal())
    assert DELAYS * DELAY_MS <= ideal < (DELAYS + 0.5) * DELAY_MS
    for mb_s in (100, 50):  # each puts twice; in the first epoch one of them
        on = Machine(node=Node(), networks=(Network(bandwidth_mb=float(mb_s)),), mapping="round-robin")
        assert length_ms(on) - ideal == pytest.approx(2 * MB / mb_s * 1e3, abs=1)
