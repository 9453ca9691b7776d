"""Calls and messages that the live view finds, against the tables of the run."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_trace import MemoryTrace
from random_runs import runs
from synthetic import write_run
from uneven_runs import iterative, written

from analyzer.errors import TracelibError
from analyzer.frames.tables import Tables
from analyzer.live.interval_numbers import numbers
from analyzer.live.messages import MOST
from analyzer.live.rows import RowGrouping
from analyzer.live.run import LiveRun
from analyzer.live.search import SearchHits
from analyzer.live.selection import CallSearch, Viewport
from analyzer.opening import open_trace


@pytest.fixture(scope="module")
def uneven(tmp_path_factory):
    work = iterative(12, 4, lambda k, rank: 1000 + 600 * (rank == k % 4), step_us=100)
    return LiveRun(open_trace(written(tmp_path_factory.mktemp("run"), work)))


def by_frame(frame, wanted):
    """The rows of the table of calls that are wanted."""
    bytes_ = frame[["sent_bytes", "received_bytes"]].max(axis=1)
    chosen = frame["call"].astype(str).str.contains(wanted.call, flags=re.IGNORECASE, regex=True)
    if wanted.region:
        chosen &= frame["region"].astype(str).str.contains(wanted.region, regex=True)
    for column, low, high in (
        (frame["peer"], wanted.peer, wanted.peer), (bytes_, wanted.least_bytes, wanted.most_bytes),
    ):  # fmt: skip
        chosen &= (low is None or column >= low) & (high is None or column <= high)
    return frame[chosen]


maybe = st.one_of(st.none(), st.integers(0, 9))
wishes = st.builds(
    CallSearch, call=st.sampled_from(["", "send", "^MPI_Recv$", "barrier|test"]), peer=maybe,
    least_bytes=maybe, most_bytes=maybe, region=st.sampled_from(["", "solve", "e/"]),
)  # fmt: skip


@given(runs(), wishes, st.data())
@settings(max_examples=8)
def test_hits_are_rows_of_the_table_of_calls(tmp_path_factory, drawn, wanted, data):
    ranks, tsc_per_us = drawn
    trace = open_trace(write_run(tmp_path_factory.mktemp("live"), ranks, tsc_per_us=tsc_per_us))
    run = LiveRun(trace)
    hits, frame = SearchHits(run, wanted), by_frame(Tables(trace, in_iterations=False).calls.to_pandas(), wanted)
    begin, end = sorted(data.draw(st.tuples(*[st.integers(0, trace.duration_ns)] * 2)))
    found = numbers(run, Viewport(begin, end, RowGrouping.RANKS), hits).found
    enter = np.rint(frame["enter_s"] * 1e9).astype(np.int64)
    inside = (enter >= begin) & ((enter < end) | ((end == trace.duration_ns) & (begin < end)))
    here = frame[inside]
    expected = [here[here["rank"] == rank] for rank in range(trace.size)]
    assert found.count.tolist() == [len(rows) for rows in expected]
    assert found.inside_ns.tolist() == [round(rows["mpi_s"].sum() * 1e9) for rows in expected]
    sizes = [int(rows[["sent_bytes", "received_bytes"]].max(axis=1).sum()) for rows in expected]
    assert found.size_bytes.tolist() == sizes
    assert len(hits) == len(frame)
    trace.close()


@pytest.mark.parametrize(
    "wanted", [CallSearch(call="send"), CallSearch(peer=1), CallSearch(call="allreduce", least_bytes=8)]
)
def test_steps_go_through_all_hits_in_order(uneven, wanted):
    frame = by_frame(Tables(uneven.trace, in_iterations=False).calls.to_pandas(), wanted)
    rows = uneven.rows(RowGrouping.RANKS, "")
    expected = sorted(zip(np.rint(frame["enter_s"] * 1e9).astype(int).tolist(), frame["rank"].tolist(), strict=True))
    assert len(expected) > 10
    hits, there, back = SearchHits(uneven, wanted), [], []
    at = hits.next(rows, 0, 0, forward=True)
    while at:
        there.append(at)
        at = hits.next(rows, at[0], at[1] + 1, forward=True)
    at = hits.next(rows, uneven.trace.duration_ns, len(rows), forward=False)
    while at:
        back.append(at)
        at = hits.next(rows, *at, forward=False)
    assert there == expected == back[::-1]


def test_only_ranks_in_sight_are_stepped_through(uneven):
    hits, rows = SearchHits(uneven, CallSearch(call="send")), uneven.rows(RowGrouping.RANKS, "2")
    time, row = hits.next(rows, 0, 0, forward=True)
    assert row == 0
    frame = Tables(uneven.trace, in_iterations=False).calls.to_pandas()
    sends = frame[(frame["rank"] == 2) & (frame["call"] == "MPI_Send")]
    assert time == round(sends["enter_s"].min() * 1e9)


def test_a_place_that_is_not_known_is_an_error(uneven):
    with pytest.raises(TracelibError, match="does not say where its calls come from"):
        SearchHits(uneven, CallSearch(place="main"))


@given(st.integers(0, 40_000_000), st.integers(1, 40_000_000), st.sets(st.integers(0, 3), min_size=1))
@settings(max_examples=20)
def test_messages_of_a_stretch(uneven, begin, length, ranks):
    """Messages that are sent in it are counted; messages that are on their way in it are drawn."""
    frame = Tables(uneven.trace, in_iterations=False).messages.to_pandas()
    frame = frame[frame["rank"].isin(ranks) | frame["destination"].isin(ranks)]
    send, receive = (np.rint(frame[name] * 1e9).astype(np.int64) for name in ("send_s", "received_s"))
    end = begin + length
    found = uneven.messages.between(begin, end, np.isin(np.arange(4), list(ranks)))
    sent = (send >= begin) & (send < end)
    assert (found.count, found.size_bytes) == (sent.sum(), frame["bytes"][sent].sum())
    drawn = sorted(zip(send, receive, frame["rank"], frame["destination"], strict=True))
    expected = [one for one in drawn if one[0] < end and one[1] > begin]
    assert sorted(found.arrows[["send", "receive", "source", "destination"]].tolist()) == expected


def test_many_messages_are_counted_only():
    """Rank 0 sends so many that one more would be too many; the last arrives late."""
    count = MOST + 5
    rows = [(0, 1, 8, 0, 10 * k, 20_000 if k == 3 else 10 * k + 5) for k in range(count)]
    calls = [[("MPI_Barrier", 0, 30_000, {"comm": 0})]] * 2
    run = LiveRun(MemoryTrace(calls, messages=rows))
    every = np.ones(2, bool)
    assert run.messages.between(0, 30_000, every).arrows is None
    assert run.messages.between(0, 30_000, every).count == count
    late = run.messages.between(15_000, 25_000, every)
    assert late.count == 0 and late.arrows["receive"].tolist() == [20_000]
