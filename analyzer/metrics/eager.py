"""The eager limit: a send that ended before its receive was posted did not wait, because MPI buffered the message."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from analyzer.columns.spill import Spill
from analyzer.pairing.parts import CallsAt, Pieces, RankRows, parts
from analyzer.parallel import Team
from analyzer.trace import CALL, MESSAGE, Trace
from tracelib.schema.procedures import STANDARD_SENDS, base_name

LEAST_EAGER = 1024
"""Bytes up to which no MPI lets a sender wait."""


class EagerLimit:
    """The largest message that calls so far show to be buffered (`shown`, bytes; at least LEAST_EAGER).

    Equal times count: the clock may be coarse, and senders that wait end later than the receive begins.
    """

    def __init__(self, trace: Trace) -> None:
        self.shown = LEAST_EAGER
        self._standard = np.array([*(base_name(name) in STANDARD_SENDS for name in trace.procedures), False], bool)

    @property
    def any(self) -> bool:
        """Return true if a call of the run can show a limit."""
        return bool(self._standard.any())

    def candidates(self, messages: np.ndarray) -> np.ndarray:
        """Select the messages (MESSAGE) that may raise the limit: between ranks, and asked for after they were sent."""
        more = (messages["size"] > self.shown) & (messages["logical_receive"] > messages["logical_send"])
        return messages[more & (messages["source"] != messages["destination"])]

    def look(self, messages: np.ndarray, call: np.ndarray, exit: np.ndarray) -> None:
        """Update the limit.

        Args:
            messages: MESSAGE rows.
            call: The procedure that sent each, index in Trace.procedures; negative: not known.
            exit: When that call ended, ns.
        """
        gone = self._standard[np.maximum(call, -1)] & (exit <= messages["logical_receive"])
        self.shown = max(self.shown, int(messages["size"][gone].max(initial=0)))


def shown_eager_limit(trace: Trace, team: Team | None = None) -> int:
    """Find the bytes up to which the run shows that blocking sends do not wait for their receives. Collective.

    With this limit a completed run cannot block in a replay where larger sends wait: in a circle of ranks that send
    first, the first to post its receive had sent before.
    """
    found, team = EagerLimit(trace), team or Team()
    trace.match()
    pieces, sent = Pieces(trace, trace.share(team)), Spill(MESSAGE)
    for begin, end in pairwise(trace.message_windows().tolist()) if found.any else ():
        rows = found.candidates(trace.unordered_messages(begin, end))
        rows = rows.compress((rows["source"] >= pieces.ranks.start) & (rows["source"] < pieces.ranks.stop))
        pieces.put_aside(sent, rows, rows["source"], rows["logical_send"])
    for number, part in enumerate(parts(trace, pieces.ranks)) if sent.extents else ():
        rows = found.candidates(sent.read(number))
        if len(rows):
            sender = _senders(part.calls, rows)
            found.look(rows, sender["call"], sender["exit"])
    sent.close()
    return max(team.allgather(found.shown))


def _senders(calls: RankRows, messages: np.ndarray) -> np.ndarray:
    """Find the calls (CALL) of some ranks that sent their messages; `call` is -1 where there is none."""
    found, times = np.zeros(len(messages), CALL), messages["logical_send"]
    found["call"] = -1
    at = CallsAt(calls).last_begun(messages["source"], messages["source_thread"], times)
    sent = np.flatnonzero(at >= 0)
    sent = sent[calls.rows["exit"][at[sent]] >= times[sent]]
    found[sent] = calls.rows.take(at[sent])
    return found
