"""Runs whose files say what cannot be: one clear line, or the rest is read; never all memory and no end."""

import h5py
import numpy as np
import pytest
from counted import SETS, block
from killed import killed_run, rank_file, write_spool
from synthetic import WORLD, call, write_run

from analyzer.cli import main
from analyzer.recording.run.opening import open_run
from analyzer.trace import Counters
from tracelib import recovery
from tracelib.errors import TracelibError
from tracelib.recovery import RecoveryState


@pytest.fixture
def run(tmp_path):
    sends = [call("MPI_Send", 10, 15, comm=WORLD, peer=1, sent=8)]
    return write_run(
        tmp_path, [{"calls": sends}, {"calls": [call("MPI_Recv", 10, 20, comm=WORLD, peer=0, received=8)]}]
    )


def refused(run, capsys):
    """Return the one line of a command that cannot go on."""
    assert main(["look", "--no-files", str(run)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("Error: ") and error.count("\n") == 1
    return error


@pytest.mark.parametrize("size", [2**40, h5py.Empty("<u8"), np.zeros(3), "two", 2.5])
def test_a_number_of_ranks_that_cannot_be(run, size, capsys):
    """It would be looked for as many files, for hours."""
    with h5py.File(run, "r+") as file:
        file.attrs["size"] = size
    assert str(run) in refused(run, capsys)


def test_a_version_that_is_no_number(run, capsys):
    with h5py.File(run, "r+") as file:
        file.attrs["schema_version"] = h5py.Empty("<u8")
    assert "schema_version is not a whole number" in refused(run, capsys)


@pytest.mark.parametrize("name", ["run.h5", "run.ranks"])
def test_a_rank_that_says_it_is_one_of_thousands_of_millions(run, name):
    with h5py.File(rank_file(run, 0), "r+") as file:
        file.attrs.modify("size", np.int64(2**31))
    trace = open_run(str(run.with_name(name)))
    assert trace.size == 2
    assert [(p.rank, "but its MPI_COMM_WORLD has 2" in p.text) for p in trace.problems] == [(0, True)]


@pytest.mark.parametrize("name", ["overhead_ticks", "overhead_cpu_ns"])
def test_a_tracer_that_takes_centuries_between_two_calls(run, name):
    with h5py.File(rank_file(run, 0), "r+") as file:
        file.attrs[name] = np.uint64(2**64 - 1)
    (problem,) = open_run(str(run)).problems
    assert f"attribute {name} is 18446744073709551615" in problem.text


def test_a_state_that_is_none(run):
    with h5py.File(rank_file(run, 0), "r+") as file:
        file.attrs["state"] = np.uint64(65535)
    (problem,) = open_run(str(run)).problems
    assert "attribute state is 65535" in problem.text


def test_a_table_that_says_it_has_more_rows_than_its_file_has_room_for(run):
    with h5py.File(rank_file(run, 1), "r+") as file:
        file["members"].resize((2**40,))
    (problem,) = open_run(str(run)).problems
    assert "table members has 1099511627776 rows, for which there is no room in the file" in problem.text


def test_readings_that_a_block_has_and_the_file_has_not(tmp_path):
    """The calls whose readings are not there have none."""
    calls = [call("MPI_Send", t, t + 5) for t in (100, 200, 300)]
    blocks = block(3, 40, set=1, first_count=10)
    run = write_run(tmp_path, [{"calls": calls, "counts": [1] * 12, "counters": SETS, "blocks": blocks}])
    (counts,) = open_run(str(run)).extra(Counters).counts(0)
    assert len(counts.calls) == 3 and (counts.enter == -1).all()


@pytest.fixture
def misplaced(tmp_path):
    """Write a run whose killed rank left a spool with rows for a place far behind the rows of its file."""
    run, spool, tables = killed_run(tmp_path, 3)
    write_spool(spool, rank_file(run, 1), tables, base=[0, 2**62, 0, 0, 0, 0, 0])
    return run


def test_a_spool_that_does_not_follow_its_file_is_not_used(misplaced):
    assert sum(map(len, open_run(str(misplaced)).calls(1))) == 3
    before = rank_file(misplaced, 1).read_bytes()
    assert [outcome.fate for outcome in recovery.recover(str(misplaced)).outcomes] == [
        RecoveryState.WHOLE,
        RecoveryState.GONE,
    ]
    assert rank_file(misplaced, 1).read_bytes() == before


def test_blocks_of_other_columns_are_not_completed(tmp_path):
    run, spool, tables = killed_run(tmp_path, 3)
    write_spool(spool, rank_file(run, 1), tables)
    with h5py.File(rank_file(run, 1), "r+") as file:
        del file["blocks"]
        file["blocks"] = np.zeros(2, [("first", "<u8"), ("count", "<u4")])
    with pytest.raises(recovery.TracelibError, match=r"000001.h5 is damaged: blocks has other columns"):
        recovery.recover(str(run))


def test_a_rank_file_without_a_table_that_its_spool_has_rows_for(tmp_path):
    run, spool, tables = killed_run(tmp_path, 3)
    write_spool(spool, rank_file(run, 1), tables)
    with h5py.File(rank_file(run, 1), "r+") as file:
        del file["requests"]
    before = rank_file(run, 1).read_bytes()
    with pytest.raises(recovery.TracelibError, match=r"000001.h5 is damaged: .*requests"):
        recovery.recover(str(run))
    assert rank_file(run, 1).read_bytes() == before
    assert sorted(p.name for p in run.with_suffix(".ranks").iterdir()) == ["000000.h5", "000001.h5"]


def test_a_table_with_more_rows_than_a_block_counts_is_not_recovered(tmp_path):
    run, spool, tables = killed_run(tmp_path, 3)
    with h5py.File(rank_file(run, 1), "r+") as file:
        file["polls"].resize((2**62,))
    write_spool(spool, rank_file(run, 1), tables, base=[0] * 7)
    with pytest.raises(TracelibError, match=r"is damaged: .* out of bounds"):
        recovery.recover(run)
