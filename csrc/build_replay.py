"""cffi builder of `analyzer._replay`, from `csrc/replay`: the simulator, whose interface is `replay.h`, the replay on
the ideal network, `ideal/ideal.h`, and the packed form of operations, `packed/format.h`."""

import sys
from pathlib import Path

import cffi

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from csrc import rooms  # noqa: E402

REPLAY = ROOT / "csrc" / "replay"
SOURCES = rooms.sources("replay")

ffi = cffi.FFI()
_HEADERS = ("replay.h", "packed/format.h", "packed/pack.h", "ideal/ideal.h")
for _name in _HEADERS:
    ffi.cdef(rooms.declarations(REPLAY / _name))
ffi.set_source(
    "analyzer._replay",
    "".join(f'#include "{name}"\n' for name in _HEADERS),
    sources=rooms.relative(SOURCES),
    include_dirs=["csrc/replay"],
    depends=rooms.relative(rooms.headers("replay")),
    extra_compile_args=["-std=gnu11", "-O3", "-Wall", "-Wextra", "-fvisibility=hidden"],
    libraries=["m"],
)

if __name__ == "__main__":
    ffi.compile(verbose=True)
