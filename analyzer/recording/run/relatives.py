"""The runs that a run met: of the processes that it spawned, of those that spawned it, and those that it connected to.

Nobody tells them of each other while they run: that would take a message which the program did not send. But launchers
name jobs so that those of one mpirun are told from those of another; a spawned process starts while MPI_Comm_spawn
lasts; and both sides know how many there are on the other. So runs that fit are looked for in the folder of this one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.recording.rank_file.file import RankFile
from analyzer.recording.thread_records.thread import ThreadRecords
from analyzer.trace import Relative
from tracelib.schema.procedures import CONNECTS, SPAWNS

_OUTSIDE = np.iinfo(np.uint32).max
_MOST_DIGITS = 20
"""Of 64 bits, as PMIx numbers jobs."""
_SLACK_NS = 1_000_000_000
"""By how much the clocks of two nodes may differ."""


@dataclass(frozen=True)
class Meeting:
    """A call by which processes of a run met those of another; times in ns since 1970."""

    spawns: bool  # it started them; else both sides were there
    begin_ns: int
    end_ns: int
    rank: int  # the first of this side
    here: int  # processes of this side
    there: int


@dataclass(frozen=True)
class World:
    """A run as others see it."""

    name: str  # of its file
    job: str
    size: int
    parent_size: int  # 0: nobody spawned it
    started_ns: int  # since 1970, its first process
    meetings: tuple[Meeting, ...]


def family(job: str) -> str:
    """What the names of all jobs of one mpirun have in common."""
    kind, _, name = job.partition(" ")
    if kind == "pmix":
        return (
            f"pmix {int(name) >> 16}"
            if name.isdecimal() and len(name) <= _MOST_DIGITS
            else job.rpartition("@")[0] or job
        )
    if kind == "hydra":
        return " ".join(job.split(" ")[:2])
    return job.rpartition(".")[0] if kind == "slurm" else job


def world_of(name: str, files: Sequence[RankFile], lanes: Mapping[int, list[ThreadRecords]]) -> World:
    """Of a run that was opened."""
    first = min(files, key=lambda file: file.rank).attributes
    meetings: dict[tuple[int, int, int], Meeting] = {}
    for file in files:
        for key, meeting in _meetings(file, lanes):
            meetings.setdefault(key, meeting)
    return World(
        name, str(first["job"]), int(first["size"]), int(first["parent_size"]),
        min(int(file.attributes["start_realtime_ns"]) for file in files),
        tuple(sorted(meetings.values(), key=lambda meeting: meeting.begin_ns)),
    )  # fmt: skip


def _meetings(
    file: RankFile, lanes: Mapping[int, list[ThreadRecords]]
) -> Iterator[tuple[tuple[int, int, int], Meeting]]:
    """Those of a rank, by what all its members know of the new communicator."""
    for row in file.communicators[3:]:
        remote = file.ranks_of(int(row["remote"]), int(row["remote_size"]))
        if isinstance(remote, range) or not len(remote) or (remote != _OUTSIDE).any():
            continue  # strangers are no progression
        for lane in lanes[file.rank]:  # its row is written right after the call, whose row follows
            table = lane.tables["calls"]
            before = table.find(int(row["created"]))
            if not before:
                continue
            call = table.read(before - 1, before)[0]
            name = file.procedures[call["call"]] if call["call"] < len(file.procedures) else ""
            if name in SPAWNS | CONNECTS:
                epoch = int(file.attributes["start_realtime_ns"]) - lane.clock.ns(int(file.attributes["start_ticks"]))
                begin, end = (epoch + lane.clock.ns(int(call[column])) for column in ("enter", "exit"))
                key = int(row["id"]) or hash((file.rank, before)), int(row["size"]), int(row["remote_size"])
                yield key, Meeting(name in SPAWNS, begin, end, file.rank, key[1], key[2])


def relatives(own: World, others: Sequence[World]) -> list[Relative]:
    """Whom a run has met, in order of time."""
    found = []
    if own.parent_size:
        parents = [world.name for world in others if own in _children(world, [own, *others])]
        found.append(Relative("was spawned by", -1, own.parent_size, parents[0] if parents else ""))
    children = iter(_children(own, others))
    for meeting in own.meetings:
        if meeting.spawns:
            child = next(children)
            found.append(Relative("spawned", meeting.rank, meeting.there, child.name if child else ""))
        else:
            peers = [world.name for world in others if any(_met(meeting, other) for other in world.meetings)]
            name = f"likely {peers[0]}" if peers else ""
            found.append(Relative("connected with", meeting.rank, meeting.there, name))
    return found


def _children(parent: World, worlds: Sequence[World]) -> list[World | None]:
    """The run of each call's processes; None: there is none. Of several that may be, that which started earliest is
    the first call's."""
    left, found = sorted(worlds, key=lambda world: world.started_ns), []
    for meeting in (meeting for meeting in parent.meetings if meeting.spawns):
        child = next((world for world in left if _may_be(world, meeting, parent)), None)
        found.append(child)
        if child:
            left.remove(child)
    return found


def _may_be(child: World, meeting: Meeting, parent: World) -> bool:
    """Whether a run may be that of the processes that a call of the parent has spawned."""
    began = meeting.begin_ns - _SLACK_NS <= child.started_ns <= meeting.end_ns + _SLACK_NS
    sizes = (child.parent_size, child.size) == (meeting.here, meeting.there)
    return began and sizes and bool(parent.job) and family(child.job) == family(parent.job)


def _met(one: Meeting, other: Meeting) -> bool:
    """Whether both may be sides of one meeting: they lasted at the same time."""
    together = one.begin_ns - _SLACK_NS <= other.end_ns and other.begin_ns - _SLACK_NS <= one.end_ns
    return together and not other.spawns and (one.here, one.there) == (other.there, other.here)
