"""cffi builder of `tracelib._functions`, through which Python reaches the functions of a preloaded libtrace.so.

There is nothing to compile: the library is looked for in the running process, its tables are described in headers.
"""

import re
from pathlib import Path

import cffi

ROOT = Path(__file__).resolve().parent.parent
TABLES = {"tracelib/include/tracelib.h": "tracelib_functions", "csrc/runtime/counters/probe.h": "tracelib_probes"}
"""Header -> the struct of functions that it declares, which is also the name of the library's only one."""

ffi = cffi.FFI()
for header, table in TABLES.items():
    structs = re.findall(r"^struct \w+ \{\n.*?\n\};", (ROOT / header).read_text(), re.DOTALL | re.MULTILINE)
    if not any(text.startswith(f"struct {table} ") for text in structs):
        raise RuntimeError(f"{header}: no struct {table}")
    ffi.cdef("\n".join([*structs, f"extern const struct {table} {table};"]))
ffi.set_source("tracelib._functions", None)
