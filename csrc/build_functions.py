"""cffi builder of `tracelib._functions`, through which Python reaches the functions of a preloaded libtrace.so.

There is nothing to compile: the library is looked for in the running process, its table is described in tracelib.h.
"""

import re
from pathlib import Path

import cffi

HEADER = Path(__file__).resolve().parent.parent / "tracelib" / "include" / "tracelib.h"

_table = re.search(r"struct tracelib_functions \{.*?\n\};", HEADER.read_text(), re.DOTALL)
if _table is None:
    raise RuntimeError(f"{HEADER}: no struct tracelib_functions")
ffi = cffi.FFI()
ffi.cdef(f"{_table[0]}\nextern const struct tracelib_functions tracelib_functions;")
ffi.set_source("tracelib._functions", None)
