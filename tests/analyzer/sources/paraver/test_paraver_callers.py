"""Callers in a Paraver trace are call paths: as we write them, by hand, and in a trace of Extrae's."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from pathed_runs import chain, pathed_runs
from paths import EPOCH
from synthetic import write_run

import analyzer
from analyzer.cli import main
from analyzer.metrics.callers import CallerSums, from_places
from analyzer.metrics.profile import profile
from analyzer.metrics.sums import add_up
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.trace import CallPaths
from tracelib import schema

LEVELS = 3
PCF = """
EVENT_TYPE
0    70000001    Caller at level 1
0    70000002    Caller at level 2
VALUES
0   End
1   Unresolved
2   _NOT_Found
3   exchange
4   main
5   __mpi_ro..mal_init [__mpi_routines_MOD_mpi_minimal_init]

EVENT_TYPE
0    80000001    Caller line at level 1
0    80000002    Caller line at level 2
VALUES
0   End
1   0 (Unresolved)
2   0 (_NOT_Found)
3   12 (halo.c, solver)
4   40 (main.c, solver)
5   42 (main.c)
"""


def chains_of(trace, rank):
    """How often each chain of functions and lines comes."""
    paths = trace.extra(CallPaths)
    rows = np.concatenate([np.zeros(0, np.int64), *paths.of(rank)])
    assert len(rows) == sum(map(len, trace.calls(rank)))
    named = paths.named()
    return Counter(tuple((f.function, f.line) for f in named.frames(path)) if path else () for path in rows.tolist())


@settings(max_examples=30)
@given(pathed_runs())
def test_what_was_written_is_read_again(tmp_path_factory, run):
    """The same chains, up to the levels that were asked for."""
    ranks, tsc_per_us = run
    path = write_run(tmp_path_factory.mktemp("callers"), ranks, tsc_per_us=tsc_per_us)
    assert main(["prv", "--callers", str(LEVELS), "-q", str(path)]) == 0
    trace = open_trace(str(path.with_suffix(".prv")))
    assert trace.extra(CallPaths).known == any(any(content[table]) for content in ranks for table in schema.PATHS_OF)
    for rank, content in enumerate(ranks if trace.extra(CallPaths).known else ()):
        found = chains_of(trace, rank)
        written = Counter(chain(content, row) for table in schema.PATHS_OF for row in content[table])
        expected = Counter()
        for each, count in written.items():
            expected[each[:LEVELS] + ((("(not recorded)", 0),) if len(each) >= LEVELS else ())] += count
        del expected[()], found[()]
        if at_different_times(content):
            assert found == expected
        assert set(found) <= set(expected)
    trace.close()


def at_different_times(content):
    """Whether no two calls of a thread are entered at once: they would have one time for their events."""
    rows = [(row["thread"], row["enter"]) for row in [*content["calls"], *content.get("polls", ())]]
    return len(set(rows)) == len(rows)


def by_hand(tmp_path, *lines):
    (tmp_path / "x.prv").write_text("\n".join(["#Paraver (01/02/2024 at 10:00):1000_ns:1(1):1:1(1:1)", *lines, ""]))
    (tmp_path / "x.pcf").write_text(PCF)
    return tmp_path / "x.prv"


def test_lines_as_extrae_writes_them(tmp_path, capsys):
    """Callers stand in the line of the entry, or in one of their own."""
    path = by_hand(
        tmp_path,
        "2:1:1:1:1:100:50000001:1:70000001:3:80000001:3:70000002:4:80000002:4",
        "2:1:1:1:1:150:50000001:0",
        "2:1:1:1:1:200:50000002:8",
        "2:1:1:1:1:200:70000001:3:80000001:3:70000002:4:80000002:5",
        "2:1:1:1:1:240:50000002:0",
        "2:1:1:1:1:300:50000001:1:70000001:4:80000001:4:70000002:2:80000002:2",
        "2:1:1:1:1:350:50000001:0:70000001:0:80000001:0",
        "2:1:1:1:1:400:50000003:31:70000001:5:80000001:1:70000002:1:80000002:1",
        "2:1:1:1:1:450:50000003:0",
        "2:1:1:1:1:500:50000003:32",
        "2:1:1:1:1:550:50000003:0",
    )
    trace = open_trace(str(path))
    frame = analyzer.calls_frame(trace, 0)
    assert list(zip(frame["call"], frame["place"], strict=True)) == [
        ("MPI_Send", "halo.c:12 in exchange"),
        ("MPI_Barrier", "halo.c:12 in exchange"),
        ("MPI_Send", "main.c:40 in main"),
        ("MPI_Init", "mpi_routines::mpi_minimal_init"),
        ("MPI_Finalize", "(not known)"),
    ]
    paths = trace.extra(CallPaths)
    said = [paths.named().chain(path) for rows in paths.of(0) for path in rows.tolist()]
    assert said == [
        "halo.c:12 in exchange < main main.c:40 < ...",
        "halo.c:12 in exchange < main main.c:42 < ...",
        "main.c:40 in main",
        "mpi_routines::mpi_minimal_init < ? < ...",
        "(not known)",
    ]
    trace.close()
    assert main(["look", "--no-files", str(path)]) == 0
    assert "halo.c:12 in exchange" in capsys.readouterr().out


def test_without_labels_they_are_numbers(tmp_path):
    path = by_hand(tmp_path, "2:1:1:1:1:100:50000001:1:70000001:7:80000001:9", "2:1:1:1:1:150:50000001:0")
    path.with_suffix(".pcf").unlink()
    trace = open_trace(str(path))
    assert analyzer.calls_frame(trace, 0)["place"].tolist() == ["caller 7"]
    trace.close()


def test_a_trace_without_callers_has_no_places(tmp_path):
    path = by_hand(tmp_path, "2:1:1:1:1:100:50000001:1", "2:1:1:1:1:150:50000001:0")
    trace = open_trace(str(path))
    assert not trace.extra(CallPaths).known and "place" not in analyzer.calls_frame(trace, 0)
    trace.close()


@pytest.mark.skipif(not EPOCH.is_dir(), reason="the trace of Extrae's is not there")
def test_a_trace_of_extrae():
    """Sums over places equal the procedures' sums, and the lines are in the trace's labels."""
    trace = open_trace(str(EPOCH / "epoch_2proc.prv.gz"))
    callers, places = add_up(trace, Team(), CallerSums(trace)), trace.extra(CallPaths).named()
    found, whole = from_places(callers, places, trace), profile(trace, Team())
    for number, procedure in enumerate(whole.procedures):
        mine = [f for f in found if f.procedure == procedure]
        assert sum(f.count for f in mine) == whole.count[:, number].sum()
        assert sum(f.inside_ns for f in mine) == whole.inside_ns[:, number].sum()
    lines = set(trace.event_labels[80000001][1].values())
    for f in found:
        if line := places.line(f.place):
            assert any(label.startswith(f"{line} ({places.file(f.place)},") for label in lines)
    assert max(found, key=lambda f: f.count).procedure == "MPI_Sendrecv"
    assert "boundary.F90:286 in boundary::do_field_mpi_with_lengths" in {places.text(f.place) for f in found}
    trace.close()
