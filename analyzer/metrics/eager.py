"""The eager limit: the message size up to which MPI buffers a message, so that its sender does not wait.

A send that ended before its receive was posted shows that MPI buffered its message.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from analyzer.columns.spill import Spill
from analyzer.pairing.parts import CallsAt, Pieces, RankRows, parts
from analyzer.parallel import Team
from analyzer.trace import CALL, MESSAGE, Trace
from tracelib.schema.procedures import STANDARD_SENDS, base_name

LEAST_EAGER = 1024
"""Size in bytes up to which no MPI library makes a sender wait for the receiver."""


class EagerLimit:
    """Finder of the eager limit: `shown` is the size of the largest message that MPI buffered, as far as calls show.

    It is in bytes, at least LEAST_EAGER (1024). A send shows this if it ended before, or when, its receive was posted.
    The same time counts because the clock may be coarse, and senders that wait end later than the receive begins.
    """

    def __init__(self, trace: Trace) -> None:
        self.shown = LEAST_EAGER
        self._standard = np.array([*(base_name(name) in STANDARD_SENDS for name in trace.procedures), False], bool)

    @property
    def any(self) -> bool:
        """Return true if the run may have sends that can show a limit: standard sends such as MPI_Send."""
        return bool(self._standard.any())

    def candidates(self, messages: np.ndarray) -> np.ndarray:
        """Select the messages (MESSAGE) that may raise the limit.

        They are larger than it, between two ranks, and their receive was posted after the send was entered.
        """
        more = (messages["size"] > self.shown) & (messages["logical_receive"] > messages["logical_send"])
        return messages[more & (messages["source"] != messages["destination"])]

    def look(self, messages: np.ndarray, call: np.ndarray, exit: np.ndarray) -> None:
        """Raise the limit to the largest of these messages whose send ended before its receive was posted.

        Args:
            messages: The messages (MESSAGE).
            call: Procedure that sent each message, index in Trace.procedures; negative: not known.
            exit: When the call that sent ended, ns.
        """
        gone = self._standard[np.maximum(call, -1)] & (exit <= messages["logical_receive"])
        self.shown = max(self.shown, int(messages["size"][gone].max(initial=0)))


def shown_eager_limit(trace: Trace, team: Team | None = None) -> int:
    """Find the size in bytes up to which the run shows that blocking sends do not wait for their receives. Collective.

    A replay in which only larger sends wait cannot deadlock if the run completed: in a circle of ranks that all send
    first, the first rank to post its receive had completed its send.
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
    """Find the call (CALL) that sent each message; `call` is -1 where there is none."""
    found, times = np.zeros(len(messages), CALL), messages["logical_send"]
    found["call"] = -1
    at = CallsAt(calls).last_begun(messages["source"], messages["source_thread"], times)
    sent = np.flatnonzero(at >= 0)
    sent = sent[calls.rows["exit"][at[sent]] >= times[sent]]
    found[sent] = calls.rows.take(at[sent])
    return found
