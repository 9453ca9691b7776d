"""Tables of all ranks against a run by hand, and against what commands say of the same run."""

from itertools import pairwise

import numpy as np
import pandas
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marked import LABELS, begin, end
from synthetic import WORLD, call, event, label, request, write_run

import analyzer
from analyzer.frames.blocks import Coded
from analyzer.frames.parquet import write_parquet
from analyzer.metrics.profile import profile
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.waits.analysis import analyze_waits
from benchmarks.synthetic.run import write_run as write_pattern
from tracelib.schema import PARAMETER_TYPE, LabelKind, RequestKind

NAMES = ("calls", "messages", "regions", "iterations", "waits", "places")


@pytest.fixture(scope="module")
def by_hand(tmp_path_factory):
    """Rank 1 waits 20 ns for the send of rank 0, which is in exchange, in solve with n = 7."""
    first = [call("MPI_Send", 120, 150, comm=WORLD, peer=1, tag=5, sent=80), call("MPI_Barrier", 200, 300, comm=WORLD)]
    second = [call("MPI_Recv", 100, 160, comm=WORLD, peer=0, tag=5, received=80)]
    second += [call("MPI_Barrier", 210, 300, comm=WORLD)]
    events = [begin(110, 1), event(112, PARAMETER_TYPE, 7, flags=1), begin(115, 2), end(150, 2), end(200, 1)]
    ranks = [
        {"calls": first, "events": events, "labels": [*LABELS, label(LabelKind.PARAMETER, 1, "n")]},
        {"calls": second, "requests": [request(RequestKind.RECV_DONE, 100, 160, peer=0, tag=5, bytes=80)]},
    ]
    return analyzer.Tables(open_trace(write_run(tmp_path_factory.mktemp("tables"), ranks)))


def rows(frame, *columns):
    return list(frame[list(columns)].itertuples(index=False, name=None))


def test_calls(by_hand):
    frame = by_hand.calls.to_pandas()
    assert rows(frame, "rank", "thread", "call", "peer", "tag", "comm", "sent_bytes", "received_bytes", "region") == [
        (0, 0, "MPI_Send", 1, 5, "MPI_COMM_WORLD", 80, 0, "solve/exchange"),
        (0, 0, "MPI_Barrier", -1, -1, "MPI_COMM_WORLD", 0, 0, ""),
        (1, 0, "MPI_Recv", 0, 5, "MPI_COMM_WORLD", 0, 80, ""),
        (1, 0, "MPI_Barrier", -1, -1, "MPI_COMM_WORLD", 0, 0, ""),
    ]
    assert (frame["enter_s"] * 1e9).round().tolist() == [120, 200, 100, 210]
    assert (frame["exit_s"] * 1e9).round().tolist() == [150, 300, 160, 300]
    assert (frame["mpi_s"] * 1e9).round().tolist() == [30, 100, 60, 90]
    assert set(frame["iteration"]) == {-1} and set(frame["place"]) == {""}


def test_messages(by_hand):
    frame = by_hand.messages.to_pandas()
    columns = "rank", "thread", "destination", "destination_thread", "bytes", "tag", "comm", "region"
    assert rows(frame, *columns) == [(0, 0, 1, 0, 80, 5, "MPI_COMM_WORLD", "solve/exchange")]
    assert rows((frame[["send_s", "receive_s", "received_s"]] * 1e9).round(), "send_s", "receive_s", "received_s") == [
        (120, 100, 160)
    ]


def test_regions(by_hand):
    frame = by_hand.regions.to_pandas()
    assert rows(frame, "rank", "thread", "region", "path", "depth", "parallel") == [
        (0, 0, "solve", "solve", 0, 1),
        (0, 0, "exchange", "solve/exchange", 1, 1),
    ]
    assert (frame["time_s"] * 1e9).round().tolist() == [90, 35]
    assert frame["n"].tolist() == [7, 7]  # of the region around it


def test_waits(by_hand):
    frame = by_hand.waits.to_pandas()
    assert rows(frame, "rank", "kind", "call", "cause_rank") == [
        (0, "wait at barrier", "MPI_Barrier", 1),
        (1, "late sender", "MPI_Recv", 0),
    ]
    assert (frame["time_s"] * 1e9).round().tolist() == [10, 20]


def test_a_part_of_the_time(by_hand):
    part = analyzer.Tables(by_hand.trace, 115e-9, 205e-9)
    assert part.calls.to_pandas()["call"].tolist() == ["MPI_Send", "MPI_Barrier"]
    assert len(part.messages.to_pandas()) == 1 and len(part.waits.to_pandas()) == 1
    assert part.regions.to_pandas()["region"].tolist() == ["exchange"]
    assert len(analyzer.Tables(by_hand.trace, 1.0).calls.to_pandas()) == 0


def test_without_iterations(by_hand):
    """The same but for that column."""
    for table, without in zip(by_hand, analyzer.Tables(by_hand.trace, in_iterations=False), strict=True):
        if table.name != "iterations":
            expected = table.to_pandas().drop(columns="iteration", errors="ignore")
            assert without.to_pandas().equals(expected) and "iteration" not in expected


def test_what_a_notebook_shows(by_hand):
    assert all(f"<b>{name}</b>" in by_hand._repr_html_() for name in NAMES)
    for table in by_hand:
        html = table._repr_html_()
        assert table.says in html and html.count("<tr") == 1 + len(table.to_pandas())
        assert table.name in repr(table)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    trace = open_trace(write_pattern(tmp_path_factory.mktemp("run") / "run", "halo", 4, 400).path)
    yield trace
    trace.close()


def test_the_sums_of_commands(run):
    """Time in MPI by rank and procedure, waiting by rank and kind, iterations."""
    tables = analyzer.Tables(run)
    calls, totals = tables.calls.to_pandas(), profile(run, Team())
    sums = calls.groupby(["rank", "call"], observed=False)["mpi_s"].sum().unstack()
    assert np.allclose(sums[list(totals.procedures)].to_numpy() * 1e9, totals.inside_ns)
    found = analyze_waits(run, Team(), totals)
    assert tables.waits.to_pandas()["time_s"].sum() == pytest.approx(found.total_ns / 1e9)
    iterations = tables.iterations.to_pandas()
    count = iterations.groupby("rank").size()
    assert len(set(count)) == 1 and len(count) == 4
    inside = calls.merge(iterations, on=["rank", "iteration"])
    assert len(inside) == (calls["iteration"] >= 0).sum() > 0.9 * len(calls)
    assert ((inside["enter_s"] >= inside["begin_s"]) & (inside["enter_s"] < inside["end_s"])).all()


def test_pieces_are_the_whole(run):
    for table in analyzer.Tables(run):
        whole = table.to_pandas()
        assert sum(map(len, table)) == len(whole)
        assert table.head(3).equals(whole.head(3)) or len(whole) == 0


def test_no_piece_holds_all_messages_of_a_rank(run, monkeypatch):
    """Pieces of bounded size are the same rows in the same order."""
    whole = analyzer.Tables(run).messages.to_pandas()
    monkeypatch.setattr("analyzer.frames.events._RECORDS", 20)
    windows = np.linspace(0, run.duration_ns + 1, 40).astype(np.int64)
    monkeypatch.setattr(run, "message_windows", lambda: windows)
    pieces = list(analyzer.Tables(run).messages)
    at_once = max(len(run.messages(a, b)) for a, b in pairwise(windows.tolist()))
    assert max(map(len, pieces)) <= max(20, at_once) < len(whole) / 4
    pandas.testing.assert_frame_equal(pandas.concat(pieces, ignore_index=True), whole, check_categorical=False)


@pytest.mark.parametrize("name", NAMES)
def test_parquet_is_the_same(by_hand, run, tmp_path, name):
    for number, tables in enumerate((by_hand, analyzer.Tables(run))):
        frame, path = getattr(tables, name).to_pandas(), tmp_path / f"{number}.parquet"
        assert getattr(tables, name).to_parquet(path) == len(frame)
        again = pyarrow.parquet.read_table(path).to_pandas()
        assert list(again.columns) == list(frame.columns)
        for column in frame:
            pandas.testing.assert_series_equal(again[column].astype(object), frame[column].astype(object))


@settings(max_examples=30)
@given(
    st.lists(st.lists(st.integers(0, 3), max_size=9), min_size=1, max_size=6),
    st.sampled_from([["a", "b", "a", "c"], ["x", "x", "x", "x"]]),
)
def test_names_may_repeat(tmp_path_factory, blocks, names):
    path = tmp_path_factory.mktemp("p") / "names.parquet"
    assert write_parquet(({"n": Coded(np.array(b, np.int64), names)} for b in blocks), path) == sum(map(len, blocks))
    assert pyarrow.parquet.read_table(path)["n"].to_pylist() == [names[code] for block in blocks for code in block]
