"""Programs that ask for the time very often do not pay for it."""

import pytest

WTIME_NS = 250
"""Time in ns that MPI_Wtime may take longer than MPI_Comm_rank; it took 650 when it read the thread's CPU clock."""


@pytest.mark.timed
def test_the_time_costs_what_other_answers_cost(openmpi, compiled, traced):
    said = traced(openmpi, compiled(openmpi, "asking.c"), ranks=1).finished.stdout
    rank, clock = map(float, said.split())
    assert clock < rank + WTIME_NS
