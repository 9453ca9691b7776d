"""Places of calls in Python programs, against what the program says of its own frames."""

import numpy as np
import pytest
from conftest import source_of

from analyzer.opening import open_trace
from analyzer.trace import CALL, CallPaths


@pytest.mark.parametrize("stack", ["all", "2", "1"])
@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_paths_are_those_that_python_tells(name, stack, request, traced):
    leg = request.getfixturevalue(name)
    run = traced(leg, leg.python, str(source_of("places.py")), ranks=2, env={"TRACELIB_STACK": stack})
    trace = open_trace(str(run.run))
    places = trace.extra(CallPaths).named()
    for rank in range(2):
        noted = [line.split() for line in (run.folder / f"places-{rank}.txt").read_text().splitlines()]
        calls = np.concatenate([np.zeros(0, CALL), *trace.calls(rank)])
        paths = np.concatenate(list(trace.extra(CallPaths).of(rank)))
        barrier = trace.procedures.index("MPI_Barrier")
        found = [
            [f"{f.function}:{f.line}" for f in places.frames(path) if f.line]
            for path in paths[calls["call"] == barrier].tolist()
        ]
        wanted = len(noted[0]) + 100 if stack == "all" else int(stack)
        assert found == [frames[:wanted] for frames in noted]
        assert len({tuple(frames) for frames in noted}) >= 15
    trace.close()
