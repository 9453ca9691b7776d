"""Builds `libtrace.so`: generates its tables and wrappers, then one call of the C compiler."""

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from csrc import rooms  # noqa: E402
from csrc.generate import links, semantics, standard, structs, template, wrappers  # noqa: E402

RUNTIME = ROOT / "csrc" / "runtime"
INCLUDE = ROOT / "tracelib" / "include"  # what the library and the traced program share
GENERATED = ROOT / "build" / "generated"
_ROW_OF = {"accesses": "access", "summaries": "summary"}
"""The C name of a table's row where it is not the table's name without the s."""
WARNINGS = ["-Wall", "-Wextra"]  # errors in the tests, not on a user's compiler
CLANG = [
    "-Wno-deprecated-non-prototype",  # words are passed through to functions of unknown arguments on purpose
    "-fomit-frame-pointer",  # as gcc, whatever the distribution's default
    "-mno-implicit-float",  # small structs are copied as they were written: a wide read would wait for narrow writes
]


SCHEMA, VARIABLES = ROOT / "tracelib" / "schema" / "__init__.py", ROOT / "tracelib" / "variables.py"
NODE = SCHEMA.with_name("node.py")


def module(path: Path):
    """Load a module by its file: the package itself is not needed to build."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def variables_header(variables) -> str:
    """Write variables.h: the names of all variables, and the bounds of sizes."""
    names = ", ".join(f'"{name}"' for name in variables.NAMES)
    bounds = {"BUFFER": variables.BUFFER_BYTES, "LIMIT": variables.LIMIT_BYTES}
    lines = [f"#define LEAST_{n} UINT64_C({b[0]})\n#define MOST_{n} UINT64_C({b[1]})" for n, b in bounds.items()]
    return structs.header("VARIABLES_H", f"#define VARIABLE_NAMES {names}", *lines)


def generate(folder: Path) -> Path:
    """Write schema.h, variables.h, call_classes.h, links.h and wrappers.c; return the last."""
    folder.mkdir(parents=True, exist_ok=True)
    schema, variables, procedures = module(SCHEMA), module(VARIABLES), standard.procedures()
    rows = {_ROW_OF.get(table, table.removesuffix("s")): dtype for table, dtype in schema.TABLES.items() if dtype.names}
    parts = [structs.c_struct(f"file_{row}", dtype) for row, dtype in rows.items()]
    parts.append(structs.c_struct("spool_header", schema.SPOOL_HEADER))
    enums = (
        (schema.Peer, "peer"),
        (schema.RequestKind, "what"),
        (schema.ProcessState, "state"),
        (schema.ObjectKind, "objectkind"),
        (schema.LabelKind, "labelkind"),
        (schema.CounterBackend, "counterbackend"),
        (schema.OffCpuState, "offcpu"),
    )
    parts += [structs.c_enum(enum, name) for enum, name in enums]
    shared = re.compile(
        r"\w+_(TYPE|BASE)|BLOCK_\w+|SPOOL_HEADER_BYTES|FLUSHING|LEAVING_OUT|SKIPPED_BY_DROPPING|WHAT_ORDINAL_SHIFT|SAMPLER_THREAD|COMMUNICATOR_IS_GROUP|PROGRESSION_\w+|ACCESS_HAS_GROUP|PATH_(IN_FUNCTION|CUT|LOST|SHORT)|SAMPLE_\w+|CALL_WAS_LEFT"
    )
    numbers = {name: getattr(schema, name) for name in vars(schema) if shared.fullmatch(name)}
    parts.append(f"enum {{ {', '.join(f'{n} = {value}' for n, value in numbers.items())} }};")
    least_ms, most_ms = module(NODE).SYSTEM_PERIOD_MS
    parts.append(f"enum {{ SYSTEM_LEAST_MS = {least_ms}, SYSTEM_MOST_MS = {most_ms} }};")
    parts.append(f'#define SPOOL_MAGIC "{schema.SPOOL_MAGIC.decode()}"\n')
    parts.append(template.c_header(template.make(schema, [p.name for p in procedures]), schema))
    (folder / "schema.h").write_text(structs.header("SCHEMA_H", *parts))
    (folder / "variables.h").write_text(variables_header(variables))
    (folder / "call_classes.h").write_text(semantics.c_header())
    (folder / "links.h").write_text(links.c_header(*links.make(schema)))
    source = folder / "wrappers.c"
    source.write_text(wrappers.source(procedures))
    return source


def _is_clang(compiler: list[str]) -> bool:
    said = subprocess.run([*compiler, "--version"], capture_output=True, text=True)
    return "clang" in said.stdout


def build(output: Path, generated: Path = GENERATED, extra: list[str] | None = None) -> None:
    """Compile the runtime into `output` with $CC, $CFLAGS and $LDFLAGS; `extra` flags for sanitizers."""
    sources = [*rooms.sources("runtime"), generate(generated)]
    compiler = shlex.split(os.environ.get("CC", "cc"))
    flags = [
        "-std=gnu11",
        "-O2",
        "-fPIC",
        "-shared",
        "-fvisibility=hidden",
        "-ftls-model=initial-exec",
        "-fno-strict-aliasing",
        *WARNINGS,
        *(CLANG if _is_clang(compiler) else []),
    ]
    flags += shlex.split(os.environ.get("CFLAGS", "")) + (extra or [])
    includes = [f"-I{folder}" for folder in (RUNTIME, INCLUDE, generated)]
    output.parent.mkdir(parents=True, exist_ok=True)
    command = [
        *compiler,
        *flags,
        *includes,
        "-o",
        str(output),
        *map(str, sources),
        "-Wl,-z,nodelete",
        *shlex.split(os.environ.get("LDFLAGS", "")),
        "-ldl",
        "-lpthread",
    ]
    subprocess.run(command, check=True)


def build_if_stale(output: Path) -> None:
    """Compile only if a source is newer than `output`: the wrappers take a while."""
    inputs = [
        *RUNTIME.rglob("*.[ch]"),
        *INCLUDE.glob("*.h"),
        *(ROOT / "csrc").rglob("*.py"),
        *SCHEMA.parent.glob("*.py"),
        *SCHEMA.parent.glob("*.toml"),
        VARIABLES,
    ]
    if not output.exists() or output.stat().st_mtime < max(p.stat().st_mtime for p in inputs):
        build(output)


if __name__ == "__main__":
    build(ROOT / "tracelib" / "libtrace.so", extra=sys.argv[1:])
