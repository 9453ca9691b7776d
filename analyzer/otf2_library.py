"""OTF2's library: its Python package for definitions, its C functions for events, which are too many for Python."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.errors import TracelibError

EVENT = np.dtype(
    [("time", "<i8"), ("length", "<i8"), ("request", "<i8"), ("what", "<u4"), ("comm", "<u4"), ("tag", "<u4"),
     ("kind", "<i4")]
)  # fmt: skip
"""`struct archive_event` of the kernel."""

NAMES = {
    lib.ARCHIVE_ENTER: "Enter",
    lib.ARCHIVE_LEAVE: "Leave",
    lib.ARCHIVE_SEND: "MpiSend",
    lib.ARCHIVE_ISEND: "MpiIsend",
    lib.ARCHIVE_ISEND_DONE: "MpiIsendComplete",
    lib.ARCHIVE_RECV_POSTED: "MpiIrecvRequest",
    lib.ARCHIVE_RECV: "MpiRecv",
    lib.ARCHIVE_IRECV: "MpiIrecv",
    lib.ARCHIVE_COLLECTIVE: "MpiCollectiveBegin",
    lib.ARCHIVE_COLLECTIVE_END: "MpiCollectiveEnd",
    lib.ARCHIVE_PROGRAM_BEGIN: "ProgramBegin",
    lib.ARCHIVE_PROGRAM_END: "ProgramEnd",
}
"""OTF2's name of each kind of event."""
NOBODY = 0xFFFFFFFF
"""Number that stands for no rank, such as the root of MPI_Allreduce."""


_SILENT = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p,
    ctypes.c_void_p,
)(lambda user, file, line, function, code, form, values: code)  # fmt: skip
"""Callback that the library calls instead of printing an error: the error is raised, and reported once."""


def package() -> Any:
    """Import the module otf2. Raises TracelibError if it is not installed."""
    try:
        import otf2
    except (ImportError, OSError) as error:
        raise TracelibError("OTF2 archives need the package otf2", "pip install otf2") from error
    functions().OTF2_Error_RegisterCallback(_SILENT, None)
    return otf2


def errors() -> tuple[type[Exception], ...]:
    """Return the exceptions that the package raises."""
    from _otf2 import Error
    from otf2.error import Error as SemanticError

    return Error, SemanticError


def functions() -> Any:
    """Return the library with all its functions, by ctypes."""
    from _otf2.Config import conf

    return conf.lib


def small_memory() -> Any:
    """Return the kernel's OTF2_MemoryCallbacks: a thread whose events are written has one chunk of them in memory."""
    from _otf2 import MemoryCallbacks

    of = dict(MemoryCallbacks._fields_)
    pointers = {"allocate": lib.archive_allocate(), "free_all": lib.archive_free_all()}
    return MemoryCallbacks(**{name: of[name](int(ffi.cast("intptr_t", at))) for name, at in pointers.items()})


def address(function: Any) -> Any:
    """Convert a function or object of ctypes to a C pointer."""
    return ffi.cast("void *", ctypes.cast(function, ctypes.c_void_p).value)
