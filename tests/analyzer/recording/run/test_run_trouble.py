"""Runs that are incomplete, damaged, or were killed: rows that are there are read, missing ones named in one line."""

import os
from pathlib import Path

import h5py
import numpy as np
import pytest
from killed import killed_run, rank_file, two_ranks, write_spool
from synthetic import FIRST, call, request, write_run

from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.recording.run.opening import open_run
from analyzer.trace import Leftovers
from tracelib import schema
from tracelib.schema import ProcessState, RequestKind

OUTSIDE = 2**32 - 1
"""Entry of `members` for a process that is not in MPI_COMM_WORLD."""


def texts(trace):
    return [(p.rank, p.text) for p in trace.problems]


def test_a_folder_and_a_single_rank_file_open_like_the_run(tmp_path):
    run = write_run(tmp_path, two_ranks())
    whole, folder = open_run(str(run)), open_run(str(run.with_suffix(".ranks")))
    assert (whole.states() == folder.states()).all()
    assert len(folder.messages()) == 5
    single = open_run(str(rank_file(run, 1)))
    assert single.size == 2
    assert texts(single) == [(-1, "only rank 1 of 2 was given")]
    assert len(np.concatenate(list(single.calls(1)))) == 5
    assert [(u.rank, u.call, u.count) for u in single.extra(Leftovers).unmatched()] == [(1, "MPI_Recv", 5)]


def test_a_missing_rank_is_a_problem_and_the_rest_is_read(tmp_path):
    trace = open_run(str(write_run(tmp_path, two_ranks(), missing=[1])))
    assert [rank for rank, _ in texts(trace)] == [1]
    assert "no such file" in texts(trace)[0][1]
    assert trace.size == 2
    assert trace.span(1) == (0, 0)
    assert set(trace.states()["rank"].tolist()) == {0}
    assert not list(trace.calls(1))
    assert trace.extra(Leftovers).unmatched()[0].count == 5


def test_a_rank_file_of_another_run_of_as_many_ranks(tmp_path):
    """Ranks 0 and 2 live from 0 to 55 and 57 ns, rank 1 from 60 on."""
    first, second = two_ranks()
    late = {"calls": [call("MPI_Init", 70, 80)], "start": 60}
    trace = open_run(str(write_run(tmp_path, [first, late, second])))
    assert [rank for rank, text in texts(trace) if "may be of another run" in text] == [1]


def test_ranks_that_meet_for_an_instant_are_of_one_run(tmp_path):
    ranks = [{"calls": [call("MPI_Init", 10, 20)]}, {"calls": [call("MPI_Init", 20, 30)], "start": 20}]
    assert texts(open_run(str(write_run(tmp_path, ranks)))) == []


@pytest.mark.parametrize("groups", [[0, 1, OUTSIDE], ([0, 1], [OUTSIDE])])
def test_spawned_processes_are_no_ranks_of_the_run(tmp_path, groups, capsys):
    """A barrier of ranks 0 and 1 with a process that MPI_Comm_spawn started: readable, sound, and written; a replay
    says that what is done with the process is not in it."""
    ranks = [{"calls": [call("MPI_Barrier", 10, 20, comm=FIRST)]}] * 2
    path = write_run(tmp_path, ranks, [groups])
    assert open_run(str(path)).communicators[-1].members == (0, 1)
    assert main(["-q", str(path)]) == 0
    assert main(["check", str(path)]) == 0
    capsys.readouterr()
    assert main(["replay", str(path)]) == 0
    assert "messages with processes outside of the run are left out" in " ".join(capsys.readouterr().out.split())


def test_a_block_of_an_impossible_thread(tmp_path):
    run = write_run(tmp_path, two_ranks())
    with h5py.File(rank_file(run, 1), "r+") as file:
        blocks = file["blocks"][:]
        blocks["thread"][0] = 2**31
        file["blocks"][:] = blocks
    assert "a thread that cannot be" in texts(open_run(str(run)))[0][1]


def test_a_row_of_requests_that_says_nothing_known(tmp_path):
    first, second = two_ranks()
    run = write_run(tmp_path, [first | {"requests": [request(RequestKind.SEND_DONE, 10, 15, peer=1)]}, second])
    with h5py.File(rank_file(run, 0), "r+") as file:
        rows = file["requests"][:]
        rows["what"] = 65535
        file["requests"][:] = rows
    assert main(["-q", str(run)]) == 0


@pytest.mark.parametrize("damage", ["empty", "cut", "foreign", "other", "columns"])
def test_a_damaged_rank_is_a_problem_and_the_rest_is_read(tmp_path, damage):
    run = write_run(tmp_path, two_ranks())
    damaged = rank_file(run, 1)
    if damage == "empty":
        damaged.write_bytes(b"")
    elif damage == "cut":
        damaged.write_bytes(damaged.read_bytes()[:3000])
    elif damage == "foreign":
        damaged.write_text("not HDF5 at all\n" * 100)
    elif damage == "other":
        with h5py.File(damaged, "w") as file:
            file["x"] = 1
    else:
        with h5py.File(damaged, "a") as file:
            del file["calls"]
            file["calls"] = np.zeros(3, [("enter", "<u8")])
    trace = open_run(str(run))
    assert [rank for rank, _ in texts(trace)] == [1]
    assert str(damaged) in texts(trace)[0][1]
    assert "\n" not in texts(trace)[0][1]
    assert len(np.concatenate(list(trace.calls(0)))) == 5


def test_rank_files_of_another_run_are_not_mixed_in(tmp_path):
    run = write_run(tmp_path, two_ranks())
    rank_file(run, 1).write_bytes(rank_file(run, 0).read_bytes())
    assert "is rank 0 of 2, not 1 of 2" in texts(open_run(str(run)))[0][1]


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"\x89HDF\r\n\x1a\n" + bytes(20)], ids=["empty", "text", "only a signature"]
)
def test_what_is_no_run_gives_one_line(tmp_path, content):
    path = tmp_path / "run.h5"
    path.write_bytes(content)
    with pytest.raises(TracelibError, match=r"run\.h5") as error:
        open_run(str(path))
    assert "\n" not in str(error.value)
    assert error.value.hint


def test_no_file_no_ranks_no_rank_files(tmp_path):
    for path in (tmp_path / "no.h5", tmp_path):
        with pytest.raises(TracelibError) as error:
            open_run(str(path))
        assert error.value.hint
    run = write_run(tmp_path, two_ranks(), missing=[0, 1])
    with pytest.raises(TracelibError, match="no rank can be read"):
        open_run(str(run))
    foreign = tmp_path / "foreign.h5"
    with h5py.File(foreign, "w") as file:
        file["x"] = 1
    with pytest.raises(TracelibError, match="not a trace of tracelib"):
        open_run(str(foreign))
    with h5py.File(run, "a") as file:
        file.attrs["schema_version"] = 99
    with pytest.raises(TracelibError, match="file format 99"):
        open_run(str(run))


def test_a_run_without_calls_is_a_trace(tmp_path):
    trace = open_run(str(write_run(tmp_path, [{}, {}])))
    assert trace.duration_ns == 0
    assert len(trace.states()) == 0
    assert len(trace.messages()) == 0
    assert not trace.extra(Leftovers).unmatched()
    assert trace.windows().tolist() == [0, 1]


def test_how_a_process_ended_and_what_was_lost_is_said(tmp_path):
    ranks = [{"state": ProcessState.EXITED}, {"state": ProcessState.FULL, "lost_calls": 7, "lost_rows": 2}]
    found = texts(open_run(str(write_run(tmp_path, ranks))))
    assert (0, "ended without MPI_Finalize") in found
    assert (1, "7 calls and 2 rows of other tables were lost") in found


def test_nothing_is_written_to_the_run(tmp_path):
    run = write_run(tmp_path, two_ranks())
    files = [run, *sorted(run.with_suffix(".ranks").iterdir())]
    before = [(f.read_bytes(), f.stat().st_mtime_ns) for f in files]
    trace = open_run(str(run))
    trace.messages()
    trace.close()
    assert [(f.read_bytes(), f.stat().st_mtime_ns) for f in files] == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.h5", "run.ranks"]


def recovered(run):
    trace = open_run(str(run))
    found = np.concatenate(list(trace.calls(1)))
    assert found["enter"].tolist() == [10, 20, 30, 40, 50]
    assert found["exit"].tolist() == [17, 27, 37, 47, 57]
    assert len(trace.messages()) == 5
    assert not trace.extra(Leftovers).unmatched()
    assert sum(len(block) for block in trace.requests(1)) == 1
    trace.close()
    return texts(trace)


def test_calls_of_a_killed_process_come_from_its_spool(tmp_path):
    run, spool, tables = killed_run(tmp_path, 3)
    write_spool(spool, rank_file(run, 1), tables | {"calls": tables["calls"][3:]})
    assert recovered(run) == [(1, "was killed; 2 calls were recovered from its buffer")]


@pytest.mark.parametrize("arrived", [2, 3, 5])
def test_a_flush_cut_short_is_completed_and_nothing_is_doubled(tmp_path, arrived):
    run, spool, tables = killed_run(tmp_path, arrived)
    write_spool(spool, rank_file(run, 1), tables | {"calls": tables["calls"][2:]}, base=[2, 0, 0, 0, 0, 0, 0])
    assert recovered(run) == [(1, "was killed; 3 calls were recovered from its buffer")]
    if arrived == 3:  # the file grew, but its rows were not written yet
        with h5py.File(rank_file(run, 1), "a") as file:
            file["calls"][2] = np.zeros((), schema.CALL)
        recovered(run)


def test_rows_that_were_never_written_are_left_out(tmp_path):
    run, _, _ = killed_run(tmp_path, 3)
    with h5py.File(rank_file(run, 1), "a") as file:
        file["calls"].resize(10, axis=0)
    trace = open_run(str(run))
    assert np.concatenate(list(trace.calls(1)))["enter"].tolist() == [10, 20, 30]
    assert "is gone" in texts(trace)[0][1]


def test_threads_spools_are_all_read(tmp_path):
    run, spool, tables = killed_run(tmp_path, 3)
    other = tables["calls"][4:].copy()
    other["thread"] = 1
    write_spool(spool, rank_file(run, 1), tables | {"calls": tables["calls"][3:4]})
    write_spool(spool, rank_file(run, 1), {n: t[:0] for n, t in tables.items()} | {"calls": other}, thread=1)
    trace = open_run(str(run))
    assert np.concatenate(list(trace.calls(1)))["thread"].tolist() == [0, 0, 0, 0, 1]


def test_a_spool_of_another_file_or_a_damaged_one_is_not_used(tmp_path):
    run, spool, tables = killed_run(tmp_path, 3)
    write_spool(spool, "/elsewhere/000007.h5", tables)
    assert len(np.concatenate(list(open_run(str(run)).calls(1)))) == 3
    Path(f"{spool}.0").write_bytes(b"TLSPOOL1 but short")
    assert len(np.concatenate(list(open_run(str(run)).calls(1)))) == 3


def living_run(tmp_path, command):
    """Open a run of which rank 1, this process, wrote one part and holds the other in its buffer.

    Its file has `command` as its command.
    """
    run, spool, tables = killed_run(tmp_path, 3, pid=os.getpid(), start_realtime_ns=2 * 10**18, command=command)
    write_spool(spool, rank_file(run, 1), tables | {"calls": tables["calls"][3:]})
    return open_run(str(run))


def test_a_live_process_keeps_its_buffer(tmp_path):
    command = os.fsdecode(Path("/proc/self/cmdline").read_bytes()).replace("\0", " ").strip()
    trace = living_run(tmp_path, command[: schema.TEXT_ATTRIBUTES["command"]])
    assert len(np.concatenate(list(trace.calls(1)))) == 3
    assert "is still running" in texts(trace)[0][1]


def test_a_process_that_runs_another_program_by_now(tmp_path):
    """It has called exec: its buffer is as a kill leaves it."""
    trace = living_run(tmp_path, "./app --steps 10")
    assert len(np.concatenate(list(trace.calls(1)))) == 5
    assert texts(trace)[0][1] == "was replaced by another program (exec); 2 calls were recovered from its buffer"


def test_a_later_process_with_the_same_number_does_not_hide_the_spool(tmp_path):
    run, spool, tables = killed_run(tmp_path, 3, pid=os.getpid(), start_realtime_ns=10**18)
    write_spool(spool, rank_file(run, 1), tables | {"calls": tables["calls"][3:]})
    recovered(run)


def test_a_spool_on_another_machine_is_asked_for(tmp_path):
    run, _, _ = killed_run(tmp_path, 3, boot_id="another", host="node7")
    assert "can only be read on node7" in texts(open_run(str(run)))[0][1]


def test_clock_readings_need_not_exist(tmp_path):
    ranks = two_ranks()
    for rank in ranks:
        rank["clock"] = []
    trace = open_run(str(write_run(tmp_path, ranks, tsc_per_us=1000)))
    assert any("rate of the clock" in text for _, text in texts(trace))
    assert len(trace.messages()) == 5


def test_times_are_those_of_the_rows_on_any_clock(tmp_path):
    for number, rate in enumerate([None, 1000, 2000, 24]):
        trace = open_run(str(write_run(tmp_path, two_ranks(), name=f"run{number}", tsc_per_us=rate)))
        enters = np.concatenate(list(trace.calls(0)))["enter"]
        assert np.abs(enters - [10, 20, 30, 40, 50]).max() <= (0 if rate != 24 else 42)
