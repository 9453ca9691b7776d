"""Numbers that distinguish equal messages which several threads of a rank send or receive.

In a replay such messages may come in another order than in the run. The numbers keep sender and receiver together.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd

from analyzer.operations.procedures import RECEIVE, SEND
from analyzer.trace import MESSAGE, Trace
from tracelib.schema import RequestKind

_CHANNEL = ["comm", "source", "destination", "tag"]
_PAIR = [*_CHANNEL, "source_thread", "destination_thread"]
_KEY = ["time", "peer", "tag", "comm"]


class MessageNumbers:
    """Numbers, from 1, of the messages of channels that several threads of a rank use. All other messages have 0.

    A channel is (communicator, source, destination, tag).
    """

    def __init__(self, trace: Trace) -> None:
        windows = [*pairwise(trace.windows().tolist())]
        pairs = _frame(np.zeros(0, MESSAGE), _PAIR)
        for begin, end in windows:
            pairs = pd.concat([pairs, _frame(trace.messages(begin, end), _PAIR).drop_duplicates()]).drop_duplicates()
        channels = pairs.groupby(_CHANNEL).size()
        self._sides: dict[tuple[int, bool], pd.DataFrame] = {}
        if (channels > 1).any():
            self._number(trace, windows, channels[channels > 1].reset_index()[_CHANNEL])

    def _number(self, trace: Trace, windows: list[tuple[int, int]], channels: pd.DataFrame) -> None:
        columns = [*_CHANNEL, "logical_send", "logical_receive"]
        kept = [_frame(trace.messages(begin, end), columns).merge(channels, on=_CHANNEL) for begin, end in windows]
        messages = pd.concat(kept, ignore_index=True)
        messages["number"] = np.arange(1, len(messages) + 1)
        for sends, own, peer, time in (
            (True, "source", "destination", "logical_send"), (False, "destination", "source", "logical_receive"),
        ):  # fmt: skip
            rows = messages.rename(columns={own: "own", peer: "peer", time: "time"})
            rows = rows[["own", *_KEY, "number"]].sort_values(["own", "time"], kind="stable")
            for rank, of_rank in rows.groupby("own"):
                self._sides[rank, sends] = of_rank.drop(columns="own")

    def of_calls(self, rank: int, calls: np.ndarray, plan: np.ndarray) -> np.ndarray | None:
        """Return for each call the number of the message that the call itself sends or receives.

        Args:
            rank: The rank.
            calls: Its calls (CALL).
            plan: Kind and flag of the operation of each procedure (`plan_of`), of shape (procedures, 2).

        Returns:
            int32 of shape (calls,). None: no message of the rank has a number.
        """
        if (rank, True) not in self._sides and (rank, False) not in self._sides:
            return None
        numbers = np.zeros(len(calls), np.int32)
        for sends, kind in ((True, SEND), (False, RECEIVE)):
            mine = plan[calls["call"], 0] == kind
            numbers[mine] = self._find(rank, sends, calls["enter"][mine], calls[mine])
        return numbers

    def to_posted(self, rank: int, posted: np.ndarray) -> None:
        """Write the numbers of messages into the column `reserved` of posted requests (REQUEST)."""
        for sends in (True, False):
            mine = (posted["what"] == RequestKind.SEND_STARTED) == sends
            posted["reserved"][mine] = self._find(rank, sends, posted["posted"][mine], posted[mine])

    def _find(self, rank: int, sends: bool, times: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the number of each row's message. Rows that are equal in all columns get their numbers in order."""
        table = self._sides.get((rank, sends))
        if table is None or not len(rows):
            return np.zeros(len(rows), np.int32)
        first, last = table["time"].searchsorted([times.min(), times.max() + 1])
        there = table.iloc[first:last].copy()
        wanted = _frame(rows, _KEY[1:]).assign(time=times)
        for one in (there, wanted):
            one["place"] = one.groupby(_KEY).cumcount()
        return wanted.merge(there, "left", on=[*_KEY, "place"])["number"].fillna(0).to_numpy(np.int32)


def _frame(rows: np.ndarray, columns: list[str]) -> pd.DataFrame:
    return pd.DataFrame({name: rows[name].astype(np.int64) for name in columns})
