"""How numbers are spelled, what the sentences say, and that the look fits 80 columns for any number of ranks."""

import io
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_trace import MemoryTrace
from rich.console import Console
from synthetic import WORLD, call, write_run

import analyzer
from analyzer.metrics.messages import SIZE_CLASSES, Messages
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.report.look import sentences
from analyzer.report.look.first_look import print_look
from analyzer.report.look.summary import summarize
from analyzer.report.look.tables import MOST_SIZES, size_rows
from analyzer.report.words import units
from analyzer.trace import Communicator, Problem, Unmatched

TIMES = {
    0: "0 s", 7: "7 ns", 999: "999 ns", 1000: "1.00 us", 12_345: "12.3 us", 999_400: "999 us", 999_949: "1.00 ms",
    1_500_000_000: "1.50 s", 599_000_000_000: "599 s", 600_000_000_000: "10.0 min", 36_000_000_000_000: "10.0 h",
    float("inf"): "inf",
}  # fmt: skip
SIZES = {
    0: ("0 B", "0"), 1023: ("1023 B", "1023"), 1024: ("1.00 KiB", "1.00K"), 1536: ("1.50 KiB", "1.50K"),
    100 * 2**20: ("100 MiB", "100M"), 2**40: ("1.00 TiB", "1.00T"),
}  # fmt: skip


@pytest.mark.parametrize(("ns", "text"), TIMES.items())
def test_times(ns, text):
    assert units.time(ns) == text


@pytest.mark.parametrize(("size", "texts"), SIZES.items())
def test_sizes(size, texts):
    assert (units.size(size), units.size(size, "")) == texts


@pytest.mark.parametrize(
    ("fraction", "text"), [(0, "0.0 %"), (0.0001, "<0.1 %"), (0.5, "50.0 %"), (0.99999, ">99.9 %"), (1, "100.0 %")]
)
def test_shares(fraction, text):
    assert units.percent(fraction) == text


def test_counts():
    assert [units.count(n) for n in (0, 99_999, 100_000, 12_345_678)] == ["0", "99999", "100k", "12.3M"]
    assert [units.plural(n, "flush", "flushes") for n in (0, 1, 2)] == ["0 flushes", "1 flush", "2 flushes"]


@given(st.lists(st.integers(0, SIZE_CLASSES - 1), max_size=80))
def test_size_rows_keep_every_message(classes):
    count = np.bincount(classes, minlength=SIZE_CLASSES).astype(np.int64)
    messages = Messages(count, count * 10, 1, np.zeros((1, 1), int), np.zeros((1, 1), int), 0)
    rows = size_rows(messages)
    assert len(rows) <= MOST_SIZES
    assert sum(row[1] for row in rows) == len(classes)
    assert sum(row[2] for row in rows) == 10 * len(classes)


@given(st.lists(st.integers(0, SIZE_CLASSES - 1), min_size=1, max_size=80))
def test_size_rows_of_an_axis_have_no_gaps(classes):
    """Each range begins where the one before ends, and the first and the last have messages."""
    count = np.bincount(classes, minlength=SIZE_CLASSES).astype(np.int64)
    messages = Messages(count, count * 10, 1, np.zeros((1, 1), int), np.zeros((1, 1), int), 0)
    rows = size_rows(messages, even=True)
    assert len(rows) <= MOST_SIZES
    assert sum(row[1] for row in rows) == len(classes)
    assert rows[0][1] and rows[-1][1]
    ranges = [label.split(" to ") for label, _, _ in rows if label not in ("0 B", "1 B")]
    assert all(one[1] == next_[0] for one, next_ in pairwise(ranges))


def look(trace):
    text = io.StringIO()
    print_look(summarize(trace, Team()), Console(file=text, width=80, highlight=False))
    return text.getvalue()


def ring(ranks, **options):
    """Ranks compute 100 ns each (the last one 500), send to the next, and meet."""
    calls, messages = [], []
    for rank in range(ranks):
        busy = 500_000_000 if rank == ranks - 1 else 100_000_000
        send = {"peer": (rank + 1) % ranks, "sent": 8 << (rank % 40), "comm": 0}
        calls.append([("MPI_Send", busy, busy + 1000, send), ("MPI_Barrier", busy + 1000, 600_000_000, {"comm": 0})])
        messages.append((rank, (rank + 1) % ranks, 8 << (rank % 40), 0, busy, 600_000_000))
    return MemoryTrace(calls, messages=sorted(messages, key=lambda m: m[4]), **options)


@pytest.mark.parametrize("ranks", [1, 2, 9, 10, 16, 17, 64, 1000])
def test_the_look_fits(ranks):
    text = look(ring(ranks))
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    assert "…" not in text


def test_who_is_late_and_where_the_others_wait():
    sentence = sentences.load_balance(summarize(ring(9), Team()))
    assert sentence == (
        "rank 8 computes 3.5 times as long as the mean (500 ms against 144 ms); the others wait for it in MPI_Barrier"
    )


def test_a_master_that_only_hands_out_work():
    calls = [[("MPI_Recv", 10, 1000, {})], *([("MPI_Send", 1000, 1001, {})] for _ in range(3))]
    sentence = sentences.load_balance(summarize(MemoryTrace(calls), Team()))
    assert sentence.startswith("rank 0 computes only 1.3 % of the mean")


def test_threads_are_told_apart():
    """Thread 0 of rank 0 computes 90 of 100 ns, its thread 1 lives and computes for 30 ns: 120 of 130, or 92 of 100 ns.
    Rank 1 computes all the time, so both compute 96 ns on average."""
    calls = [[("MPI_Barrier", 90, 100, {})], [("MPI_Init", 0, 0, {})]]
    states = [(0, 90, 0, 0, 1), (0, 30, 0, 1, 1), (0, 100, 1, 0, 1)]
    trace = MemoryTrace(calls, states=states, spans=[(0, 100)] * 2)
    trace.threads = np.array([2, 1])
    text = " ".join(look(trace).split())
    assert "2 ranks, 3 threads, 1 node" in text
    assert "8 ns of 2 ranks x 100 ns is not computation" in text
    assert "rank 1 computes 4.2 % longer than the mean (100 ns against 96 ns)" in text


def test_nobody_waits_in_a_call_that_explains_nothing():
    """Rank 1 ends 900 ns before rank 0; 10 ns more in MPI_Barrier are not where it waits."""
    calls = [[("MPI_Barrier", 990, 1000, {})], [("MPI_Barrier", 80, 100, {})]]
    sentence = sentences.load_balance(summarize(MemoryTrace(calls), Team()))
    assert sentence == "rank 0 computes 1.9 times as long as the mean (990 ns against 535 ns)"


def test_a_rank_that_is_not_there_for_most_of_the_run():
    """Rank 0 computes 90 of its 100 ns; the run lasts 1000."""
    trace = MemoryTrace([[("MPI_Barrier", 90, 100, {})]], duration_ns=1000)
    sentence = sentences.communication_efficiency(summarize(trace, Team()))
    spent = "the rank spends 10 ns (1.0 %) in MPI, 10 ns of it in MPI_Barrier"
    assert sentence == f"{spent}, and 900 ns neither in MPI nor computing"


def test_clocks_that_disagree_are_one_problem(tmp_path):
    """Rank 0 sends from 10 on what rank 1 has from 9 on; the run itself does not repeat it."""
    send = call("MPI_Send", 10, 20, comm=WORLD, peer=1, tag=3)
    receive = call("MPI_Recv", 2, 9, comm=WORLD, peer=0, tag=3)
    trace = open_trace(write_run(tmp_path, [{"calls": [send]}, {"calls": [receive]}]))
    assert sentences.problems(summarize(trace, Team())) == ["1 message arrived before it was sent: the clocks disagree"]


def test_names_of_communicators_are_no_markup():
    halo = Communicator(2, (0, 1), name="[b]halo")
    trace = MemoryTrace([[("MPI_Barrier", 0, 9, {"comm": 1})]] * 2, communicators=(Communicator(1, (0, 1)), halo))
    assert "Barrier [b]halo" in look(trace)


def barriers_on(groups):
    """Return the lines of the look at ranks with a barrier on each communicator, of 10 ns, then 20, ..."""
    starts = [sum(range(10, 10 * k, 10)) for k in range(1, len(groups) + 1)]
    barriers = [("MPI_Barrier", t, t + 10 * k, {"comm": k - 1}) for k, t in enumerate(starts, 1)]
    return [line.split() for line in look(MemoryTrace([barriers] * 3, communicators=tuple(groups))).splitlines()]


def test_communicators_of_the_same_ranks_share_a_row():
    """20 + ... + 80 ns on each of 3 ranks for the unnamed ones; a name keeps one apart, and so does an order."""
    same = [Communicator(k, (0, 1), (2,)) for k in range(2, 9)]
    lines = barriers_on(
        [Communicator(1, (0, 1, 2)), *same, Communicator(9, (1, 0), (2,)), Communicator(10, (0, 1), (2,), "x")]
    )
    rows = [
        line
        for line in lines
        if line[:1] == ["Barrier"] and line[-1] == "-" and "x" not in line and "world" not in line
    ]
    assert ["Barrier", "7", "of", "0-1", "and", "2", "2+1", "1.05", "us", "21", "-"] in rows
    assert len(rows) == 2


def test_intercommunicators_and_the_collectives_that_are_not_shown():
    """Each of 10 communicators has one Barrier a member, 10 ns, then 20, ...: the two shortest are not shown."""
    orders = [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)]
    others = [Communicator(k, order, (3 - sum(order),)) for k, order in enumerate(orders, 2)]
    groups = [Communicator(1, (0, 1, 2)), *others, *(Communicator(k, (k - 8,), (2,)) for k in (8, 9))]
    lines = barriers_on([*groups, Communicator(10, (0, 1, 2), ())])
    assert ["Barrier", "10:", "0-2", "3", "300", "ns", "3", "-"] in lines
    assert ["Barrier", "9:", "1", "and", "2", "1+1", "270", "ns", "3", "-"] in lines
    assert ["2", "more", "90", "ns", "6", "-"] in lines


def test_unmatched_messages_are_messages():
    lonely = [Unmatched(0, "MPI_Send", 1, 3, 0, 10, 1, "send")]
    calls = [[("MPI_Send", 0, 1, {})], [("MPI_Init", 0, 1, {})]]
    assert "No matched point-to-point messages" in look(MemoryTrace(calls, unmatched=lonely))


def test_problems_and_unmatched_are_shown_but_not_all():
    many = [Unmatched(r, "MPI_Send", -1, 3, 0, 10, 100 - r, "send") for r in range(30)]
    trace = ring(2, unmatched=many, problems=[Problem(1, "was killed"), Problem(-1, "is odd")])
    text = look(trace)
    one = "ranks 0-29 (30 ranks), such as rank 0: 100 x MPI_Send to an unknown rank, tag 3, 10 B"
    assert one in " ".join(text.split())
    assert "rank 1: was killed" in text and "  is odd" in text


@pytest.mark.parametrize(
    "trace",
    [
        MemoryTrace([[]]),
        MemoryTrace([[], []]),
        MemoryTrace([[]], spans=[(0, 100)]),
        MemoryTrace([[("MPI_Init", 0, 0, {})]]),
    ],
    ids=["nothing", "two of nothing", "no MPI", "no time"],
)
def test_traces_with_next_to_nothing(trace):
    assert "memory.h5" in look(trace)


def test_calls_as_a_frame():
    frame = analyzer.calls_frame(ring(2), 1)
    assert frame["call"].tolist() == ["MPI_Send", "MPI_Barrier"]
    assert (frame["exit"] - frame["enter"]).tolist() == [1000, 99_999_000]


def test_a_run_that_is_too_long_to_look_for_iterations_says_so(monkeypatch):
    assert "Not looked for" not in look(ring(4))
    monkeypatch.setattr("analyzer.report.look.summary.MOST_CALLS", 7)
    assert "Not looked for in 8 calls, nor what is uneven about them: analyze structure" in look(ring(4))
