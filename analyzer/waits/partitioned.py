"""Waiting for the last part of a partitioned message."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from analyzer.columns.arrays import joined
from analyzer.pairing.parts import Part, parts
from analyzer.pairing.requests import Handed
from analyzer.parallel import Team
from analyzer.trace import CALL, Trace
from analyzer.waits.kinds import Kind
from analyzer.waits.lanes import Lanes
from analyzer.waits.messages import CANDIDATE
from tracelib.schema.procedures import HANDED_OVER, base_name

_HANDED_CALL = np.dtype([*CALL.descr, ("rank", "<i4")])


def partitioned_candidates(trace: Trace, lanes: Lanes, team: Team) -> np.ndarray:
    """CANDIDATE of the calls that complete partitioned receives: they wait until the call is entered that hands over
    the last part (MPI_Pready and its kin). The team shares the reading; each member gets all."""
    hands_over = np.array([base_name(p) in HANDED_OVER for p in trace.procedures], bool)
    if not hands_over.any():
        return np.zeros(0, CANDIDATE)
    rows = [_handed_in(part, hands_over) for part in parts(trace, trace.share(team))]
    every = joined(team.allgather(joined(rows, _HANDED_CALL)), _HANDED_CALL)
    if not len(every):
        return np.zeros(0, CANDIDATE)
    handed = Handed(every)
    windows = (trace.messages(begin, end) for begin, end in pairwise(trace.message_windows().tolist()))
    return np.concatenate([np.zeros(0, CANDIDATE), *(_candidates(handed, lanes, messages) for messages in windows)])


def _handed_in(part: Part, hands_over: np.ndarray) -> np.ndarray:
    rank, calls = part.calls.where(hands_over[part.calls.rows["call"]])
    found = np.zeros(len(calls), _HANDED_CALL)
    for column in CALL.names or ():
        found[column] = calls[column]
    found["rank"] = rank
    return found


def _candidates(handed: Handed, lanes: Lanes, messages: np.ndarray) -> np.ndarray:
    at = handed.completing(messages)
    messages, rows = messages[at >= 0], handed.rows[at[at >= 0]]
    found = np.zeros(len(messages), CANDIDATE)
    found["complete"], found["until"] = messages["physical_receive"], rows["enter"]
    found["posted"], found["kind"] = messages["logical_receive"], int(Kind.LATE_SENDER)
    found["lane"] = lanes.of(messages["destination"], messages["destination_thread"])
    found["cause"] = lanes.of(rows["rank"], rows["thread"])
    found["peer"], found["tag"] = messages["source"], messages["tag"]
    return found[(found["lane"] != found["cause"]) & (found["until"] > found["posted"])]
