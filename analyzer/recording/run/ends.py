"""Finds how a run ended: which rank called MPI_Abort, which died first, which were killed after that.

No file distinguishes a process that died by a signal of its own (SIGSEGV) from one that the launcher then killed: both
left their buffers behind. But a process that the launcher kills usually waits for the dead process, inside of MPI. So
if all killed processes but one waited, that one likely died first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from analyzer.recording.rank_file.file import RankFile
from analyzer.recording.rank_file.spool import Fate, inside
from analyzer.recording.thread_records.thread import ThreadRecords
from analyzer.trace import Problem, UnfinishedCall, ranks_named
from tracelib.schema import ProcessState
from tracelib.schema.procedures import POLLS, base_name, waits_for_nobody
from tracelib.schema.spool import ThreadSpool

_EXITED, _FULL = int(ProcessState.EXITED), int(ProcessState.FULL)


@dataclass(frozen=True)
class Abort:
    """Call of MPI_Abort by a rank, with the time in ns since the process started."""

    code: int
    comm: int  # index in Trace.communicators; -1: unknown
    time_ns: int
    came_back: bool  # MPI_Abort failed, and the program went on


@dataclass(frozen=True)
class End:
    """End of a rank's process. Times are in ns since the process started."""

    rank: int
    fate: Fate
    last_ns: int  # time of the last record
    inside: str = ""  # name of the call in which the main thread was; "": none
    waited: bool | None = None  # True if the main thread waited for another rank; None: not known
    abort: Abort | None = None


def end_of(
    file: RankFile, fate: Fate, pending: Sequence[ThreadSpool], lanes: Sequence[ThreadRecords], index: np.ndarray
) -> End:
    """Determine how the process that wrote a rank file ended.

    Args:
        file: The rank file.
        fate: State that the process reached.
        pending: Spools of the process.
        lanes: Threads of the rank.
        index: Index in Trace.communicators of each communicator of the file.
    """
    main, start = lanes[0], lanes[0].clock.ns(int(file.attributes["start_ticks"]))
    calls = _inside(file, pending)
    last = max(main.stop, *(main.clock.ns(entered) for _, entered in calls)) if calls else main.stop
    name = _name(file, calls[0][0]) if calls else ""
    found = End(file.rank, fate, last - start, name, _waited(main, name) if _is_known(file, fate, pending) else None)
    ticks = int(file.attributes["abort_ticks"])
    if not ticks:
        return found
    row = int(file.attributes["abort_comm"])
    abort = Abort(
        _signed(int(file.attributes["abort_code"])), int(index[row]) if 0 < row < len(index) else -1,
        main.clock.ns(ticks) - start, fate == Fate.ENDED,
    )  # fmt: skip
    return End(found.rank, fate, found.last_ns, found.inside, found.waited, abort)


def _signed(code: int) -> int:
    """Convert an attribute, which is stored unsigned, to a signed number."""
    return (code + (1 << 63)) % (1 << 64) - (1 << 63)


def _is_known(file: RankFile, fate: Fate, pending: Sequence[ThreadSpool]) -> bool:
    """Return True if the files would show that the process died inside a call."""
    main = [spool for spool in pending if spool.thread == 0]
    return fate == Fate.KILLED and (bool(file.attributes["state"]) or any(spool.has("entered") for spool in main))


def _inside(file: RankFile, pending: Sequence[ThreadSpool]) -> list[tuple[int, int]]:
    """Return the unfinished calls of the main thread, as (row of `procedures`, ticks of the entry)."""
    return [(call, entered) for call, entered, thread, _ in inside(file, pending) if thread == 0]


def _name(file: RankFile, call: int) -> str:
    return file.procedures[call] if call < len(file.procedures) else "an unknown call"


def _waited(main: ThreadRecords, inside: str) -> bool:
    """Return True if the main thread waited for another rank.

    A thread that polls is as often between two calls as in one; so polls as its last records count as waiting.
    """
    if inside:
        return base_name(inside) in POLLS or not waits_for_nobody(inside)
    polls, calls = main.tables["polls"], main.tables["calls"]
    return bool(len(polls) and len(calls) and polls.last()["exit"] > calls.last()["exit"])


def end_problems(ends: Sequence[End], behind: AbstractSet[int], labels: Sequence[str]) -> list[Problem]:
    """Describe how the run ended, in lines that come before all others. Empty if all ranks ended in order.

    Args:
        ends: Ends of the ranks.
        behind: Ranks that did not complete communication which other ranks had completed with them.
        labels: Names of the communicators.
    """
    aborts = sorted((end for end in ends if end.abort), key=lambda end: end.abort.time_ns if end.abort else 0)
    said = [Problem(-1, _aborted(end, end.abort, labels)) for end in aborts if end.abort]
    killed = [end.rank for end in ends if end.fate == Fate.KILLED]
    if killed and any(end.abort and not end.abort.came_back for end in aborts):
        return [*said, Problem(-1, f"{_ranks(killed)} killed after that, likely by the launcher")]
    return said + [Problem(-1, text) for text in _first(ends, behind)]


def _aborted(end: End, abort: Abort, labels: Sequence[str]) -> str:
    where = f" on {labels[abort.comm]}" if abort.comm >= 0 else ""
    went_on = ", which failed: it went on" if abort.came_back else ""
    return f"rank {end.rank} called MPI_Abort({abort.code}){where} after {abort.time_ns / 1e9:.6g} s{went_on}"


def _ranks(ranks: Sequence[int]) -> str:
    return f"{ranks_named(ranks)} {'were' if len(ranks) > 1 else 'was'}"


def _first(ends: Sequence[End], behind: AbstractSet[int]) -> Iterator[str]:
    """Describe which of several unfinished ranks likely died first.

    Yields nothing if no rank is more likely than others.
    """
    exited = [end.rank for end in ends if end.fate == Fate.EXITED]
    dead = [end for end in ends if end.fate == Fate.KILLED]
    killed = [end.rank for end in dead]
    left = [end for end in dead if end.rank in behind]
    busy = [end for end in dead if not end.waited]
    if not dead or len(dead) + len(exited) < 2:
        return
    if len(left) == 1 and len(dead) > 1:
        yield _likely(left[0], "the others had finished their communication with it", killed)
    elif any(end.waited is None for end in dead):
        return
    elif len(busy) == 1 and len(dead) > 1:
        yield _likely(busy[0], "the others waited in MPI", killed)
    elif exited and not busy:
        yield (
            f"{_ranks(exited).rsplit(' ', 1)[0]} ended without MPI_Finalize, and {_ranks(killed)} killed after that, "
            "likely by the launcher"
        )
    elif not busy and len(dead) == len(ends):
        yield (
            f"{_ranks(killed)} killed while all ranks waited in MPI: likely from outside, or by MPI, which found an "
            "error in a call and printed it"
        )


def lasted_until(calls: Sequence[UnfinishedCall]) -> list[Problem]:
    """Describe until when the calls that ranks died in are assumed to have lasted."""
    if not calls:
        return []
    ranks, estimated = ({call.rank for call in some} for some in (calls, [c for c in calls if not c.seen]))
    until_s = max((call.until_ns for call in calls if not call.seen), default=0) / 1e9
    until = [f"until what any rank recorded last, at {until_s:.6g} s"] if estimated else []
    if estimated and ranks - estimated:
        until = [f"but of {ranks_named(sorted(estimated))} {until[0]}"]
    if ranks - estimated:
        until.insert(0, "until the last sample of each")
    text = f"the time in the calls that {ranks_named(sorted(ranks))} died in counts as MPI {', '.join(until)}"
    return [Problem(-1, text, note=True)]


def _likely(first: End, why: str, killed: Sequence[int]) -> str:
    where = f"inside {first.inside}" if first.inside else "outside MPI"
    others = _ranks([rank for rank in killed if rank != first.rank])
    return (
        f"rank {first.rank} likely died first, {where}, {first.last_ns / 1e9:.6g} s after its start or later: {why}; "
        f"{others} killed after that, likely by the launcher"
    )


def shortcomings(file: RankFile) -> list[Problem]:
    """List what the attributes of a rank file report: no MPI_Finalize, a full disk, lost rows."""
    a = file.attributes
    found = []
    if a["state"] == _EXITED and not a["abort_ticks"]:
        found.append(Problem(file.rank, "ended without MPI_Finalize"))
    if a["state"] == _FULL:
        found.append(Problem(file.rank, "the disk was full: recording stopped early"))
    if a["lost_calls"] or a["lost_rows"]:
        if a["limit_bytes"] and a["state"] != _FULL:
            return found  # `lost_to_limit` reports it with its time
        text = f"{a['lost_calls']} calls and {a['lost_rows']} rows of other tables were lost"
        found.append(Problem(file.rank, text))
    return found


def lost_to_limit(
    files: Sequence[RankFile], lanes: Mapping[int, Sequence[ThreadRecords]], spans: Mapping[int, tuple[int, int]],
    whole: AbstractSet[int],
) -> list[Problem]:  # fmt: skip
    """Report each rank that stopped recording because it reached TRACELIB_LIMIT.

    Args:
        files: Files of the ranks.
        lanes: Threads of each rank.
        spans: Times of the first and the last record of each rank, ns.
        whole: Ranks that are known to have recorded all the time.
    """
    found = []
    for file in files:
        lost, limit = int(file.attributes["lost_calls"]), file.attributes["limit_bytes"]
        if not lost or not limit or file.attributes["state"] == _FULL or file.rank in whole:
            continue
        begins = [int(lane.unrecorded["begin"].max()) for lane in lanes.get(file.rank, ()) if len(lane.unrecorded)]
        if begins:
            since_s = (max(begins) - spans[file.rank][0]) / 1e9
            found.append(
                Problem(file.rank, f"{lost} calls lost after {since_s:.6g} s, when TRACELIB_LIMIT was reached")
            )
    return found
