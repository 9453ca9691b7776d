"""Each of a team makes operations of some ranks; then all have the program that one process makes."""

import numpy as np
import pytest
from synthetic import WORLD, call, write_run
from thread_team import by_team

from analyzer.errors import TracelibError
from analyzer.operations.program import program_of
from analyzer.parallel import Team
from analyzer.program import files, storage
from analyzer.program.model import pieces
from analyzer.recording.run.opening import open_run
from benchmarks.synthetic.run import PATTERNS
from benchmarks.synthetic.run import write_run as write_pattern


def content(program):
    columns = program.offsets, program.rank, program.thread, program.slots
    operations = np.concatenate([np.array(ops) for ops in pieces(program)] or [np.zeros(0)])
    return [column.tolist() for column in columns], operations.tobytes(), program.communicators, program.buffered


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("size", [2, 5])
def test_the_program_is_that_of_one_process(tmp_path, monkeypatch, pattern, size):
    """Also where it does not fit into one message between the processes."""
    monkeypatch.setattr(files, "IN_MEMORY", 1000)
    monkeypatch.setattr(storage, "IN_MEMORY", 1000)
    run = str(write_pattern(tmp_path, pattern, 8, 300).path)

    def program(team, *, everywhere=True):
        """Each member opens the run, as a process would."""
        trace = open_run(run)
        trace.match()
        try:
            return program_of(trace, team, buffered=True, everywhere=everywhere)
        finally:
            trace.close()

    alone = content(program(Team()))
    assert by_team(size, lambda team: content(program(team))) == [alone] * size
    first, *others = by_team(size, lambda team: program(team, everywhere=False))
    assert content(first) == alone
    assert not any(len(other.ops) for other in others)


def test_one_that_cannot_read_its_ranks_ends_it_for_all(tmp_path, monkeypatch):
    """Else the others would wait for it."""
    calls = [call("MPI_Barrier", 10 * k, 10 * k + 5, comm=WORLD) for k in range(1, 9)]
    trace = open_run(str(write_run(tmp_path, [{"calls": calls}] * 3)))

    def no_lane(rank):
        if rank == 2:
            raise TracelibError("cannot be read", "copy it again")

    monkeypatch.setattr(trace, "stored_lanes", lambda _: None)
    monkeypatch.setattr(trace, "only_lane", no_lane)

    def error(team):
        with pytest.raises(TracelibError, match="cannot be read") as raised:
            program_of(trace, team)
        return raised.value.hint

    assert by_team(2, error) == ["copy it again"] * 2
