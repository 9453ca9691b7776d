"""Finds other runs that a run communicated with: those it spawned, that spawned it, or that it connected to.

Runs do not tell each other their names: that would need a message that the program did not send. But launchers name
jobs so that the jobs of one mpirun can be recognized. A spawned process starts while MPI_Comm_spawn lasts. And both
sides know the number of processes of the other side. So runs that fit are searched in the folder of this run.
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
"""Largest number of decimal digits of the 64-bit numbers that PMIx gives to jobs."""
_SLACK_NS = 1_000_000_000
"""Tolerance in ns for the difference between the clocks of two nodes."""


@dataclass(frozen=True)
class Meeting:
    """Call in which processes of a run got a communicator with processes of another run. Times are in ns since 1970."""

    spawns: bool  # True if this side started the other; False if both were running
    begin_ns: int
    end_ns: int
    rank: int  # first rank of this side
    here: int  # number of processes on this side
    there: int  # number of processes on the other side


@dataclass(frozen=True)
class World:
    """Facts about a run by which other runs can recognize it."""

    name: str  # name of its file
    job: str
    size: int
    parent_size: int  # number of processes that spawned the run; 0: it was not spawned
    started_ns: int  # start of its first process, ns since 1970
    meetings: tuple[Meeting, ...]


def family(job: str) -> str:
    """Return the part of a job's name that all jobs of one mpirun share."""
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
    """Return the facts about an opened run by which other runs can recognize it.

    Args:
        name: Name of the run's file.
        files: Files of its ranks.
        lanes: Threads of each rank.
    """
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
    """Yield the meetings of a rank. The key of each is (id of the new communicator, local size, remote size)."""
    for row in file.communicators[3:]:
        remote = file.ranks_of(int(row["remote"]), int(row["remote_size"]))
        if isinstance(remote, range) or not len(remote) or (remote != _OUTSIDE).any():
            continue  # ranks outside of the run are no progression
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
    """Return the other runs that a run communicated with, in order of time.

    Args:
        own: The run.
        others: Runs in the same folder.
    """
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
    """Return for each spawning call of a run the run that it started; None: not found.

    If several runs fit, the one that started first belongs to the first call.
    """
    left, found = sorted(worlds, key=lambda world: world.started_ns), []
    for meeting in (meeting for meeting in parent.meetings if meeting.spawns):
        child = next((world for world in left if _may_be(world, meeting, parent)), None)
        found.append(child)
        if child:
            left.remove(child)
    return found


def _may_be(child: World, meeting: Meeting, parent: World) -> bool:
    """Return True if a run may consist of the processes that this call of the parent spawned."""
    began = meeting.begin_ns - _SLACK_NS <= child.started_ns <= meeting.end_ns + _SLACK_NS
    sizes = (child.parent_size, child.size) == (meeting.here, meeting.there)
    return began and sizes and bool(parent.job) and family(child.job) == family(parent.job)


def _met(one: Meeting, other: Meeting) -> bool:
    """Return True if two calls may be the sides of one meeting: they overlap in time, and their sizes fit."""
    together = one.begin_ns - _SLACK_NS <= other.end_ns and other.begin_ns - _SLACK_NS <= one.end_ns
    return together and not other.spawns and (one.here, one.there) == (other.there, other.here)
