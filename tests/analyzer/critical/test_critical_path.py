"""The critical path and the slack: by hand to the nanosecond, and against programs played forward."""

import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import SELF, WORLD, call, request, write_run
from timed_program import LARGE, Player, ProgramTrace

from analyzer.cli import main
from analyzer.critical.exports import path_events
from analyzer.critical.messages import _first_alike
from analyzer.critical.path import critical_path
from analyzer.critical.residences import longest_residences
from analyzer.critical.shares import path_shares
from analyzer.opening import open_trace
from analyzer.trace import Communicator
from tracelib.schema import RequestKind

LIMIT = LARGE - 1
DATA = {"comm": 0, "sent": 8, "received": 8}


def rows_of(found):
    return [(s.function.kind, s.function.name, s.path_ns, s.mean_ns) for s in found.functions]


def stays(path):
    return [(*row.tolist()[:2], int(path.nodes.rank[row["thread"]])) for row in path.segments]


def test_late_sender_by_hand():
    """Rank 1 waits from 30 to 100 for a send; the transfer, 15, is its own, and so is what comes after."""
    calls = [[("MPI_Send", 100, 110, {})], [("MPI_Recv", 30, 115, {})]]
    trace = ProgramTrace(calls, messages=[(0, 1, 8, 100, 30, 115)], spans=[(0, 110), (0, 200)])
    path = critical_path(trace)
    assert (stays(path), path.hops, path.length_ns) == ([(0, 100, 0), (100, 200, 1)], 1, 200)
    found = path_shares(trace, path)
    assert rows_of(found) == [
        ("computation", "", 185, 107.5),
        ("call", "MPI_Recv", 15, 42.5),
    ]
    assert found.rank_path_ns.tolist() == [100, 100]
    least = [(s.computing_ns, s.least_ns, s.mean_ns, s.none_ns) for s in found.rank_slack]
    assert least == [(100, 0, 0.0, 100), (115, 0, 30 * 70 / 115, 85)]
    assert found.imbalance_ns == 185 - 107.5


def test_a_message_that_was_there_is_no_cause():
    """Sent at 10, asked for at 50: rank 1 waited for nothing. Rank 0 could be 40 later, and its end 90."""
    calls = [[("MPI_Send", 10, 12, {})], [("MPI_Recv", 50, 55, {})]]
    path = critical_path(ProgramTrace(calls, messages=[(0, 1, 8, 10, 50, 55)], spans=[(0, 20), (0, 110)]))
    assert (stays(path), path.hops) == ([(0, 110, 1)], 0)
    assert path.slack[path.nodes.thread_slice(0)].tolist() == [40, 40, 90]


def test_late_receiver_by_hand():
    """A message of 1 MiB waits for its receive, posted at 80; one of 8 bytes does not."""
    calls = [
        [("MPI_Send", 10, 95, {}), ("MPI_Recv", 200, 210, {})],
        [("MPI_Recv", 80, 95, {}), ("MPI_Send", 98, 99, {})],
    ]
    messages = [(0, 1, LARGE, 10, 80, 95), (1, 0, 8, 98, 200, 210)]
    path = critical_path(ProgramTrace(calls, messages=messages, spans=[(0, 300), (0, 120)]))
    assert path.eager_limit == 1024
    assert stays(path) == [(0, 80, 1), (80, 300, 0)]
    path = critical_path(ProgramTrace(calls, messages=messages, spans=[(0, 300), (0, 120)]), eager_limit=2 * LARGE)
    assert stays(path) == [(0, 300, 0)]


def test_the_run_shows_what_is_sent_at_once():
    """4000 bytes were gone before their receive was posted, so 3000 do not wait either; 5000 do."""
    calls = [
        [("MPI_Send", 10, 12, {}), ("MPI_Send", 20, 90, {}), ("MPI_Send", 100, 190, {})],
        [("MPI_Recv", 50, 55, {}), ("MPI_Recv", 80, 92, {}), ("MPI_Recv", 180, 192, {})],
    ]
    messages = [(0, 1, 4000, 10, 50, 55), (0, 1, 3000, 20, 80, 92), (0, 1, 5000, 100, 180, 192)]
    path = critical_path(ProgramTrace(calls, messages=messages, spans=[(0, 250), (0, 195)]))
    assert path.eager_limit == 4000
    assert stays(path) == [(0, 180, 1), (180, 250, 0)]


@pytest.mark.parametrize(
    "name, root, expected",
    [
        ("MPI_Allreduce", -1, [(0, 90, 2), (90, 200, 0)]),  # the last of all
        ("MPI_Bcast", 1, [(0, 50, 1), (50, 200, 0)]),  # the root, though rank 2 is later
        ("MPI_Reduce", 0, [(0, 90, 2), (90, 200, 0)]),
        ("MPI_Reduce", 1, [(0, 200, 0)]),  # who is not the root does not wait
        ("MPI_Alltoallv", -1, [(0, 90, 2), (90, 200, 0)]),
    ],
)
def test_collectives_by_hand(name, root, expected):
    """Rank 0 enters at 10, 1 at 50, 2 at 90; all leave at 95."""
    calls = [[(name, enter, 95, {**DATA, "peer": root})] for enter in (10, 50, 90)]
    path = critical_path(ProgramTrace(calls, messages=[], spans=[(0, 200), (0, 120), (0, 130)]))
    assert stays(path) == expected


def test_scan_init_and_nonblocking_collectives():
    """A Scan waits for lower ranks only; MPI_Init for the last of all."""
    calls = [[("MPI_Init", 5 + r, 20, {"comm": -1}), ("MPI_Scan", e, 99, DATA)] for r, e in enumerate((90, 30, 95))]
    trace = ProgramTrace(calls, messages=[], spans=[(0, 100), (0, 150), (0, 100)])
    assert stays(critical_path(trace)) == [(0, 7, 2), (7, 90, 0), (90, 150, 1)]


def test_regions_and_before_the_start():
    """Rank 0 starts at 40 and is in "solve" (in which it is in "inner") from 50 to 90."""
    calls = [[("MPI_Send", 60, 70, {})], []]
    marks = {0: [(50, 1), (75, 2), (85, -2), (90, -1)]}
    trace = ProgramTrace(calls, messages=[], marks=marks, regions=("solve", "inner"), spans=[(40, 120), (0, 60)])
    found = path_shares(trace, critical_path(trace))
    assert rows_of(found) == [
        ("computation", "", 40, (40 + 60) / 2),
        ("launch", "", 40, 20.0),
        ("computation", "solve", 20, 10.0),
        ("call", "MPI_Send", 10, 5.0),
        ("computation", "inner", 10, 5.0),
    ]
    computing = {function.name: slack.computing_ns for function, slack in found.function_slack.items()}
    assert computing == {"": 100, "solve": 20, "inner": 10}


def test_times_that_contradict_each_other_are_left_out():
    """A receipt before its send, a barrier left before another rank enters: counted, and the path still is whole."""
    calls = [
        [("MPI_Send", 50, 60, {}), ("MPI_Barrier", 70, 80, {"comm": 0})],
        [("MPI_Recv", 10, 40, {}), ("MPI_Barrier", 50, 60, {"comm": 0})],
    ]
    path = critical_path(ProgramTrace(calls, messages=[(0, 1, 8, 50, 10, 40)], spans=[(0, 90), (0, 100)]))
    assert path.contradictions == 2
    assert path.length_ns == 100


def test_who_left_an_alltoallv_early_had_no_data_to_wait_for():
    """That is no contradiction, as it is in a barrier."""
    for name, contradictions in (("MPI_Alltoallv", 0), ("MPI_Barrier", 1)):
        data = {"comm": 0, "sent": 8, "received": 8}
        calls = [[(name, 10, 40, data)], [(name, 50, 60, data)]]
        path = critical_path(ProgramTrace(calls, messages=[], spans=[(0, 70), (0, 80)]))
        assert (path.contradictions, stays(path)) == (contradictions, [(0, 80, 1)])


@pytest.mark.parametrize(("name", "contradictions"), [("MPI_Barrier", 1), ("MPI_Alltoallv", 0)])
def test_who_left_too_early_waited_for_all_that_were_there(name, contradictions):
    """Rank 0 leaves at 60, before rank 3 comes at 90; the path is its own from 50 on, when rank 1 came. Rank 2,
    which came at 30, may be 20 later."""
    data = {"comm": 0, "sent": 8, "received": 8}
    calls = [[(name, *t, data)] for t in ((10, 60), (50, 95), (30, 95), (90, 96))]
    path = critical_path(ProgramTrace(calls, messages=[], spans=[(0, 200), *[(0, 100)] * 3]))
    assert (stays(path), path.contradictions) == ([(0, 50, 1), (50, 200, 0)], contradictions)
    assert [int(path.slack[path.nodes.thread_slice(rank)][1]) for rank in range(4)] == [40, 0, 20, 100]


@pytest.mark.parametrize("name", ["MPI_Alltoallv", "MPI_Alltoallw"])
def test_who_left_an_alltoallv_early_waited_for_those_that_were_there(name):
    """As in analyze waits: rank 0 leaves at 60, before rank 2 comes at 90, and so waited for rank 1, since 10, until
    50. Rank 1, which leaves after that, waited for rank 2. Where nothing is handed over, nobody is waited for."""
    times = ((10, 60), (50, 95), (90, 96))
    expected = {8: ([(0, 50, 1), (50, 200, 0)], [40, 0, 100]), 0: ([(0, 200, 0)], [0, 100, 100])}
    for sent, (path_there, slack) in expected.items():
        calls = [[(name, *t, {"comm": 0, "sent": sent if rank else 8, "received": 8})] for rank, t in enumerate(times)]
        path = critical_path(ProgramTrace(calls, messages=[], spans=[(0, 200), (0, 100), (0, 100)]))
        assert (stays(path), path.contradictions) == (path_there, 0)
        assert [int(path.slack[path.nodes.thread_slice(rank)][1]) for rank in range(3)] == slack


def test_two_who_cause_each_other_at_once():
    """Clocks too coarse to tell: each got, at 10, what the other sent at 10 after that. One of both is dropped."""
    calls = [[("MPI_Recv", 5, 10, {}), ("MPI_Send", 10, 12, {})] for _ in range(2)]
    messages = [(0, 1, 8, 10, 5, 10), (1, 0, 8, 10, 5, 10)]
    path = critical_path(ProgramTrace(calls, messages=messages, spans=[(0, 20), (0, 20)]))
    assert path.contradictions == 1
    assert (path.length_ns, path.hops) == (20, 1)
    assert (path.slack >= 0).all()


def test_a_rank_that_did_nothing():
    path = critical_path(ProgramTrace([[], []], messages=[], spans=[(0, 0), (10, 30)]))
    assert (stays(path), path.length_ns) == ([(0, 30, 1)], 30)


@st.composite
def programs(draw):
    """Ranks, and steps to be played."""
    ranks = draw(st.integers(2, 4))
    ns, cost = st.integers(0, 30), st.integers(1, 6)
    steps = []
    for _ in range(draw(st.integers(1, 12))):
        if draw(st.integers(0, 2)):
            source, destination = draw(st.permutations(range(ranks)))[:2]
            flags = draw(st.booleans()), draw(st.sampled_from([False, True, "polled"]))
            steps.append(
                ("message", source, destination, *flags, draw(st.tuples(ns, ns, ns)), draw(st.tuples(cost, cost, cost)))
            )
        else:
            name = draw(st.sampled_from(["MPI_Allreduce", "MPI_Bcast", "MPI_Reduce", "MPI_Scan"]))
            times = (draw(st.lists(kind, min_size=ranks, max_size=ranks)) for kind in (ns, cost))
            steps.append(("collective", name, draw(st.integers(0, ranks - 1)), *times))
    return ranks, steps


def play(ranks, steps, **more):
    player = Player(ranks, **more)
    for name, *arguments in steps:
        getattr(player, name)(*arguments)
    return player


@settings(max_examples=40)
@given(programs(), st.sampled_from([None, 17]), st.data())
def test_played_programs(program, window, data):
    """The path is as long as the run, without gaps, through nodes without slack; a burst that is longer by x makes the
    run longer by what x exceeds its slack."""
    played = play(*program)
    trace = played.trace(window=window)
    path = critical_path(trace, LIMIT)
    assert (path.length_ns, path.contradictions) == (played.end(), 0)
    assert path.segments["begin"].tolist() == [0, *path.segments["end"][:-1].tolist()]
    assert (path.slack >= 0).all()
    nodes = path.nodes
    for begin, end, thread in path.segments.tolist():
        own = nodes.thread_slice(thread)
        inside = (nodes.enter[own] > begin) & (nodes.enter[own] <= end)
        assert (path.slack[own][inside] == 0).all()
    found = path_shares(trace, path)
    assert sum(share.path_ns for share in found.functions) == found.rank_path_ns.sum() == played.end()
    delayed = data.draw(st.integers(0, len(played.bursts) - 1))
    rank, entry = played.bursts[delayed]
    own = nodes.thread_slice(rank)
    at = own.start + int(np.flatnonzero((nodes.enter[own] == entry) & (nodes.call[own] >= 0))[0])
    slack = int(path.slack[at])
    for more in (slack // 2, slack, slack + 1, slack + 25):
        assert play(*program, delayed=delayed, more=more).end() == played.end() + max(more - slack, 0)


@settings(max_examples=20)
@given(programs(), st.lists(st.integers(0, 200), max_size=8), st.integers(1, 5))
def test_pieces_of_any_size_give_the_same_path(program, begins, piece):
    """Nodes, slack and path, whatever part of them is looked at at once; with regions, one in the other."""
    played = play(*program)
    times = sorted(begins)
    marks = [(t, 1) for t in times] + [(times[-1] + k, -1) for k in range(len(times))] if times else []
    found = []
    for rows in (1 << 16, piece):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("analyzer.columns.rows.PIECE", rows)
            patch.setattr("analyzer.critical.path.PIECE", rows)
            one = played.trace(marks={0: marks}, regions=("solve",))
            path = critical_path(one, LIMIT)
            found.append((path.nodes.rows.tolist(), path.slack.tolist(), path.segments.tolist(), path.contradictions))
    assert found[0] == found[1]


def test_communicators_of_some_ranks():
    """Only members wait for each other."""
    groups = (Communicator(1, (0, 1, 2)), Communicator(2, (0, 1)))
    calls = [[("MPI_Barrier", enter, 60, {"comm": 1})] for enter in (10, 55)] + [[("MPI_Send", 58, 59, {})]]
    path = critical_path(ProgramTrace(calls, messages=[], communicators=groups, spans=[(0, 90), (0, 60), (0, 60)]))
    assert stays(path) == [(0, 55, 1), (55, 90, 0)]


def test_the_command_prints_what_it_found(tmp_path, capsys):
    """As text and as JSON; the stays are the longest ones."""
    run = write_run(tmp_path, [
        {"calls": [call("MPI_Init", 0, 10), call("MPI_Send", 10**6, 10**6 + 100, comm=WORLD, peer=1, sent=8)]},
        {"calls": [call("MPI_Init", 0, 10), call("MPI_Recv", 50, 10**6 + 500, comm=WORLD, peer=0, received=8)]},
    ])  # fmt: skip
    assert main(["critical-path", str(run), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["length_s"], found["hops"], found["contradictions"]) == (0.0010005, 1, 0)
    assert [(s["begin_s"], s["end_s"], s["rank"]) for s in found["stays"]] == [(0, 0.001, 0), (0.001, 0.0010005, 1)]
    assert [(f["name"], f["path_s"]) for f in found["functions"]] == [
        ("", 0.00099999),
        ("MPI_Recv", 5e-7),
        ("MPI_Init", 1e-8),
    ]
    assert [r["slack"]["least_s"] for r in found["by_rank"]] == pytest.approx([0, (10**6 - 50) / 1e9])
    assert main(["critical-path", str(run), "--top", "1"]) == 0
    text = capsys.readouterr().out
    assert "2 ranks, 1.00 ms; the critical path changes from one rank to another 1" in text
    assert "0.000000 s 0.001000 s" in " ".join(text.split())
    assert "Any single burst of rank 1 could be 1.00 ms longer" in " ".join(text.split())


def test_a_prediction_has_a_path_too(tmp_path):
    """In a prediction all members of a Bcast wait for the last, not for the root only."""
    ranks = [
        {"calls": [call("MPI_Bcast", enter, 10**6, comm=WORLD, peer=0, **{("sent" if r == 0 else "received"): 8}),
                   call("MPI_Finalize", 10**6 + last, 2 * 10**6)]}
        for r, (enter, last) in enumerate([(1000, 9000), (5000, 0), (900_000, 0)])
    ]  # fmt: skip
    run = write_run(tmp_path, ranks)
    predicted = tmp_path / "predicted.h5"
    assert main(["replay", str(run), "-o", str(predicted), "-q"]) == 0
    for file, expected in ((run, [(0, 2 * 10**6, 0)]), (predicted, [(0, 900_000, 2), (900_000, 909_001, 0)])):
        trace = open_trace(file)
        found = stays(critical_path(trace))
        assert [rank for *_, rank in found] == [rank for *_, rank in expected]
        assert found[-1][1] == trace.duration_ns
        trace.close()


def opened(tmp_path, ranks, *communicators):
    trace = open_trace(write_run(tmp_path, ranks, communicators))
    found = critical_path(trace)
    trace.close()
    return found


def test_a_started_send_is_awaited(tmp_path):
    """Rank 0 starts a large send at 10 and waits for it from 20; the receive is posted at 500."""
    ranks = [
        {"calls": [call("MPI_Isend", 10, 12, comm=WORLD, peer=1, tag=3, sent=LARGE), call("MPI_Wait", 20, 520)],
         "requests": [request(RequestKind.SEND_DONE, 10, 520, peer=1, tag=3, bytes=LARGE)]},
        {"calls": [call("MPI_Recv", 500, 515, comm=WORLD, peer=0, tag=3, received=LARGE)]},
    ]  # fmt: skip
    assert stays(opened(tmp_path, ranks)) == [(0, 500, 1), (500, 520, 0)]


def test_a_posted_receive_is_awaited(tmp_path):
    """Posted at 10, awaited from 20; sent at 300 by an Isend: the wait is where the receiver waits."""
    ranks = [
        {"calls": [call("MPI_Irecv", 10, 12, comm=WORLD, peer=1, tag=3), call("MPI_Wait", 20, 320)],
         "requests": [request(RequestKind.RECV_DONE, 10, 320, peer=1, tag=3, bytes=8)]},
        {"calls": [call("MPI_Isend", 300, 302, comm=WORLD, peer=0, tag=3, sent=8), call("MPI_Wait", 303, 304)],
         "requests": [request(RequestKind.SEND_DONE, 300, 304, peer=0, tag=3, bytes=8)]},
    ]  # fmt: skip
    found = opened(tmp_path, ranks)
    assert stays(found) == [(0, 300, 1), (300, 320, 0)]
    assert found.slack[found.nodes.thread_slice(0)].tolist() == [280, 280, 280, 0]


def test_nonblocking_collectives_by_hand(tmp_path):
    """MPI_Iallreduce, entered last by rank 1 at 400; the others wait for it in MPI_Wait."""
    ranks = [
        {"calls": [call("MPI_Iallreduce", enter, enter + 2, comm=WORLD, sent=8, received=8),
                   call("MPI_Wait", enter + 5, done)],
         "requests": [request(RequestKind.COLLECTIVE_DONE, enter, done, peer=-1)]}
        for enter, done in ((10, 430), (400, 420), (50, 415))
    ]  # fmt: skip
    assert stays(opened(tmp_path, ranks)) == [(0, 400, 1), (400, 430, 0)]


def test_threads_of_a_rank(tmp_path):
    """The second thread of rank 0, seen from 100 on, waits until 300 for rank 1, and ends last, at 900."""
    ranks = [
        {"calls": [call("MPI_Barrier", 20, 30, comm=SELF),
                   call("MPI_Recv", 100, 310, comm=WORLD, peer=1, received=8, thread=1),
                   call("MPI_Send", 700, 900, comm=WORLD, peer=1, tag=1, sent=8, thread=1)]},
        {"calls": [call("MPI_Send", 300, 305, comm=WORLD, peer=0, sent=8),
                   call("MPI_Recv", 400, 910, comm=WORLD, peer=0, tag=1, received=8)]},
    ]  # fmt: skip
    found = opened(tmp_path, ranks)
    nodes = found.nodes
    threads = [(int(nodes.rank[k]), int(nodes.thread[k])) for k in found.segments["thread"]]
    assert threads == [(1, 0), (0, 1), (1, 0)]
    assert found.segments["begin"].tolist() == [0, 300, 700]
    ranks[0]["calls"][1] = call("MPI_Send", 100, 310, comm=WORLD, peer=1, sent=8, thread=1)
    ranks[1]["calls"][0] = call("MPI_Recv", 300, 305, comm=WORLD, peer=0, received=8)
    (tmp_path / "again").mkdir()
    found = opened(tmp_path / "again", ranks)
    threads = [(int(found.nodes.rank[k]), int(found.nodes.thread[k])) for k in found.segments["thread"]]
    assert (threads, found.segments["begin"].tolist()) == ([(0, 0), (0, 1), (1, 0)], [0, 100, 700])


@pytest.mark.parametrize("begin", [310, 311])
def test_a_thread_may_begin_when_the_main_one_has_received(tmp_path, begin):
    """So the path comes to it from the main thread's wait for rank 1."""
    ranks = [
        {"calls": [call("MPI_Recv", 100, 310, comm=WORLD, peer=1, received=8),
                   call("MPI_Barrier", begin, 900, comm=SELF, thread=1)]},
        {"calls": [call("MPI_Send", 300, 305, comm=WORLD, peer=0, sent=8)]},
    ]  # fmt: skip
    found = opened(tmp_path, ranks)
    threads = [(int(found.nodes.rank[k]), int(found.nodes.thread[k])) for k in found.segments["thread"]]
    assert (threads, found.segments["begin"].tolist()) == ([(1, 0), (0, 0), (0, 1)], [0, 300, begin])


def test_a_stay_says_what_it_mostly_is():
    calls = [[("MPI_Send", 100, 170, {}), ("MPI_Send", 180, 190, {})]]
    trace = ProgramTrace(calls, messages=[], spans=[(0, 210)])
    (stay,) = longest_residences(trace, critical_path(trace), 5)
    assert (stay.begin_ns, stay.end_ns, stay.mostly.name, stay.mostly_ns) == (0, 210, "", 130)
    calls = [[("MPI_Send", 20, 170, {})], [("MPI_Recv", 10, 60, {})]]
    trace = ProgramTrace(calls, messages=[(0, 1, 8, 20, 10, 60)], spans=[(0, 170), (0, 300)])
    rows = longest_residences(trace, critical_path(trace), 1)
    assert [(s.begin_ns, s.end_ns, s.rank, s.mostly.kind, s.mostly_ns) for s in rows] == [
        (20, 300, 1, "computation", 240)
    ]


def test_the_path_in_paraver(tmp_path, capsys):
    """Events of type 90, 1 where the path comes and 0 where it goes; all else is as `analyze prv` writes it."""
    run = write_run(tmp_path, [
        {"calls": [call("MPI_Init", 0, 10), call("MPI_Send", 1000, 1100, comm=WORLD, peer=1, sent=8)]},
        {"calls": [call("MPI_Init", 0, 10), call("MPI_Recv", 50, 1500, comm=WORLD, peer=0, received=8)]},
    ])  # fmt: skip
    assert main(["critical-path", str(run), "-o", str(tmp_path / "path.prv")]) == 0
    assert "Written:" in capsys.readouterr().out
    lines = (tmp_path / "path.prv").read_text().splitlines()
    added = [re.fullmatch(r"2:\d+:1:(\d+):1:(\d+):.*\b90:(\d)", line) for line in lines]
    assert [match.groups() for match in added if match] == [
        ("1", "0", "1"), ("1", "1000", "0"), ("2", "1000", "1"), ("2", "1500", "0"),
    ]  # fmt: skip
    assert main(["prv", str(run), "-o", str(tmp_path / "plain.prv"), "-q"]) == 0
    stripped = [re.sub(r":90:\d$", "", line) if match else line for line, match in zip(lines, added, strict=True)]
    plain = (tmp_path / "plain.prv").read_text().splitlines()
    assert [line for line in stripped if not re.fullmatch(r"2(:\d+){5}", line)] == plain
    assert "On the critical path" in (tmp_path / "path.pcf").read_text()


def test_stays_without_length_are_no_events():
    """Rank 2 sends in the instant in which its receive ends, which is that of rank 0's send: it is on the path for
    no time."""
    calls = [
        [("MPI_Send", 50, 55, {})],
        [("MPI_Recv", 10, 60, {})],
        [("MPI_Recv", 20, 50, {}), ("MPI_Send", 50, 52, {})],
    ]
    messages = [(0, 2, 8, 50, 20, 50), (2, 1, 8, 50, 10, 60)]
    trace = ProgramTrace(calls, messages=messages, spans=[(0, 56), (0, 70), (0, 56)])
    path = critical_path(trace)
    assert stays(path) == [(0, 50, 0), (50, 50, 2), (50, 70, 1)]
    events = path_events(trace, path)
    assert events[["time", "rank", "value"]].tolist() == [(0, 0, 1), (50, 0, 0), (50, 1, 1), (70, 1, 0)]


COLUMN = st.lists(st.tuples(st.integers(-2, 2), st.integers(0, 2)), max_size=12)


@given(COLUMN, COLUMN)
def test_the_first_row_alike(left, right):
    columns = ([np.array([row[k] for row in rows], np.int64) for k in range(2)] for rows in (left, right))
    expected = [right.index(row) if row in right else -1 for row in left]
    assert _first_alike(*columns).tolist() == expected


def test_no_wait_for_a_message_is_on_the_path():
    """Checklist 19: what remains of receives on the path is their transfer, whatever they waited."""
    player = Player(3)
    for source, destination in ((0, 1), (1, 2), (2, 0)) * 5:
        player.message(source, destination, False, False, (10, 400, 0), (1, 1, 7))
    found = path_shares(player.trace(), critical_path(player.trace(), LIMIT))
    receives = [share for share in found.functions if share.function.name == "MPI_Recv"]
    assert [share.path_ns for share in receives] == [15 * 7]


def test_what_is_not_there_is_said(tmp_path, capsys):
    """Rank 2 has no file: means are over the other ranks, and their waiting for it is unknown."""
    ranks = [{"calls": [call("MPI_Barrier", 100 * (r + 1), 400, comm=WORLD)]} for r in range(3)]
    run = write_run(tmp_path, ranks, missing=[2])
    assert main(["critical-path", str(run), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["lacking"] == "rank 2 could not be read"
    means = {f["name"]: f["mean_s"] for f in found["functions"]}
    assert means == pytest.approx({"": 150e-9, "MPI_Barrier": 250e-9})
    assert main(["critical-path", str(run)]) == 0
    assert "What ranks waited for is not known everywhere: rank 2 could not be read." in " ".join(
        capsys.readouterr().out.split()
    )
