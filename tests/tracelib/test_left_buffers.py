"""Buffers that killed processes left are removed, but never one that somebody needs."""

import json
import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from killed import dead_pid, killed_run, rank_file, write_spool

from tracelib import commands, left_buffers, recovery, schema
from tracelib.left_buffers import BufferOwner
from tracelib.schema.spool import BOOT_ID


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The only directory that is looked at."""
    folder = tmp_path / "shm"
    folder.mkdir()
    monkeypatch.setattr(left_buffers, "directories", lambda: [folder])
    return folder


def killed(tmp_path, place, **fields):
    """A run of which rank 1 left a buffer with two of its five calls; (run, buffer)."""
    prefix = place / "tracelib-17-a0"
    run, _, tables = killed_run(tmp_path, 3, spool=str(prefix))
    rows = {name: table[:0] for name, table in tables.items()} | {"calls": tables["calls"][3:]}
    process = {
        "pid": dead_pid(), "pid_namespace": Path("/proc/self/ns/pid").stat().st_ino,
        "created_realtime_ns": time.time_ns(), "boot_id": BOOT_ID.read_text().strip().encode(),
    }  # fmt: skip
    write_spool(prefix, rank_file(run, 1), rows, **(process | fields))
    return run, place / "tracelib-17-a0.0"


def owners():
    return [one.owner for one in left_buffers.left_buffers()]


def test_one_that_holds_calls_which_are_in_no_file_stays(tmp_path, place):
    _, buffer = killed(tmp_path, place)
    assert owners() == [BufferOwner.RUN]
    assert left_buffers.remove_unowned() == 0
    assert buffer.exists()


def test_one_whose_run_was_removed_goes(tmp_path, place):
    run, buffer = killed(tmp_path, place)
    shutil.rmtree(run.with_suffix(".ranks"))
    run.unlink()
    assert owners() == [BufferOwner.NOBODY]
    assert left_buffers.remove_unowned() == 1
    assert not buffer.exists()


def test_one_whose_run_was_renamed_stays(tmp_path, place):
    run, buffer = killed(tmp_path, place)
    run.with_suffix(".ranks").rename(tmp_path / "kept.ranks")
    assert owners() == [BufferOwner.RUN]
    assert left_buffers.remove_unowned() == 0
    assert buffer.exists()


@pytest.mark.parametrize(
    "fields", [{"pid": os.getpid()}, {"pid_namespace": 1}, {"boot_id": b"another"}, {"magic": b"TLSPOOL3"}]
)
def test_one_of_a_process_that_may_live_stays_whatever_became_of_its_run(tmp_path, place, fields):
    run, buffer = killed(tmp_path, place, **fields)
    shutil.rmtree(run.with_suffix(".ranks"))
    assert owners() == [BufferOwner.PROCESS]
    assert left_buffers.remove_unowned() == 0
    assert buffer.exists()


def test_others_files_stay(tmp_path, place, monkeypatch):
    run, buffer = killed(tmp_path, place)
    shutil.rmtree(run.with_suffix(".ranks"))
    (place / "tracelib-1-b.0").write_bytes(b"no buffer")
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert owners() == []
    assert left_buffers.remove_unowned() == 0
    assert buffer.exists()


def test_recover_without_a_name(tmp_path, place):
    _, buffer = killed(tmp_path, place)
    gone = tmp_path / "gone"
    gone.mkdir()
    rows = {name: [] for name in schema.BUFFERED}
    write_spool(
        place / "tracelib-18-b0", gone / "run.ranks" / "000000.h5", {n: schema_rows(n) for n in rows}, pid=dead_pid(),
        pid_namespace=Path("/proc/self/ns/pid").stat().st_ino, created_realtime_ns=time.time_ns(),
        boot_id=BOOT_ID.read_text().strip().encode(),
    )  # fmt: skip
    done = CliRunner().invoke(commands.commands, ["recover", "--json"], standalone_mode=False)
    said = json.loads(done.output)
    assert done.return_value == 0
    assert [(one["rank"], one["fate"], one["calls"]) for one in said["runs"][0]["ranks"]] == [
        (0, "whole", 0),
        (1, "recovered", 2),
    ]
    assert said["removed"] == 1
    assert list(place.iterdir()) == []
    assert not recovery.recover_all().runs
    assert not buffer.exists()


def schema_rows(name):
    """No rows of a table."""

    return np.zeros(0, schema.BUFFERED[name])
