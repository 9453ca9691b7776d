"""Threads' activities over time, against a search at each time for the last one; however time is cut."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from analyzer.trace import CALL
from analyzer.waits import segments as of
from analyzer.waits.segments import _POINT, SEGMENT, Activities, Segments, _Walk, lib

PROCEDURES, PATHS = 3, 2
CALLS = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), st.integers(0, 3), st.integers(0, 2)),
    max_size=12,
)
"""ns since the last call, ns that it takes, how much of that is not inside MPI, the tracer's, procedure."""
POINTS = st.lists(
    st.tuples(
        st.integers(0, 120),
        st.sampled_from((lib.SEGMENT_PATH, lib.SEGMENT_WAIT, lib.SEGMENT_LOST)),
        st.integers(0, 1),
    ),
    max_size=12,
)


def calls_of(steps):
    rows, now = np.zeros(len(steps), CALL), 0
    for row, (before, length, other, tracer, call) in zip(rows, steps, strict=True):
        row["enter"], row["exit"] = now + before, now + before + length
        row["inside"], row["tracer"], row["call"] = max(length - other, 0), tracer, call
        now += before + length
    return rows


def points_of(steps):
    rows = np.zeros(len(steps), _POINT)
    for row, (time, kind, value) in zip(rows, sorted(steps), strict=True):
        row["time"], row["of"], row["value"] = time, kind, value
    return rows


def all_points(calls, points, end):
    """(time, what it is of, value) of everything, in order."""
    found = []
    for k, call in enumerate(calls):
        enter, exit_, inside, tracer = (int(call[name]) for name in ("enter", "exit", "inside", "tracer"))
        between = min(tracer, exit_ - enter - inside)
        left = exit_ + tracer - between
        if k + 1 < len(calls):
            left = max(exit_, min(left, int(calls["enter"][k + 1])))
        begin = exit_ - inside
        found += [(begin - between, lib.SEGMENT_TRACER, 1), (begin, lib.SEGMENT_CALL, 1 + int(call["call"]))]
        found += [(exit_, lib.SEGMENT_CALL, 0), (left, lib.SEGMENT_TRACER, 0)]
    found += [(int(row["time"]), int(row["of"]), int(row["value"])) for row in points]
    over = max([end, *(time for time, kind, _ in found if kind != lib.SEGMENT_TRACER)])
    return sorted(((min(time, over), kind, value) for time, kind, value in found), key=lambda one: one[0]), over


def by_hand(calls, points, end):
    """(begin, (path, what) or None where it waits) of each segment, and the end."""
    every, over = all_points(calls, points, end)
    values, found = dict.fromkeys(range(lib.SEGMENT_KINDS), 0), []
    for k, (time, kind, value) in enumerate(every):
        values[kind] = value
        if k + 1 < len(every) and every[k + 1][0] == time:
            continue
        outside = values[lib.SEGMENT_LOST]
        if not outside and values[lib.SEGMENT_TRACER]:
            outside = of.OF_TRACER
        what = of.FIRST_CALL - 1 + values[lib.SEGMENT_CALL] if values[lib.SEGMENT_CALL] else outside
        now = None if values[lib.SEGMENT_WAIT] else (values[lib.SEGMENT_PATH], what)
        if not found or found[-1][1] != now:
            found.append((time, now))
    return [one for one in found if one[0] < over], over


def told(rows, activities):
    """Return the same for SEGMENT, whose last row marks the end."""
    table = activities.table().tolist()
    assert rows["activity"][-1] == of.WAITING
    told = [(int(r["begin"]), tuple(table[r["activity"]]) if r["activity"] else None) for r in rows[:-1]]
    return told, int(rows["begin"][-1])


@given(CALLS, POINTS, st.integers(0, 150), st.sets(st.integers(1, 140), max_size=4))
def test_against_looking_at_each_time(calls, points, end, cuts):
    calls, points = calls_of(calls), points_of(points)
    activities = Activities(PROCEDURES)
    activities.expect(PATHS)
    walk, last, found = _Walk(activities), np.zeros(0, SEGMENT), []
    bounds = [0, *sorted(cuts), 1000]
    for low, high in pairwise(bounds):
        mine = calls[(calls["enter"] >= low) & (calls["enter"] < high)]
        rows = walk.window(mine, 0, points[(points["time"] >= low) & (points["time"] < high)], high)
        if len(rows):
            found.append(last)
            last = rows
    rows = np.concatenate([*found, walk.end(last, points[points["time"] >= 1000], end)])
    expected = by_hand(calls, points, end)
    assert told(rows, activities) == expected
    assert walk.first == (
        min(time for time, *_ in all_points(calls, points, end)[0]) if len(calls) or len(points) else 0
    )


@given(st.lists(st.tuples(CALLS, POINTS, st.integers(0, 150)), min_size=1, max_size=4))
def test_many_threads_at_once(threads):
    """Ranks of one thread each, looked at together; points come as what is lost, of which one kind is enough."""
    every = [calls_of(calls) for calls, _, _ in threads]
    points = [points_of(points) for _, points, _ in threads]
    activities = Activities(PROCEDURES)
    activities.expect(PATHS)
    lanes = SimpleNamespace(
        first=np.arange(len(threads) + 1), rank=np.arange(len(threads)), thread=np.zeros(len(threads), int)
    )
    trace = SimpleNamespace(
        procedures=("a", "b", "c"), rank_calls=lambda *_: (np.concatenate(every), np.array([len(c) for c in every]))
    )
    segments = Segments(trace, lanes)
    segments.activities.expect(PATHS)
    cuts = np.cumsum([0, *map(len, points)])
    ends = np.array([end for _, _, end in threads])
    segments._add_whole(range(len(threads)), np.array([0, 1000]), np.concatenate(points), cuts, ends)
    rows, first = segments.rows.mapped(), segments.first.tolist()
    for k, (calls, own) in enumerate(zip(every, points, strict=True)):
        assert told(rows[first[k] : first[k + 1]], segments.activities) == by_hand(calls, own, int(ends[k]))


def test_activities_that_were_met_elsewhere():
    """Numbers of another process's paths and activities become ours."""
    ours, theirs = Activities(PROCEDURES), Activities(PROCEDURES)
    for activities, calls in ((ours, [(1, 5, 0, 0, 0)]), (theirs, [(1, 5, 0, 0, 2), (1, 5, 0, 0, 0)])):
        activities.expect(1)
        _Walk(activities).window(calls_of(calls), 0, points_of([]), 1000)
    numbers = ours.add(theirs.keys, np.array([4]))
    table = ours.table()
    assert [tuple(table[n]) for n in numbers[1:]] == [(4, what) for _, what in theirs.table().tolist()[1:]]
    assert len(ours) == len(table) == len(np.unique(table, axis=0))
    assert ours.add(theirs.keys, np.array([4])).tolist() == numbers.tolist()
