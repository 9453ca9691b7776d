"""The controlled logical clock against its definition: nothing too early, nothing moved without need, no jumps."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_trace import MemoryTrace
from synthetic import ORIGIN_NS, WORLD, call, write_run

from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.pairing.dependences import FIRST as BEGINS
from analyzer.pairing.dependences import SINK, collective_points, message_points
from analyzer.parallel import Team
from analyzer.recording.run.clock_repair import repairs, violations
from analyzer.recording.run.opening import open_run
from analyzer.trace import Clocks, Communicator
from analyzer.trace.read_options import ReadOptions


def mapped(maps, rank, time):
    """A time of a rank after the repair."""
    return maps[rank].value(time) if rank in maps else time


@st.composite
def skewed_runs(draw):
    """Messages and barriers of a true order of time, then each rank's clock wrong by an offset of its own.

    True times are distinct, so the order of causes is that of time.
    """
    ranks = draw(st.integers(2, 4))
    offsets = [draw(st.integers(0, 3000)) for _ in range(ranks)]
    messages, calls, now = [], [[] for _ in range(ranks)], 10
    for _ in range(draw(st.integers(1, 25))):
        now += draw(st.integers(10, 3000))
        if draw(st.booleans()):
            source, shift = draw(st.integers(0, ranks - 1)), draw(st.integers(1, ranks - 1))
            destination, flight = (source + shift) % ranks, draw(st.integers(2, 300))
            messages.append((source, destination, 8, 0, now + offsets[source], now + flight + offsets[destination]))
            now += flight
        else:
            enters = [now + k + 1 for k in range(ranks)]
            exits = [now + ranks + 10 + draw(st.integers(0, 50)) for _ in range(ranks)]
            for rank in range(ranks):
                offset = offsets[rank]
                calls[rank].append(("MPI_Barrier", enters[rank] + offset, exits[rank] + offset, {"comm": 0}))
            now = max(exits)
    ends = [now + offset + 1 for offset in offsets]
    window = draw(st.integers(50, 5000))
    return MemoryTrace(calls, messages=sorted(messages, key=lambda m: m[4]), spans=[(0, e) for e in ends],
                       duration_ns=max(ends), window=window)  # fmt: skip


def points_of(trace):
    groups, current = [], []
    for block in [*message_points(trace), *collective_points(trace)]:
        for time, rank, kind in block.tolist():
            if kind & BEGINS:
                current = []
                groups.append(current)
            current.append((time, rank, bool(kind & SINK)))
    return groups


def edges_of(trace):
    """(source rank, time, sink rank, time) of all dependences."""
    return [
        (p[1], p[0], q[1], q[0])
        for group in points_of(trace)
        for k, q in enumerate(group)
        for p in group[:k]
        if q[2] and not p[2] and p[1] != q[1]
    ]


def least_forward(edges, latency):
    """The forward clock by its definition, slowly: sinks moved until none is too early; `knots[rank][time]`."""
    knots = {}

    def forward(rank, time):
        moved = [v + ((time - t) * 127 >> 7) for t, v in knots.get(rank, {}).items() if t <= time]
        return max([time, *moved])

    changed = True
    while changed:
        changed = False
        for source, sent, sink, received in edges:
            least = forward(source, sent) + latency
            if forward(sink, received) < least:
                knots.setdefault(sink, {})[received] = least
                changed = True
    return forward


@settings(max_examples=100)
@given(skewed_runs(), st.integers(0, 2))
def test_nothing_is_too_early_and_no_more_is_moved_than_must_be(trace, latency):
    edges = edges_of(trace)
    maps = repairs(trace, Team(), latency)
    for source, sent, sink, received in edges:
        assert mapped(maps, sink, received) >= mapped(maps, source, sent) + latency
    wrong = [e for e in edges if e[3] < e[1] + latency]
    assert bool(maps) == bool(wrong)
    forward = least_forward(edges, latency)
    for rank in range(trace.size):
        end = trace.span(rank)[1]
        times = sorted({0, end, *(e[1] for e in edges if e[0] == rank), *(e[3] for e in edges if e[2] == rank)})
        times = sorted(
            {*times, *(t + d for t in times for d in (-1, 1, 100)), *range(0, end, max(end // 50, 1))} - {-1}
        )
        values = [mapped(maps, rank, t) for t in times]
        for time, value in zip(times, values, strict=True):
            assert value >= forward(rank, time)
        for (a, va), (b, vb) in zip(
            zip(times, values, strict=True), zip(times[1:], values[1:], strict=True), strict=False
        ):
            assert vb - va >= (b - a) * 127 // 128 - 1
        # After the last thing that was moved, and what is moved before it, a clock is on its way back to its own time.
        assert mapped(maps, rank, end + 10**7) == end + 10**7
        assert mapped(maps, rank, 0) == 0


@settings(max_examples=100)
@given(skewed_runs())
def test_a_moved_sink_is_where_it_must_be_at_least(trace):
    """A sink is moved by its own dependence, by what was moved before it on its rank, or to spread a move after it;
    the last moved one of a rank has nothing after it."""
    edges, maps = edges_of(trace), repairs(trace, Team())
    forward = least_forward(edges, 0)
    for rank in maps:
        moved = [e[3] for e in edges if e[2] == rank and forward(rank, e[3]) > e[3]]
        assert mapped(maps, rank, max(moved)) == forward(rank, max(moved))


def two_ranks(*messages, **options):
    calls = [[("MPI_Send", 0, 1, {}), ("MPI_Send", 10**6, 10**6 + 1, {})]] * 2
    return MemoryTrace(calls, messages=messages, **options)


def test_by_hand():
    """A message received 128 ns early at 100000: before it a ramp of 128 * 128 ns, after it one back, both by 1/128."""
    (map_,) = repairs(two_ranks((0, 1, 8, 0, 100_128, 100_000)), Team()).values()
    at = {
        0: 0, 83_616: 83_616, 100_000 - 128 * 64: 100_000 - 128 * 64 + 64, 100_000: 100_128,
        100_000 + 128 * 64: 100_000 + 128 * 64 + 64, 116_384: 116_384, 200_000: 200_000,
    }  # fmt: skip
    assert {t: map_.value(t) for t in at} == at


def test_a_send_before_a_moved_receive_is_moved_no_further_than_its_receive_allows():
    """Rank 1 sends at 99 000 what rank 0 has at 99 020, and receives at 100 000 what was sent 500 later."""
    early, tight = (0, 1, 8, 0, 100_500, 100_000), (1, 0, 8, 0, 99_000, 99_020)
    maps = repairs(two_ranks(tight, early), Team())
    assert list(maps) == [1]
    assert maps[1].value(100_000) == 100_500
    assert maps[1].value(99_000) == 99_020
    # From there on as straight as can be.
    assert abs(maps[1].value(99_500) - (99_020 + (100_500 - 99_020) // 2)) <= 1


@settings(max_examples=50)
@given(skewed_runs())
def test_a_run_without_violations_is_not_touched(trace):
    late = [(s, d, 8, 0, sent, max(received, sent)) for s, sent, d, received in edges_of(trace)]
    assert repairs(two_ranks_or_more(trace.size, late), Team()) == {}


def two_ranks_or_more(ranks, messages):
    return MemoryTrace([[("MPI_Send", 0, 1, {})]] * ranks, messages=messages)


def test_messages_that_contradict_each_other_are_an_error():
    """Each is received before the other is sent: no clocks make that true."""
    trace = two_ranks((0, 1, 8, 0, 200, 100), (1, 0, 8, 0, 200, 100))
    with pytest.raises(TracelibError, match="contradict"):
        repairs(trace, Team())


COLLECTIVES = {
    "MPI_Barrier": ([(0, 0), (0, 0), (0, 0)], [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]),
    "MPI_Allreduce": ([(8, 8), (8, 8), (8, 8)], [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]),
    "MPI_Allgatherv": ([(8, 16), (0, 16), (8, 16)], [(0, 1), (0, 2), (2, 0), (2, 1)]),
    "MPI_Bcast": ([(0, 8), (8, 0), (0, 8)], [(1, 0), (1, 2)]),
    "MPI_Scatterv": ([(0, 8), (8, 8), (0, 0)], [(1, 0)]),
    "MPI_Gather": ([(8, 0), (8, 24), (8, 0)], [(0, 1), (2, 1)]),
    "MPI_Reduce": ([(8, 0), (8, 8), (8, 0)], [(0, 1), (2, 1)]),
    "MPI_Scan": ([(8, 8), (8, 8), (8, 8)], [(0, 1), (0, 2), (2, 1)]),
    "MPI_Alltoallv": ([(8, 8), (8, 8), (8, 8)], []),
    "MPI_Neighbor_alltoall": ([(8, 8), (8, 8), (8, 8)], []),
}


@pytest.mark.parametrize("name", COLLECTIVES)
def test_who_depends_on_whom_in_a_collective(name):
    """Rank r enters at 10 * r and leaves at 100 + 10 * r; the root is rank 1; the order of members is 0, 2, 1."""
    moved, expected = COLLECTIVES[name]
    calls = [
        [(name, 10 * r, 100 + 10 * r, {"comm": 0, "peer": 1, "sent": s, "received": t})]
        for r, (s, t) in enumerate(moved)
    ]
    trace = MemoryTrace(calls, communicators=(Communicator(1, (0, 2, 1)),), window=7)
    assert sorted({(p, q) for p, _, q, _ in edges_of(trace)}) == expected
    assert all((sent, received) == (10 * p, 100 + 10 * q) for p, sent, q, received in edges_of(trace))


def test_collectives_that_are_not_the_same_tell_nothing_from_there_on():
    rows = [["MPI_Barrier", "MPI_Bcast", "MPI_Barrier"], ["MPI_Barrier", "MPI_Reduce", "MPI_Barrier"]]
    calls = [[(n, 10 * k, 10 * k + 5, {"comm": 0, "peer": 0}) for k, n in enumerate(names)] for names in rows]
    assert len(edges_of(MemoryTrace(calls))) == 2


def run_with_skew(folder, skew=0):
    """Two ranks of two nodes; 10 messages there and back; a barrier. The second clock is `skew` behind."""
    first, second, now = [], [], 10_000
    for _ in range(10):
        first += [call("MPI_Send", now, now + 100, comm=WORLD, peer=1, sent=8),
                  call("MPI_Recv", now + 200, now + 3000, comm=WORLD, peer=1, received=8)]  # fmt: skip
        second += [call("MPI_Recv", now - skew, now + 1000 - skew, comm=WORLD, peer=0, received=8),
                   call("MPI_Send", now + 2000 - skew, now + 2100 - skew, comm=WORLD, peer=0, sent=8)]  # fmt: skip
        now += 100_000
    first.append(call("MPI_Barrier", now, now + 5000, comm=WORLD))
    second.append(call("MPI_Barrier", now + 4000 - skew, now + 5000 - skew, comm=WORLD))
    return write_run(folder, [{"calls": first}, {"calls": second, "boot_id": "other"}], communicators=[[0, 1]])


def test_a_run_is_repaired_where_it_is_opened(tmp_path):
    path = run_with_skew(tmp_path, skew=5000)
    broken = open_run(str(path))
    assert violations(message_points(broken), 2) == (10, 4000)
    assert violations(collective_points(broken), 2) == (0, 0)
    repaired = open_run(str(path), options=ReadOptions(repair_ns=300))
    assert violations(message_points(repaired), 2, 300) == violations(collective_points(repaired), 2, 300) == (0, 0)
    for rank in (0, 1):
        before, after = (np.concatenate(list(t.calls(rank))) for t in (broken, repaired))
        assert (after["call"] == before["call"]).all()
        assert (np.diff(after["enter"]) >= 0).all()
        assert (after["enter"] >= before["enter"]).all()
    messages = repaired.messages()
    assert (messages["physical_receive"] >= messages["logical_send"] + 300).all()
    assert repaired.extra(Clocks).repair.ranks == 1
    assert repaired.extra(Clocks).repair.furthest_ns >= 4300
    broken.close()
    repaired.close()


def test_a_good_run_is_opened_as_it_is(tmp_path):
    path = run_with_skew(tmp_path)
    plain, asked = open_run(str(path)), open_run(str(path), options=ReadOptions(repair_ns=0))
    assert asked.extra(Clocks).repair.ranks == 0
    for rank in (0, 1):
        assert (np.concatenate(list(plain.calls(rank))) == np.concatenate(list(asked.calls(rank)))).all()
    assert (plain.states() == asked.states()).all()
    plain.close()
    asked.close()


def test_check_counts_what_is_too_early_and_repairs_it_on_request(tmp_path, capsys):
    """The barrier's second rank leaves it 1000 ns before the first enters."""
    path = run_with_skew(tmp_path, skew=6000)
    assert main(["check", str(path)]) == 1
    said = capsys.readouterr().out
    assert "10 messages from rank 0 to rank 1 were received before they were sent (the first by 5000 ns)" in said
    assert "1 collective calls ended before a rank that they depend on had entered (by at most 1000 ns)" in said
    main(["check", "--json", "--repair-clocks", "0.5us", str(path)])
    found = json.loads(capsys.readouterr().out)
    assert not [line for line in found["findings"] if "before" in line]
    assert found["repair"] == {"ranks": 1, "furthest_s": pytest.approx(5.5e-6)}


@pytest.mark.parametrize("latency", ["soon", "5", "-1us", "1.5.2us"])
def test_what_is_no_latency_is_refused(tmp_path, capsys, latency):
    assert main(["check", f"--repair-clocks={latency}", str(run_with_skew(tmp_path))]) == 2
    assert "is not a time such as 0, 500ns or 2us" in capsys.readouterr().err


def test_runs_whose_calls_were_lost_and_foreign_traces_are_not_repaired(tmp_path, capsys):
    lost = write_run(tmp_path, [{"calls": [call("MPI_Barrier", 1, 2, comm=WORLD)], "lost_calls": 3}])
    assert main(["check", "--repair-clocks", "0", str(lost)]) == 1
    assert "calls were lost" in capsys.readouterr().err
    foreign = tmp_path / "foreign.prv"
    foreign.write_text("#Paraver (01/01/2024 at 00:00):1000_ns:1(1):1:1(1:1)\n")
    assert main(["check", "--repair-clocks", "0", str(foreign)]) == 1
    assert "only runs of tracelib" in capsys.readouterr().err


def test_info_shows_the_clocks(tmp_path, capsys):
    """Node b is 2 s ahead at first and gains 3 us in a second: 3 ppm. Node c was not measured."""
    second = 10**9
    sync = [(ORIGIN_NS + 2 * second, ORIGIN_NS, 900, 40), (ORIGIN_NS + 3 * second + 3000, ORIGIN_NS + second, 1100, 60)]
    calls = [call("MPI_Barrier", 10, second, comm=WORLD)]
    other = [call("MPI_Barrier", 2 * second + 10, 3 * second, comm=WORLD)]
    ranks = [
        {"calls": calls},
        {"calls": other, "start": 2 * second, "boot_id": "b", "host": "b", "sync": sync},
        {"calls": calls, "boot_id": "c", "host": "c"},
    ]
    path = write_run(tmp_path, ranks)
    assert main(["look", "--no-files", "--json", str(path)]) == 0
    b, c = json.loads(capsys.readouterr().out)["clocks"]
    assert (b["node"], b["ranks"], b["ahead_s"], b["readings"]) == ("b", [1], 2.0, 2)
    assert b["drift_ppm"] == pytest.approx(3.0, rel=1e-4)
    assert (b["accuracy_s"], b["bound_s"]) == (60e-9, 550e-9)
    assert (c["node"], c["readings"], c["drift_ppm"], c["accuracy_s"], c["bound_s"]) == ("c", 0, None, None, None)
    main(["check", str(path)])
    said = capsys.readouterr().out
    assert (
        "clocks: b (rank 1): clock 2.00 s ahead of that of rank 0, drift +3.00 ppm, error about 60 ns, at most 550 ns "
        "(2 readings)" in said
    )
    assert "clocks: c (rank 2): clock 0 s ahead of that of rank 0, compared by wall clock only" in said
