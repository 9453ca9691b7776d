"""Samples of counters by hand: which readings they are, and what was counted between them and the calls around."""

import numpy as np
from counted import CPU, FAULTS, block
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import call, event, write_run

from analyzer.opening import open_trace
from analyzer.trace import UNKNOWN, Counters, Regions
from tracelib import schema

SETS = [(1, 0, 42009998, 1, CPU), (1, 1, 44000001, 2, FAULTS)]
SAMPLER = schema.SAMPLER_THREAD


def sample(time, thread, cpu, faults=None):
    values = {42009998: cpu, 44000001: faults}
    return [event(time, t, v, thread=SAMPLER, flags=thread) for t, v in values.items() if v is not None]


def opened(folder, calls, counts, events, **rank):
    blocks = np.concatenate(
        [
            block(len(calls), len(counts), set=1),
            block(0, 0, thread=SAMPLER, events=len(events)),
        ]
    )
    row = {"procedures": ["MPI_Send"], "calls": calls, "counts": counts, "counters": SETS, "blocks": blocks}
    return open_trace(str(write_run(folder, [row | {"events": events} | rank])))


def counted(trace, type_):
    events = trace.events()
    return [(int(e["time"]), int(e["value"])) for e in events[events["type"] == type_]]


def test_by_hand(tmp_path):
    """The burst before the second call is divided by two samples, the first of which has no page faults."""
    calls = [call("MPI_Send", 100, 105), call("MPI_Send", 200, 205)]
    counts = [70, 3, 75, 4, 130, 10, 131, 10]
    events = [
        *sample(50, 0, 20, 1),
        *sample(120, 0, 80),
        event(120, schema.MISSED_SAMPLES_TYPE, 7, thread=SAMPLER),
        *sample(150, 0, 95, 6),
        *sample(210, 0, 140, 12),
    ]
    trace = opened(tmp_path, calls, counts, events)
    assert trace.threads.tolist() == [1]
    samples = trace.extra(Counters).samples(0)
    assert samples.time.tolist() == [50, 120, 150, 210]
    assert samples.values.tolist() == [[20, 1], [80, UNKNOWN], [95, 6], [140, 12]]
    assert not samples.at_region.any()
    assert trace.extra(Counters).samples(0, 120, 150).time.tolist() == [120]
    assert trace.extra(Counters).sampled(0) == (4, 7)
    times = [50, 100, 105, 120, 150, 200, 205, 210]
    assert counted(trace, 42009998) == list(zip(times, [20, 50, 5, 5, 15, 35, 1, 9], strict=True))
    faults = [(100, 2), (105, 1), (150, 2), (200, 4), (205, 0), (210, 2)]  # before the first reading: unknown
    assert counted(trace, 44000001) == faults


def test_readings_at_regions(tmp_path):
    """Rows of the thread itself; the program's events are without them."""
    region = [event(10, schema.REGION_TYPE, 1, flags=1), event(10, 42009998, 30), event(10, 44000001, 2)]
    region += [event(40, schema.REGION_TYPE, 1, flags=2), event(40, 42009998, 55), event(40, 44000001, 9)]
    labels = [(schema.REGION_TYPE, schema.LabelKind.REGION, 1, b"work")]
    blocks = block(0, 0, set=1, events=len(region))
    rank = {"counters": SETS, "events": region, "labels": labels, "blocks": blocks}
    trace = open_trace(str(write_run(tmp_path, [rank])))
    samples = trace.extra(Counters).samples(0)
    assert samples.at_region.all()
    assert samples.values.tolist() == [[30, 2], [55, 9]]
    assert trace.extra(Counters).sampled(0) == (0, 0)
    assert [int(e["type"]) for e in trace.extra(Regions).events(0)] == [schema.REGION_TYPE] * 2
    assert counted(trace, 42009998) == [(10, 30), (40, 25)]
    assert counted(trace, 44000001) == [(40, 7)]


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(1, 50), st.integers(0, 9), st.booleans()), min_size=1, max_size=40))
def test_events_sum_up_to_the_last_reading_in_any_windows(tmp_path_factory, steps):
    """Each step is a call or a sample; a thread's CPU time is divided among its events without rest."""
    calls, counts, events, time, cpu = [], [], [], 0, 0
    for ns, more, is_call in steps:
        time, cpu = time + ns, cpu + more
        if is_call:
            calls.append(call("MPI_Send", time, time + 1))
            counts += [cpu, 0, cpu + 1, 0]
            time, cpu = time + 1, cpu + 1
        else:
            events += sample(time, 0, cpu, 0)
    trace = opened(tmp_path_factory.mktemp("any"), calls, counts, events)
    whole = counted(trace, 42009998)
    assert sum(value for _, value in whole) == cpu
    cut = time // 2
    parts = [trace.events(0, cut), trace.events(cut)]
    assert [(int(e["time"]), int(e["value"])) for p in parts for e in p[p["type"] == 42009998]] == whole
    trace.close()
