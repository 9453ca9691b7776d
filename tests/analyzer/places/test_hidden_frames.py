"""Whose a frame is, by names."""

import pytest

from analyzer.places.hidden_frames import (
    is_import,
    is_interpreter,
    is_mpi_function,
    is_mpi_library,
    is_runtime_library,
    is_start_code,
    is_wrapper,
)


@pytest.mark.parametrize(
    "path",
    [
        "/usr/lib/libmpi.so.40.30.4",
        "/opt/cray/libmpi_gnu_91.so.12",
        "/usr/lib/x86_64-linux-gnu/libmpich.so.12",
        "/opt/intel/libmpifort.so.12.0",
        "/usr/lib/x86_64-linux-gnu/libmpichfort.so.12",
        "/usr/lib/x86_64-linux-gnu/libmpichcxx.so.12",
        "/usr/lib/libmpichf90.so.12",
        "/usr/lib/libmpi_cxx.so.40",
        "/usr/lib/libmpi_usempif08.so.40",
        "/usr/lib/libmpi_mpifh.so.40",
        "/usr/lib/openmpi/mca_coll_tuned.so",
        "/x/site-packages/mpi4py/MPI.cpython-311-x86_64-linux-gnu.so",
        "/x/site-packages/mpi4py/MPI.mpich.cpython-312-x86_64-linux-gnu.so",
        "/x/site-packages/mpi4py/util/pkl5.py",
        "/x/site-packages/tracelib/libtrace.so",
        "/usr/lib/libboost_mpi.so.1.74.0",
        "/usr/lib/libopen-pal.so.40",
    ],
)
def test_libraries_of_mpi(path):
    assert is_mpi_library(path)


@pytest.mark.parametrize(
    "path",
    [
        "/home/u/libmpio.so",
        "/home/u/my_libmpi.so",
        "/home/u/mpi_solver",
        "/home/u/mpi4py_demo.py",
        "/lib/libm.so.6",
        "",
    ],
)
def test_libraries_of_others(path):
    assert not is_mpi_library(path)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("MPI_Send", True),
        ("PMPI_Send", True),
        ("MPI::Comm::Send(void const*, int)", True),
        ("boost::mpi::communicator::send", True),
        ("mpi_exchange", False),
        ("exchange", False),
        ("my::MPI_Send", False),
        ("", False),
    ],
)
def test_functions_of_mpi(function, expected):
    assert is_mpi_function(function) == expected


def test_what_starts_programs():
    assert is_start_code("_start") and is_start_code("__libc_start_call_main") and is_start_code("clone3")
    assert not is_start_code("main") and not is_start_code("start")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/lib/x86_64-linux-gnu/libc.so.6", True),
        ("/lib64/libc-2.31.so", True),
        ("/lib64/ld-linux-x86-64.so.2", True),
        ("/lib/ld-musl-x86_64.so.1", True),
        ("/lib64/libpthread-2.28.so", True),
        ("/usr/lib/libstdc++.so.6.0.30", True),
        ("/usr/lib/libc++abi.so.1", True),
        ("/usr/lib/libgomp.so.1", True),
        ("/opt/intel/libiomp5.so", True),
        ("/lib/libcrypt.so.1", False),
        ("/lib/libm.so.6", False),
        ("/home/u/libc_like.so", False),
        ("/home/u/libc", False),
    ],
)
def test_libraries_that_start_and_call_back(path, expected):
    assert is_runtime_library(path) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/usr/bin/python3.11", True),
        ("/usr/bin/python3", True),
        ("/usr/bin/python", True),
        ("/usr/lib/libpython3.11.so.1.0", True),
        ("/home/u/python_solver", False),
        ("/home/u/pythonic", False),
    ],
)
def test_interpreters(path, expected):
    assert is_interpreter(path) == expected


def test_what_imports_modules_is_not_the_program():
    assert is_import("<frozen importlib._bootstrap>") and is_import("<frozen importlib._bootstrap_external>")
    assert not any(
        map(is_import, ("<frozen heat>", "<string>", "importlib.py", "/usr/lib/python3.11/importlib/abc.py"))
    )


def test_wrappers_have_the_very_names_of_procedures():
    assert all(map(is_wrapper, ("MPI_Send", "PMPI_Send", "MPI_Send_c", "MPI_Iallreduce", "MPI_File_open")))
    assert not any(map(is_wrapper, ("MPI_Exchange_all", "mpi_send", "count", "", "MPI_", "MPI::Comm::Send")))
