"""Arrows inside a task, such as those from a CUDA call to its kernel: they are no messages."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.cli import main
from analyzer.opening import open_trace
from analyzer.trace import Arrows
from analyzer.trace.read_sizes import DEFAULT_SIZES, ReadSizes

HEADER = "#Paraver (14/05/2025 at 03:14):10000_ns:1(3):1:2(2:1,1:1),1\nc:1:1:2:1:2\n"
ENDS = "1:1:1:1:1:0:10000:1\n2:1:1:1:1:10000:40000001:0\n2:3:1:2:1:10000:40000001:0\n"


def opened(tmp_path, text, sizes=DEFAULT_SIZES):
    (tmp_path / "run.prv").write_text(HEADER + text + ENDS)
    return open_trace(tmp_path / "run.prv", sizes=sizes)


def counts(trace):
    return len(trace.messages()), len(trace.extra(Arrows).read())


def call(place, begin, end, value=1, type_=50000001):
    return f"2:{place}:{begin}:{type_}:{value}\n2:{place}:{end}:{type_}:0\n"


def test_a_message_to_oneself_is_one(tmp_path):
    """Sent and received by the same task, by two of its threads, or by one in MPI_Sendrecv: MPI at both ends."""
    text = call("1:1:1:1", 1000, 2000, 41) + "3:1:1:1:1:1000:1500:1:1:1:1:1000:2000:8:1\n"
    text += call("1:1:1:1", 3000, 4000, 1) + call("2:1:1:2", 3500, 5000, 2)
    trace = opened(tmp_path, text + "3:1:1:1:1:3000:3500:2:1:1:2:3500:5000:8:1\n")
    assert counts(trace) == (2, 0)
    assert [int(calls["peer"][0]) for calls in trace.calls(0)] == [0]


@pytest.mark.parametrize(
    "around",
    ["", call("1:1:1:1", 900, 1500, 1), call("2:1:1:2", 1100, 3000, 2), call("1:1:1:1", 900, 1500, 1, 60000001)],
    ids=["in no call", "launched by MPI_Send", "received in a call", "in an OpenMP region"],
)
def test_an_arrow_is_none(tmp_path, around):
    """Where MPI is at one end only: a library of MPI launches kernels, too. The call takes nothing from the arrow."""
    trace = opened(tmp_path, around + "3:1:1:1:1:1000:1100:2:1:1:2:1200:2500:4096:0\n")
    assert counts(trace) == (0, 1)
    assert all(int(calls["sent"].sum()) == int(calls["received"].sum()) == 0 for calls in trace.calls(0))


def test_between_tasks_it_is_a_message(tmp_path):
    """Whatever the threads do: a trace of another library than MPI has messages, too."""
    assert counts(opened(tmp_path, "3:1:1:1:1:1000:1100:3:1:2:1:1200:2500:4096:0\n")) == (1, 0)


def test_states_tell_where_there_are_no_events_of_mpi(tmp_path):
    """As in the traces of the theses, and of Dimemas without events."""
    inside = "1:1:1:1:1:1000:2000:4\n1:2:1:1:2:1200:2500:3\n"
    arrow = "3:1:1:1:1:1000:1100:2:1:1:2:1200:2500:4096:0\n"
    assert counts(opened(tmp_path, inside + arrow)) == (1, 0)
    assert counts(opened(tmp_path, inside.replace(":4\n", ":7\n") + arrow)) == (0, 1)


def test_commands_say_it_and_keep_it(tmp_path, capsys):
    path = tmp_path / "run.prv"
    arrow = "3:1:1:1:1:1000:1100:2:1:1:2:1200:2500:4096:0\n"
    opened(tmp_path, arrow).close()
    assert main(["look", "--no-files", str(path)]) == 0
    assert "1 arrow inside a task, of no MPI call" in capsys.readouterr().out
    assert main(["prv", str(path), "-o", str(tmp_path / "again.prv"), "-q"]) == 0
    assert arrow in (tmp_path / "again.prv").read_text()
    assert main(["export", str(path), "--to", "chrome"]) == 0
    assert "1 arrow inside a task are left out" in capsys.readouterr().err.replace("is left", "are left")
    assert main(["loggp", str(path)]) == 0
    assert "There are no messages" in capsys.readouterr().out


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_in_any_windows_as_a_plain_search_says(tmp_path_factory, data):
    """Against intervals that are looked through one by one, with windows of a few records."""
    times = st.integers(0, 300)
    text, calls = "", []
    for thread in (1, 2):
        edges = sorted(data.draw(st.sets(times, max_size=12)))
        for begin, end in zip(edges[::2], edges[1::2], strict=False):
            text += call(f"1:1:1:{thread}", begin, end)
            calls.append((thread, begin, end))
    arrows = data.draw(st.lists(st.tuples(times, times, st.sampled_from((1, 2)), st.sampled_from((1, 2))), max_size=12))
    for send, receive, source, sink in arrows:
        text += f"3:1:1:1:{source}:{send}:{send}:1:1:1:{sink}:{receive}:{receive}:8:1\n"

    def inside(thread, time):
        return any(own == thread and begin <= time <= end for own, begin, end in calls)

    expected = sum(inside(source, send) and inside(sink, receive) for send, receive, source, sink in arrows)
    if not calls:
        expected = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("analyzer.sources.paraver.trace._ROWS_A_CALL", 1)
        patch.setattr("analyzer.sources.paraver.trace.ParaverTrace.windows.__defaults__", (3,))
        trace = opened(tmp_path_factory.mktemp("run"), text, ReadSizes(sorted_step=1))
        assert not arrows or len(trace.windows()) > 2
        assert counts(trace) == (expected, len(arrows) - expected)
        trace.close()
