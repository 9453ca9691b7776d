"""OTF2 archives: runs written and read back, and archives that OTF2's own package writes and reads."""

import sys
import tempfile
from collections import Counter
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
import otf2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marked import LABELS, begin, end
from random_runs import runs
from synthetic import WORLD, call, request, write_run

from analyzer import otf2_library as library
from analyzer.errors import TracelibError
from analyzer.metrics.regions import region_visits
from analyzer.metrics.useful import useful
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.sources.otf2.location import LocationTranslator
from analyzer.trace import Regions
from analyzer.trace.read_sizes import ReadSizes
from analyzer.writers import otf2 as writer
from analyzer.writers.otf2 import write_otf2
from benchmarks.synthetic.run import write_run as write_pattern
from tracelib.schema import RequestKind

MESSAGE = ("logical_send", "physical_send", "logical_receive", "physical_receive", "size", "source", "source_thread",
           "destination", "destination_thread", "tag")  # fmt: skip

SMALL_STEPS = ReadSizes(sorted_step=1)


def again(trace, folder):
    write_otf2(trace, folder / "archive")
    return open_trace(folder / "archive" / "traces.otf2", sizes=SMALL_STEPS)


def calls_of(trace):
    for rank in range(trace.size):
        for row in (row for block in trace.calls(rank) for row in block):
            last = row["enter"] + row["inside"] if row["count"] > 1 else row["exit"]
            yield rank, int(row["thread"]), trace.procedures[row["call"]], int(row["enter"]), int(last)


def visits_of(trace):
    names = trace.extra(Regions).names
    for rank in range(trace.size):
        for row in region_visits(trace, rank):
            yield rank, int(row["thread"]), names[row["region"]], int(row["begin"]), int(row["end"]), int(row["depth"])


def messages_of(trace):
    return Counter(tuple(int(row[name]) for name in MESSAGE) for row in trace.messages())


def assert_same(one, other):
    assert Counter(calls_of(one)) == Counter(calls_of(other))
    assert messages_of(one) == messages_of(other)
    assert Counter(visits_of(one)) == Counter(visits_of(other))
    assert one.threads.tolist() == other.threads.tolist()


@contextmanager
def in_pieces_of(count):
    """Read `count` events at once, and put aside or write as many calls together."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("analyzer.sources.otf2.events._AT_ONCE", count)
        patch.setattr("analyzer.sources.otf2.records._AT_ONCE", count)
        patch.setattr("analyzer.writers.otf2._AT_ONCE", count)
        yield


@settings(max_examples=10)
@given(runs(most_threads=3), st.sampled_from([1, 2, 3, 7, 1000]))
def test_any_run_comes_back(made, at_once):
    ranks, tsc_per_us = made
    with tempfile.TemporaryDirectory() as folder, in_pieces_of(at_once):
        trace = open_trace(write_run(Path(folder), ranks, tsc_per_us=tsc_per_us))
        assert_same(trace, again(trace, Path(folder)))
        trace.close()


def events_in(folder):
    return {path.name: path.read_bytes() for path in sorted((folder / "traces").glob("*.evt"))}


@settings(max_examples=15)
@given(runs(most_threads=3), st.sampled_from([1, 2, 5]))
def test_what_is_written_in_pieces_is_what_is_written_at_once(made, at_once):
    ranks, tsc_per_us = made
    with tempfile.TemporaryDirectory() as folder:
        trace = open_trace(write_run(Path(folder), ranks, tsc_per_us=tsc_per_us))
        total = write_otf2(trace, Path(folder) / "whole")
        with in_pieces_of(at_once):
            assert write_otf2(trace, Path(folder) / "pieces") == total
        assert events_in(Path(folder) / "pieces") == events_in(Path(folder) / "whole")
        trace.close()


@pytest.mark.parametrize("pattern", ["halo", "irregular", "workers"])
def test_messages_and_regions_are_written_in_pieces(tmp_path, pattern):
    trace = open_trace(write_pattern(tmp_path / "run", pattern, 4, 200).path)
    write_otf2(trace, tmp_path / "whole")
    with in_pieces_of(7):
        assert len(trace.windows_of(0, 7)) > 20
        write_otf2(trace, tmp_path / "pieces")
    assert events_in(tmp_path / "pieces") == events_in(tmp_path / "whole")
    trace.close()


def test_threads_of_more_than_otf2_holds_at_once(tmp_path):
    trace = open_trace(write_pattern(tmp_path / "run", "ring", 4, 16000).path)
    found = again(trace, tmp_path)
    assert (tmp_path / "archive" / "traces" / "0.evt").stat().st_size > 2 * writer._CHUNK
    for rank in range(4):
        one, other = rows_of(trace, "calls", rank), rows_of(found, "calls", rank)
        for column in ("enter", "exit"):
            assert (one[column] == other[column]).all()
    columns = ["source", "destination", "size", "logical_send", "physical_receive"]
    assert (trace.messages()[columns] == found.messages()[columns]).all()
    trace.close()


def test_pieces_are_the_whole(tmp_path):
    """States and events, too, and in any windows."""
    source = open_trace(write_pattern(tmp_path / "run", "irregular", 4, 100).path)
    whole = again(source, tmp_path)
    at_once = {name: getattr(whole, name)() for name in ("states", "events", "messages")}
    by_rank = {(name, rank): rows_of(whole, name, rank) for name in ("calls", "requests") for rank in range(4)}
    with in_pieces_of(13):
        parts = open_trace(whole.path)
        assert len(parts.windows(13)) > 20
        for name, expected in at_once.items():
            assert len(expected) and (getattr(parts, name)() == expected).all()
            pieces = [getattr(parts, name)(a, b) for a, b in pairwise(parts.windows(13).tolist())]
            assert (np.concatenate(pieces) == expected).all()
        for (name, rank), expected in by_rank.items():
            assert (rows_of(parts, name, rank) == expected).all()
    for trace in (source, whole, parts):
        trace.close()


def rows_of(trace, name, rank):
    return np.concatenate(list(getattr(trace, name)(rank)))


def test_no_more_than_a_piece_is_held(tmp_path, monkeypatch):
    """However long a thread's part is, only a piece is held of events that are read or kept for the next piece."""
    source = open_trace(write_pattern(tmp_path / "run", "ring", 4, 3000).path)
    write_otf2(source, tmp_path / "archive")
    held, take = [], LocationTranslator.take

    def noted(self, events, *, last=False):
        found = take(self, events, last=last)
        held.append(len(events) + len(self._held) + len(self._open))
        return found

    monkeypatch.setattr(LocationTranslator, "take", noted)
    with in_pieces_of(100):
        assert_same(source, open_trace(tmp_path / "archive" / "traces.otf2", sizes=SMALL_STEPS))
    assert len(held) > 200 and max(held) < 120


@pytest.mark.parametrize("pattern", ["halo", "irregular"])
def test_a_run_with_messages_comes_back(tmp_path, pattern):
    """Also what collectives sent, with whom sends and blocking receives were, on which communicator."""
    trace = open_trace(write_pattern(tmp_path / "run", pattern, 4, 100).path)
    found = again(trace, tmp_path)
    assert_same(trace, found)
    assert len(trace.messages()) > 50
    for rank in range(4):
        one, other = (np.concatenate(list(t.calls(rank))) for t in (trace, found))
        names = np.array(trace.procedures)[one["call"]]
        told = np.isin(names, ["MPI_Send", "MPI_Isend", "MPI_Allreduce", "MPI_Bcast", "MPI_Barrier"])
        for column in ("sent", "peer", "tag"):
            assert (one[column][told] == other[column][told]).all(), column
    assert found.nodes.names == trace.nodes.names
    trace.close()


def test_what_otf2_itself_reads_of_ours(tmp_path):
    first = [call("MPI_Send", 120, 150, comm=WORLD, peer=1, tag=5, sent=80), call("MPI_Barrier", 200, 300, comm=WORLD)]
    second = [
        call("MPI_Irecv", 100, 110, comm=WORLD, peer=0, tag=5),
        call("MPI_Wait", 190, 195, comm=WORLD, peer=0, tag=5, received=80),
        call("MPI_Barrier", 210, 300, comm=WORLD),
    ]
    done = {"requests": [request(RequestKind.RECV_DONE, 100, 195, peer=0, tag=5, bytes=80)]}
    marks = {"events": [begin(110, 1), end(200, 1)], "labels": LABELS}
    run = write_run(tmp_path, [{"calls": first, **marks}, {"calls": second, **done}])
    assert write_otf2(open_trace(run), tmp_path / "archive") == 23
    with otf2.reader.open(str(tmp_path / "archive" / "traces.otf2")) as archive:
        said = [(location.group.name, event.time, type(event).__name__) for location, event in archive.events]
        assert archive.definitions.clock_properties.timer_resolution == 10**9
    assert [(time, name) for group, time, name in said if group == "MPI Rank 0"] == [
        (0, "ProgramBegin"), (110, "Enter"),
        (120, "Enter"), (120, "MpiSend"), (150, "Leave"), (200, "Leave"), (200, "Enter"),
        (200, "MpiCollectiveBegin"), (300, "MpiCollectiveEnd"), (300, "Leave"),
        (300, "ProgramEnd"),
    ]  # fmt: skip
    assert [(time, name) for group, time, name in said if group == "MPI Rank 1"] == [
        (0, "ProgramBegin"), (100, "Enter"), (100, "MpiIrecvRequest"),
        (110, "Leave"), (190, "Enter"), (195, "MpiIrecv"), (195, "Leave"),
        (210, "Enter"), (210, "MpiCollectiveBegin"), (300, "MpiCollectiveEnd"), (300, "Leave"),
        (300, "ProgramEnd"),
    ]  # fmt: skip


def write_other(folder):
    """By OTF2's package alone: ticks of 10 ns from 1000 on; rank 1 is defined first; a region is left open."""
    with otf2.writer.open(str(folder), timer_resolution=10**8) as archive:
        said = archive.definitions
        node = said.system_tree_node("a node")
        groups = {rank: said.location_group(f"process {rank}", system_tree_parent=node) for rank in (1, 0)}
        places = {rank: said.location("thread", group=groups[rank]) for rank in (1, 0)}
        mpi = otf2.Paradigm.MPI
        everybody = [places[0], places[1]]
        said.group("all", otf2.GroupType.COMM_LOCATIONS, mpi, members=everybody)
        turned = said.group("turned", otf2.GroupType.COMM_GROUP, mpi, members=everybody[::-1])
        comm = said.comm("turned", group=turned)
        main = said.region("main")
        isend, wait, recv = (said.region(f"MPI_{name}", paradigm=mpi) for name in ("Isend", "Wait", "Recv"))
        zero, one = (archive.event_writer_from_location(places[rank]) for rank in (0, 1))
        zero.enter(1000, main)
        zero.enter(1010, isend)
        zero.mpi_isend(1010, 0, comm, 3, 800, 77)  # to rank 1, which is the first there
        zero.leave(1012, isend)
        zero.enter(1020, wait)
        zero.mpi_isend_complete(1024, 77)
        zero.leave(1025, wait)
        zero.leave(1040, main)
        one.enter(1001, main)
        one.enter(1005, recv)
        one.mpi_recv(1024, 1, comm, 3, 800)
        one.leave(1025, recv)


@pytest.mark.parametrize("at_once", [1, 2, 5, 1000])
def test_what_otf2_itself_writes(tmp_path, at_once):
    write_other(tmp_path / "other")
    with in_pieces_of(at_once):
        trace = open_trace(tmp_path / "other" / "traces.otf2", sizes=SMALL_STEPS)
    assert (trace.size, trace.duration_ns, trace.nodes.names) == (2, 400, ("a node",))
    assert list(calls_of(trace)) == [
        (0, 0, "MPI_Isend", 100, 120), (0, 0, "MPI_Wait", 200, 250), (1, 0, "MPI_Recv", 50, 250),
    ]  # fmt: skip
    assert messages_of(trace) == {(100, 100, 50, 240, 800, 0, 0, 1, 0, 3): 1}
    assert list(visits_of(trace)) == [(0, 0, "main", 0, 400, 0), (1, 0, "main", 10, 250, 0)]
    (done,) = np.concatenate(list(trace.requests(0)))
    assert [int(done[name]) for name in ("posted", "completed", "bytes", "peer", "tag", "what")] == [
        100, 240, 800, 1, 3, RequestKind.SEND_DONE,
    ]  # fmt: skip
    calls = np.concatenate([*trace.calls(0), *trace.calls(1)])
    assert calls["sent"].tolist() == [800, 0, 0] and calls["received"].tolist() == [0, 0, 800]
    assert calls["peer"].tolist()[::2] == [1, 0]


def test_damaged_archives(tmp_path, capfd):
    """One line, whatever is missing, and none by the library itself."""
    write_other(tmp_path / "other")
    anchor = tmp_path / "other" / "traces.otf2"
    whole = anchor.read_bytes()
    anchor.write_bytes(whole[:40])
    with pytest.raises(TracelibError, match="damaged"):
        open_trace(anchor)
    anchor.write_bytes(whole)
    whole_def = (tmp_path / "other" / "traces.def").read_bytes()
    (tmp_path / "other" / "traces.def").write_bytes(b"")
    with pytest.raises(TracelibError, match="damaged"):
        open_trace(anchor)
    (tmp_path / "other" / "traces.def").write_bytes(whole_def.replace(b"a node", b"\xff node"))
    with pytest.raises(TracelibError, match=r"damaged OTF2 archive: .*codec can't decode"):
        open_trace(anchor)
    assert capfd.readouterr().err == ""


def test_without_the_package(monkeypatch):
    assert library.package() is otf2
    monkeypatch.setitem(sys.modules, "otf2", None)
    with pytest.raises(TracelibError, match="need the package otf2"):
        library.package()


def test_it_replaces_nothing(tmp_path):
    trace = open_trace(write_pattern(tmp_path / "run", "ring", 4, 10).path)
    (tmp_path / "archive").mkdir()
    with pytest.raises(TracelibError, match="exists"):
        write_otf2(trace, tmp_path / "archive")
    assert list((tmp_path / "archive").iterdir()) == []


def test_a_location_begins_with_its_program(tmp_path):
    """Rank 0 begins at 600 ns and computes 200, rank 1 from 0 on 700; both compute 50 ns after their last call."""
    with otf2.writer.open(str(tmp_path / "late"), timer_resolution=10**9) as archive:
        said = archive.definitions
        node = said.system_tree_node("node")
        barrier = said.region("MPI_Barrier", paradigm=otf2.Paradigm.MPI)
        for rank, (first, enter) in enumerate(((600, 800), (0, 700))):
            group = said.location_group(f"MPI Rank {rank}", system_tree_parent=node)
            writer = archive.event_writer_from_location(said.location(f"thread {rank}", group=group))
            writer.program_begin(first, "app", [])
            writer.enter(enter, barrier)
            writer.leave(1000, barrier)
            writer.program_end(1050, 0)
    trace = open_trace(tmp_path / "late" / "traces.otf2", sizes=SMALL_STEPS)
    assert [trace.span(rank) for rank in (0, 1)] == [(600, 1050), (0, 1050)]
    assert useful(trace, Team()).time_ns.tolist() == [250, 750]
    found = again(trace, tmp_path)
    assert [found.span(rank) for rank in (0, 1)] == [(600, 1050), (0, 1050)]
    assert useful(found, Team()).time_ns.tolist() == [250, 750]
    trace.close()
    found.close()


def test_a_run_computes_as_long_when_it_is_read_back(tmp_path):
    """Processes start late, and the tracer takes nothing here."""
    made = [{"calls": [call("MPI_Barrier", 400 + 100 * rank, 900, comm=WORLD)]} for rank in range(2)]
    trace = open_trace(write_run(tmp_path, made))
    found = again(trace, tmp_path)
    assert useful(found, Team()).time_ns.tolist() == useful(trace, Team()).time_ns.tolist()
    trace.close()
    found.close()
