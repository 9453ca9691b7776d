"""The operations that the processes of a team have written, each some, brought together in their order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from analyzer.errors import TracelibError
from analyzer.parallel import Team
from analyzer.program.storage import IN_MEMORY, OperationSpill, PackedOperations

Found = TypeVar("Found")


def gathered(mine: OperationSpill, team: Team, *, everywhere: bool = True) -> OperationSpill:
    """Those of all members of a team, on each of them; or (not `everywhere`) on the first one, and on others none.
    Collective. Raises TracelibError on all members where one has no room for them."""
    if team.size == 1:
        return mine
    found = OperationSpill()
    copies = _copies(together(team, mine.packed), team, everywhere=everywhere)
    for one in copies if everywhere or team.rank == 0 else ():
        for piece in one.pieces():
            found.append(piece)
    return found


def together(team: Team, work: Callable[[], Found]) -> Found:
    """What each member of a team finds; where one of them raises a TracelibError, all raise it. Collective."""
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
    """What each member has, where it is wanted; a few MB of each at a time."""
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
