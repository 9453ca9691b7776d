"""Another tool for MPI in the same process: ahead of the library, behind it, or linked to the program. Both count."""

import pytest
from conftest import LIBRARY
from result import rank_files

CALLS = {"MPI_Init": 1, "MPI_Send": 3, "MPI_Barrier": 5, "MPI_Allreduce": 2, "MPI_Finalize": 1}
HANDLES = {"apt-openmpi": "libmpi.so.40", "apt-mpich": "libmpich.so.12"}
SHARED = ("-shared", "-fPIC", "-ldl")


@pytest.fixture(params=["openmpi", "mpich"])
def debian(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def tool(debian, compiled):
    """tool("NEXT", ...): other_tool.c as a library that has been told so."""
    flags = (*SHARED, f'-DHANDLE="{HANDLES[debian.name]}"')
    return lambda *defined: compiled(debian, "other_tool.c", *flags, *(f"-D{name}" for name in defined))


@pytest.fixture
def run_with(launch, tmp_path):
    """run_with(leg, program, *libraries): the run with these preloaded, and what each rank's file counts."""

    def start(leg, program, *libraries):
        env = {"LD_PRELOAD": ":".join(map(str, libraries))}
        done = launch(leg, program, ranks=2, env=env, preload=False).check()
        return done, [file.counts() for file in rank_files(tmp_path / "run.h5")]

    return start


@pytest.mark.parametrize("kind", [(), ("NEXT",), ("CALLS",), ("NEXT", "CALLS")], ids=" ".join)
def test_a_tool_behind(debian, compiled, tool, run_with, kind):
    """It gets the program's calls and no others: not those by which the library measures itself."""
    done, counts = run_with(debian, compiled(debian, "under_tools.c"), LIBRARY, tool(*kind))
    assert done.stdout.split("\n")[:2] == ["counted 3 5 2"] * 2
    assert counts == [CALLS] * 2
    assert "wrong" not in done.stderr


def test_a_tool_that_is_called_as_parts_of_an_mpi_are(debian, compiled, tool, run_with, tmp_path):
    """As mpiP's libmpiP.so."""
    (tmp_path / "libmpiT.so").symlink_to(tool())
    done, counts = run_with(debian, compiled(debian, "under_tools.c"), LIBRARY, tmp_path / "libmpiT.so")
    assert done.stdout.split("\n")[:2] == ["counted 3 5 2"] * 2
    assert counts == [CALLS] * 2


@pytest.mark.parametrize("kind", [(), ("CALLS",)], ids=" ".join)
def test_a_tool_that_is_linked(debian, compiled, tool, run_with, kind):
    program = compiled(debian, "under_tools.c", "-Wl,--no-as-needed", str(tool(*kind)))
    done, counts = run_with(debian, program, LIBRARY)
    assert done.stdout.split("\n")[:2] == ["counted 3 5 2"] * 2
    assert counts == [CALLS] * 2


def test_a_tool_ahead_that_passes_on(debian, compiled, tool, run_with):
    done, counts = run_with(debian, compiled(debian, "under_tools.c"), tool("NEXT"), LIBRARY)
    assert done.stdout.split("\n")[:2] == ["counted 3 5 2"] * 2
    assert counts == [CALLS] * 2


def test_a_tool_ahead_that_does_not(debian, compiled, tool, launch, tmp_path):
    """It may stand there by somebody's LD_PRELOAD. One line says which it is."""
    env = {"LD_PRELOAD": f"{tool()}:{LIBRARY}"}
    done = launch(debian, compiled(debian, "under_tools.c"), ranks=2, env=env, preload=False).check()
    assert done.stdout.split("\n")[:2] == ["counted 3 5 2"] * 2
    lines = [line for line in done.stderr.splitlines() if line.startswith("tracelib:")]
    assert len(lines) == 1
    assert f"nothing is recorded: {tool()} gets the program's call of MPI_Init" in lines[0]
    assert not list(tmp_path.glob("*.h5"))


@pytest.mark.parametrize("linked", [False, True])
def test_a_tool_for_fortran(debian, compiled, run_with, linked):
    tool = compiled(debian, "other_tool.F90", "-shared", "-fPIC")
    program = compiled(debian, "under_tools.f90", *(["-Wl,--no-as-needed", str(tool)] if linked else []))
    done, counts = run_with(debian, program, LIBRARY, *([] if linked else [tool]))
    assert done.stdout.split("\n")[:2] == ["counted 5"] * 2
    assert counts == [{"MPI_Init": 1, "MPI_Barrier": 5, "MPI_Finalize": 1}] * 2


def test_mpi_itself_ahead(debian, compiled, run_with):
    """As LD_PRELOAD=libmpi.so, against programs that open it for one library only."""
    for binding in ("lazy", "now"):
        program = compiled(debian, "under_tools.c", f"-Wl,-z,{binding}")
        _, counts = run_with(debian, program, HANDLES[debian.name], LIBRARY)
        assert counts == [CALLS] * 2
