"""A program that is sampled does what it does without us, by either way of sampling; and its samples are there."""

import os
import re
import signal
import subprocess
import time

import matrix
import numpy as np
import pytest
from conftest import LIBRARY
from result import rank_files
from sampled_runs import WAYS, compile_alone, is_sample, run_alone, samples_of

from analyzer.opening import open_trace
from tracelib import schema


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """The program, and what it prints without us."""
    folder = tmp_path_factory.mktemp("undisturbed")
    program = compile_alone("undisturbed.c", folder)
    return program, run_alone(folder, program, traced=False).check().stdout


@pytest.fixture(scope="session")
def planted(tmp_path_factory):
    """programs/planted.c without MPI."""
    return compile_alone("planted.c", tmp_path_factory.mktemp("planted"))


@pytest.mark.parametrize("way", WAYS)
def test_nothing_changes(undisturbed, tmp_path, way):
    program, without = undisturbed
    assert "interrupted 0\n" in without
    done = run_alone(tmp_path, program, TRACELIB_SAMPLER=way, TRACELIB_QUIET="1").check()
    assert done.stdout == without
    assert done.stderr == ""
    rows = samples_of(tmp_path / "run.h5")
    assert is_sample(rows).sum() > 100
    assert (rows["flags"][is_sample(rows)] == WAYS[way]).all()
    assert len(rank_files(tmp_path / "run.h5")) == 1  # nothing of its children
    assert not (tmp_path / "run-2.h5").exists()


@pytest.mark.parametrize("way", WAYS)
def test_a_program_becomes_another_in_the_middle(undisturbed, tmp_path, way):
    assert run_alone(tmp_path, undisturbed[0], "becomes", "40", TRACELIB_SAMPLER=way).check().stdout == ""


@pytest.mark.parametrize("way", WAYS)
def test_each_thread_has_its_cpu_time(planted, tmp_path, way):
    run_alone(tmp_path, planted, "0.02", "2", TRACELIB_SAMPLER=way).check()
    rows = samples_of(tmp_path / "run.h5")
    assert np.unique(rows["task"]).tolist() == [0, 1, 2]
    assert (rows["thread"] == schema.SAMPLER_THREAD).all()  # none has made a call
    noted = sorted(sum(map(float, path.read_text().split())) for path in tmp_path.glob("hot-0-*"))
    sampled = sorted(rows["cpu_ns"][rows["task"] == task].sum() / 1e9 for task in range(3))
    assert sampled == pytest.approx(noted, rel=0.05, abs=0.02)
    for task in range(3):
        assert (np.diff(rows["time"][rows["task"] == task].astype(np.int64)) >= 0).all()
    assert rows["lost"].sum() < len(rows) / 20


@pytest.mark.parametrize("way", WAYS)
def test_a_killed_program_keeps_its_samples(planted, tmp_path, way):
    environment = matrix.environment() | {"LD_PRELOAD": str(LIBRARY), "TRACELIB_SAMPLE": "2ms"}
    environment |= {"TRACELIB_ALONE": str(os.getpid()), "TRACELIB_SAMPLER": way}
    with subprocess.Popen([planted, "10"], cwd=tmp_path, env=environment) as process:
        deadline = time.monotonic() + 60
        while not (tmp_path / "run.h5").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(signal.SIGKILL)
    rows = samples_of(tmp_path / "run.h5")
    assert rows["cpu_ns"].sum() > 1e9  # after which it got its file
    assert not (rows["flags"] & schema.SAMPLE_END).any()
    assert open_trace(str(tmp_path / "run.h5")).size == 1


def test_a_limit_is_for_calls_first(planted, tmp_path):
    run_alone(tmp_path, planted, "0.05", TRACELIB_LIMIT="1M", TRACELIB_SAMPLE="1ms").check()
    rows = samples_of(tmp_path / "run.h5")
    assert 100 < len(rows) <= (1 << 20) // 8 // rows.itemsize + 1024


def test_who_is_sampled_without_mpi(planted, tmp_path):
    run_alone(tmp_path, "sh", "-c", f"{planted} 0.01; true | cat").check()
    assert len(samples_of(tmp_path / "run.h5")) > 10  # the program, and neither sh nor cat
    assert not (tmp_path / "run-2.h5").exists()
    for more in ({"TRACELIB_ALONE": ""}, {"TRACELIB_SAMPLE": ""}, {"TRACELIB_ALONE": "1"}):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        run_alone(folder, planted, "0.01", **more).check()
        assert not (folder / "run.h5").exists()


def test_a_wrong_sampler_is_said(planted, tmp_path):
    done = run_alone(tmp_path, planted, "0.02", TRACELIB_SAMPLER="luck").check()
    assert done.stderr.count("TRACELIB_SAMPLER=luck is neither perf nor signal") == 1
    assert is_sample(samples_of(tmp_path / "run.h5")).any()


@pytest.fixture(scope="session")
def kept_signal(tmp_path_factory):
    """programs/kept_signal.c."""
    return compile_alone("kept_signal.c", tmp_path_factory.mktemp("kept"))


def seconds_sampled(path):
    """CPU time for which there are samples, and not only a mark at the end."""
    rows = samples_of(path)
    return rows["cpu_ns"][is_sample(rows)].sum() / 1e9


def test_who_cancels_a_thread_is_sampled_on(kept_signal, tmp_path):
    """libc sets its handler then, which ignores our timers; what the thread does at its end runs with its signals."""
    done = run_alone(tmp_path, kept_signal, "cancels", "0.6", TRACELIB_SAMPLE="10ms", TRACELIB_SAMPLER="signal").check()
    assert done.stdout == "cancelled 2, blocked at the end 0\n"
    assert seconds_sampled(tmp_path / "run.h5") > 0.4


@pytest.mark.parametrize("act", ["at-once", "later"])
def test_a_program_that_uses_the_signal_itself_keeps_it(kept_signal, tmp_path, act):
    done = run_alone(tmp_path, kept_signal, act, "0.6", TRACELIB_SAMPLER="signal").check()
    assert done.stdout == "own signals 3\n"
    said = re.findall(r"no (?:further )?samples are taken \(the program uses signal 32 itself\)", done.stderr)
    assert len(said) == 1
    assert (seconds_sampled(tmp_path / "run.h5") > 0.4) == (act == "later")


def test_a_program_that_blocks_every_signal_is_sampled(kept_signal, tmp_path):
    run_alone(tmp_path, kept_signal, "blocks", "0.6", TRACELIB_SAMPLER="signal").check()
    assert seconds_sampled(tmp_path / "run.h5") > 0.4
