"""cffi builder of `analyzer._replay`: the simulator of `csrc/replay`, whose interface is `replay.h`."""

from pathlib import Path

import cffi

REPLAY = Path(__file__).resolve().parent / "replay"

ffi = cffi.FFI()
ffi.cdef("\n".join(line for line in (REPLAY / "replay.h").read_text().splitlines() if not line.startswith("#")))
ffi.set_source(
    "analyzer._replay",
    '#include "replay.h"\n',
    sources=sorted(f"csrc/replay/{p.name}" for p in REPLAY.glob("*.c")),
    include_dirs=["csrc/replay"],
    depends=sorted(f"csrc/replay/{p.name}" for p in REPLAY.glob("*.h")),
    extra_compile_args=["-std=gnu11", "-O3", "-Wall", "-Wextra", "-fvisibility=hidden"],
    libraries=["m"],
)

if __name__ == "__main__":
    ffi.compile(verbose=True)
