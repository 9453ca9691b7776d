"""A view of any trace has at any time the value that a slow, second implementation has."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_views import COMPOSES, LEVELS, THREAD, value
from view_trace import ViewTrace, burst_list

from analyzer.views import View

DURATION = 60
TIMES = st.integers(0, DURATION)


@st.composite
def traces(draw):
    threads = tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)))
    nodes = [0, *draw(st.lists(st.integers(0, 1), min_size=len(threads) - 1, max_size=len(threads) - 1))]
    if 1 not in nodes:
        nodes = [0] * len(threads)
    states, events = [], []
    for rank, count in enumerate(threads):
        for thread in range(count):
            cuts = sorted(draw(st.sets(TIMES, max_size=6)))
            for begin, end in pairwise(cuts):
                if draw(st.booleans()):
                    states.append((begin, end, rank, thread, draw(st.integers(0, 4))))
            times = sorted(draw(st.sets(st.integers(0, DURATION - 1), max_size=4)))
            events += [(t, draw(st.integers(0, 5)), draw(st.sampled_from([7, 8])), rank, thread) for t in times]
    messages = []
    for _ in range(draw(st.integers(0, 5))):
        ends = [draw(st.sampled_from(range(len(threads)))) for _ in range(2)]
        own = [draw(st.integers(0, threads[rank] - 1)) for rank in ends]
        send, receive = draw(TIMES), draw(TIMES)
        size = draw(st.integers(0, 9))
        messages.append((ends[0], own[0], ends[1], own[1], size, len(messages), send, send, receive, receive))
    received = [(m[2], m[3], m[9]) for m in messages]
    if len(set(received)) < len(received):  # which of two that arrive at once is the last one is not defined
        messages = messages[:1]
    window = draw(st.sampled_from([None, 1, 7, 20]))
    names = ("a", "b") if 1 in nodes else ("a",)
    return ViewTrace(
        DURATION, threads=threads, states=states, events=events, messages=messages, window=window, nodes=names,
        node_of=nodes,
    )  # fmt: skip


@settings(max_examples=60)
@given(
    traces(), st.sampled_from(list(THREAD)), st.sampled_from(["thread", "task", "application", "node"]),
    st.fixed_dictionaries({level: st.sampled_from(list(LEVELS)) for level in ("task", "application", "node")}),
    st.lists(st.sampled_from(list(COMPOSES)), max_size=2),
    st.lists(st.floats(0, DURATION - 0.01), min_size=1, max_size=5),
)  # fmt: skip
def test_values(trace, thread, level, functions, composes, times):
    view = View(thread, level=level, compose2=composes[:1], compose1=composes[1:], **functions)
    for row, found in enumerate(burst_list(trace, view).values()):
        assert [found[0][0], found[-1][1]] == [0, DURATION]
        assert all(a[1] == b[0] and a[2] != b[2] for a, b in pairwise(found))
        for t in times:
            here = next(v for begin, end, v in found if begin <= t < end)
            assert here == pytest.approx(float(value(trace, thread, level, functions, composes, row, t)))
