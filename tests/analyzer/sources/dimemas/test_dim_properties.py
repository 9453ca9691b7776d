"""Properties of .dim files over many small programs: nothing lost, nothing counted twice, windows do not matter."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from dim_programs import nanoseconds, programs, records, trace_of
from grammar import check_dim
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import WORLD, call, flush, poll, write_run

from analyzer.metrics.useful import useful
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.writers.dim import write_dim


def dim_of(trace) -> str:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.dim"
        write_dim(trace, path, Team())
        assert check_dim(path) == []
        return path.read_text()


@given(programs)
def test_bursts_sum_up_to_the_useful_time(programs):
    trace = trace_of(programs)
    assert nanoseconds(dim_of(trace), trace.size) == useful(trace, Team()).by_rank().tolist()


@given(programs)
def test_every_operation_is_there_once(programs):
    text = dim_of(trace_of(programs))
    kinds = [kind for actions in programs for kind, *_ in actions]
    done = sum(len(rows) for rows in trace_of(programs)._requests)
    assert len(records(text, "2")) == kinds.count("send")
    received = [int(r[7]) for r in records(text, "3")]
    waits = [int(r[9]) for r in records(text, "10")]
    assert received.count(1) == received.count(2)
    assert received.count(2) + waits.count(2) == done
    assert (waits.count(0), waits.count(1)) == (kinds.count("ibarrier"), kinds.count("barrier"))


@settings(max_examples=50)
@given(programs, st.integers(1, 200))
def test_windows_do_not_show(programs, window):
    assert dim_of(trace_of(programs, window)) == dim_of(trace_of(programs))


@settings(max_examples=50)
@given(programs)
def test_offsets_point_at_the_first_record_of_each_task(programs):
    text = dim_of(trace_of(programs))
    for _, task, offset in records(text, "s"):
        assert text[int(offset) :].startswith(f"1:{task}:0:0.000000000\n")
    assert text[int(text.split(",")[1].split(":")[0]) :].startswith("s:0:")


@pytest.mark.parametrize(("tsc_per_us", "overhead"), [(None, 0), (None, 70), (2500, 70), (3333, 0)])
def test_bursts_of_a_real_file_sum_up_to_its_useful_time(tmp_path, tsc_per_us, overhead):
    """With clocks of uneven rates, the tracer's own time, folded polls and flushes within and between calls."""
    rng = np.random.default_rng(7)
    ranks = []
    for _ in range(3):
        calls, polls, events, now = [], [], [], 0
        for kind in rng.integers(0, 4, 60):
            now += int(rng.integers(50, 5000))
            length = int(rng.integers(20, 3000))
            if kind == 0:
                polls.append(poll("MPI_Testany", now, now + length, inside=length // 3, count=4))
            elif kind == 1:
                events += flush(now, now + length)
            else:
                calls.append(call("MPI_Barrier", now, now + length, comm=WORLD))
            now += length
        ranks.append({"calls": calls, "polls": polls, "events": events, "overhead_ticks": overhead})
    trace = open_trace(write_run(tmp_path, ranks, tsc_per_us=tsc_per_us))
    write_dim(trace, tmp_path / "x.dim", Team())
    expected = useful(trace, Team()).by_rank().tolist()
    assert nanoseconds((tmp_path / "x.dim").read_text(), 3) == pytest.approx(
        expected, abs=0 if tsc_per_us is None else 60
    )
