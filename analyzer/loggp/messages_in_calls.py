"""The messages of some ranks, with the calls in which they were sent and received."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from analyzer.columns.spill import Spill
from analyzer.pairing.parts import CallsAt, Part, Pieces, RankRows, parts
from analyzer.trace import CALL, MESSAGE, Trace


def messages_with_calls(trace: Trace, ranks: range) -> Iterator[tuple[np.ndarray, np.ndarray, CallsAt]]:
    """Yield piece by piece the messages that some ranks receive, the messages that they send, and their calls.

    A piece's calls include the last call that had begun when each message was sent, or 1 ns before it was received.

    Args:
        trace: The run.
        ranks: The ranks.

    Yields:
        Received messages (MESSAGE), sent messages (MESSAGE), and calls.
    """
    pieces, received, sent = Pieces(trace, ranks), Spill(MESSAGE), Spill(MESSAGE)
    for begin, end in pairwise(trace.message_windows().tolist()):
        rows = trace.unordered_messages(begin, end)
        for spill, side, time in ((received, "destination", _nearly(rows)), (sent, "source", rows["logical_send"])):
            mine = (rows[side] >= ranks.start) & (rows[side] < ranks.stop)
            pieces.put_aside(spill, rows.compress(mine), rows[side][mine], time[mine])
    latest = RankRows(np.zeros(0, np.int64), np.zeros(0, CALL))
    for number, part in enumerate(parts(trace, ranks)):
        calls = _with_latest(latest, part)
        yield received.read(number), sent.read(number), CallsAt(calls)
        latest = calls if not part.is_whole else latest.where(np.zeros(len(latest.rows), bool))
    received.close()
    sent.close()


def call_at(calls: CallsAt, messages: np.ndarray, side: str) -> np.ndarray:
    """Return the last call (CALL) that one side of each message had begun, whether or not the call had ended.

    The time is that of the sending for "source", and 1 ns before the receipt for "destination". `enter`, `exit` and
    `call` are -1 if there was no call.

    Args:
        calls: Calls of the ranks.
        messages: The messages.
        side: "source" or "destination".
    """
    time = messages["logical_send"] if side == "source" else _nearly(messages)
    at = calls.last_begun(messages[side], messages[f"{side}_thread"], time)
    found = np.zeros(len(messages), CALL)
    found["enter"] = found["exit"] = found["call"] = -1
    found[at >= 0] = calls.rows.take(at[at >= 0])
    return found


def _nearly(messages: np.ndarray) -> np.ndarray:
    """Return the time 1 ns before each message was received."""
    return messages["physical_receive"] - 1


def _with_latest(before: RankRows, part: Part) -> RankRows:
    """Return the calls of a part, after the last ones of the same threads from the part before."""
    rank, rows = before
    key = rank << 32 | rows["thread"]
    last = len(key) - 1 - np.unique(key[::-1], return_index=True)[1]
    last = last[(rank[last] >= part.ranks.start) & (rank[last] < part.ranks.stop)]
    if not len(last):
        return part.calls
    every = RankRows.joined([RankRows(rank[last], rows.take(last)), part.calls], CALL)
    order = np.argsort(every.rank, kind="stable")
    return RankRows(every.rank[order], every.rows.take(order))
