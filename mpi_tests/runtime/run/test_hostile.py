"""Programs that a tracer must survive without a trace of itself in what they do."""

import pytest
from conftest import source_of
from result import rank_files

from analyzer.recording.run.opening import open_run
from tracelib.schema import ProcessState, RequestKind


@pytest.fixture
def hostile(compiled, launch):
    """hostile(leg, act, ...): trace programs/hostile.c, and compare its output with an untraced run's."""

    def start(leg, act, *, ranks=2, limit_s=20, **options):
        program = compiled(leg, "hostile.c", "-pthread")
        plain = launch(leg, program, act, ranks=ranks, preload=False, limit_s=limit_s)
        traced = launch(leg, program, act, ranks=ranks, limit_s=limit_s, **options)
        assert not traced.timed_out
        assert traced.returncode == plain.returncode, traced.stderr
        assert sorted(traced.stdout.splitlines()) == sorted(plain.stdout.splitlines())
        return traced

    return start


@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_requests_that_share_a_handle(request, hostile, tmp_path, debian):
    hostile(request.getfixturevalue(debian), "many-requests")
    for file in rank_files(tmp_path / "run.h5"):
        assert file.counts()["MPI_Isend"] == len(file.tables["requests"]) == 100000


@pytest.mark.parametrize(
    "act",
    ["close-all-files", "fork-without-handlers", "thread-that-ends", "closed-streams", "error-handler-that-jumps"],
)
@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_nothing_is_lost_and_nothing_twice(request, hostile, tmp_path, debian, act):
    hostile(request.getfixturevalue(debian), act)
    files = rank_files(tmp_path / "run.h5")
    assert len(files) == 2
    for file in files:
        left = act == "error-handler-that-jumps"  # one more, which its handler leaves
        assert file.counts()["MPI_Send"] == (60000 if act == "close-all-files" else 30000 + left)
        assert file.attributes["state"] == ProcessState.FINALIZED


@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_what_a_refused_call_leaves_is_not_looked_at(request, hostile, tmp_path, debian):
    hostile(request.getfixturevalue(debian), "refused-calls")
    for file in rank_files(tmp_path / "run.h5"):
        assert file.counts()["MPI_Testsome"] == 1
        assert "MPI_Comm_dup" in {call for call, _ in file.errors()}  # a callback of the program has made it up
        assert file.what.tolist() == [RequestKind.RECV_DONE, RequestKind.OTHER_DONE]  # not a receive that was cancelled


def test_exit_in_a_signal_handler_does_not_wait_for_the_flush_it_interrupted(openmpi, hostile):
    hostile(openmpi, "exit-in-handler", ranks=4, limit_s=10, env={"TRACELIB_BUFFER": "4K"})


def test_a_limit_on_file_sizes_is_a_full_disk(openmpi, hostile, tmp_path):
    traced = hostile(openmpi, "small-file-limit")
    assert "File too large" in traced.stderr
    for file in rank_files(tmp_path / "run.h5"):
        assert file.attributes["state"] == ProcessState.FULL
        made = 30000 + 4  # Init, Comm_rank, Comm_size, Finalize
        assert len(file.calls) > 0
        assert len(file.calls) + file.attributes["lost_calls"] == made


@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_copies_of_communicators_have_one_id_on_all_members(request, hostile, tmp_path, debian):
    hostile(request.getfixturevalue(debian), "copies-in-any-order")
    used = []
    for file in rank_files(tmp_path / "run.h5"):
        calls = file.calls[file.names == "MPI_Sendrecv_replace"]
        used.append([(int(c["tag"]), int(file.tables["communicators"]["id"][c["comm"]])) for c in calls])
    assert used[0] == used[1]
    assert len({identity for _, identity in used[0]}) == 2


@pytest.mark.parametrize("setting", [{}, {"TRACELIB_DISABLE": "1"}, {"TRACELIB_OUTPUT": "/proc/run.h5"}])
def test_arrays_of_counts(openmpi, launch, setting):
    """mpi4py takes our MPI_Alltoallv_c for Open MPI's, which has none: it must work in an untraced process, too."""
    launch(openmpi, openmpi.python, str(source_of("count_arrays.py")), env=setting).check()


@pytest.mark.parametrize("output", ["place/", "place/.h5"])
def test_a_directory_as_output(openmpi, hostile, tmp_path, output):
    (tmp_path / "place").mkdir()
    hostile(openmpi, "many-requests", env={"TRACELIB_OUTPUT": output})
    assert len(rank_files(tmp_path / "place" / "run.h5")) == 2


@pytest.mark.parametrize(
    ("act", "sends"),
    [
        ("child-that-stays", 30000),
        ("child-that-leaves-at-once", 30000),
        ("own-signal-handlers", 60000),
        ("exec-at-the-end", 30000),
        ("plugins", 30000),
    ],
)
@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_what_programs_may_do(request, hostile, compiled, tmp_path, monkeypatch, debian, act, sends):
    """Children, handlers, libraries that come and go: the program's output is its own, and all its calls are there."""
    leg = request.getfixturevalue(debian)
    monkeypatch.setenv("PLUGIN", str(compiled(leg, "plugin.c", "-shared", "-fPIC")))
    spool = tmp_path / "buffers"
    spool.mkdir()
    traced = hostile(leg, act, env={"TRACELIB_SPOOL": str(spool)})
    if act == "own-signal-handlers":
        assert traced.stdout.count("on its own stack 1, told 15, reset 1, kept 1, same stack 1") == 2
    files = rank_files(tmp_path / "run.h5")
    assert len(files) == 2
    for file in files:
        assert file.counts()["MPI_Send"] == sends
        assert file.attributes["state"] == ProcessState.FINALIZED
    assert not list(spool.iterdir())


@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_exit_while_other_threads_are_in_mpi(request, hostile, tmp_path, debian):
    hostile(request.getfixturevalue(debian), "exit-while-others-call")
    trace = open_run(str(tmp_path / "run.h5"))  # with what a rank had in its buffer that mpirun killed at its exit
    send = trace.procedures.index("MPI_Send")
    for rank in range(trace.size):
        sends = sum(int(((c["call"] == send) & (c["thread"] == 0)).sum()) for c in trace.calls(rank))
        assert sends == 30000
    trace.close()


def test_threads_that_use_mpi_and_hdf5(openmpi, launch, tmp_path):
    """h5py's own HDF5 in the traced process, beside threads in MPI."""
    program = str(source_of("threads_and_files.py"))
    plain = launch(openmpi, openmpi.python, program, "plain", ranks=2, preload=False, limit_s=20).check()
    traced = launch(openmpi, openmpi.python, program, "traced", ranks=2, limit_s=20).check()
    assert sorted(traced.stdout.splitlines()) == sorted(plain.stdout.splitlines())
    for file in rank_files(tmp_path / "run.h5"):
        assert file.counts()["MPI_Allreduce"] == 3 * 200
