"""A few messages without their other side change little of a replay, and are said."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import WORLD, call, write_run

from analyzer.efficiency.ideal import ideal_replay
from analyzer.machine.description import Machine
from analyzer.metrics.unrecorded import unrecorded
from analyzer.operations.program import program_of
from analyzer.parallel import Team
from analyzer.recording.run.opening import open_run
from analyzer.replay import replay

BURSTS = st.lists(st.integers(1, 50), min_size=4, max_size=20)


def rows(bursts, left_out=None, extra=0):
    """Rank 0 computes and sends, rank 1 receives, both meet; send number `left_out` is missing, `extra` come at the
    end."""
    now, sender, receiver = 0, [], []
    for number, burst in enumerate(bursts):
        now += burst
        where = {"comm": WORLD, "tag": number % 2}
        if number != left_out:
            sender.append(call("MPI_Send", now, now + 1, peer=1, sent=8, **where))
        receiver.append(call("MPI_Recv", now - burst + 1, now + 2, peer=0, received=8, **where))
        now += 2
    sender += [call("MPI_Send", now + k, now + k + 1, comm=WORLD, peer=1, sent=8, tag=9) for k in range(extra)]
    end = now + extra + 2
    return [
        {"calls": [*sender, call("MPI_Barrier", now + extra, end, comm=WORLD)]},
        {"calls": [*receiver, call("MPI_Barrier", now, end, comm=WORLD)]},
    ]


def ideal(ranks):
    with tempfile.TemporaryDirectory() as folder:
        trace = open_run(str(write_run(Path(folder), ranks)))
        found = ideal_replay(trace, unrecorded(trace, Team()), Team())
        assert len(program_of(trace).ops)
        trace.close()
        return found


@settings(max_examples=25)
@given(BURSTS, st.integers(1, 30))
def test_sends_that_nobody_receives(bursts, extra):
    whole, more = ideal(rows(bursts)), ideal(rows(bursts, extra=extra))
    assert not more.reason
    assert more.runtime_ns == whole.runtime_ns
    assert more.left_over.startswith(f"{extra} send")


@settings(max_examples=25)
@given(BURSTS, st.data())
def test_a_send_that_is_missing(bursts, data):
    missing = data.draw(st.integers(0, len(bursts) - 1))
    whole, less = ideal(rows(bursts)), ideal(rows(bursts, left_out=missing))
    assert not less.reason
    assert whole.runtime_ns - max(bursts) - 2 <= less.runtime_ns <= whole.runtime_ns + 2
    assert less.left_over == "1 receive has no other side in the trace"


def test_the_simulator_waits_for_none_of_them(tmp_path):
    trace = open_run(str(write_run(tmp_path, rows([5, 6, 7, 8], left_out=1, extra=3))))
    assert replay(trace, Machine.ideal()).end_ns > 0
    trace.close()
