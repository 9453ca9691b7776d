"""Programs in files, so that several processes replay one translation of a trace.

Also gathers the operations that the members of a team have translated.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

from analyzer.errors import TracelibError
from analyzer.parallel import Team
from analyzer.program.model import LeftOut, Program
from analyzer.program.storage import IN_MEMORY, OperationSpill, PackedOperations, packed

_SMALL = ("offsets", "rank", "thread", "slots", "factors")
_OPTIONAL = ("priority", "shared_slots")


def save_program(program: Program, folder: Path) -> None:
    """Write a program into a folder. Raises TracelibError if it cannot be written."""
    members = np.array([m for group in program.communicators for m in group], np.int32)
    sizes = np.array([*map(len, program.communicators)], np.int64)
    rest = {name: getattr(program, name) for name in _SMALL} | {"members": members, "sizes": sizes}
    for name in _OPTIONAL:
        if getattr(program, name) is not None:
            rest[name] = getattr(program, name)
    ops = packed(program.ops)
    rest["left_out_names"] = np.array([row.procedure for row in program.left_out], np.str_)
    rest["left_out"] = np.array([(row.calls, row.time_ns) for row in program.left_out], np.int64).reshape(-1, 2)
    numbers = np.array([program.ranks, program.buffered, ops.virtual_threads, ops.places], np.int64)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        np.savez(folder / "rest.npz", numbers=numbers, name=np.array(program.name), blocks=ops.blocks, **rest)
        with (folder / "ops.bin").open("wb") as file:
            for part in ops.parts():
                file.write(part)
    except OSError as error:
        raise TracelibError(f"cannot write into {folder}: {error.strerror}", "make room, or set TMPDIR") from error


def load_program(folder: Path) -> Program:
    """Load the program in a folder. Its operations stay readable after the folder is removed.

    Raises OSError if the folder cannot be read on this machine.
    """
    with np.load(folder / "rest.npz") as rest:
        cuts = np.cumsum(rest["sizes"])[:-1]
        groups = np.split(rest["members"], cuts) if len(rest["sizes"]) else []
        ranks, buffered, *of_operations = rest["numbers"].tolist()
        small = {name: rest[name] for name in _SMALL}
        left_out = zip(rest["left_out_names"].tolist(), rest["left_out"].tolist(), strict=True)
        file = (folder / "ops.bin").open("rb")  # the operations need it as long as they are there
        return Program(
            ops=PackedOperations(file, rest["blocks"], int(rest["offsets"][-1]), *of_operations),
            communicators=tuple(tuple(group.tolist()) for group in groups), ranks=ranks, name=str(rest["name"]),
            buffered=buffered, left_out=tuple(LeftOut(name, *counts) for name, counts in left_out),
            **{name: rest.get(name) for name in _OPTIONAL}, **small,
        )  # fmt: skip


Found = TypeVar("Found")


def gathered(mine: OperationSpill, team: Team, *, everywhere: bool = True) -> OperationSpill:
    """Gather the operations of all members of a team, in order of members. Collective.

    Args:
        mine: Operations of this member.
        team: The members, who all call this.
        everywhere: True: each member gets all operations. False: only the first member does, the others get none.

    Raises:
        TracelibError: A member has no room for them. All members raise it.
    """
    if team.size == 1:
        return mine
    found = OperationSpill()
    copies = _copies(together(team, mine.packed), team, everywhere=everywhere)
    for one in copies if everywhere or team.rank == 0 else ():
        for piece in one.pieces():
            found.append(piece)
    return found


def together(team: Team, work: Callable[[], Found]) -> Found:
    """Return the result of `work` on this member. If it raises a TracelibError on one member, all raise it.

    Collective.
    """
    error: TracelibError | None = None
    try:
        found = work()
    except TracelibError as failed:
        error = failed
    for said in team.allgather(error):
        if said:
            raise said
    return found


def _copies(mine: PackedOperations, team: Team, *, everywhere: bool) -> list[PackedOperations]:
    """Return the operations of each member, where they are wanted. A few MB of each member are sent at a time.

    Collective.
    """
    rounds = -(-int(mine.blocks[-1]) // IN_MEMORY)
    heads = team.allgather((mine.blocks[:-1], len(mine), rounds))
    copies = [OperationSpill() for _ in heads]
    for copy, (blocks, count, _) in zip(copies, heads, strict=True):
        copy.append_packed(memoryview(b""), blocks, count)
    parts, error = mine.parts(), None
    for _ in range(max(n for *_, n in heads)):
        part = bytes(next(parts, b""))
        values = [part] * team.size if everywhere else [part, *[b""] * (team.size - 1)]
        try:
            for copy, found in zip(copies, team.alltoall(values), strict=True):
                copy.append_packed(memoryview(found), mine.blocks[:0], 0)
        except TracelibError as failed:  # the others go on
            error = failed
    for said in team.allgather(error):
        if said:
            raise said
    return [copy.packed() for copy in copies]
