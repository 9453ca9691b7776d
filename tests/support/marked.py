"""Regions of the program in synthetic runs."""

from hypothesis import strategies as st
from synthetic import call, event, label, poll

from tracelib.schema import PARALLEL_TYPE, REGION_TYPE, LabelKind

BEGIN, END = 1, 2


NAMES = ("solve", "exchange", "never")


LABELS = [label(LabelKind.REGION, n, name) for n, name in enumerate(NAMES, start=1)]


LAST = 130


def begin(time, region, thread=0):
    return event(time, REGION_TYPE, region, thread=thread, flags=BEGIN)


def end(time, region, thread=0):
    return event(time, REGION_TYPE, region, thread=thread, flags=END)


def parallel(time, threads, thread=0):
    return event(time, PARALLEL_TYPE, threads, thread=thread)


@st.composite
def threads(draw, number):
    """Disjoint calls and runs of polls, and regions that nest, some in themselves, none across a run of polls."""
    cuts = sorted(draw(st.sets(st.integers(1, LAST), max_size=16)))
    pairs = list(zip(cuts[::2], cuts[1::2], strict=False))
    kinds = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    calls = [call("MPI_Send", a, b, thread=number) for (a, b), p in zip(pairs, kinds, strict=True) if not p]
    polls = [
        poll("MPI_Test", a, b, inside=draw(st.integers(0, b - a)), count=2, thread=number)
        for (a, b), p in zip(pairs, kinds, strict=True)
        if p
    ]
    allowed = [t for t in range(1, LAST) if not any(p["enter"] < t < p["exit"] for p in polls)]
    times = sorted(draw(st.lists(st.sampled_from(allowed), max_size=14)))
    events, stack = [], []
    for time in times:
        if stack and draw(st.booleans()):
            events.append(end(time, stack.pop(), number))
        else:
            stack.append(draw(st.integers(1, 2)))
            events.append(begin(time, stack[-1], number))
        if draw(st.booleans()):
            events.append(parallel(time, draw(st.integers(3, 9)), number))
    events += [end(LAST, stack.pop(), number) for _ in list(stack)]
    return calls, polls, events
