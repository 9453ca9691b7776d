"""The messages that some ranks send or receive, against all messages of the run."""

import numpy as np
import pytest
import synthetic
from synthetic import WORLD, call
from thread_team import by_team

from analyzer.recording.run.opening import open_run
from analyzer.trace import Trace
from analyzer.trace.read_options import ReadOptions
from analyzer.trace.read_sizes import ReadSizes
from benchmarks.synthetic.run import write_run

SHORT_WINDOWS = ReadOptions(sizes=ReadSizes(message_calls=300))


def all_at_once(ranks, rounds=20):
    """In each round all ranks send to both neighbours at the same two times."""
    for rank in range(ranks):
        rows = []
        for k in range(rounds):
            for at, away in ((10, 1), (20, -1)):
                to, source = (rank + away) % ranks, (rank - away) % ranks
                rows.append(call("MPI_Send", 100 * k + at, 100 * k + at + 5, comm=WORLD, peer=to, tag=away + 1, sent=8))
                begin = 100 * k + at + 30
                received = {"comm": WORLD, "peer": source, "tag": away + 1, "received": 8}
                rows.append(call("MPI_Recv", begin, begin + 5, **received))
        yield {"calls": sorted(rows, key=lambda row: row["enter"])}


@pytest.fixture(scope="module", params=["irregular", "all at once"])
def run(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("messages")
    if request.param == "irregular":
        return str(write_run(folder, request.param, 24, 120).path)
    return str(synthetic.write_run(folder, list(all_at_once(24))))


def touching(messages, ranks):
    mine = list(ranks)
    return messages[np.isin(messages["source"], mine) | np.isin(messages["destination"], mine)]


@pytest.mark.parametrize("ranks", [range(0), range(5), range(5, 17), range(23, 24), range(24)])
def test_as_all_of_them_filtered(run, ranks):
    trace = open_run(run, options=SHORT_WINDOWS)
    every = trace.messages()
    assert len(trace.message_windows()) > 5 and len(every) > 900
    begin, end = (int(every["logical_send"][at]) for at in (len(every) // 5, len(every) // 2))
    for low, high in ((0, trace.duration_ns + 1), (begin, end)):
        expected = touching(trace.messages(low, high), ranks)
        assert trace.messages_of(ranks, low, high).tobytes() == expected.tobytes()
        assert Trace.messages_of(trace, ranks, low, high).tobytes() == expected.tobytes()


def test_of_a_team(run):
    """Each member has the messages of its ranks, whichever member found them."""
    alone = open_run(run, options=SHORT_WINDOWS).messages()

    def work(team):
        trace = open_run(run, team, SHORT_WINDOWS)
        mine = trace.share(team)
        return trace.messages_of(mine, 0, trace.duration_ns + 1).tobytes() == touching(alone, mine).tobytes()

    assert by_team(3, work) == [True] * 3
