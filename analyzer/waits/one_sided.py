"""Waiting in one-sided communication: for targets that post late, origins that complete late, and locks of others."""

from __future__ import annotations

import numpy as np

from analyzer.pairing.epochs import EpochReader, Epochs
from analyzer.parallel import Team
from analyzer.trace import Trace
from analyzer.waits.kinds import Kind
from analyzer.waits.lanes import Lanes
from analyzer.waits.messages import CANDIDATE


def one_sided_candidates(trace: Trace, lanes: Lanes, team: Team) -> np.ndarray:
    """CANDIDATE of waits for other sides of windows. The team shares the reading; each member gets all.

    late post: until the target enters MPI_Win_post, in whichever call of the epoch that happens (MPI_Win_start, an
    operation, or MPI_Win_complete, as the MPI has it). Early wait: until the last origin enters MPI_Win_complete. Lock
    contention: until who had a lock that excludes this one, and released it first, enters MPI_Win_unlock.
    """
    reader = EpochReader(trace)
    if not reader.has_any:
        return np.zeros(0, CANDIDATE)
    parts = team.allgather([reader.of(rank) for rank in trace.share(team)])
    every = Epochs.together([epochs for part in parts for epochs in part])
    return np.concatenate([_epochs(every, lanes), _contention(every.locks, lanes)])


def _epochs(every: Epochs, lanes: Lanes) -> np.ndarray:
    """CANDIDATE of late posts and early waits."""
    access, exposure = every.matched()
    mine, theirs = every.accesses[access], every.exposures[exposure]
    other = lanes.of(mine["rank"], mine["thread"]) != lanes.of(theirs["rank"], theirs["thread"])
    mine, theirs = mine[other], theirs[other]
    within = (theirs["begin"] > mine["begin"]) & (theirs["begin"] <= mine["end"])
    late = mine[within], theirs[within]
    return np.concatenate(
        [
            _candidates(Kind.LATE_POST, lanes, late[0], late[1], late[1]["begin"], late[1]["begin"]),
            _candidates(Kind.EARLY_WAIT, lanes, theirs, mine, theirs["end"], mine["last"]),
        ]
    )


def _contention(locks: np.ndarray, lanes: Lanes) -> np.ndarray:
    """CANDIDATE of locks that waited for others."""
    parts = [np.zeros(0, CANDIDATE)]
    for window in np.unique(locks["window"]).tolist():
        mine = locks[locks["window"] == window]
        for target in np.unique(mine["partner"][mine["exclusive"]]).tolist():
            rows = mine[(mine["partner"] == target) | (mine["partner"] < 0)]
            parts += _waiting_locks(rows[np.argsort(rows["end"], kind="stable")], lanes)
    return np.concatenate(parts)


def _waiting_locks(rows: np.ndarray, lanes: Lanes) -> list[np.ndarray]:
    """CANDIDATE of the locks (EPOCH in order of `end`) of one target: each against the 1st, 2nd, ... before it, as far
    back as any was still held when another was asked for."""
    found = []
    lane = lanes.of(rows["rank"], rows["thread"])
    for step in range(1, len(rows)):
        waits, holds = rows[step:], rows[:-step]
        if not (holds["end"] > waits["begin"]).any():
            break
        excluded = (waits["exclusive"] | holds["exclusive"]) & (lane[step:] != lane[:-step])
        excluded &= holds["last"] > waits["begin"]
        waits, holds = waits[excluded], holds[excluded]
        found.append(_candidates(Kind.LOCK_CONTENTION, lanes, waits, holds, holds["last"], holds["last"]))
    return found


def _candidates(
    kind: Kind, lanes: Lanes, waits: np.ndarray, causes: np.ndarray, complete: np.ndarray, until: np.ndarray
) -> np.ndarray:
    rows = np.zeros(len(waits), CANDIDATE)
    rows["complete"], rows["until"], rows["first"], rows["posted"] = complete, until, until, waits["begin"]
    rows["lane"], rows["cause"] = (lanes.of(of["rank"], of["thread"]) for of in (waits, causes))
    rows["kind"] = int(kind)
    return rows
