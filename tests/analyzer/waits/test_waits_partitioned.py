"""Waiting for a partitioned message is waiting for its last part."""

import pytest
from synthetic import WORLD, call, request, write_run
from thread_team import by_team

from analyzer.parallel import Team
from analyzer.recording.run.opening import open_run
from analyzer.trace.read_options import ReadOptions
from analyzer.trace.read_sizes import DEFAULT_SIZES, ReadSizes
from analyzer.waits.kinds import WaitKind, length
from analyzer.waits.point_to_point import partitioned_candidates
from analyzer.waits.threads import Lanes
from analyzer.waits.wait_states import WaitSearch, find_wait_states
from tracelib.schema import RequestKind


def waits_of(tmp_path, *ranks, sizes=DEFAULT_SIZES):
    """(kind, rank, the other's rank and thread, ns) of each wait."""
    trace = open_run(str(write_run(tmp_path, ranks)), options=ReadOptions(sizes=sizes))
    found = find_wait_states(WaitSearch(trace)).waits
    lanes = [(rank, thread) for rank in range(trace.size) for thread in range(int(trace.threads[rank]))]
    rows = zip(found, length(found), strict=True)
    return [(WaitKind(int(w["kind"])), lanes[w["lane"]][0], *lanes[w["cause"]], int(ns)) for w, ns in rows]


def sender(last):
    """Starts at 10 and hands a part over at 40; a second thread hands over the other, at `last`."""
    which = {"comm": WORLD, "peer": 0, "tag": 3}
    calls = [call("MPI_Start", 10, 11, **which), call("MPI_Pready", 40, 41, **which), call("MPI_Wait", 310, 312)]
    parts = [
        request(RequestKind.PARTITIONED_SEND_STARTED, 10, 0, peer=0, tag=3, bytes=16),
        request(RequestKind.PARTITIONED_SEND_DONE, 10, 312, peer=0, tag=3, bytes=16),
    ]
    return {"calls": [*calls, call("MPI_Pready", last, last + 1, thread=1, **which)], "requests": parts}


def receiver(started, waits):
    which = {"comm": WORLD, "peer": 1, "tag": 3}
    parts = [
        request(RequestKind.PARTITIONED_RECV_STARTED, started, 0, peer=1, tag=3, bytes=16),
        request(RequestKind.PARTITIONED_RECV_DONE, started, 350, peer=1, tag=3, bytes=16),
    ]
    return {
        "calls": [call("MPI_Start", started, started + 1, **which), call("MPI_Wait", waits, 350)],
        "requests": parts,
    }


@pytest.mark.parametrize("records", [1, 1 << 16])
@pytest.mark.parametrize("started", [5, 20])
def test_for_the_last_part(tmp_path, started, records):
    """Also where the receive was started after the send; whatever is read at a time."""
    sizes = ReadSizes(part_calls=records)
    assert waits_of(tmp_path, receiver(started, 60), sender(300), sizes=sizes) == [(WaitKind.LATE_SENDER, 0, 1, 1, 240)]


def test_a_team_finds_the_same(tmp_path):
    """Here the second member has the sends."""
    run = str(write_run(tmp_path, [receiver(5, 60), sender(300)]))

    def found(team):
        trace = open_run(run)
        return partitioned_candidates(trace, Lanes(trace), team).tolist()

    alone = found(Team())
    assert len(alone) == 1
    assert by_team(2, found) == [alone] * 2


def test_parts_that_are_there_are_not_waited_for(tmp_path):
    assert waits_of(tmp_path, receiver(5, 320), sender(300)) == []


def test_a_plain_message_has_no_parts(tmp_path):
    """Rank 1 sends to rank 2 at 20; what it hands over to rank 0 at 300, with the same tag, is another message."""
    handed = call("MPI_Pready", 300, 301, comm=WORLD, peer=0, tag=3)
    plain = {"calls": [call("MPI_Send", 20, 25, comm=WORLD, peer=2, tag=3, sent=8), handed]}
    receives = {"calls": [call("MPI_Recv", 10, 400, comm=WORLD, peer=1, tag=3, received=8)]}
    found = waits_of(tmp_path, {"calls": [call("MPI_Comm_rank", 1, 2)]}, plain, receives)
    assert found == [(WaitKind.LATE_SENDER, 2, 1, 0, 10)]
