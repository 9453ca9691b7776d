"""Each call's path is the stack that the program itself keeps by hand, whatever it was compiled from and how."""

import shutil
import subprocess
from pathlib import Path

import pytest
from call_paths import compare
from conftest import source_of
from result import rank_files

C = ("-w", "-pthread", "-rdynamic", "-ldl")
WAYS = {
    "O0": ("-O0",),
    "O1": ("-O1",),
    "O2": ("-O2",),
    "O3": ("-O3",),
    "Os": ("-Os",),
    "frame-pointers": ("-O2", "-fno-omit-frame-pointer"),
    "no-pie": ("-O2", "-fno-pie", "-no-pie"),
    "one-segment": ("-O2", "-Wl,-z,noseparate-code"),
    "realigned": ("-O2", "-mstackrealign"),
    "stripped": ("-O3", "-fomit-frame-pointer"),
}


@pytest.fixture
def check(traced, tmp_path):
    """check(leg, program, sources, libraries): traced alone, and compared."""

    def run(leg, program: Path, sources, libraries=(), *words, **env):
        notes = tmp_path / "notes"
        traced(leg, program, *words, ranks=1, env={"NOTES": str(notes), **env})
        (file,) = rank_files(tmp_path / "run.h5")
        binaries = {path.name: path.with_suffix(".whole") if path.with_suffix(".whole").exists() else path
                    for path in (program, *libraries)}  # fmt: skip
        return compare(file, notes, binaries, sources)

    return run


def stripped(program: Path, folder: Path) -> Path:
    """A stripped copy, beside it the whole one."""
    copy = folder / program.name
    shutil.copy(program, copy.with_suffix(".whole"))
    subprocess.run(["strip", "-s", "-o", copy, program], check=True)
    return copy


def plugins(compiled, leg, *flags) -> list[Path]:
    """Both kinds of the library."""
    flags = [flag for flag in flags if flag not in ("-fno-pie", "-no-pie")]
    kinds = (), ("-DOTHER",)
    return [compiled(leg, "plugin_of_frames.c", "-w", "-shared", "-fPIC", *flags, *kind) for kind in kinds]


def check_c(compiled, check, tmp_path, leg, way, *flags):
    """frames.c compiled in one of the ways."""
    program = compiled(leg, "frames.c", *C, *WAYS[way], *flags)
    libraries = plugins(compiled, leg, *WAYS[way], *flags)
    if way == "stripped":
        program, *libraries = (stripped(path, tmp_path) for path in (program, *libraries))
    words = ["teams"] if "-fopenmp" in flags else []
    names = {"PLUGIN_A": str(libraries[0]), "PLUGIN_B": str(libraries[1])}
    return check(leg, program, ["frames.c", "plugin_of_frames.c"], libraries, *words, **names)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_c(request, compiled, check, tmp_path, debian, way):
    assert check_c(compiled, check, tmp_path, request.getfixturevalue(debian), way, "-fopenmp") > 400


@pytest.mark.parametrize("way", ["O0", "O2", "frame-pointers", "no-pie"])
def test_c_by_clang(openmpi, compiled, check, tmp_path, monkeypatch, way):
    if not shutil.which("clang"):
        pytest.skip("clang is not installed")
    monkeypatch.setenv("OMPI_CC", "clang")
    assert (
        check_c(compiled, check, tmp_path, openmpi, way, "-gdwarf-4", "-DBY_CLANG") >= 400
    )  # addr2line does not read ranges of DWARF 5 from clang


def test_c_under_each(mpi, compiled, check, tmp_path):
    assert check_c(compiled, check, tmp_path, mpi, "O2") >= 400


@pytest.mark.parametrize("way", ["O0", "O1", "O2", "O3", "frame-pointers"])
@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_cpp(request, compiled, check, debian, way):
    leg = request.getfixturevalue(debian)
    program = compiled(leg, "frames.cpp", "-std=c++20", "-fcoroutines", *WAYS[way])
    assert check(leg, program, ["frames.cpp"]) > 100


@pytest.mark.parametrize("interface", [1, 2, 3])
@pytest.mark.parametrize("way", ["O0", "O3"])
@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_fortran(request, compiled, check, debian, way, interface):
    leg = request.getfixturevalue(debian)
    kept = str(source_of("kept_for_fortran.c"))
    flags = (f"-DINTERFACE={interface}", "-fallow-argument-mismatch", "-frecursive", *WAYS[way])
    mpi_h = subprocess.run([leg.compilers[".c"], "-show"], capture_output=True, text=True, check=True).stdout.split()
    includes = [word for word in mpi_h if word.startswith("-I")]
    program = compiled(leg, "frames.F90", kept, f"-I{Path(kept).parent}", *includes, *flags)
    assert check(leg, program, ["frames.F90"]) > 30
