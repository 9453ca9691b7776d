"""The programs of runs on all members of a team: all translate, one writes each program, the others map that."""

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
    """Return the section of each trace, on each member; all members call this.

    A member on another node than the first, which sees none of its files, translates for itself: no folder but the
    traces' is shared. Raises TracelibError as `section_of`, if the first has no room for its files, or if a member sees
    another trace under the same name.

    A member on another node than the first, which sees no file of that, translates for itself: no folder is shared
    but that of the traces. Raises TracelibError as `section_of`, where the first has no room for what it writes, and
    where a member sees another trace under the same name.
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
    """Return a number that tells programs apart."""
    found = blake2b(digest_size=16)
    for ops in pieces(program):
        found.update(np.ascontiguousarray(ops).view(np.uint8).data)
    found.update(
        repr((program.offsets.tolist(), program.communicators, program.factors.tolist(), program.buffered)).encode()
    )
    return found.hexdigest()
