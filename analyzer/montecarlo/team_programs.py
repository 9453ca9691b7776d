"""The programs of runs on all members of a team: all translate, the first writes files, the others map these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

import numpy as np

from analyzer.errors import TracelibError
from analyzer.parallel import Team
from analyzer.program.files import load_program, save_program
from analyzer.program.model import Program, pieces
from analyzer.replay.section import ReplaySection, section_of
from analyzer.signal_handling import discard
from analyzer.temporary_files import temporary_folder
from analyzer.trace import Trace

_NO_ROOM = "set TMPDIR to another folder"


def sections_of(traces: Sequence[Trace], team: Team, *, buffered: bool = False) -> list[ReplaySection]:
    """Return the section of each trace on each member. All members of the team call this.

    Members on another node do not see the files of the first member. They translate for themselves, so that only the
    traces' folder must be shared.

    Args:
        traces: The runs.
        team: Processes that share the work.
        buffered: As for `section_of`.

    Raises:
        TracelibError: As `section_of`. Or the first member has no room for its files, or a member sees another run
            under the same name.
    """
    if team.size == 1:
        return [section_of(trace, buffered=buffered) for trace in traces]
    folder = temporary_folder("tracelib-programs-") if team.rank == 0 else None
    try:
        folder = team.bcast(folder)
        mine = [section_of(trace, team, buffered=buffered, everywhere=False) for trace in traces]
        for number, section in enumerate(mine) if team.rank == 0 else ():
            _save(section.program, folder / str(number))
        known = team.bcast([digest(section.program) for section in mine] if team.rank == 0 else None)
        if team.rank:
            places = ((trace, folder / str(k)) for k, trace in enumerate(traces))
            mine = [
                _section(*place, section, digest_, buffered=buffered)
                for place, section, digest_ in zip(places, mine, known, strict=True)
            ]
        team.barrier()
    finally:
        if team.rank == 0 and folder is not None:
            discard(folder)
    return mine


def _save(program: Program, folder: Path) -> None:
    try:
        save_program(program, folder)
    except OSError as error:
        raise TracelibError(f"cannot write {folder}: {error.strerror}", _NO_ROOM) from error


def _section(trace: Trace, folder: Path, mine: ReplaySection, known: str, *, buffered: bool) -> ReplaySection:
    try:
        return replace(mine, program=load_program(folder))
    except OSError:
        found = section_of(trace, buffered=buffered)
    if digest(found.program) != known:
        raise TracelibError(
            f"{trace.path} on this node is not the run that process 0 reads",
            "put it into a folder that all nodes share",
        )
    return found


def digest(program: Program) -> str:
    """Return a checksum of a program, by which two programs can be compared."""
    found = blake2b(digest_size=16)
    for ops in pieces(program):
        found.update(np.ascontiguousarray(ops).view(np.uint8).data)
    found.update(
        repr((program.offsets.tolist(), program.communicators, program.factors.tolist(), program.buffered)).encode()
    )
    return found.hexdigest()
