"""cffi builder of `analyzer._replay`, from `csrc/replay`: the simulator, whose interface is `replay.h`, and the packed
form of its operations, `pack.h`."""

from pathlib import Path

import cffi

REPLAY = Path(__file__).resolve().parent / "replay"

ffi = cffi.FFI()
_HEADERS = ("replay.h", "pack.h")
for _name in _HEADERS:
    ffi.cdef("\n".join(line for line in (REPLAY / _name).read_text().splitlines() if not line.startswith("#")))
ffi.set_source(
    "analyzer._replay",
    "".join(f'#include "{name}"\n' for name in _HEADERS),
    sources=sorted(f"csrc/replay/{p.name}" for p in REPLAY.glob("*.c")),
    include_dirs=["csrc/replay"],
    depends=sorted(f"csrc/replay/{p.name}" for p in REPLAY.glob("*.h")),
    extra_compile_args=["-std=gnu11", "-O3", "-Wall", "-Wextra", "-fvisibility=hidden"],
    libraries=["m"],
)

if __name__ == "__main__":
    ffi.compile(verbose=True)
