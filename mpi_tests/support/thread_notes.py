"""Notes of a program's threads about their calls, compared with the recording."""

import copy
from collections import Counter
from pathlib import Path

import numpy as np
from result import RankFile, Truth, rank_files, read_truth

from tracelib.launchers import INCLUDE
from tracelib.schema import Peer, ProcessState, RequestKind

WHO = 9
"""Type of the event in which a thread of the programs says who it is."""


FLAGS = ("-I", str(INCLUDE), "-lpthread")


def by_thread(file: RankFile) -> dict[int, RankFile]:
    """The rows of each thread, by the number that it gives itself."""
    events = file.tables["events"]
    who = {int(row["thread"]): int(row["value"]) for row in events[events["type"] == WHO]}
    found: dict[int, RankFile] = {}
    for thread, number in who.items():
        part = copy.copy(file)
        part.tables = dict(file.tables)
        for name in ("calls", "requests", "polls", "events"):
            rows = file.tables[name]
            part.tables[name] = rows[rows["thread"] == thread]
        found[number] = part
    return found


def notes_of(folder: Path, rank: int) -> dict[int, Truth]:
    """Read the notes of a rank's threads, by number."""
    return {int(path.stem.split("-")[2]): read_truth(path) for path in folder.glob(f"truth-{rank}-*.jsonl")}


def compare(folder: Path, threads: int, rounds: int) -> None:
    """All of what `programs/threads.c` did is in the trace, each thread's under its own number."""
    for rank, file in enumerate(rank_files(folder / "run.h5")):
        recorded, noted = by_thread(file), notes_of(folder, rank)
        assert recorded.keys() == noted.keys()
        assert len(noted) == threads
        assert file.attributes["lost_calls"] == file.attributes["lost_rows"] == 0
        for number, truth in noted.items():
            part = recorded[number]
            assert part.counts() == truth.calls, number
            refused = {("", Peer.NONE, -1, 0): rounds} if number < 1000 else {}  # no message
            assert part.sent() == truth.sent + Counter(refused), number
            assert part.received() == truth.received, number
        check_requests(file)


def check_requests(file: RankFile) -> None:
    """Each completion leads back to the call that posted it: threads may post at one time, never the same thing."""
    names = file.names.astype(str)
    posting = np.char.startswith(names, "MPI_I")
    calls = {
        (int(call["enter"]), name, int(call["comm"]), int(call["tag"])): call
        for call, name in zip(file.calls[posting], names[posting].tolist(), strict=True)
    }
    used = set()
    for row in file.tables["requests"]:
        name = {RequestKind.SEND_DONE: "MPI_Isend", RequestKind.RECV_DONE: "MPI_Irecv"}.get(RequestKind(row["what"]))
        key = int(row["posted"]), name, int(row["comm"]), int(row["tag"])
        if key not in calls:  # a persistent request, a collective; what led nowhere else is missing below
            continue
        if name == "MPI_Irecv":  # MPICH gives one handle to all sends that are complete at once
            assert row["completed"] > calls[key]["exit"]
        assert key not in used
        used.add(key)
    assert len(used) == np.isin(names, ("MPI_Isend", "MPI_Irecv")).sum()


def check_exit(folder: Path, said: str) -> None:
    """The trace of `programs/exits.c`, which has printed what it knew of itself."""
    (file,) = rank_files(folder / "run.h5")
    assert file.attributes["state"] == ProcessState.EXITED
    threads = by_thread(file)
    noted = [int(line) for line in said.split()]
    assert len(noted) == len(threads) == 5
    for number, least in enumerate(noted):
        part = threads[number]
        if number == 4:
            assert part.counts()["MPI_Iprobe"] >= least
            assert (np.diff(part.tables["polls"]["exit"].astype(np.int64)) > 0).all()
            continue
        tags = part.calls["tag"][part.names == "MPI_Send"]
        assert len(tags) >= least
        assert (tags == np.arange(len(tags))).all()
        done = part.tables["requests"]["tag"]
        assert (done == np.arange(len(done))).all()
        assert number < 2 or len(done) >= least
