"""Programs' own notes of their regions, parameters and events, compared with the recording."""

import json
import struct
from collections.abc import Iterable
from pathlib import Path

from result import RankFile

from tracelib import schema
from tracelib.launchers import INCLUDE
from tracelib.schema import LabelKind

TRACERS_OWN = (
    schema.FLUSH_TYPE,
    schema.SYNC_TYPE,
    schema.PATHS_TYPE,
    schema.OFF_CPU_TYPE,
    schema.RUN_DELAY_TYPE,
)
"""Types of events that the program has not asked for."""


def names_of(file: RankFile, kind: LabelKind) -> dict[int, str]:
    """Number -> name of the regions or parameters of a rank."""
    labels = file.tables["labels"]
    return {int(row["value"]): row["name"].decode() for row in labels[labels["kind"] == kind]}


def recorded(file: RankFile) -> dict[int, list[list]]:
    """The program's events of each thread in the form of its notes."""
    regions, parameters = (names_of(file, kind) for kind in (LabelKind.REGION, LabelKind.PARAMETER))
    found: dict[int, list[list]] = {}
    for row in file.tables["events"]:
        kind, value, flags = int(row["type"]), int(row["value"]), int(row["flags"])
        note = None
        if kind == schema.REGION_TYPE:
            note = ["begin" if flags == 1 else "end", regions[value] if value else ""]
        elif kind == schema.PARAMETER_TYPE:
            name = parameters[flags & 32767]
            note = ["real", name, real(value)] if flags & 32768 else ["integer", name, value]
        elif kind == schema.PARALLEL_TYPE:
            note = ["parallel", value]
        elif kind not in TRACERS_OWN:
            note = ["event", kind, value]
        if note:
            found.setdefault(int(row["thread"]), []).append(note)
    return found


def real(bits: int) -> float:
    """The double with these bits."""
    return struct.unpack("d", struct.pack("q", bits))[0]


def noted(folder: Path, rank: int) -> list[list[list]]:
    """Read the notes of each thread of a rank."""
    paths = sorted(folder.glob(f"notes-{rank}-*.jsonl"))
    return [[read_note(line) for line in path.read_text().splitlines()] for path in paths]


def read_note(line: str) -> list:
    """One thing that a program did; C writes 1.0 as 1."""
    note = json.loads(line)
    return [*note[:2], float(note[2])] if note[0] == "real" else note


def in_any_order(threads: Iterable[list]) -> list[str]:
    """Threads are numbered in the order of their first record, which is not ours to know."""
    return sorted(map(json.dumps, threads))


def compile_flags() -> tuple[str, ...]:
    """Return the compiler flags of a program that includes tracelib.h."""
    return ("-I", str(INCLUDE), "-lpthread")
