"""An MPI that the library does not know: the program runs as without us, one line says why nothing is recorded."""

import os
import subprocess
import sys

import matrix
import pytest
from conftest import LIBRARY, source_of
from patience import patient

EXPECTED = "0 of 1, 4 bytes, 42 from 0 with 5 in 8 bytes at 42\n"
UNKNOWN = "the MPI library {path} is neither Open MPI nor MPICH nor of the standard ABI"
CONTRADICTS = "this MPI has the symbols of MPICH, but writes MPI_Status in another way"
ENDS = "; the program runs untraced (tracelib doctor tells more)\n"

KINDS = {
    "no profiling interface": ([], "libmpi.so.1", UNKNOWN),
    "profiled": (["-DPROFILED"], "libmpi_vendor.so", UNKNOWN),
    "named as MPICH": (["-DPROFILED"], "libmpi.so.12", UNKNOWN),
    "named as the standard ABI": (["-DPROFILED"], "libmpi_abi.so.1", UNKNOWN),
    "another name": (["-DPROFILED"], "libvendor.so", UNKNOWN),
    "symbols of MPICH": (["-DPROFILED", "-DCLAIMS_MPICH"], "libmpi.so.12", CONTRADICTS),
}


def build(folder, flags, name):
    """The made-up library and a program of it."""
    library, program = folder / name, folder / "program"
    subprocess.run(["cc", "-w", "-shared", "-fPIC", *flags, source_of("made_up_mpi.c"), "-o", library], check=True)
    words = ["cc", "-w", source_of("uses_made_up_mpi.c"), "-o", program, library, f"-Wl,-rpath,{folder}"]
    subprocess.run(words, check=True)
    return library, program


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_refused_and_the_program_unharmed(tmp_path, kind):
    flags, name, text = KINDS[kind]
    library, program = build(tmp_path, flags, name)
    environment = matrix.environment() | {"LD_PRELOAD": str(LIBRARY)}
    done = subprocess.run([program], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=patient(30))
    assert (done.returncode, done.stdout) == (0, EXPECTED)
    assert done.stderr == "tracelib: " + text.format(path=library) + ENDS
    assert not list(tmp_path.glob("run*"))


def test_one_rank_speaks_for_all(tmp_path):
    _, program = build(tmp_path, ["-DPROFILED"], "libmpi.so")
    environment = matrix.environment() | {"LD_PRELOAD": str(LIBRARY), "PMI_RANK": "3"}
    done = subprocess.run([program], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=patient(30))
    assert (done.returncode, done.stdout, done.stderr) == (0, EXPECTED, "")


@pytest.mark.parametrize("kind", ["profiled", "symbols of MPICH"])
def test_doctor_says_the_same(tmp_path, kind):
    flags, name, text = KINDS[kind]
    library, program = build(tmp_path, flags, name)
    words = [sys.executable, "-m", "tracelib", "doctor", "--", program]
    path = os.pathsep.join(filter(None, [str(matrix.ROOT), os.environ.get("PYTHONPATH")]))
    environment = matrix.environment(python=True) | {"PYTHONPATH": path, "COLUMNS": "1000"}
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=patient(60))
    assert done.returncode != 0
    assert " ".join(text.format(path=library).split()) in " ".join(done.stdout.split())
