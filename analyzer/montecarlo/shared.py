"""The programs of runs on all members of a team: one translates each trace, the others map what it wrote."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np

from analyzer.operations.operation import Program
from analyzer.parallel import Team
from analyzer.replay.program_file import load_program, save_program
from analyzer.replay.section import Section, section_of
from analyzer.trace import Trace

_BLOCK = 1 << 20


def sections_of(traces: Sequence[Trace], team: Team) -> list[Section]:
    """The section of each trace, on each member; all members call this.

    A member on another node than the first, which sees no file of that, translates for itself.
    Raises TracelibError as `section_of`.
    """
    if team.size == 1:
        return [section_of(trace) for trace in traces]
    folder = Path(tempfile.mkdtemp(prefix="tracelib-programs-")) if team.rank == 0 else None
    try:
        folder = team.bcast(folder)
        mine = [section_of(trace) for trace in traces] if team.rank == 0 else []
        for number, section in enumerate(mine):
            save_program(section.program, folder / str(number))
        ends = team.bcast([(section.begin, section.end) for section in mine])
        if team.rank:
            mine = [_section(trace, folder / str(k), *ends[k]) for k, trace in enumerate(traces)]
        team.barrier()
    finally:
        if team.rank == 0 and folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
    return mine


def _section(trace: Trace, folder: Path, begin: np.ndarray, end: np.ndarray) -> Section:
    try:
        return Section(load_program(folder), begin, end)
    except OSError:
        return section_of(trace)


def digest(program: Program) -> str:
    """A number that tells programs apart."""
    found = blake2b(digest_size=16)
    for start in range(0, len(program.ops), _BLOCK):
        found.update(np.ascontiguousarray(program.ops[start : start + _BLOCK]).view(np.uint8).data)
    found.update(repr((program.offsets.tolist(), program.communicators, program.factors.tolist())).encode())
    return found.hexdigest()
