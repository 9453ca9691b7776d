"""Frames that are not the program's own: code that starts it and its threads, MPI and its bindings, an interpreter."""

from __future__ import annotations

import re

from tracelib.schema.procedures import DECODED, INIT, base_name

_START = frozenset(
    {
        "_start",
        "__libc_start_main",
        "__libc_start_main_impl",
        "__libc_start_main_alias_1",
        "__libc_start_main_alias_2",
        "__libc_start_call_main",
        "generic_start_main",
        "start_thread",
        "clone",
        "__clone",
        "__GI___clone",
        "clone3",
        "__clone3",
        "__GI___clone3",
        "thread_start",
        "_dl_start_user",
        "_start_c",
        "libc_start_main_stage2",
    }
)
_RUNTIME_LIBRARY = re.compile(
    r"(linux-vdso|libc|libpthread|ld|ld64|libstdc\+\+|libc\+\+(abi)?|libgomp|libomp|libiomp5|ld-linux[^.]*|ld-musl[^.]*)"
    r"(-[\d.]+)?\.so(\.\d+)*"
)
_MPI_LIBRARY = re.compile(
    r"(libmpi|libpmpi|libmpich(fort|f90|cxx)?|libmpifort|libmpicxx|libmpi_\w+|libfmpich|libopen-(rte|pal)|libprrte|libpmix"
    r"|libboost_mpi\w*|libtrace|libvtmpi)([-_.][\w.+-]*)?\.so[\d.]*|mca_\w+\.so"
)
_BINDING_OF_PYTHON = re.compile(r"(^|/)mpi4py/")
_MPI_FUNCTION = re.compile(r"P?MPI_\w+|(P?MPI|boost::mpi)::.*|ompi_\w+|MPI(R|D\w*)_\w+")
BEGINNINGS = tuple(symbol for name in sorted(INIT) for symbol in (name, f"{name.lower()}_", f"{name.lower()}_f08_"))
"""Names under which programs begin with MPI. A library that has one stands between programs and MPI: it is a tool, or
MPI itself."""
_INTERPRETER = re.compile(r"libpython\d.*\.so[\d.]*|python(\d+(\.\d+)*)?[dmt]*")


def is_start_code(function: str) -> bool:
    """Return True if the C library starts programs and threads with this function."""
    return function in _START


def is_runtime_library(path: str) -> bool:
    """Return True if a module is the library of C, C++ or OpenMP, or the dynamic loader.

    These start programs and threads, and call back.
    """
    return bool(_RUNTIME_LIBRARY.fullmatch(_name(path)))


def is_mpi_library(path: str) -> bool:
    """Return True if a module, or a file of Python, belongs to MPI, to one of its bindings, or to tracelib."""
    return bool(_MPI_LIBRARY.fullmatch(_name(path)) or _BINDING_OF_PYTHON.search(path))


def is_mpi_function(function: str) -> bool:
    """Return True if a function, by its readable name, is MPI's or a binding's. It may lie in the program itself."""
    return bool(_MPI_FUNCTION.fullmatch(function))


def is_wrapper(function: str) -> bool:
    """Return True if a function has the name of one of MPI's procedures: its callees are not the program's."""
    return base_name(function.removeprefix("P")) in DECODED


def is_interpreter(path: str) -> bool:
    """Return True if a module is the interpreter of Python."""
    return bool(_INTERPRETER.fullmatch(_name(path)))


def is_import(file: str) -> bool:
    """Return True if a file of Python is the part of the interpreter that imports modules."""
    return file.startswith("<frozen importlib.")


def is_shown_in_detail(path: str) -> bool:
    """Return True if lines of a module's source are of interest."""
    return not (is_mpi_library(path) or is_runtime_library(path) or is_interpreter(path))


def _name(path: str) -> str:
    return path.rpartition("/")[2]
