"""Programs that bring an HDF5 of their own, and those that become another program."""

from pathlib import Path

import pytest
from matrix import ROOT, environment
from result import rank_files
from running import run

from tracelib.recovery import recover

HDF5 = Path("/usr/include/hdf5")


@pytest.fixture
def own_hdf5(compiled):
    """own_hdf5(leg, flavor): the program with Debian's HDF5 of that flavor."""

    def build(leg, flavor):
        if not (HDF5 / flavor / "hdf5.h").exists():
            pytest.skip(f"Debian's {flavor} HDF5 is not installed")
        parallel = [] if flavor == "serial" else ["-DPARALLEL"]
        library = f"/usr/lib/x86_64-linux-gnu/hdf5/{flavor}"
        return compiled(leg, "own_hdf5.c", f"-I{HDF5 / flavor}", f"-L{library}", "-lhdf5", "-ldl", *parallel)

    return build


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_a_program_with_its_own_hdf5(request, own_hdf5, launch, traced, tmp_path, debian, parallel):
    """Its files are the same to the byte, and the MPI calls that HDF5 makes are those that the program let through."""
    leg, rounds = request.getfixturevalue(debian), 6
    program = own_hdf5(leg, debian if parallel else "serial")
    plain = launch(leg, program, "plain", str(rounds), ranks=2, preload=False).check()
    result = traced(leg, program, "traced", str(rounds), ranks=2, env={"TRACELIB_BUFFER": "4K"})
    assert sorted(result.finished.stdout.splitlines()) == sorted(plain.stdout.splitlines())
    written = {path.name.removeprefix("plain"): path for path in tmp_path.glob("plain-*.h5")}
    assert len(written) == (rounds if parallel else 2 * (rounds + 1))
    for name, path in written.items():
        assert (tmp_path / f"traced{name}").read_bytes() == path.read_bytes()
    for file, truth in zip(result.ranks, result.truths(), strict=True):
        counts, moved = file.counts(), file.moved()
        assert {name: counts[name] for name in truth.calls} == truth.calls
        assert {name: moved[name] for name in truth.moved} == truth.moved
        seen = {name for name in counts if name.startswith("MPI_File_")}
        assert bool(seen) == parallel
        if parallel:
            assert truth.moved["MPI_File_write_at_all"][0] >= rounds * 64 * 250 * 4
            names = [row["name"].decode() for row in file.tables["objects"][1:]]
            expected = [f"traced-{number + 1}.h5" for number in range(rounds) for _ in range(2)]  # written, then read
            assert [Path(name).name for name in names] == expected


@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_a_rank_that_becomes_another_program(request, compiled, launch, analyze, tmp_path, debian):
    """One without MPI_Finalize, one that has MPI again, one without MPI: each image is a run with all its calls."""
    leg = request.getfixturevalue(debian)
    program = compiled(leg, "becomes.c")
    words = [str(program), "300", str(program), "200", "sh", "-c", "echo $((6 * 7)); ls /proc/self/fd | wc -l"]
    library = ROOT / "tracelib" / "libtrace.so"
    buffers = tmp_path / "buffers"
    buffers.mkdir()
    plain = run(words, tmp_path, environment(leg), 30).check()
    settings = {"LD_PRELOAD": str(library), "TRACELIB_SPOOL": str(buffers)}
    traced = run(words, tmp_path, environment(leg) | settings, 30).check()
    assert traced.stdout == plain.stdout
    assert len(plain.stdout.splitlines()) == 4
    for name, barriers in (("run.h5", 300), ("run-2.h5", 200)):
        assert not any(outcome.missing for outcome in recover(str(tmp_path / name)).outcomes)
        (file,) = rank_files(tmp_path / name)
        assert file.counts()["MPI_Barrier"] == barriers
    assert "its last calls were put into the file" in analyze("check", tmp_path / "run.h5").stdout
    assert not list(buffers.iterdir())
