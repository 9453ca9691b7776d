"""Programs that name their regions and never call MPI, or call it late."""

import json
import os
import random
import signal
import struct
import subprocess
import sys
import time
import uuid
from pathlib import Path

import matrix
import pytest
from conftest import LIBRARY, source_of
from patience import patient
from region_notes import compile_flags, in_any_order, noted, recorded
from result import rank_files
from running import MARK, end_marked, run

from analyzer.opening import open_trace

KILLS = 20


@pytest.fixture(scope="session")
def plain(tmp_path_factory):
    """plain("regions.c"): a program built without MPI."""

    def build(source: str) -> Path:
        target = tmp_path_factory.mktemp("plain") / Path(source).stem
        words = ["cc", "-g", "-O1", "-DALONE", source_of(source), "-o", target, *compile_flags()]
        run(words, target.parent, matrix.environment(), 60).check()
        return target

    return build


@pytest.fixture
def spool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the test's own, in which nothing may be left."""
    return tmp_path_factory.mktemp("spool")


def environment(spool: Path, **more: str) -> dict[str, str]:
    """A traced program's, without a launcher's variables."""
    return matrix.environment() | {"LD_PRELOAD": str(LIBRARY), "TRACELIB_SPOOL": str(spool)} | more


def assert_equal_notes(result: Path, folder: Path) -> None:
    """One rank, which did what the program in `folder` noted."""
    (file,) = rank_files(result)
    assert in_any_order(recorded(file).values()) == in_any_order(noted(folder, 0))
    assert len(file.calls) == 0
    assert file.attributes["state"] == 1
    assert (file.attributes["rank"], file.attributes["size"], file.attributes["lost_rows"]) == (0, 1, 0)


@pytest.mark.parametrize("early", [[], ["500"]])
def test_a_program_that_uses_the_api_is_a_run(plain, tmp_path, spool, analyze, early):
    program = plain("regions.c")
    said = run([program, *early], tmp_path, environment(spool), 30).check().stderr
    assert said.splitlines()[-1].endswith("MB in run.h5; next: analyze run.h5")
    assert_equal_notes(tmp_path / "run.h5", tmp_path)
    events = sum(map(len, noted(tmp_path, 0)))
    assert f"{events} events of a program without MPI" in said
    text = analyze("run.h5").check().stdout
    assert "1 rank" in text
    assert "No MPI calls." in text
    again = run([program, *early], tmp_path, environment(spool, TRACELIB_QUIET="1"), 30).check()
    assert "next:" not in again.stderr
    assert_equal_notes(tmp_path / "run-2.h5", tmp_path)
    assert not list(spool.iterdir())


def test_python(tmp_path, spool):
    words = [sys.executable, source_of("region_api.py"), "without MPI"]
    run(words, tmp_path, environment(spool), 60).check()
    assert_equal_notes(tmp_path / "run.h5", tmp_path)
    untraced = run(words, tmp_path, matrix.environment(), 60).check()
    assert (untraced.stdout, untraced.stderr) == ("", "")
    assert [path.name for path in tmp_path.glob("run*.h5")] == ["run.h5"]


def test_several_at_once_take_a_name_each(plain, tmp_path, spool):
    program = plain("regions.c")
    folders = [tmp_path / name for name in "abcd"]
    started = []
    for folder in folders:
        folder.mkdir()
        settings = environment(spool, TRACELIB_OUTPUT=str(tmp_path / "run.h5"))
        started.append(subprocess.Popen([program], cwd=folder, env=settings, stderr=subprocess.DEVNULL))
    assert [process.wait(patient(30)) for process in started] == [0] * 4
    assert sorted(p.name for p in tmp_path.glob("*.h5")) == ["run-2.h5", "run-3.h5", "run-4.h5", "run.h5"]
    for result in tmp_path.glob("*.h5"):
        assert_equal_notes(result, folders[0])


def test_what_uses_neither_mpi_nor_the_api_leaves_nothing(tmp_path, spool):
    command = ["sh", "-c", "ls > /dev/null; env > /dev/null; exit 3"]
    done = run(command, tmp_path, environment(spool), 30)
    assert (done.returncode, done.stdout, done.stderr) == (3, "", "")
    assert not list(tmp_path.iterdir())
    assert not list(spool.iterdir())


def test_no_place_to_write_is_said_once_and_harms_nobody(plain, tmp_path, spool):
    settings = environment(spool, TRACELIB_OUTPUT="/proc/run.h5", TRACELIB_BUFFER="4K")
    done = run([plain("regions.c")], tmp_path, settings, 30).check()
    assert done.stderr.count("tracelib: cannot create /proc/run.h5") == 1
    assert not list(tmp_path.glob("run*"))
    assert not list(spool.iterdir())


def progress(folder: Path) -> int:
    """How many events the program has recorded."""
    path = folder / "progress-0"
    data = path.read_bytes() if path.exists() else b""
    return struct.unpack("QQ", data)[1] if len(data) == 16 else 0


def kill_one(program: Path, folder: Path, buffer: str, after_s: float) -> None:
    """Start the program, wait until it works, kill it."""
    mark = uuid.uuid4().hex
    settings = environment(folder, TRACELIB_BUFFER=buffer) | {MARK: mark}
    process = subprocess.Popen([program], cwd=folder, env=settings, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + patient(20)
        while progress(folder) < 2:
            assert time.monotonic() < deadline and process.poll() is None, "the program did not start"
            time.sleep(0.001)
        time.sleep(after_s)
        os.kill(process.pid, signal.SIGKILL)
    finally:
        end_marked(mark)
        process.wait(patient(10))


def test_killed(plain, tmp_path):
    """No event that was recorded is missing, in the middle of a flush or between two."""
    program, random_ = plain("events_then_die.c"), random.Random("killed without MPI")
    from_spool = 0
    for number in range(KILLS):
        folder = tmp_path / str(number)
        folder.mkdir()
        kill_one(program, folder, random_.choice(["4K", "64K", "1M"]), random_.uniform(0, 0.02))
        completed = progress(folder)
        (file,) = rank_files(folder / "run.h5")
        trace = open_trace(str(folder / "run.h5"))
        assert any("was killed" in p.text for p in trace.problems)
        assert not any("rate of the clock" in p.text for p in trace.problems)
        kinds, values = (trace.events()[column] for column in ("type", "value"))
        own = (kinds == 1000) | (kinds == 60000019)
        still_open = sum("open when its thread ended" in p.text for p in trace.problems)
        assert completed <= own.sum() - still_open <= completed + 1
        assert values[kinds == 1000].tolist() == list(range((kinds == 1000).sum()))
        in_file = file.tables["events"]
        from_spool += int(own.sum() - own_rows(in_file))
        trace.close()
    assert from_spool > 0


def own_rows(events) -> int:
    """Rows of the program itself."""
    return int(((events["type"] == 1000) | (events["type"] == 60000019)).sum())


@pytest.mark.parametrize("mpi_name", ["openmpi", "mpich"])
def test_a_full_buffer_before_mpi_init(request, compiled, traced, mpi_name):
    """Each rank's file begins before the ranks know each other, and there is one run in the end."""
    leg = request.getfixturevalue(mpi_name)
    program = compiled(leg, "regions.c", *compile_flags())
    run_ = traced(leg, program, "500", ranks=2, env={"TRACELIB_BUFFER": "4K"})
    (result,) = run_.folder.glob("run*.h5")
    (folder,) = run_.folder.glob("run*.ranks")
    assert sorted(p.name for p in folder.iterdir()) == ["000000.h5", "000001.h5"]
    for rank, file in enumerate(rank_files(result)):
        assert in_any_order(recorded(file).values()) == in_any_order(noted(run_.folder, rank))
        assert file.counts()["MPI_Barrier"] == 20
        assert (file.attributes["rank"], file.attributes["size"], file.attributes["state"]) == (rank, 2, 1)
        assert file.attributes["mpi_library"]
    assert len(open_trace(str(result)).communicators) == 3
    assert not list(Path(run_.folder).glob("*.tmp"))


def test_doctor_finds_a_program_without_mpi_well(plain, tmp_path, spool):
    """Its run is no problem, and nothing of it stays behind."""
    words = [sys.executable, "-m", "tracelib", "doctor", "--json", "--", plain("regions.c")]
    clean = matrix.environment(python=True) | {"TRACELIB_SPOOL": str(spool), "PYTHONPATH": str(matrix.ROOT)}
    found = json.loads(run(words, tmp_path, clean, 60).check().stdout)
    (finding,) = (f for f in found if f["topic"] == "run")
    assert finding["verdict"] == "ok"
    assert finding["text"].startswith(f"{sum(map(len, noted(tmp_path, 0)))} events")
    assert not list(tmp_path.glob("run*"))
