"""`tracelib recover`: the files say afterwards what they and the spools said before, whatever happens in between."""

import fcntl
import json
import os
import shutil
import socket
import subprocess
import sys
import tarfile

import h5py
import numpy as np
import pytest
from click.testing import CliRunner
from killed import killed_run, rank_file, write_spool
from paths import DATA, ROOT
from patience import patient
from rows import all_rows, assert_same_rows

from analyzer.opening import open_trace
from tracelib import commands, recovery, schema
from tracelib.errors import TracelibError
from tracelib.recovery import RecoveryState
from tracelib.schema import ProcessState
from tracelib.schema.spool import BOOT_ID

SUPPORT = ROOT / "tests" / "support"


def read(run):
    trace = open_trace(run)
    rows = all_rows(trace)
    trace.close()
    return rows


def fates(run):
    return [outcome.fate for outcome in recovery.recover(str(run)).outcomes]


def recover_and_compare(run, given=None):
    """Recover; the readings before, after, and after a second recovery are one."""
    before = read(run)
    done = recovery.recover(str(given or run))
    assert_same_rows(before, read(run))
    files = [p.read_bytes() for p in sorted(run.with_suffix(".ranks").iterdir())]
    assert not any(o.fate == RecoveryState.RECOVERED for o in recovery.recover(str(given or run)).outcomes)
    assert [p.read_bytes() for p in sorted(run.with_suffix(".ranks").iterdir())] == files
    return done


def test_calls_after_the_limit_are_lost_and_counted(tmp_path):
    """Rank 1 lost 7 calls to the limit and two more that its buffer held when it was killed."""
    run, spool, tables = killed_run(tmp_path, 3, lost_calls=7, limit_bytes=1 << 20)
    rows = {name: table[:0] for name, table in tables.items()} | {"calls": tables["calls"][3:]}
    write_spool(spool, rank_file(run, 1), rows, base=[0] * len(schema.BUFFERED), flushing=schema.LEAVING_OUT)
    trace = open_trace(run)
    said = [problem.text for problem in trace.problems if problem.rank == 1]
    assert "2 more calls were lost with its buffer, because of TRACELIB_LIMIT" in said
    assert sum(len(block) for block in trace.calls(1)) == 3
    trace.close()
    assert fates(run)[1] == RecoveryState.RECOVERED
    with h5py.File(rank_file(run, 1)) as file:
        assert file.attrs["lost_calls"] == 9 and len(file["calls"]) == 3
    assert not list(spool.parent.iterdir())


def test_calls_in_a_buffer_that_are_lost_already_count_once(tmp_path):
    """Killed when the file counted the two calls in the buffer as lost, and the buffer was not yet empty."""
    run, spool, tables = killed_run(tmp_path, 3, lost_calls=9, limit_bytes=1 << 20)
    rows = {name: table[:0] for name, table in tables.items()} | {"calls": tables["calls"][3:]}
    write_spool(spool, rank_file(run, 1), rows, base=[0, 9, 0, 0, 0, 0, 0], flushing=schema.LEAVING_OUT)
    assert fates(run)[1] == RecoveryState.RECOVERED
    with h5py.File(rank_file(run, 1)) as file:
        assert file.attrs["lost_calls"] == 9 and len(file["calls"]) == 3


def test_a_rank_file_that_lacks_only_its_name_gets_it(killed):
    run, spool = killed
    unnamed = rank_file(run, 1).with_name("000001.h5.tmp")
    rank_file(run, 1).rename(unnamed)
    rank_file(run, 0).with_name("000002.h5.tmp").write_bytes(b"the beginning of one")
    assert fates(run)[1] == RecoveryState.RECOVERED
    assert not unnamed.exists() and not list(spool.parent.iterdir())
    rank_file(run, 1).rename(unnamed)
    assert len(fates(run)) == 1  # without buffers it is that of a process that had recorded nothing
    assert unnamed.exists()


def test_what_was_written_of_run_h5_is_removed(killed):
    run, _ = killed
    host = socket.gethostname()
    names = ["run.h5.tmp", f"run.h5.{host}-4194305.tmp", f"run.h5.{host}-1.tmp", "run.h5.elsewhere-4194305.tmp"]
    for name in names:
        (run.parent / name).write_bytes(b"")
    for rank in range(2):
        with h5py.File(rank_file(run, rank), "a") as file:
            file.attrs["boot_id"] = np.bytes_(BOOT_ID.read_text().strip())
            file.attrs["pid"] = np.uint64(4194305)  # more than there can be
    recovery.recover(str(run))
    assert sorted(p.name for p in run.parent.glob("*.tmp")) == sorted(names[2:])


def test_calls_in_the_buffer_after_a_full_disk_are_said_to_be_lost(tmp_path):
    run, spool, tables = killed_run(tmp_path, 3, state=ProcessState.FULL)
    rows = {name: table[:0] for name, table in tables.items()} | {"calls": tables["calls"][3:]}
    write_spool(spool, rank_file(run, 1), rows)
    trace = open_trace(run)
    assert any("the 2 calls in its buffer are lost" in p.text for p in trace.problems if p.rank == 1)
    assert sum(len(block) for block in trace.calls(1)) == 3
    trace.close()


@pytest.fixture
def killed(tmp_path):
    """Rank 1 of 2 was killed after three of its five calls were in its file: (run, spool)."""
    run, spool, tables = killed_run(tmp_path, 3)
    write_spool(spool, rank_file(run, 1), tables | {"calls": tables["calls"][3:]})
    return run, spool


@pytest.mark.parametrize("given", ["run.h5", "run.ranks", "run.ranks/000001.h5"])
def test_rows_of_a_spool_come_into_the_file(killed, given):
    run, spool = killed
    done = recover_and_compare(run, run.parent / given)
    assert [(o.rank, o.fate, o.calls) for o in done.outcomes][-1] == (1, RecoveryState.RECOVERED, 2)
    assert not list(spool.parent.iterdir())
    assert sorted(p.name for p in run.with_suffix(".ranks").iterdir()) == ["000000.h5", "000001.h5"]
    with h5py.File(rank_file(run, 1)) as file:
        assert file.attrs["state"] == ProcessState.RECOVERED
        assert len(file["calls"]) == 5
        assert file["blocks"]["flags"][-1] == schema.BLOCK_RECOVERED
        assert file["blocks"]["count"][:, 0].sum() == 5


@pytest.mark.parametrize("arrived", [2, 3, 5])
@pytest.mark.parametrize("named", [False, True])
def test_a_flush_cut_short_is_completed(tmp_path, arrived, named):
    """`named`: it died after the row of `blocks`, before it could say in the spool that all is written."""
    run, spool, tables = killed_run(tmp_path, arrived)
    write_spool(spool, rank_file(run, 1), tables | {"calls": tables["calls"][2:]}, base=[2, 0, 0, 0, 0, 0, 0])
    with h5py.File(rank_file(run, 1), "a") as file:
        blocks = file["blocks"][:]
        blocks["count"][0, 0] = 2  # the rest is this flush
        if named and arrived == 5:
            flush = blocks[-1:].copy()
            flush["first"], flush["count"] = [2, *[0] * 8], [3, 1, *[0] * 7]
            file["requests"].resize(1, axis=0)
            file["requests"][:] = tables["requests"]
            blocks = np.concatenate([blocks, flush])
        file["blocks"].resize(len(blocks), axis=0)
        file["blocks"][:] = blocks
    recover_and_compare(run)
    with h5py.File(rank_file(run, 1)) as file:
        assert file["calls"][:].tobytes() == tables["calls"].tobytes()
        assert file["blocks"]["count"].sum(axis=0).tolist() == [5, 1, *[0] * 7]


def test_threads(tmp_path):
    """One of three threads died in a flush; another had nothing to say."""
    run, spool, tables = killed_run(tmp_path, 3)
    other = tables["calls"][4:].copy()
    other["thread"] = 2
    nothing = {name: rows[:0] for name, rows in tables.items()}
    write_spool(spool, rank_file(run, 1), nothing | {"calls": tables["calls"][3:4]}, base=[3, 0, 0, 0, 0, 0, 0])
    write_spool(spool, rank_file(run, 1), nothing, thread=1)
    write_spool(spool, rank_file(run, 1), nothing | {"calls": other}, thread=2)
    recover_and_compare(run)
    with h5py.File(rank_file(run, 1)) as file:
        assert file["blocks"]["thread"].tolist()[-2:] == [0, 2]
        assert file["calls"]["thread"].tolist() == [0, 0, 0, 0, 2]


def test_run_h5_that_rank_0_never_wrote(killed):
    run, _ = killed
    rank_file(run, 0).unlink()
    folder = read(run.with_suffix(".ranks"))
    run.unlink()
    done = recovery.recover(str(run))
    assert done.run == run
    with h5py.File(run) as file:
        assert (file.attrs["schema_version"], file.attrs["size"]) == (schema.VERSION, 2)
        assert len(file["ranks/000001/calls"]) == 5
    assert_same_rows(folder, read(run))


def test_a_call_that_was_never_left(tmp_path):
    run, spool, tables = killed_run(tmp_path, 3)
    write_spool(spool, rank_file(run, 1), tables | {"calls": tables["calls"][3:]})
    path = spool.with_name(f"{spool.name}.0")
    data = bytearray(path.read_bytes())
    header = np.frombuffer(data, schema.SPOOL_HEADER, 1).copy()
    header["entered"], header["entered_call"] = tables["calls"]["exit"][-1] + 1_000_000, 0
    path.write_bytes(header.tobytes() + data[header.nbytes :])
    for _ in range(2):
        trace = open_trace(run)
        said = [p.text for p in trace.problems if "inside" in p.text]
        assert said == ["it died inside MPI_Recv, entered 0.00100006 s after the start"]  # the last exit is at 57 ns
        trace.close()
        recovery.recover(str(run))


def test_a_call_that_had_returned(killed):
    run, spool = killed
    path = spool.with_name(f"{spool.name}.0")
    header = np.frombuffer(path.read_bytes(), schema.SPOOL_HEADER, 1).copy()
    with h5py.File(rank_file(run, 1)) as file:
        header["entered"] = file["calls"]["enter"][0] + 40  # of the fifth call
    path.write_bytes(header.tobytes() + path.read_bytes()[header.nbytes :])
    assert not [p for p in open_trace(run).problems if "inside" in p.text]


@pytest.fixture
def old(tmp_path, monkeypatch):
    """The killed run of version 1, on the machine that wrote it, its processes dead."""
    with tarfile.open(DATA / "version_1.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    monkeypatch.chdir(tmp_path)
    for module in ("analyzer.recording.rank_file.spool", "tracelib.recovery"):
        monkeypatch.setattr(f"{module}.is_here", lambda attributes: True)
        monkeypatch.setattr(f"{module}.is_alive", lambda attributes: False)
    return tmp_path / "killed.h5"


def test_files_of_version_1(old):
    done = recover_and_compare(old)
    assert [o.calls for o in done.outcomes] == [2, 170]
    assert not list((old.parent / "spool").iterdir())
    with h5py.File(old) as file:
        assert [len(file[f"ranks/{rank:06d}/calls"]) for rank in (0, 1)] == [852, 340]


def test_a_rank_that_lives_is_refused_and_nothing_changed(tmp_path):
    run, spool, tables = killed_run(tmp_path, 3, pid=os.getpid(), start_realtime_ns=2 * 10**18)
    write_spool(spool, rank_file(run, 1), tables)
    before = rank_file(run, 1).read_bytes()
    with pytest.raises(TracelibError, match=rf"rank 1 is still running \(process {os.getpid()}\)"):
        recovery.recover(str(run))
    assert rank_file(run, 1).read_bytes() == before
    assert len(list(spool.parent.iterdir())) == 1


def test_a_later_process_with_the_same_number_does_not_count(tmp_path):
    run, spool, tables = killed_run(tmp_path, 3, pid=os.getpid(), start_realtime_ns=10**18)
    write_spool(spool, rank_file(run, 1), tables | {"calls": tables["calls"][3:]})
    assert fates(run) == [RecoveryState.WHOLE, RecoveryState.RECOVERED]


def test_spools_on_another_node_and_spools_that_are_gone(tmp_path):
    run, spool, tables = killed_run(tmp_path, 3, boot_id="another", host="node7")
    write_spool(spool, rank_file(run, 1), tables)
    (outcome,) = [o for o in recovery.recover(str(run)).outcomes if o.missing]
    assert (outcome.fate, outcome.host) == (RecoveryState.ELSEWHERE, "node7")
    assert len(list(spool.parent.iterdir())) == 1
    shutil.rmtree(run.with_suffix(".ranks"))
    shutil.rmtree(spool.parent)
    run, _, _ = killed_run(tmp_path, 3)
    assert fates(run) == [RecoveryState.WHOLE, RecoveryState.GONE]


def test_what_cannot_be_read(killed):
    run, _ = killed
    rank_file(run, 0).write_bytes(b"not HDF5")
    assert fates(run) == [RecoveryState.UNREADABLE, RecoveryState.RECOVERED]
    for path in (run.with_name("other.h5"), run.parent / "shm"):
        with pytest.raises(TracelibError):
            recovery.recover(str(path))


def test_two_recoveries_at_once(killed):
    run, spool = killed
    with spool.with_name(f"{spool.name}.0").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(TracelibError, match="another recovery"):
            recovery.recover(str(run))
    assert fates(run) == [RecoveryState.WHOLE, RecoveryState.RECOVERED]


def test_what_the_command_says(killed):
    run, _ = killed
    first = CliRunner().invoke(commands.commands, ["recover", "--json", str(run)], standalone_mode=False)
    assert json.loads(first.output)["ranks"][1] == {
        "rank": 1, "fate": "recovered", "calls": 2, "host": "node0", "reason": ""
    }  # fmt: skip
    assert first.return_value == 0
    second = CliRunner().invoke(commands.commands, ["recover", str(run)], standalone_mode=False)
    assert second.output == f"nothing to recover: all 2 ranks whole; next: analyze {run}\n"
    assert CliRunner().invoke(commands.commands, ["recover", "-q", str(run)], standalone_mode=False).output == ""


def test_killed_at_each_of_its_steps(killed, tmp_path):
    """Between any two changes of files the run is readable, and the next recovery completes it."""
    run, spool = killed
    run.unlink()  # it is written, too
    library = tmp_path / "dying.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", DATA / "dying.c", "-o", library, "-ldl"], check=True)
    done = subprocess.run(
        [sys.executable, SUPPORT / "dying_recoveries.py", run, spool.parent],
        env=os.environ | {"LD_PRELOAD": str(library), "PYTHONPATH": f"{ROOT}:{SUPPORT}"},
        capture_output=True, text=True, timeout=patient(100),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20
