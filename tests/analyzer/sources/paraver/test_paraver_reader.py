"""Reading .prv: every kind of line, disorder, damage, windows, and the way back to the same bytes."""

from __future__ import annotations

import gzip
import random
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from column_trace import ColumnTrace, ring
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.sources.paraver.trace import open_prv
from analyzer.trace import EVENT, MESSAGE, STATE, Arrows, Communicator, Leftovers, State, TracerTime
from analyzer.trace.event_types import EventType
from analyzer.trace.read_sizes import DEFAULT_SIZES, ReadSizes
from analyzer.writers.prv import write_prv

HEAD = "#Paraver (20/11/2026 at 15:00):1000_ns:1(2):1:2(1:1,2:1),1\nc:1:1:2:1:2\n"


def read(tmp_path, text: str | bytes, sizes: ReadSizes = DEFAULT_SIZES):
    path = tmp_path / "x.prv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return open_prv(path, sizes=sizes)


def test_records_by_hand(tmp_path):
    trace = read(
        tmp_path,
        HEAD
        + "1:1:1:1:1:0:10:1\n"
        + "2:2:1:2:2:7:50000001:1:42000050:-5\n"
        + "3:1:1:1:1:3:4:2:1:2:2:5:6:80:4294967295\n"
        + "4:whatever\n# a comment\n\n",
    )
    assert trace.problems == []
    assert trace.states().tolist() == [(0, 10, 0, 0, 1, 1)]
    assert trace.events().tolist() == [(7, 1, 50000001, 1, 1, 2), (7, -5, 42000050, 1, 1, 2)]
    (message,) = trace.messages()
    assert message["logical_send"] == 3
    assert message["physical_send"] == 4
    assert message["logical_receive"] == 5
    assert message["physical_receive"] == 6
    assert (message["size"], message["tag"], message["comm"]) == (80, 4294967295, -1)
    assert (message["source"], message["destination"], message["destination_thread"]) == (0, 1, 1)
    assert (message["source_cpu"], message["destination_cpu"]) == (1, 2)
    assert trace.communicators == (Communicator(1, (0, 1)),)
    assert trace.duration_ns == 1000
    assert not trace.origin.tracer_times
    assert trace.extra(Leftovers).unmatched() == []


def test_a_trace_of_the_thesis_of_2009(tmp_path, capsys):
    """Casas 2009, figure 2.1, with what section 2.2.2.2 says of each line, and a line that is no record."""
    lines = """#Paraver (10/04/2007 at 10:10):181613173713_ns:4:1:4(1:1 1:1,1:1,1:1)
1:2:1:2:1:306214:5883876428:1
2:2:1:2:1:1468537500:40000001:1
2:4:1:4:1:4404441642:40000003:1
3:2:1:2:1:7211314643:7211322500:4:1:4:1:7218855713:7221308285:81920:4000
none
"""
    trace = read(tmp_path, lines)
    assert (trace.duration_ns, trace.size) == (181_613_173_713, 4)
    (state,) = trace.states()
    assert (state["rank"], state["cpu"], state["state"]) == (1, 2, State.RUNNING)
    assert state["end"] - state["begin"] == 5_883_570_214
    assert trace.events()[["time", "type", "value", "rank"]].tolist() == [
        (1_468_537_500, EventType.APPLICATION, 1, 1), (4_404_441_642, EventType.FLUSH, 1, 3)
    ]  # fmt: skip
    (message,) = trace.messages()
    assert (message["source"], message["destination"], message["size"], message["tag"]) == (1, 3, 81_920, 4000)
    assert message["logical_send"] == 7_211_314_643 and message["physical_send"] == 7_211_322_500
    assert message["logical_receive"] == 7_218_855_713 and message["physical_receive"] == 7_221_308_285
    assert [problem.text for problem in trace.problems] == ["line 6: not a record"]
    assert main(["look", "--no-files", str(tmp_path / "x.prv")]) == 0
    assert "line 6: not a record" in capsys.readouterr().out


def test_a_header_that_ends_too_early(tmp_path):
    """A trace is as long as what it holds, and says whose time is wrong."""
    trace = read(tmp_path, HEAD.replace("1000_ns", "0_ns") + "1:1:1:1:1:0:10:1\n2:2:1:2:2:1500:50000001:0\n")
    assert trace.duration_ns == 1500
    (problem,) = trace.problems
    assert problem.text == "the header ends the trace at 0 ns, its last record is at 1500 ns"


def test_units_are_scaled_and_open_states_end_with_the_trace(tmp_path):
    trace = read(tmp_path, "#Paraver (20/11/2026 at 15:00):9:1(1):1:1(1:1)\n1:1:1:1:1:2:-1:1\n2:1:1:1:1:3:5:6\n")
    assert trace.states()[["begin", "end"]].tolist() == [(2000, 9000)]
    assert trace.events()["time"].tolist() == [3000]


def test_carriage_returns_and_a_last_line_without_end(tmp_path):
    trace = read(tmp_path, (HEAD + "1:1:1:1:1:0:10:1\n1:1:1:1:1:10:20:2").replace("\n", "\r\n"))
    assert trace.problems == []
    assert trace.states()["end"].tolist() == [10, 20]


def test_no_resource_model_ignores_the_cpu(tmp_path):
    trace = read(tmp_path, "#Paraver (20/11/2026 at 15:00):9_ns:0:1:1(1:1)\n1:7:1:1:1:2:3:1\n")
    assert trace.states()["cpu"].tolist() == [0]
    assert trace.nodes.cpus == (0,)


def test_a_plain_number_of_cpus_grows_with_the_records(tmp_path):
    trace = read(tmp_path, "#Paraver (20/11/2007 at 15:00):9_ns:1:1:2(1:1 1:1)\n1:4:1:1:1:2:3:1\n")
    assert trace.states()["cpu"].tolist() == [4]
    assert trace.nodes.cpus == (4,)


def test_several_applications_are_numbered_through(tmp_path):
    text = "#Paraver (20/11/2026 at 15:00):9_ns:1(4):2:2(1:1,1:1):2(1:1,1:1),2\nc:2:1:2:2:1\nc:1:1:2:1:2\n"
    trace = read(tmp_path, text + "1:0:1:2:1:0:1:1\n1:0:2:1:1:0:1:1\n")
    assert trace.states()["rank"].tolist() == [1, 2]
    assert [c.members for c in trace.communicators] == [(3, 2), (0, 1)]
    assert trace.origin.applications == (2, 2)


def test_states_of_2003_get_extraes_numbers(tmp_path):
    lines = "".join(f"1:1:1:1:1:{n}:{n + 1}:{n}\n" for n in range(16))
    old = read(tmp_path, "#Paraver (01/02/03 at 04:05):20:1:1:1(1:1)\n" + lines)
    assert old.states()["state"].tolist() == [0, 1, 2, 3, 27, 7, 9, 26, 7, 24, 24, 12, 8, 5, 13, 12]
    new = read(tmp_path, "#Paraver (01/02/2003 at 04:05):20:1:1:1(1:1)\n" + lines)
    assert new.states()["state"].tolist() == list(range(16))


MALFORMED = [
    ("1:1:1:1:1:0:10", "not a whole number"),
    ("1:1:1:1:1:0:10:1:", "not a whole number"),
    ("1:1:1:1:1:0:10:1:7", "not a whole number"),
    ("1:1:1:1:1:0:1x:1", "not a whole number"),
    ("1:1:1:1:1::10:1", "not a whole number"),
    ("1:1:1:1:1:20:10:1", "ends before"),
    ("1:1:1:1:1:-5:10:1", "negative or too large"),
    ("1:1:1:1:1:0:18446744073709551615:1", "negative or too large"),
    ("1:1:1:1:1:0:9223372036854775807:1", "negative or too large"),
    ("2:1:1:1:1:9223372036854775807:1:1", "negative or too large"),
    ("3:1:1:1:1:1:2:1:1:1:1:1:9223372036854775807:8:0", "negative or too large"),
    ("1:1:1:1:1:0:99999999999999999999:1", "not a whole number"),
    ("1:1:2:1:1:0:10:1", "does not have"),
    ("1:1:1:3:1:0:10:1", "does not have"),
    ("1:1:1:9223372036854775807:1:0:10:1", "does not have"),
    ("1:1:1:1:2:0:10:1", "does not have"),
    ("1:1:0:1:1:0:10:1", "does not have"),
    ("1:3:1:1:1:0:10:1", "CPU"),
    ("2:1:1:1:1:5:50000001", "pair up"),
    ("2:1:1:1:1:5", "pair up"),
    ("2:1:1:1:1:5:7:8:9", "pair up"),
    ("2:1:1:1:1:5:-7:8", "negative or needs more than 32 bits"),
    ("3:1:1:1:1:3:4:2:1:2:2:5:6:80", "not a whole number"),
    ("3:1:1:1:1:3:4:2:1:2:2:5:6:-80:1", "not a whole number"),
    ("3:1:1:1:1:3:4:2:1:2:3:5:6:80:1", "does not have"),
    ("3:1:1:1:1:3:4:2:1:2:2:5:6:9000000000000000000:1", "no memory"),
    ("3:1:1:1:1:3:4:2:1:2:2:5:6:1125899906842625:1", "no memory"),
    ("2:1:1:1:1:5:50100001:1125899906842625", "no memory"),
    ("2:1:1:1:1:5:50000002:8:50100002:9000000000000000000", "no memory"),
    ("c:1:2:1:1", "after the first record"),
    ("5:1:1:1:1:5:7:8", "not a record"),
    ("hello", "not a record"),
    ("1", "not a record"),
    ("\0\0\0", "not a record"),
]


@pytest.mark.parametrize(("line", "reason"), MALFORMED)
def test_a_malformed_line_is_left_out_and_named(tmp_path, line, reason):
    trace = read(tmp_path, HEAD + f"1:1:1:1:1:0:10:1\n{line}\n1:1:1:1:1:10:20:1\n")
    assert trace.states()["end"].tolist() == [10, 20]
    assert len(trace.events()) == len(trace.messages()) == 0
    (problem,) = trace.problems
    assert problem.text.startswith("line 4: ")
    assert reason in problem.text


def test_many_malformed_lines_are_counted(tmp_path):
    trace = read(tmp_path, HEAD + "1:1:1:1:1:0:10:1\n" + "x\n" * 1000)
    assert [p.text for p in trace.problems[:2]] == ["line 4: not a record", "line 5: not a record"]
    assert trace.problems[-1].text == "1000 lines in all are malformed and left out"
    assert len(trace.problems) < 20


def test_communicators_announced_and_malformed(tmp_path):
    trace = read(tmp_path, HEAD.replace("),1", "),2") + "c:1:2:5:1\n1:1:1:1:1:0:10:1\n")
    texts = [p.text for p in trace.problems]
    assert texts[0] == "line 3: communicator 2 says 5 tasks and lists 1"
    assert texts[1] == "the header announces 2 communicators, 1 are usable"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a Paraver trace"),
        (b"hello\n", "not a Paraver trace"),
        (bytes(range(256)) * 100, "not a Paraver trace"),
        (HEAD.encode(), "holds no record"),
        (HEAD.encode() + b"1:9:9:9:9:9\n", "holds no record"),
        (b"\x1f\x8b\x08garbage", "not a Paraver trace"),
    ],
)
def test_unusable_files_end_in_one_clear_line(tmp_path, content, message):
    with pytest.raises(TracelibError, match=message):
        read(tmp_path, content)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(TracelibError, match="cannot read"):
        open_prv(tmp_path / "none.prv")


def test_gzip_is_known_by_its_bytes_and_may_be_cut(tmp_path):
    lines = "".join(f"1:1:1:1:1:{n}:{n + 1}:{n * n % 7}\n" for n in range(50_000))
    packed = gzip.compress((HEAD + lines).encode())
    assert len(read(tmp_path, packed).states()) == 50_000
    cut = read(tmp_path, packed[: len(packed) // 2])
    assert 0 < len(cut.states()) < 50_000
    assert any("compressed file is damaged" in p.text for p in cut.problems)


def test_labels_and_nodes_beside_the_trace(tmp_path):
    (tmp_path / "x.pcf").write_text("EVENT_TYPE\n9 50000100 Mine\nVALUES\n0 End\n3 MPI_Exscan\n")
    (tmp_path / "x.row").write_text("LEVEL NODE SIZE 1\nhost\n")
    trace = read(tmp_path, HEAD + "2:1:1:1:1:5:50000100:3\n2:1:1:1:1:9:50000100:0\n")
    assert trace.procedures == ("MPI_Exscan",)
    assert trace.nodes.names == ("host",)
    assert trace.event_labels[50000100] == ("Mine", {0: "End", 3: "MPI_Exscan"})
    (tmp_path / "x.pcf").write_bytes(b"\xff\xfe\x00")
    broken = read(tmp_path, HEAD + "2:1:1:1:1:5:50000100:3\n")
    assert broken.procedures == ("MPI call 50000100:3",)
    assert "x.pcf" in broken.problems[0].text


def test_spans_and_flushes(tmp_path):
    body = (
        "1:1:1:1:1:0:100:2\n2:1:1:1:1:100:40000001:1\n2:1:1:1:1:200:40000003:1\n2:1:1:1:1:250:40000003:0:40000003:1\n"
    )
    trace = read(tmp_path, HEAD + body + "2:1:1:1:1:300:40000003:0\n2:1:1:1:1:400:40000003:1\n1:1:1:1:1:100:500:1\n")
    assert trace.span(0) == (100, 500)
    assert trace.extra(TracerTime).flushes(0)[["begin", "end"]].tolist() == [(200, 250), (250, 300), (400, 500)]
    assert trace.span(1) == (0, 0)
    assert len(trace.extra(TracerTime).flushes(1)) == 0


SMALL = ReadSizes(sorted_rows=64, text_bytes=1000, sorted_step=8)
"""Sizes with which a small trace goes through many blocks, runs and index steps."""


def tables(trace) -> list[np.ndarray]:
    """All windows of each table, one after the other."""
    windows = list(pairwise(trace.windows(50).tolist()))
    assert len(windows) > 10
    return [np.concatenate([read(*w) for w in windows]) for read in (trace.states, trace.events, trace.messages)]


def test_memory_does_not_grow_with_the_trace(tmp_path):
    """16 times as many records, of which each would take 32 bytes: read, then passed over window by window."""

    def peak(count: int) -> int:
        (tmp_path / "x.prv").write_text(HEAD + "".join(f"1:1:1:1:1:{n}:{n + 1}:1\n" for n in range(count)))
        tracemalloc.start()
        try:
            trace = open_prv(tmp_path / "x.prv", sizes=ReadSizes(sorted_rows=1 << 12, text_bytes=1 << 16))
            for window in pairwise(trace.windows(256).tolist()):
                trace.states(*window)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(1000)  # modules that are imported at first
    few, many = 20_000, 320_000
    assert peak(many) - peak(few) < (many - few) * STATE.itemsize / 20


@pytest.mark.parametrize("disorder", ["none", "little", "backwards", "shuffled"])
def test_windows_of_a_disordered_trace_equal_the_ordered_one(tmp_path, disorder):
    """Lines of one thread and time keep their order, as all sorting is stable: here each line has a time of its own."""
    true = ring(3, 300, compute_ns=901, call_ns=103)
    write_prv(true, tmp_path / "x.prv")
    head, communicator, *lines = (tmp_path / "x.prv").read_text().splitlines(keepends=True)
    rng = random.Random(5)
    if disorder == "little":
        for at in range(0, len(lines) - 9, 13):
            lines[at], lines[at + rng.randrange(9)] = lines[at + rng.randrange(9)], lines[at]
        lines = list(dict.fromkeys(lines + (tmp_path / "x.prv").read_text().splitlines(keepends=True)[2:]))
    elif disorder == "backwards":
        lines.reverse()
    elif disorder == "shuffled":
        rng.shuffle(lines)
    trace = read(tmp_path, "".join([head, communicator, *lines]), SMALL)
    assert trace.problems == []
    true.messages_table["comm"] = -1
    for found, wanted in zip(tables(trace), (true.states_table, true.events_table, true.messages_table), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_round_trip_gives_the_same_bytes(tmp_path):
    write_prv(ring(4, 200), tmp_path / "a.prv")
    trace = open_prv(tmp_path / "a.prv", sizes=SMALL)
    write_prv(trace, tmp_path / "b.prv")
    assert (tmp_path / "a.prv").read_bytes() == (tmp_path / "b.prv").read_bytes()


times = st.integers(0, 30)
objects = st.sampled_from([(0, 0), (1, 0), (1, 1)])


@st.composite
def random_trace(draw) -> ColumnTrace:
    """Any three tables over few times, so that ties are everywhere."""
    states = [
        (b, b + n, *o, s, 0) for b, n, o, s in draw(st.lists(st.tuples(times, times, objects, times), max_size=20))
    ]
    pairs = st.tuples(times, st.integers(-(2**63), 2**63 - 1), st.integers(0, 2**31 - 1), objects)
    events = [(t, v, k, *o, 0) for t, v, k, o in draw(st.lists(pairs, max_size=30))]
    messages = np.zeros(draw(st.integers(0 if states or events else 1, 10)), MESSAGE)
    for row in messages:
        row["logical_send"], row["physical_send"] = draw(times), draw(times)
        row["logical_receive"], row["physical_receive"] = draw(times), draw(times)
        row["source"], row["source_thread"] = draw(objects)
        row["destination"], row["destination_thread"] = draw(objects)
        row["size"], row["tag"], row["comm"] = draw(times), draw(times), -1
    return ColumnTrace(np.array(states, STATE), np.array(events, EVENT), messages, 2, threads=[1, 2])


@settings(max_examples=60)
@given(random_trace())
def test_what_is_written_is_read_and_written_again_alike(tmp_path_factory, trace):
    folder = tmp_path_factory.mktemp("round")
    write_prv(trace, folder / "a.prv")
    back = open_prv(folder / "a.prv")
    assert [problem for problem in back.problems if not problem.note] == []
    np.testing.assert_array_equal(back.states(), trace.states_table)
    np.testing.assert_array_equal(back.events(), trace.events_table)
    messages = back.extra(Arrows).among(back.messages(), 0, back.duration_ns + 1)
    np.testing.assert_array_equal(messages, trace.messages_table)
    write_prv(back, folder / "b.prv")
    assert (folder / "a.prv").read_bytes() == (folder / "b.prv").read_bytes()


@settings(max_examples=100)
@given(st.lists(st.text(st.sampled_from("0123456789:-cx# \r"), max_size=40), max_size=20))
def test_no_text_crashes_the_reader(tmp_path_factory, lines):
    good = "1:1:1:1:1:0:10:1\n"
    trace = read(tmp_path_factory.mktemp("fuzz"), HEAD + good + "\n".join(lines) + "\n")
    assert len(trace.states()) >= 1
    assert (trace.states()["end"] >= trace.states()["begin"]).all()
    for rank in range(2):
        for block in trace.calls(rank):
            assert (block["exit"] >= block["enter"]).all()
