"""cffi builder of `analyzer._kernels`: the few loops over records that numpy cannot do fast.

The headers `csrc/kernels/ROOM/NAME.h` hold plain prototypes only: they are both what the compiler sees and what cffi
parses. Records are passed as `void *` into numpy arrays; their structs are generated
from the dtypes of `analyzer.trace.records` and `tracelib.schema` (`struct trace_call`, `struct file_call`, ...), the
types of events that are MPI calls from `tracelib/schema/procedures.toml`.
"""

import importlib.util
import sys
from pathlib import Path

import cffi

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from csrc import rooms  # noqa: E402
from csrc.generate.structs import c_enum, c_struct, header  # noqa: E402


def _load(path: Path):
    """Load a module by its file, so that building needs none of its package's dependencies."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module


_NUMBERS = ("WHAT_ORDINAL_SHIFT", "BLOCK_DROPPED", "BLOCK_UNWRITTEN", "PROGRESSION_BIT", "PROGRESSION_STRIDE_SHIFT")


def records_header() -> str:
    """Write structs of both record families and the enums that kernels need."""
    trace = _load(ROOT / "analyzer" / "trace" / "records.py")
    events = _load(ROOT / "analyzer" / "trace" / "event_types.py")
    schema = _load(ROOT / "tracelib" / "schema" / "__init__.py")
    parts = [
        c_struct(f"trace_{n.lower()}", getattr(trace, n))
        for n in ("STATE", "EVENT", "MESSAGE", "CALL", "REQUEST", "FLUSH")
    ]
    rows = ("CALL", "REQUEST", "POLL", "EVENT", "ACCESS", "SUMMARY", "COMMUNICATOR", "SKIPPED", "BLOCK")
    parts += [c_struct(f"file_{n.lower()}", getattr(schema, n)) for n in rows]
    numbers = [n for n in vars(schema) if n.endswith("_TYPE") or n in _NUMBERS]
    parts.append(f"enum {{ {', '.join(f'{n} = {getattr(schema, n)}' for n in numbers)} }};")
    parts.append(_mpi_event_types())
    return header(
        "RECORDS_H",
        *parts,
        c_enum(schema.Peer),
        c_enum(schema.RequestKind, "what"),
        c_enum(trace.State, "state"),
        c_enum(events.EventType),
    )


def _mpi_event_types() -> str:
    """Write types of the events that are MPI calls, of procedures.toml: their number, and X(place, type) of each."""
    events = _load(ROOT / "tracelib" / "schema" / "procedure_table.py").read_table().events
    places = " ".join(f"X({place}, {family.number})" for place, family in enumerate(events.values()))
    return f"enum {{ MPI_EVENT_TYPES = {len(events)} }};\n#define EACH_MPI_EVENT_TYPE(X) {places}"


KERNELS, REPLAY = ROOT / "csrc" / "kernels", ROOT / "csrc" / "replay"
GENERATED = ROOT / "build" / "generated"
GENERATED.mkdir(parents=True, exist_ok=True)
_records = GENERATED / "records.h"
if not _records.exists() or _records.read_text() != records_header():  # a newer one would compile all kernels again
    _records.write_text(records_header())
SOURCES = [*rooms.sources("kernels"), REPLAY / "packed" / "pack.c"]

ffi = cffi.FFI()
_names = rooms.interface("kernels")
for _name in _names:
    ffi.cdef(rooms.declarations(KERNELS / _name))
ffi.set_source(
    "analyzer._kernels",
    "".join(f'#include "{name}"\n' for name in _names),
    sources=rooms.relative(SOURCES),
    include_dirs=["csrc/kernels", "csrc/replay", "build/generated"],
    depends=["build/generated/records.h", *rooms.relative([*rooms.headers("kernels"), *rooms.headers("replay")])],
    extra_compile_args=["-std=gnu11", "-O3", "-Wall", "-Wextra", "-fvisibility=hidden"],
)

if __name__ == "__main__":
    ffi.compile(verbose=True)
