"""Which messages MPI buffered: a send that was over before its receive was posted did not wait for it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from analyzer.columns.spill import Spill
from analyzer.pairing.requests import window_calls, windows_of_rank
from analyzer.parallel import Team
from analyzer.trace import CALL, MESSAGE, Trace
from tracelib.schema.procedures import STANDARD_SENDS, base_name

LEAST_EAGER = 1024
"""Bytes up to which no MPI lets a sender wait."""


class EagerLimit:
    """The largest message that the calls looked at so far show to be buffered (`shown`, bytes; LEAST_EAGER or more).

    Times that are equal count: the clock may be coarse, and senders that wait are over later than the receive begins.
    """

    def __init__(self, trace: Trace) -> None:
        self.shown = LEAST_EAGER
        self._standard = np.array([*(base_name(name) in STANDARD_SENDS for name in trace.procedures), False], bool)

    @property
    def any(self) -> bool:
        """Whether a call of the run can show one."""
        return bool(self._standard.any())

    def candidates(self, messages: np.ndarray) -> np.ndarray:
        """Those (MESSAGE) that would show more: between ranks, and asked for after they were sent."""
        more = (messages["size"] > self.shown) & (messages["logical_receive"] > messages["logical_send"])
        return messages[more & (messages["source"] != messages["destination"])]

    def look(self, messages: np.ndarray, call: np.ndarray, exit: np.ndarray) -> None:
        """call: what sent them, index in Trace.procedures, negative: not known; exit: when it was over."""
        gone = self._standard[np.maximum(call, -1)] & (exit <= messages["logical_receive"])
        self.shown = max(self.shown, int(messages["size"][gone].max(initial=0)))


def shown_eager_limit(trace: Trace, team: Team | None = None) -> int:
    """Bytes up to which the run shows that blocking sends do not wait for their receives. Collective over the team.

    A run that was over cannot block in a replay where larger ones wait: in a circle of ranks that send first, the first
    to post its receive had sent before.
    """
    found, team = EagerLimit(trace), team or Team()
    trace.match()
    ranks, sent = trace.share(team), Spill(MESSAGE)
    for begin, end in pairwise(trace.windows().tolist()) if found.any else ():
        rows = found.candidates(trace.messages(begin, end))
        rows = rows.compress((rows["source"] >= ranks.start) & (rows["source"] < ranks.stop))
        sent.append_each(rows["source"], rows)
    for rank in ranks:
        rows = found.candidates(sent.read(rank))
        for begin, end in pairwise(windows_of_rank(trace, rank).tolist()) if len(rows) else ():
            mine = rows.compress((rows["logical_send"] >= begin) & (rows["logical_send"] < end))
            sender = _senders(window_calls(trace, rank, begin, end), mine)
            found.look(mine, sender["call"], sender["exit"])
    sent.close()
    return max(team.allgather(found.shown))


def _senders(calls: np.ndarray, messages: np.ndarray) -> np.ndarray:
    """The calls (CALL) of a rank that sent its messages; `call` is -1 where there is none."""
    found = np.zeros(len(messages), CALL)
    found["call"] = -1
    for thread in np.unique(messages["source_thread"]).tolist():
        its, sent = calls[calls["thread"] == thread], np.flatnonzero(messages["source_thread"] == thread)
        times = messages["logical_send"][sent]
        at = np.searchsorted(its["enter"], times, "right") - 1
        inside = (at >= 0) & (its["exit"][at.clip(0)] >= times) if len(its) else np.zeros(len(at), bool)
        found[sent[inside]] = its[at[inside]]
    return found
