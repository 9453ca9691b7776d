"""Sums over the records of rows: messages, events, and a user's function of any of them.

Source: "Dimemas specification", section 1.16.2: a state is two records (of which the second has begin and end
exchanged), an event is one, a message four.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from analyzer.views.lanes import Rows
from analyzer.views.run import Selected
from analyzer.views.thread.messages import DESTINATION, SOURCE, lane_of

ENDS = (
    ("logical send", SOURCE), ("physical send", SOURCE),
    ("logical receive", DESTINATION), ("physical receive", DESTINATION),
)  # fmt: skip
"""The records of a message, and whose they are."""


def message_records(selected: Selected, begin: int, end: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Kind, lanes and MESSAGE of the records of messages in [begin, end), and of the whole messages, whose kinds are
    "send" and "receive", at the times that the filter says."""
    for rows in selected.messages():
        sent, received = selected.message_times(rows)
        for kind, side, time in (
            *((kind, side, rows[kind.replace(" ", "_")]) for kind, side in ENDS),
            ("send", SOURCE, sent), ("receive", DESTINATION, received),
        ):  # fmt: skip
            lane = lane_of(selected, rows, side)
            keep = (lane >= 0) & (time >= begin) & (time < end)
            yield kind, lane[keep], rows.compress(keep)


def message_sums(selected: Selected, rows: Rows, begin: int, end: int) -> dict[str, np.ndarray]:
    """All of analyzer.views.measuring.OF_MESSAGES, float64 by row."""
    kinds = (*(kind for kind, _ in ENDS), "send", "receive")
    number, size = ({kind: np.zeros(len(rows)) for kind in kinds} for _ in range(2))
    for kind, lane, messages in message_records(selected, begin, end):
        row = rows.of_lane[lane]
        number[kind] += np.bincount(row, minlength=len(rows))
        size[kind] += np.bincount(row, messages["size"], len(rows))
    events = np.zeros(len(rows))
    for lane, found in selected.events():
        inside = (found["time"] >= begin) & (found["time"] < end)
        events += np.bincount(rows.of_lane[lane[inside]], minlength=len(rows))
    sends = number["logical send"]
    average = np.where(sends > 0, size["logical send"] / np.maximum(sends, 1), np.nan)
    return {
        "average message size": average,
        "bytes sent": size["send"],
        "bytes received": size["receive"],
        "sends": number["send"],
        "receives": number["receive"],
        "send records": number["logical send"] + number["physical send"],
        "receive records": number["logical receive"] + number["physical receive"],
        "events": events,
    }


def user_sums(
    selected: Selected, rows: Rows, function: Callable[[str, np.ndarray], Any], begin: int, end: int
) -> np.ndarray:
    """function: of a kind ("state begin", "state end", "event", "logical send", ...) and its records (STATE, EVENT,
    MESSAGE) a number of each. Their sum for each row."""
    found = np.zeros(len(rows))

    def add(kind: str, lane: np.ndarray, records: np.ndarray) -> None:
        if len(records):
            values = np.broadcast_to(np.asarray(function(kind, records), np.float64), (len(records),))
            found[:] += np.bincount(rows.of_lane[lane], values, len(rows))

    for lane, states in selected.states():
        exchanged = states.copy()
        exchanged["begin"], exchanged["end"] = states["end"], states["begin"]
        for kind, records in (("state begin", states), ("state end", exchanged)):
            inside = (records["begin"] >= begin) & (records["begin"] < end + (kind == "state end"))
            add(kind, lane[inside], records.compress(inside))
    for lane, events in selected.events():
        inside = (events["time"] >= begin) & (events["time"] < end)
        add("event", lane[inside], events.compress(inside))
    for kind, lane, messages in message_records(selected, begin, end):
        if kind in dict(ENDS):
            add(kind, lane, messages)
    return found
