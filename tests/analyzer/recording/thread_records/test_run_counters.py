"""Readings of counters by hand: which belong to which call, and what was counted between two calls."""

import numpy as np
import pytest
from counted import CPU, FAULTS, INS, SETS, block
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import call, event, poll, write_run

from analyzer.errors import TracelibError
from analyzer.opening import open_trace
from analyzer.trace import UNKNOWN, Counters
from tracelib import schema


def opened(folder, **rank):
    return open_trace(str(write_run(folder, [{"procedures": ["MPI_Send"], **rank}])))


def whole(trace, rank=0):
    parts = list(trace.extra(Counters).counts(rank))
    return [np.concatenate([getattr(p, name) for p in parts]).tolist() for name in ("enter", "exit", "burst", "inside")]


def test_two_sets(tmp_path):
    """CPU time goes on from set to set, the others begin at 0; a reading of 2^64 - 1 is none."""
    calls = [call("MPI_Send", t, t + 5) for t in (100, 200, 300)]
    counts = [70, 3, 75, 4, 90, 4, 96, 2**64 - 1, 120, 1000, 125, 1500]
    trace = opened(
        tmp_path,
        calls=calls,
        counts=counts,
        counters=SETS,
        blocks=np.concatenate([block(2, 8, set=1), block(1, 4, set=2, first_call=2, first_count=8)]),
    )
    assert [(c.name, c.type) for c in trace.extra(Counters).known] == [
        ("CPU_NS", 42009998),
        ("perf::PAGE-FAULTS", 44000001),
        ("PAPI_TOT_INS", 42000050),
    ]
    enter, exit, burst, inside = whole(trace)
    assert enter == [[70, 3, UNKNOWN], [90, 4, UNKNOWN], [120, UNKNOWN, 1000]]
    assert exit == [[75, 4, UNKNOWN], [96, UNKNOWN, UNKNOWN], [125, UNKNOWN, 1500]]
    assert burst == [[70, UNKNOWN, UNKNOWN], [15, 0, UNKNOWN], [24, UNKNOWN, 1000]]
    assert inside == [[5, 1, UNKNOWN], [6, UNKNOWN, UNKNOWN], [5, UNKNOWN, 500]]
    events = trace.events()
    events = events[events["type"] >= 42000000]
    events = [(int(e["time"]), int(e["type"]), int(e["value"])) for e in events if e["type"] < 50000000]
    assert events == [
        (100, 42009998, 70),
        (105, 42009998, 5),
        (105, 44000001, 1),
        (200, 42009998, 15),
        (200, 44000001, 0),
        (205, 42009998, 6),
        (300, 42009998, 24),
        (300, 42000050, 1000),
        (305, 42009998, 5),
        (305, 42000050, 500),
    ]


def test_two_counters_of_one_event_type_are_refused(tmp_path):
    """Their readings could not be distinguished. Types come from names, and no two in a run are equal."""
    counters = [(*row[:2], 42009998, *row[3:]) for row in SETS]
    with pytest.raises(TracelibError, match="have the same event type"):
        opened(tmp_path, calls=[call("MPI_Send", 1, 2)], counts=[1, 2, 3, 4], counters=counters)


def test_polls_have_no_readings_and_blocks_without_a_set_neither(tmp_path):
    """Also, the blocks equal the blocks of `calls`."""
    calls = [call("MPI_Send", 100, 105), call("MPI_Send", 300, 305)]
    trace = opened(
        tmp_path,
        calls=calls,
        polls=[poll("MPI_Test", 200, 210, inside=4, count=1)],
        counts=[5, 1, 9, 2],
        counters=SETS[:2],
        blocks=np.concatenate([block(1, 0), block(1, 4, set=1, first_call=1, polls=1)]),
    )
    none = [UNKNOWN, UNKNOWN]
    assert whole(trace) == [
        [none, none, [5, 1]],
        [none, none, [9, 2]],
        [none] * 2 + [[UNKNOWN, 1]],
        [none] * 2 + [[4, 1]],
    ]
    for mine, theirs in zip(trace.extra(Counters).counts(0), trace.calls(0), strict=True):
        assert mine.calls.tolist() == theirs.tolist()


def test_a_burst_over_dropped_calls_is_unknown(tmp_path):
    calls = [call("MPI_Send", t, t + 5) for t in (100, 200, 300)]
    blocks = [block(1, 4, set=1), block(1, 4, set=1, flags=3, first_call=1, first_count=4)]
    blocks.append(block(1, 4, set=1, first_call=2, first_count=8))
    counts = [70, 3, 75, 4, 0, 0, 0, 0, 120, 9, 125, 10]
    trace = opened(tmp_path, calls=calls, counts=counts, counters=SETS[:2], blocks=np.concatenate(blocks))
    assert whole(trace)[2] == [[70, UNKNOWN], [UNKNOWN, UNKNOWN]]


def test_a_burst_in_which_nothing_was_recorded_is_unknown(tmp_path):
    """The program switched tracing off after the first call and on again before the second."""
    calls = [call("MPI_Send", t, t + 5) for t in (100, 200, 300)]
    switched = [event(150, schema.TRACING_TYPE, 0), event(180, schema.TRACING_TYPE, 1)]
    counts = [70, 3, 75, 4, 90, 6, 95, 6, 120, 9, 125, 10]
    trace = opened(
        tmp_path, calls=calls, events=switched, counts=counts, counters=SETS[:2], blocks=block(3, 12, set=1, events=2)
    )
    assert whole(trace)[2] == [[70, UNKNOWN], [UNKNOWN, UNKNOWN], [25, 3]]


@pytest.mark.parametrize("written", [0, 1, 2, 3, 4])
def test_readings_that_a_full_disk_did_not_take(tmp_path, written):
    """Calls beyond them are there without readings."""
    calls = [call("MPI_Send", t, t + 5) for t in (100, 200)]
    counts = [10, 1, 11, 1, 20, 2, 21, 2][: 2 * written]
    trace = opened(tmp_path, calls=calls, counts=counts, counters=SETS[:2], blocks=block(2, len(counts), set=1))
    assert [row[0] for row in whole(trace)[0]] == [10 if written > 1 else UNKNOWN, 20 if written > 3 else UNKNOWN]


@settings(max_examples=30)
@given(st.data())
def test_any_blocks_of_any_threads(tmp_path_factory, data):
    """Against a plain walk over the blocks, whatever part of the time is asked for."""
    blocks, calls, counts, expected = [], [], [], []
    last: dict[int, tuple[int, int, int, int]] = {}
    for _ in range(data.draw(st.integers(1, 6))):
        thread, set_ = data.draw(st.integers(0, 2)), data.draw(st.integers(0, 2))
        count = data.draw(st.integers(1, 4))
        blocks.append(block(count, 4 * count * (set_ > 0), thread, set_, len(calls), len(counts)))
        for _ in range(count):
            time = 100 * (len(calls) + 1)
            calls.append(call("MPI_Send", time, time + 10, thread=thread))
            before = last.get(thread)
            cpu = [1000 * time, 1000 * time + data.draw(st.integers(0, 9))]
            base = before[2] if before and before[0] == set_ else 0
            other = [base + data.draw(st.integers(0, 9))]
            other.append(other[0] + data.draw(st.integers(0, 9)))
            burst = [UNKNOWN] * 3
            if set_:
                counts += [cpu[0], other[0], cpu[1], other[1]]
                burst[0] = cpu[0] - before[1] if before and before[0] else UNKNOWN if before else cpu[0]
                burst[set_] = other[0] - base if before else UNKNOWN
            expected.append((time, burst))
            last[thread] = (set_, cpu[1], other[1], 0)
    trace = opened(
        tmp_path_factory.mktemp("run"), calls=calls, counts=counts, counters=SETS, blocks=np.concatenate(blocks)
    )
    column = {c.name: k for k, c in enumerate(trace.extra(Counters).known)}
    order = [column[name.decode()] for name in (CPU, FAULTS, INS) if name.decode() in column]
    begin = data.draw(st.integers(0, 100 * len(calls)))
    found = [
        (int(c["enter"]), row[order].tolist())
        for part in trace.extra(Counters).counts(0, begin)
        for c, row in zip(part.calls, part.burst, strict=True)
    ]
    assert found == [(time, burst) for time, burst in expected if time >= begin]
