"""Faults that must neither hurt the traced program nor lose a record: no end, room, rights or MPI; an old result."""

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import h5py
import pytest
from conftest import Traced
from matrix import ROOT, environment
from patience import patient
from result import rank_files

from analyzer.recording.run.opening import open_run
from tracelib.schema import ProcessState


@pytest.fixture
def steady(openmpi, compiled):
    """A program of many small calls that can end in several ways."""
    return compiled(openmpi, "steady.c")


@pytest.mark.parametrize("end", ["finalize", "exit", "return", "abort"])
def test_the_program_is_unharmed_and_all_calls_are_kept(openmpi, steady, launch, end, tmp_path):
    """The first rank that ends without MPI_Finalize makes mpirun kill the others: their last calls lie in the spool."""
    plain = launch(openmpi, steady, "500", end, preload=False)
    finished = launch(openmpi, steady, "500", end)
    assert (finished.returncode, finished.stdout) == (plain.returncode, plain.stdout)
    states = {int(file.attributes["state"]) for file in rank_files(tmp_path / "run.h5")}
    assert states == {ProcessState.FINALIZED} if end == "finalize" else ProcessState.EXITED in states
    trace = open_run(str(tmp_path / "run.h5"))
    assert trace.size == openmpi.ranks
    for rank in range(trace.size):
        names = Counter(trace.procedures[call] for block in trace.calls(rank) for call in block["call"])
        assert names["MPI_Sendrecv"] == names["MPI_Send"] == 500
        assert names["MPI_Init"] == 1
    trace.close()


def test_one_closing_line_says_what_to_type_next(openmpi, steady, launch):
    finished = launch(openmpi, steady, "100", env={"TRACELIB_CPUTIME": "off"}).check()
    lines = [line for line in finished.stderr.splitlines() if line.startswith("tracelib:")]
    calls = openmpi.ranks * (3 + 200 + 2)  # Init, Comm_rank, Comm_size; the loop; Barrier, Finalize
    assert len(lines) == 1
    assert lines[0].startswith(f"tracelib: {openmpi.ranks} ranks, {calls} calls, ")
    assert lines[0].endswith("in run.h5; next: analyze run.h5")


def test_quiet_and_disabled(openmpi, steady, launch, tmp_path):
    assert launch(openmpi, steady, "100", env={"TRACELIB_DISABLE": "1"}).check().stderr == ""
    assert not list(tmp_path.iterdir())
    assert launch(openmpi, steady, "100", env={"TRACELIB_QUIET": "1"}).check().stderr == ""
    assert (tmp_path / "run.h5").exists()


def test_an_existing_result_is_kept(openmpi, steady, traced, launch, tmp_path):
    first = traced(openmpi, steady, "100")
    before = {p.name: p.read_bytes() for p in [first.run, *first.run.with_suffix(".ranks").iterdir()]}
    second = launch(openmpi, steady, "100").check()
    assert second.stderr.strip().endswith("next: analyze run-2.h5")
    launch(openmpi, steady, "100").check()
    assert len(rank_files(tmp_path / "run-3.h5")) == openmpi.ranks
    assert {p.name: p.read_bytes() for p in [first.run, *first.run.with_suffix(".ranks").iterdir()]} == before


def test_output_by_name(openmpi, steady, launch, tmp_path):
    launch(openmpi, steady, "100", env={"TRACELIB_OUTPUT": str(tmp_path / "mine.h5")}).check()
    assert len(rank_files(tmp_path / "mine.h5")) == openmpi.ranks


@pytest.mark.parametrize("output", ["no-such-folder/run.h5", "/proc/run.h5"])
def test_nowhere_to_write(openmpi, steady, launch, output):
    plain = launch(openmpi, steady, "100", preload=False).check()
    finished = launch(openmpi, steady, "100", env={"TRACELIB_OUTPUT": output}).check()
    assert finished.stdout == plain.stdout
    assert len(finished.stderr.splitlines()) == 1
    assert output in finished.stderr


def test_not_mpi_at_all(launch, openmpi, tmp_path):
    library = ROOT / "tracelib" / "libtrace.so"
    env = environment() | {"LD_PRELOAD": str(library)}
    for command in (
        ["/bin/echo", "hello"],
        ["sh", "-c", "echo hello"],
        [shutil.which("python3"), "-c", "print('hello')"],
    ):
        done = subprocess.run(
            command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=patient(30), check=True
        )
        assert (done.stdout, done.stderr) == ("hello\n", "")
    finished = launch(openmpi, "/bin/echo", "hello")
    assert finished.returncode == 0
    assert finished.stdout == "hello\n" * openmpi.ranks
    assert "tracelib" not in finished.stderr
    assert not list(tmp_path.iterdir())


def mount(place, size):
    """A small file system at a folder, until the test ends; skips where it cannot be mounted."""
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"cannot mount a small file system: {done.stderr.strip()}")


@pytest.fixture
def small_disk(root_only, tmp_path):
    """A file system of 1 MiB."""
    place = tmp_path / "disk"
    mount(place, "1M")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_full_disk(openmpi, steady, launch, analyze, small_disk):
    """Flushed rows are kept and readable, the rest is counted, and the program does not notice."""
    plain = launch(openmpi, steady, "20000", preload=False).check()
    env = {"TRACELIB_OUTPUT": str(small_disk / "run.h5"), "TRACELIB_BUFFER": "64K"}
    finished = launch(openmpi, steady, "20000", env=env).check()
    assert finished.stdout == plain.stdout
    complaints = [line for line in finished.stderr.splitlines() if "No space left" in line]
    assert 1 <= len(complaints) <= openmpi.ranks
    files = rank_files(small_disk / "run.h5")
    assert len(files) == openmpi.ranks
    for file in files:
        assert file.attributes["state"] == ProcessState.FULL
        made = 3 + 2 * 20000 + 2
        assert len(file.calls) > 0
        assert len(file.calls) + file.attributes["lost_calls"] == made
    assert analyze("check", small_disk / "run.h5").returncode != 0
    assert "lost" in analyze("look", "--no-files", small_disk / "run.h5").check().stdout.lower()


def test_a_missing_rank_file(openmpi, steady, traced, analyze):
    run = traced(openmpi, steady, "100")
    (run.run.with_suffix(".ranks") / "000002.h5").unlink()
    checked = analyze("check", run.run)
    assert checked.returncode != 0
    assert "Traceback" not in checked.stderr + checked.stdout
    shown = analyze("look", "--no-files", run.run)
    assert shown.returncode == 0, shown.stderr
    assert "rank 2" in shown.stdout + shown.stderr


def test_run_h5_never_written(openmpi, steady, traced, analyze):
    """The rank files alone are a run, too."""
    run = traced(openmpi, steady, "100")
    run.run.unlink()
    analyze("check", run.run.with_suffix(".ranks")).check()


@pytest.mark.parametrize("content", [b"", b"not HDF5 at all", None])
def test_an_unreadable_file(openmpi, steady, traced, analyze, content):
    run: Traced = traced(openmpi, steady, "100")
    victim = run.run.with_suffix(".ranks") / "000001.h5"
    victim.write_bytes(victim.read_bytes()[:3000] if content is None else content)
    for command in ("info", "check"):
        done = analyze(command, run.run)
        assert "Traceback" not in done.stderr + done.stdout
        assert "rank 1" in done.stdout + done.stderr or "000001" in done.stdout + done.stderr
    assert done.returncode != 0


def test_nothing_is_left_in_the_spool(openmpi, steady, launch, tmp_path):
    spool = tmp_path / "spool"
    spool.mkdir()
    env = {"TRACELIB_SPOOL": str(spool), "TRACELIB_BUFFER": "64K", "TRACELIB_CPUTIME": "off"}
    for end, ranks in (("finalize", 4), ("exit", 1)):  # Open MPI kills the others when one exits without finalizing
        launch(openmpi, steady, "500", end, ranks=ranks, env=env)
        assert not list(spool.iterdir())


def test_a_process_that_forks(openmpi, compiled, traced):
    """The child, which exits without exec, neither writes into the parent's file nor removes its spool."""
    run = traced(openmpi, compiled(openmpi, "forks.c"))
    for truth, file in zip(run.truths(), run.ranks, strict=True):
        assert file.counts() == truth.calls


@pytest.fixture
def full(root_only, tmp_path):
    """A folder on a disk without room for a buffer."""
    place = tmp_path / "full"
    mount(place, "16K")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.fixture
def where_killed(mpich, compiled, launch, tmp_path):
    """where_killed(variables): run one rank that dies by abort() after 2000 calls.

    Returns where its buffer lay, its output, and the number of calls in the result.
    """

    def start(**variables):
        program = compiled(mpich, "dies.c", "-pthread")
        finished = launch(mpich, program, "1", "abort", "2000", ranks=1, env={"TRACELIB_BUFFER": "64K"} | variables)
        said = [line for line in finished.stderr.splitlines() if line.startswith("tracelib:")]
        (file,) = rank_files(tmp_path / "run.h5")
        trace = open_run(str(tmp_path / "run.h5"))
        calls = sum(int(block["count"].sum()) for block in trace.calls(0))
        problems = " ".join(problem.text for problem in trace.problems)
        trace.close()
        return Path(file.attributes["spool"].decode()).parent, said, calls, problems

    return start


@pytest.mark.parametrize("wanted", ["missing", "full"])
def test_buffers_fall_back_to_the_second_directory(where_killed, request, tmp_path, wanted):
    place = request.getfixturevalue("full") if wanted == "full" else tmp_path / "missing"
    second = tmp_path / "second"
    second.mkdir()
    where, said, calls, _ = where_killed(TRACELIB_SPOOL=str(place), TMPDIR=str(second))
    assert (where, said, calls) == (second, [], 2000)
    assert not list(tmp_path.glob("full/*"))


def test_buffers_fall_back_to_memory_and_say_what_is_at_risk(where_killed, full):
    where, said, calls, problems = where_killed(TRACELIB_SPOOL=str(full), TMPDIR=str(full))
    assert where == Path()
    assert len(said) == 1
    assert "No space left on device" in said[0]
    assert "calls not yet flushed are lost if a rank is killed" in said[0]
    assert 1000 < calls < 2000  # what was flushed
    assert "its buffer was not in a file: the last calls are missing" in problems


def test_a_relative_directory_for_buffers(where_killed, tmp_path, monkeypatch):
    """The result says where it is from anywhere."""
    (tmp_path / "buffers").mkdir()
    where, said, calls, _ = where_killed(TRACELIB_SPOOL="buffers")
    assert (where, said, calls) == (tmp_path / "buffers", [], 2000)


def test_calls_of_a_thread_without_a_buffer_are_counted_as_lost(openmpi, compiled, traced, analyze):
    run = traced(openmpi, compiled(openmpi, "no_buffer.c", "-pthread"), ranks=1)
    (file,) = run.ranks
    assert file.attributes["lost_calls"] == 100
    assert set(file.counts()) == {"MPI_Init_thread", "MPI_Finalize"}
    assert "no memory for a buffer" in run.finished.stderr and "(100 more calls lost)" in run.finished.stderr
    assert "100 calls and 0 rows of other tables were lost" in analyze("check", run.run).stdout


def test_a_file_system_that_takes_half_at_a_time(openmpi, steady, compiled, launch, tmp_path):
    halves = compiled(openmpi, "halves.c", "-shared", "-fPIC", "-ldl")
    launch(openmpi, steady, "10", ranks=1, env={"LD_PRELOAD": str(halves)}).check()
    with h5py.File(tmp_path / "run.h5") as run:
        assert run["ranks/000000"].attrs["state"] == ProcessState.FINALIZED
