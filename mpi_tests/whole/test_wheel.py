"""The wheel: built once by `make wheel`, installed where nothing can be compiled, used under every MPI."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from conftest import LIBRARY, Traced
from matrix import ROOT, Leg, environment
from recorded_counts import FORTRAN, assert_no_other_calls, assert_recorded
from running import Finished, run

pytestmark = pytest.mark.long

OLDEST_GLIBC = (2, 28)
"""The C library must not need to be newer than this one."""
LIBC = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2"}  # all are parts of glibc
OBJECTS = ("tracelib/libtrace.so", "tracelib/_ngmpi.abi3.so", "analyzer/_kernels.abi3.so", "analyzer/_replay.abi3.so")
PACKAGES = ("tracelib", "analyzer")


@pytest.fixture(scope="session")
def wheel() -> Path:
    """Build with `make wheel`, and return the wheel in dist/."""
    run(["make", "--no-print-directory", "wheel"], ROOT, environment(), 300).check()
    (made,) = (ROOT / "dist").glob("*.whl")
    return made


@pytest.fixture(scope="session")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel's files."""
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which neither a compiler nor an MPI can be found."""
    folder = tmp_path_factory.mktemp("bare")
    (folder / "timeout").symlink_to(shutil.which("timeout"))
    assert not any(shutil.which(name, path=str(folder)) for name in ("cc", "gcc", "clang", "mpicc", "mpirun"))
    inherited = {k: v for k, v in environment().items() if not k.startswith("PYTHON")}
    return inherited | {"PATH": str(folder), "CC": "/nonexistent/cc"}


@pytest.fixture(scope="session")
def scripts(wheel: Path, bare: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """bin/ of a virtual environment in which the wheel was installed."""
    folder = tmp_path_factory.mktemp("installed")
    run([sys.executable, "-m", "venv", folder], folder, bare, 60).check()
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-compile", "--only-binary", ":all:"]
    run([*pip, wheel], folder, bare, 300).check()
    return folder / "bin"


@pytest.fixture
def command(scripts: Path, bare: dict[str, str], tmp_path: Path):
    """command("analyze", *args): a command of the installed wheel, in the test's folder."""

    def start(name: str, *args: str) -> Finished:
        return run([scripts / name, *args], tmp_path, bare)

    return start


def readelf(path: Path, *options: str) -> str:
    return subprocess.run(["readelf", "-W", *options, path], capture_output=True, text=True, check=True).stdout


def test_auditwheel_finds_what_the_name_says(wheel: Path):
    platform = re.search(r"manylinux_(\d+)_(\d+)_\w+", wheel.name)
    assert (int(platform[1]), int(platform[2])) <= OLDEST_GLIBC
    assert "-cp311-abi3-" in wheel.name
    auditwheel = ROOT / ".venv" / "bin" / "auditwheel"
    shown = run([auditwheel, "show", wheel], ROOT, environment()).check().stdout
    assert f'"{platform[0]}"' in " ".join(shown.split())


@pytest.mark.parametrize("name", OBJECTS)
def test_objects_need_an_old_libc_and_nothing_else(unpacked: Path, name: str):
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", readelf(unpacked / name, "--version-info"))
    assert versions
    assert max((int(major), int(minor)) for major, minor in versions) <= OLDEST_GLIBC
    dynamic = readelf(unpacked / name, "--dynamic")
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
    assert "libc.so.6" in needed <= LIBC
    assert "RPATH" not in dynamic
    assert "RUNPATH" not in dynamic


def test_runtime_is_the_one_that_is_built_in_place(unpacked: Path):
    """Another compiler made it: the same functions are seen from outside, and it cannot be unloaded."""

    def exported(path: Path) -> set[str]:
        rows = [line.split() for line in readelf(path, "--dyn-syms").splitlines()]
        return {row[7] for row in rows if len(row) == 8 and row[6] not in ("UND", "Ndx")}

    library = unpacked / "tracelib" / "libtrace.so"
    assert "MPI_Send" in exported(library)
    assert exported(library) == exported(LIBRARY)
    assert re.search(r"FLAGS_1.*NODELETE", readelf(library, "--dynamic"))


def test_every_module_is_in_it(unpacked: Path):
    def files(folder: Path) -> set[str]:
        paths = [path for package in PACKAGES for path in (folder / package).rglob("*") if path.is_file()]
        return {str(p.relative_to(folder)) for p in paths if p.suffix not in (".pyc", ".so")}

    assert files(unpacked) == files(ROOT)
    assert {str(path.relative_to(unpacked)) for path in unpacked.rglob("*.so")} == set(OBJECTS)


def test_it_tells_nothing_of_where_it_was_built(unpacked: Path):
    places = {ROOT, Path(sys.prefix), Path(sys.base_prefix), Path.home()} - {Path("/"), Path("/usr")}
    for path in unpacked.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert not [place for place in places if os.fsencode(place) in content], path


def test_commands(scripts: Path, command):
    library = Path(command("tracelib", "lib").check().stdout.strip())
    assert library.is_relative_to(scripts.parent)
    assert command("python", "-m", "tracelib", "lib").check().stdout.strip() == str(library)
    assert "efficiency" in command("python", "-m", "analyzer", "--help").check().stdout


@pytest.fixture
def traced_by_wheel(launch, command, tmp_path):
    """traced_by_wheel(leg, program): a run recorded by the installed wheel's library, that has every call."""

    def start(leg: Leg, program: Path) -> Traced:
        library = command("tracelib", "lib").check().stdout.strip()
        finished = launch(leg, program, preload=False, env={"LD_PRELOAD": library}).check()
        result = Traced(finished, tmp_path, tmp_path / "run.h5")
        assert_recorded(result, leg.ranks)
        assert_no_other_calls(result)
        return result

    return start


def test_c(mpi, compiled, traced_by_wheel, command):
    result = traced_by_wheel(mpi, compiled(mpi, "nonblocking.c"))
    totals = sum((truth.calls for truth in result.truths()), Counter())
    look = command("analyze", "run.h5").check().stdout
    rows = {f"MPI_{name}": int(calls) for name, calls in re.findall(r"^  (\w+) +\S+ +<?[\d.]+% +(\d+) ", look, re.M)}
    assert len(rows) > 10  # the others are summed up in one line
    assert rows == {name: totals[name] for name in rows}


@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_fortran(request, compiled, traced_by_wheel, command, tmp_path, debian):
    """Ten words and more an argument list, some of them on the stack, and descriptors."""
    leg = request.getfixturevalue(debian)
    traced_by_wheel(leg, compiled(leg, "interfaces.F90", "-DUSEF08", "-J", str(tmp_path), *FORTRAN))
    command("analyze", "check", "run.h5").check()
