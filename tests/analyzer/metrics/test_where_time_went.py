"""Where the time went: each ns in one part, none negative; threads count for as long as they live."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic import call, flush, write_run

from analyzer.efficiency.analysis import efficiencies
from analyzer.metrics.useful import UsefulTime
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.report.look.summary import summarize
from analyzer.report.look.tables import time_parts


def random_rank(random, threads):
    """Calls of several threads one after the other, and buffers written between and inside them."""
    calls, events = [], []
    for thread in range(threads):
        now = random.randrange(0, 5_000)
        for _ in range(random.randrange(1, 8)):
            now += random.randrange(0, 3_000)
            length = random.randrange(0, 3_000)
            calls.append(call("MPI_Barrier", now, now + length, thread=thread))
            if random.random() < 0.5:  # inside the call, over its end, or after it
                begin = now + random.randrange(0, length + 1)
                events += flush(begin, begin + random.randrange(0, 2_000), thread=thread)
                now = max(now + length, events[-1]["time"])
            else:
                now += length
    return {"calls": calls, "events": events, "overhead_ticks": random.choice((0, 50))}


@pytest.mark.parametrize("seed", range(20))
def test_no_time_is_negative_and_each_counts_once(tmp_path, seed):
    random = Random(seed)
    run = write_run(tmp_path, [random_rank(random, random.choice((1, 1, 2))) for _ in range(3)])
    trace = open_trace(str(run))
    summary = summarize(trace, Team())
    parts = time_parts(summary)
    for name, ns in parts.items():
        assert (ns >= 0).all(), name
    assert (sum(parts.values()) == summary.room_ns).all()
    assert (parts["In MPI"] <= summary.profile.mpi_ns()).all()
    trace.close()


def test_a_buffer_written_inside_a_call_is_the_tracers(tmp_path):
    """100 us in MPI_Init, for 30 of which the buffer is written: it counted twice."""
    one = {"calls": [call("MPI_Init", 0, 100_000)], "events": flush(50_000, 80_000)}
    trace = open_trace(str(write_run(tmp_path, [one] * 2)))
    parts = time_parts(summarize(trace, Team()))
    assert {name: ns.tolist() for name, ns in parts.items() if ns.any()} == {
        "In MPI": [70_000] * 2, "Tracer": [30_000] * 2
    }  # fmt: skip
    trace.close()


@given(st.data())
def test_a_thread_changes_a_rank_by_no_more_than_its_life(data):
    """Whatever else there is, and whatever it computes."""
    runtime = data.draw(st.integers(1, 10**9))
    ns = st.integers(0, runtime)
    threads = data.draw(
        st.lists(st.lists(st.tuples(ns, ns).map(sorted), min_size=1, max_size=4), min_size=1, max_size=4)
    )
    rank = np.repeat(np.arange(len(threads)), [len(its) for its in threads])
    time, lived = (np.array([pair[k] for its in threads for pair in its], np.int64) for k in (0, 1))
    useful = UsefulTime(rank, time, np.zeros_like(time), lived)
    at = data.draw(st.integers(0, len(threads) - 1))
    where = int(np.searchsorted(rank, at, "right"))
    c, life = sorted((data.draw(ns), data.draw(ns)))
    more = UsefulTime(*(np.insert(old, where, new) for old, new in
                    ((rank, at), (time, c), (np.zeros_like(time), 0), (lived, life))))  # fmt: skip
    change = np.abs(more.of_ranks(runtime) - useful.of_ranks(runtime))
    assert change[at] <= life + 1e-3 and (np.delete(change, at) == 0).all()
    alone = np.array([its[0][0] for its in threads if len(its) == 1])
    assert useful.of_ranks(runtime)[[len(its) == 1 for its in threads]] == pytest.approx(alone)


def test_one_call_of_a_helper_thread_is_no_imbalance(tmp_path):
    """4 ranks compute 80 us; a thread of each lives for 2 us. All factors stay, but for what 2 us are."""
    found = []
    for helpers in (0, 1):
        calls = [call("MPI_Init", 0, 10_000), *[call("MPI_Comm_rank", 12_000, 14_000, thread=1)] * helpers,
                 call("MPI_Barrier", 90_000, 100_000), call("MPI_Finalize", 100_000, 100_000)]  # fmt: skip
        folder = tmp_path / str(helpers)
        folder.mkdir()
        trace = open_trace(str(write_run(folder, [{"calls": calls}] * 4)))
        found.append(efficiencies(trace, Team()).efficiency)
        trace.close()
    for name in ("parallel_efficiency", "load_balance", "communication_efficiency", "serialization_efficiency",
                 "transfer_efficiency"):  # fmt: skip
        before, after = (getattr(of, name) for of in found)
        assert before is not None and after == pytest.approx(before, abs=0.02), name


def test_threads_that_communicate_are_not_replayed(tmp_path):
    calls = [call("MPI_Init", 0, 10), call("MPI_Barrier", 20, 30, thread=1), call("MPI_Barrier", 90, 100)]
    trace = open_trace(str(write_run(tmp_path, [{"calls": calls}] * 2)))
    assert efficiencies(trace, Team()).efficiency.ideal.reason == "several threads of ranks 0-1 communicate"
    trace.close()
