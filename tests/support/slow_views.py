"""value(level, object, t), the slow way: from lists of records, at one time, without windows or state.

A second implementation of the definitions of "Dimemas specification", section 1.16.2; it shares no code with
analyzer.views.
"""

from __future__ import annotations

from analyzer.trace import State

US = 1000


def state_value(trace, rank, thread, t, of):
    """`of` the state that begins last among those around t; 0: there is none."""
    around = [s for s in trace.states().tolist() if (s[2], s[3]) == (rank, thread) and s[0] <= t < s[1]]
    return of(max(around)) if around else 0


def events_of(trace, rank, thread):
    return [e for e in trace.events().tolist() if (e[3], e[4]) == (rank, thread)]


def last_and_next(trace, rank, thread, t):
    rows = events_of(trace, rank, thread)
    before, after = [e for e in rows if e[0] <= t], [e for e in rows if e[0] > t]
    return (before[-1] if before else None), (after[0] if after else None)


def _average(value, begin, end):
    return value * 1000 / ((end - begin) / US)


def _event(of):
    return lambda trace, rank, thread, t: of(*last_and_next(trace, rank, thread, t))


def in_flight(trace, rank, thread, t, side, weight):
    total = 0
    for row in trace.messages():
        mine = (row[side], row[f"{side}_thread"]) == (rank, thread)
        if mine and row["physical_send"] <= t < row["physical_receive"]:
            total += weight(row)
    return total


def last_received(trace, rank, thread, t, column):
    rows = [m for m in trace.messages() if (m["destination"], m["destination_thread"]) == (rank, thread)]
    rows = [m for m in rows if m["physical_receive"] <= t]
    return int(max(rows, key=lambda m: m["physical_receive"])[column]) if rows else 0


THREAD = {
    "useful": lambda *at: state_value(*at, lambda s: s[4] == State.RUNNING),
    "state sign": lambda *at: state_value(*at, lambda s: s[4] != 0),
    "state as is": lambda *at: state_value(*at, lambda s: s[4]),
    "last event value": _event(lambda last, _: last[1] if last else 0),
    "last event type": _event(lambda last, _: last[2] if last else 0),
    "next event value": _event(lambda _, after: after[1] if after else 0),
    "next event type": _event(lambda _, after: after[2] if after else 0),
    "average next event value": _event(
        lambda last, after: _average(after[1], last[0] if last else 0, after[0]) if after else 0
    ),
    "average last event value": _event(
        lambda last, after: _average(last[1], last[0], after[0]) if last and after else 0
    ),
    "interval between events": _event(lambda last, after: (after[0] - last[0]) / US if last and after else 0),
    "bytes in flight": lambda *at: in_flight(*at, "source", lambda m: int(m["size"])),
    "messages in flight": lambda *at: in_flight(*at, "source", lambda m: 1),
    "messages coming in": lambda *at: in_flight(*at, "destination", lambda m: 1),
    "last size": lambda *at: last_received(*at, "size"),
}


def _mean(values):
    return sum(values) / len(values)


LEVELS = {
    "adding": sum,
    "adding sign": lambda values: float(sum(values) > 0),
    "average": _mean,
    "maximum": max,
    "minimum": min,
    "thread 2": lambda values: values[1] if len(values) > 1 else 0,
}

COMPOSES = {
    "as is": lambda v: v,
    "sign": lambda v: float(v > 0),
    "1-sign": lambda v: float(not v > 0),
    ("module", 3): lambda v: v % 3,
    ("module+1", 3): lambda v: v % 3 + 1,
    ("divide", 4): lambda v: v / 4,
    ("select range", 1, 3): lambda v: v if 1 <= v <= 3 else 0,
    ("is in range", 1, 3): lambda v: float(1 <= v <= 3),
}


def value(trace, thread, level, functions, composes, row, t):
    """Return the value of row `row` of a level at t. functions: by name of the level; composes: one after the other."""

    def at(rank, number):
        return THREAD[thread](trace, rank, number, t)

    def task(rank):
        return LEVELS[functions["task"]]([at(rank, number) for number in range(trace.threads[rank])])

    ranks = range(trace.size)
    if level == "thread":
        found = at(*[(rank, n) for rank in ranks for n in range(trace.threads[rank])][row])
    elif level == "task":
        found = task(row)
    elif level == "application":
        found = LEVELS[functions["application"]]([task(rank) for rank in ranks])
    else:
        mine = [rank for rank in ranks if trace.nodes.of_rank[rank] == row]
        found = LEVELS[functions["node"]]([at(rank, n) for rank in mine for n in range(trace.threads[rank])])
    for compose in composes:
        found = COMPOSES[compose](found)
    return found
