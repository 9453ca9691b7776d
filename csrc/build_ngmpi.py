"""cffi builder of `tracelib._ngmpi`: the loops between messages of a network measurement (`python -m tracelib.ngmpi`).

Like libtrace.so it knows no mpi.h: what differs between MPIs, how they are found and the clock are the runtime's files.
Every `csrc/ngmpi/NAME.h` holds plain prototypes only: it is both what the compiler sees and what cffi parses.
"""

import sys
from pathlib import Path

import cffi

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from csrc import build_runtime, rooms  # noqa: E402
from csrc.generate.structs import c_enum, header  # noqa: E402

SOURCES = ROOT / "csrc" / "ngmpi"
SHARED = (
    "clock/clock", "common/user_message", "common/settings", "common/signals", "common/time_text", "mpi/abi",
    "mpi/detect", "mpi/resolve", "mpi/symbols",
)  # fmt: skip
"""Files of the runtime that serve here too."""


def write_headers(folder: Path) -> None:
    """Write net.h, and the headers that the runtime's files include."""
    build_runtime.generate(folder)
    net = build_runtime.module(ROOT / "tracelib" / "schema" / "net.py")
    (folder / "net.h").write_text(header("NET_H", c_enum(net.RowFlag, "flag")))


write_headers(build_runtime.GENERATED)

ffi = cffi.FFI()
_names = rooms.interface("ngmpi")
for _name in _names:
    ffi.cdef(rooms.declarations(SOURCES / _name))
ffi.set_source(
    "tracelib._ngmpi",
    "".join(f'#include "{name}"\n' for name in _names),
    sources=[*rooms.relative(rooms.sources("ngmpi")), *(f"csrc/runtime/{n}.c" for n in SHARED)],
    include_dirs=["csrc/ngmpi", "csrc/runtime", "build/generated"],
    depends=[*rooms.relative(rooms.headers("ngmpi")), "tracelib/schema/net.py"],
    extra_compile_args=["-std=gnu11", "-O2", "-fvisibility=hidden", "-fno-strict-aliasing", "-Wall", "-Wextra"],
)

if __name__ == "__main__":
    ffi.compile(verbose=True)
