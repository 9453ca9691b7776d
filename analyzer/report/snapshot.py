"""The activity of ranks at one moment, in words and for JSON.

Also the same for the live view, with the wait state of each thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from analyzer.live.run import LiveRun
from analyzer.places import Places
from analyzer.places.phrases import call_at, known_text, place_json
from analyzer.report.words import units
from analyzer.report.words.groups import few_lines
from analyzer.report.words.table import plain_table
from analyzer.snapshot import Snapshot, SnapshotCalls, ThreadSnapshot, take_snapshot
from analyzer.trace import CallPaths, State, Trace
from analyzer.trace.paraver import STATE_LABELS, TYPE_LABELS, state_of
from analyzer.waits.kinds import LABELS
from tracelib.schema import WHAT_MASK, Peer, RequestKind

MOST_ROWS = 20
_MOST_LINES = 24
_OUTSIDE = {
    State.RUNNING: "computes",
    State.IO: "waits for the tracer to write its buffer",
    State.OTHERS: "is held by the tracer",
    State.TRACER: "is held by the tracer",
    State.PATHS: "is held by the tracer, which looks for the callers of the next call",
    State.TRACING_DISABLED: "does what is not recorded: recording is off",
    State.SCHEDULING: "waits for a CPU",
}
_TOWARDS = {
    State.BLOCKING_SEND: "to",
    State.IMMEDIATE_SEND: "to",
    State.WAITING_MESSAGE: "from",
    State.IMMEDIATE_RECEIVE: "from",
    State.GROUP_COMMUNICATION: "root",
}
_PEERS = {Peer.ANY_SOURCE: "any", Peer.PROC_NULL: "nobody", Peer.ROOT: "here"}


def print_moment(trace: Trace, found: Snapshot, console: Console) -> None:
    """Print the state of one rank: the activity of each thread, the calls before and after, and messages in flight."""
    places = trace.extra(CallPaths).named()
    console.print(Text(f"rank {found.rank} at {seconds(found.time_ns)}{_outside(found)}", style="bold"))
    for one in found.threads:
        console.print()
        console.print(Text(f"Thread {one.thread} {doing(trace, one, places, found.time_ns)}"))
        for line in _background(one, places):
            console.print(Padding(Text(line), (0, 0, 0, 2)))
        if len(one.before.rows) or len(one.after.rows):
            console.print(Padding(_calls_table(trace, one, places), (0, 0, 0, 2)))
    for title, table in _others(trace, found):
        console.print()
        console.print(Text(title, style="bold"))
        console.print(Padding(table, (0, 0, 0, 2)))


def print_all(trace: Trace, found: Sequence[Snapshot], console: Console) -> None:
    """Print one line for each rank. Of many ranks, equal lines are joined."""
    places = trace.extra(CallPaths).named()
    console.print(Text(f"All ranks at {seconds(found[0].time_ns)}" if found else "No ranks", style="bold"))
    lines = [f"rank {one.rank}: {_main(trace, one, places)}" for one in found]
    for line in few_lines(lines, _MOST_LINES, "; --json lists all"):
        console.print(Padding(Text(line), (0, 0, 0, 2)))


def seconds(ns: int) -> str:
    """Format a time in ns as a moment in s, such as "1.234567 s"."""
    return f"{ns / 1e9:.6f} s"


def doing(trace: Trace, one: ThreadSnapshot, places: Places, time_ns: int) -> str:
    """Describe the activity of a thread at a time (ns).

    Inside a call: `is in MPI_Recv from 2 at a.c:7 in f, for 4.60 ms of 11.2 ms`. Outside: `computes, for ... of ...`.
    """
    if one.inside:
        row = one.before.rows[-1]
        begin, length = int(row["enter"]), int(row["inside"])
        at = call_at(_called(trace, row), known_text(places, int(one.before.paths[-1])))
        return f"is in {at}, {_how_long(time_ns - begin, length)}"
    if one.state < 0:
        return "is not there: nothing is recorded of it then"
    words = _OUTSIDE.get(State(one.state)) or f"is in state {STATE_LABELS[one.state]}"
    return f"{words}, {_how_long(time_ns - one.begin_ns, one.end_ns - one.begin_ns)}"


def moment_json(trace: Trace, found: Snapshot) -> dict[str, Any]:
    """Return the state of one rank for JSON. Times are in s."""
    places = trace.extra(CallPaths).named()
    return {
        "rank": found.rank,
        "at_s": found.time_ns / 1e9,
        "begin_s": found.span[0] / 1e9,
        "end_s": found.span[1] / 1e9,
        "threads": [_thread_json(trace, one, places) for one in found.threads],
        "messages": [
            {
                "source": int(row["source"]), "destination": int(row["destination"]), "bytes": int(row["size"]),
                "tag": int(row["tag"]), "sent_s": int(row["logical_send"]) / 1e9,
                "received_s": int(row["physical_receive"]) / 1e9,
            }
            for row in found.messages
        ],
        "requests": [
            {
                "what": _request_name(int(row["what"])), "peer": int(row["peer"]), "bytes": int(row["bytes"]),
                "posted_s": int(row["posted"]) / 1e9, "completed_s": int(row["completed"]) / 1e9,
            }
            for row in found.requests
        ],
        "events": [
            {
                "time_s": int(row["time"]) / 1e9, "thread": int(row["thread"]), "type": int(row["type"]),
                "value": int(row["value"]), "label": _event_label(trace, row),
            }
            for row in found.events
        ],
    }  # fmt: skip


def _outside(found: Snapshot) -> str:
    begin, end = found.span
    if found.time_ns < begin:
        return f", before its process began ({seconds(begin)})"
    return f", after the last that is recorded of it ({seconds(end)})" if found.time_ns > end else ""


def _main(trace: Trace, found: Snapshot, places: Places) -> str:
    one = found.threads[0] if found.threads else None
    return doing(trace, one, places, found.time_ns) if one else "nothing is recorded of it"


def _how_long(since_ns: int, length_ns: int) -> str:
    return f"for {units.time(since_ns)} of {units.time(length_ns)}"


def _called(trace: Trace, row: np.void) -> str:
    """Return a call with its peer, such as `MPI_Recv from 2`, or a folded row, such as `61 x MPI_Test`."""
    name, peer = trace.procedures[row["call"]], int(row["peer"])
    towards = _TOWARDS.get(state_of(name), "with")
    with_whom = f" {towards} {_PEERS.get(Peer(peer), peer) if peer < 0 else peer}" if peer != Peer.NONE else ""
    return f"{row['count']} x {name}{with_whom}" if row["count"] > 1 else f"{name}{with_whom}"


def _background(one: ThreadSnapshot, places: Places) -> Iterator[str]:
    """Yield lines on the callers and the regions of a thread."""
    path = int(one.before.paths[-1]) if one.inside else 0
    if path and len(places.frames(path)) > 1:
        yield f"called by {places.chain(path)}"
    if one.regions:
        yield "in " + " > ".join(f"{name} (since {seconds(begin)})" for name, begin in one.regions)


def _calls_table(trace: Trace, one: ThreadSnapshot, places: Places) -> Table:
    """Make a table of the calls of a thread: before the moment, at the moment (marked ">"), and after it."""
    table = plain_table("", "enters", "takes", "sent", "received")
    table.add_column("call")
    table.add_column("place", overflow="fold")
    inside = len(one.before.rows) - 1 if one.inside else -1
    before = one.before if one.inside else one.before.select(slice(1, None)) if len(one.before.rows) > 1 else one.before
    shift = len(one.before.rows) - len(before.rows)
    for number, (row, path) in enumerate(_rows(before), shift):
        _add(table, trace, places, row, path, ">" if number == inside else "")
    for row, path in _rows(one.after):
        _add(table, trace, places, row, path, "")
    return table


def _rows(calls: SnapshotCalls) -> Iterator[tuple[np.void, int]]:
    return zip(calls.rows, calls.paths.tolist(), strict=True)


def _add(table: Table, trace: Trace, places: Places, row: np.void, path: int, mark: str) -> None:
    sizes = (units.size(int(row[column]), "") if row[column] else "" for column in ("sent", "received"))
    table.add_row(
        mark, seconds(int(row["enter"])), units.time(int(row["inside"])), *sizes, Text(_called(trace, row)),
        Text(str(place_json(places, path)["place"] or "")),
    )  # fmt: skip


def _others(trace: Trace, found: Snapshot) -> Iterator[tuple[str, Table]]:
    """Yield tables with their titles: messages in flight, open requests, and events; only those with rows."""
    if len(found.messages):
        table = plain_table("from", "to", "size", "tag", "sent", "received")
        for row in found.messages[:MOST_ROWS]:
            table.add_row(
                str(row["source"]), str(row["destination"]), units.size(int(row["size"]), ""), str(row["tag"]),
                seconds(int(row["logical_send"])), seconds(int(row["physical_receive"])),
            )  # fmt: skip
        yield _title("Messages that are sent and not yet received", len(found.messages)), table
    if len(found.requests):
        table = plain_table("request", "peer", "size", "posted", "complete")
        for row in found.requests[:MOST_ROWS]:
            table.add_row(
                _request_name(int(row["what"])), str(row["peer"]) if row["peer"] >= 0 else "-",
                units.size(int(row["bytes"]), ""), seconds(int(row["posted"])), seconds(int(row["completed"])),
            )  # fmt: skip
        yield _title("Requests that are open", len(found.requests)), table
    if len(found.events):
        table = plain_table("time", "thread")
        table.add_column("event")
        for row in found.events[:MOST_ROWS]:
            table.add_row(seconds(int(row["time"])), str(row["thread"]), Text(_event_label(trace, row)))
        yield _title("Events of the program in these states", len(found.events)), table


def _title(text: str, rows: int) -> str:
    return f"{text} (the first {MOST_ROWS} of {rows})" if rows > MOST_ROWS else text


def _request_name(what: int) -> str:
    """Return the kind of a request in lower case: `send`, `receive`, `collective`, ..."""
    return RequestKind(what & WHAT_MASK).name.lower().split("_")[0].replace("recv", "receive")


def _event_label(trace: Trace, row: np.void) -> str:
    label, values = (trace.event_labels | TYPE_LABELS).get(int(row["type"]), (f"type {row['type']}", {}))
    return f"{label}: {values.get(int(row['value']), row['value'])}"


def _thread_json(trace: Trace, one: ThreadSnapshot, places: Places) -> dict[str, Any]:
    return {
        "thread": one.thread,
        "state": STATE_LABELS[one.state] if one.state >= 0 else None,
        "state_begin_s": one.begin_ns / 1e9,
        "state_end_s": one.end_ns / 1e9,
        "in_call": one.inside,
        "before": [_call_json(trace, row, places, path) for row, path in _rows(one.before)],
        "after": [_call_json(trace, row, places, path) for row, path in _rows(one.after)],
        "regions": [{"name": name, "begin_s": begin / 1e9} for name, begin in one.regions],
    }


def _call_json(trace: Trace, row: np.void, places: Places, path: int) -> dict[str, Any]:
    return {
        "call": trace.procedures[row["call"]],
        "enter_s": int(row["enter"]) / 1e9,
        "inside_s": int(row["inside"]) / 1e9,
        "count": int(row["count"]),
        "peer": int(row["peer"]),
        "tag": int(row["tag"]),
        "sent_bytes": int(row["sent"]),
        "received_bytes": int(row["received"]),
        **place_json(places, path),
        "path": places.chain(path) if path else None,
    }


_AROUND = 1
"""Number of calls before and after a moment that the live view shows."""


def moment_at(run: LiveRun, rank: int, time: int) -> dict[str, Any]:
    """Return the JSON of `analyze what` for a rank at a time (ns), with the `wait` of each thread.

    Messages in flight are left out. `wait` describes the wait state that the thread is in; None: it does not wait.
    """
    with run.reading:
        said = moment_json(run.trace, take_snapshot(run.trace, rank, time, _AROUND, messages=False))
    for thread in said["threads"]:
        thread["wait"] = _wait(run, int(run.lanes.first[rank]) + thread["thread"], time)
    return said


def _wait(run: LiveRun, lane: int, time: int) -> dict[str, Any] | None:
    """Return the wait state of the call that a lane is in at a time (ns). None: it does not wait."""
    first, last = run.waits.lane_first[lane : lane + 2].tolist()
    rows = run.waits.waits[first:last]
    at = int(np.searchsorted(rows["enter"], time, side="right")) - 1
    if at < 0 or time >= max(rows["end"][at], rows["exit"][at]):
        return None
    row = rows[at]
    return {
        "kind": LABELS[row["kind"]],
        "cause_rank": int(run.lanes.rank[row["cause"]]),
        "begin_s": int(row["enter"]) / 1e9,
        "end_s": int(row["end"]) / 1e9,
    }
