"""The planted problems of three_problems.c, by its calls alone: no region is marked."""

import pytest
from patience import crowd

ITERATIONS = 200
"""Ten iterations are slow: ten that are 20 apart are no chance even if other programs make many others slow."""
PROGRAM = "three_problems.c", "-g"


def scale():
    """Return the factor by which other processes on the machine are likely to slow the program down."""
    return str(crowd())


@pytest.mark.timed
def test_all_three_are_named_with_their_places(openmpi, compiled, traced, analyze):
    run = traced(openmpi, compiled(openmpi, *PROGRAM), str(ITERATIONS), "mps", scale(), ranks=4).run
    for command in ("structure", "info"):
        text = " ".join(analyze(command, run).check().stdout.split())
        assert f"{ITERATIONS} iterations of" in text, text
        assert "A pipeline: 0 -> 1 -> 2 -> 3 wait one for the other in MPI_Recv at three_problems.c:" in text, text
        assert "The imbalance moves:" in text, text
        assert "One iteration in 20 takes" in text and "rank 1 computes longer then" in text, text


@pytest.mark.timed
def test_without_them_no_pipeline_and_no_slow_iterations_are_seen(openmpi, compiled, traced, analyze):
    run = traced(openmpi, compiled(openmpi, *PROGRAM), str(ITERATIONS), "none", scale(), ranks=4).run
    text = " ".join(analyze("structure", run).check().stdout.split())
    assert f"{ITERATIONS} iterations of" in text
    assert "A pipeline" not in text and "One iteration in" not in text, text
