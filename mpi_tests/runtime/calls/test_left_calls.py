"""Calls that an error handler of the program leaves by longjmp or an exception (left_calls.c)."""

import numpy as np
import pytest

from analyzer.recording.run.opening import open_run
from analyzer.trace import Errors
from tracelib.schema import CALL_WAS_LEFT

CALLS = {"MPI_Send": 3, "MPI_Recv": 2, "MPI_Sendrecv": 10, "MPI_Allreduce": 15, "MPI_Op_free": 1, "MPI_Finalize": 1}


def counts_of(trace, rank):
    calls = np.concatenate(list(trace.calls(rank)))["call"]
    return {name: int(np.sum(calls == trace.procedures.index(name))) for name in (*CALLS, "MPI_Type_size")}


@pytest.mark.parametrize("source", ["left_calls.c", "left_calls.cpp"])
def test_left_calls_are_recorded_and_all_later_ones(mpi, compiled, traced, analyze, source):
    run = traced(mpi, compiled(mpi, source), ranks=2).run
    trace = open_run(str(run))
    for rank in range(2):
        assert counts_of(trace, rank) == CALLS | {"MPI_Type_size": 0}
        errors = trace.extra(Errors).of(rank)
        assert np.sum(errors["class"] == CALL_WAS_LEFT) == 5
    assert sorted(trace.messages()["size"].tolist()) == [4] * 20
    trace.close()
    said = analyze("check", run)
    assert "rank 1: 2 x MPI_Recv, left by longjmp or an exception" in getattr(said, "stdout", said)
