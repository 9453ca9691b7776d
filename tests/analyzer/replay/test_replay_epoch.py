"""An ideal replay of real traces equals Dimemas 5.5.0 to the nanosecond, and the published figures to their digits."""

import pytest
from paths import EPOCH

from analyzer.machine.description import Machine
from analyzer.opening import open_trace
from analyzer.operations.program import program_of
from analyzer.program.storage import IN_MEMORY
from analyzer.replay.simulate import simulate

pytestmark = pytest.mark.skipif(not EPOCH.is_dir(), reason="the EPOCH traces are not here")

DIMEMAS_US = {1: "21884758.971", 2: "11504370.091", 4: "6051059.081"}


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("in_memory", [IN_MEMORY, 100])
def test_ideal_replay(ranks, in_memory, monkeypatch):
    monkeypatch.setattr("analyzer.program.storage.IN_MEMORY", in_memory)
    program = program_of(open_trace(EPOCH / f"epoch_{ranks}proc.prv.gz"))
    found = simulate(program, Machine.ideal(eager_limit=32768))
    assert f"{found.end_ns / 1000:.3f}" == DIMEMAS_US[ranks]
    assert found.unreceived == 0
