"""MPI that a program finds without the order of preloaded libraries: on a handle, or by RTLD_DEEPBIND."""

import subprocess

import matrix
import pytest
from conftest import LIBRARY, source_of
from result import rank_files
from running import run

MPI_LIBRARIES = {"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"}


@pytest.fixture(params=list(MPI_LIBRARIES))
def debian(request):
    return request.getfixturevalue(request.param)


BY_HANDLE = """
import ctypes, sys
local, mpich = sys.argv[1] == "local", "mpich" in sys.argv[2]
mpi = ctypes.CDLL(sys.argv[2], mode=ctypes.RTLD_LOCAL if local else ctypes.RTLD_GLOBAL)
world = ctypes.c_int(0x44000000)
if not mpich:
    world = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_world")))
mpi.MPI_Init(None, None)
for _ in range(5):
    mpi.MPI_Barrier(world)
assert not hasattr(mpi, "MPI_Not_there")
mpi.PMPI_Barrier(world)  # no tool sees this one
mpi.MPI_Finalize()
"""


@pytest.mark.parametrize("scope", ["local", "global"])
def test_an_interpreter_that_takes_mpi_by_a_handle(debian, traced, tmp_path, scope):
    (library,) = (name for mpi, name in MPI_LIBRARIES.items() if mpi in debian.name)
    traced(debian, debian.python, "-c", BY_HANDLE, scope, library, ranks=2)
    expected = {"MPI_Init": 1, "MPI_Barrier": 5, "MPI_Finalize": 1}
    assert [file.counts() for file in rank_files(tmp_path / "run.h5")] == [expected] * 2


def test_a_program_that_takes_mpi_by_a_handle(openmpi, compiled, traced, tmp_path):
    program = compiled(openmpi, "by_dlsym.c", "-Wl,--as-needed", "-ldl")
    traced(openmpi, program, ranks=2)
    assert [f.counts() for f in rank_files(tmp_path / "run.h5")] == [{"MPI_Init": 1, "MPI_Finalize": 1}] * 2


@pytest.mark.parametrize("bound", ["lazy", "now"])
@pytest.mark.parametrize("opened", [("lazy",), ("now",), ("now", "again")], ids=" ".join)
def test_a_plugin_that_prefers_its_own_libraries(debian, compiled, traced, tmp_path, bound, opened):
    plugin = compiled(debian, "plugin.c", "-shared", "-fPIC", f"-Wl,-z,{bound}", "-Wl,-z,relro")
    result = traced(debian, compiled(debian, "opens_plugin.c", "-ldl"), plugin, *opened, ranks=1)
    (file,) = rank_files(tmp_path / "run.h5")
    assert file.counts() == {"MPI_Init": 1, "MPI_Send": 7, "MPI_Finalize": 1}
    assert f"{plugin} was opened with RTLD_DEEPBIND: its calls of MPI are recorded" in result.finished.stderr


def test_a_plugin_with_another_mpi(openmpi, mpich, compiled, launch):
    """Its calls go where they would go without us: that MPI has not been initialized."""
    plugin = compiled(mpich, "plugin.c", "-shared", "-fPIC")
    program = compiled(openmpi, "opens_plugin.c", "-ldl")
    plain = launch(openmpi, program, plugin, "now", ranks=1, preload=False)
    traced = launch(openmpi, program, plugin, "now", ranks=1)
    assert plain.returncode == traced.returncode != 0
    assert "before initializing" in plain.stderr and "before initializing" in traced.stderr
    assert f"{plugin} was opened with RTLD_DEEPBIND and calls another MPI: that is not recorded" in traced.stderr


def test_dlsym_and_dlopen_see_who_calls_them(tmp_path):
    source, beside = source_of("follows_caller.c"), tmp_path / "beside"
    beside.mkdir()
    shared = ["cc", "-w", "-shared", "-fPIC", source, "-ldl", "-o"]
    subprocess.run([*shared, beside / "libbeside.so", "-DBESIDE"], check=True)
    library = tmp_path / "libfollows.so"
    subprocess.run([*shared, library, "-DLIBRARY", f"-Wl,-rpath,{beside},--enable-new-dtags"], check=True)
    program = tmp_path / "follows"
    words = [
        "cc",
        "-w",
        source,
        "-rdynamic",
        "-o",
        program,
        library,
        f"-Wl,-rpath,{tmp_path},--enable-new-dtags",
        "-ldl",
    ]
    subprocess.run(words, check=True)
    for preload in ("", str(LIBRARY)):
        env = matrix.environment() | {"LD_PRELOAD": preload}
        assert run([program], tmp_path, env).check().stdout == "12 3 1 absent\n"
