"""Callers of calls as events of a .prv, against the chains that were written."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from pathed_runs import chain, pathed_runs
from synthetic import NONE, call, write_run

from analyzer.cli import main
from analyzer.opening import open_trace
from analyzer.trace import CALL
from analyzer.trace.paraver import FUNCTION_TYPE, LINE_TYPE
from analyzer.writers.callers import WithCallers
from tracelib import schema

LEVELS = 2


@settings(max_examples=40)
@given(pathed_runs())
def test_each_call_with_a_path_has_its_callers(tmp_path_factory, run):
    ranks, tsc_per_us = run
    trace = open_trace(write_run(tmp_path_factory.mktemp("callers"), ranks, tsc_per_us=tsc_per_us))
    annotated = WithCallers(trace, LEVELS)
    events = annotated.events()
    plain = trace.events()
    added = events[events["type"] > FUNCTION_TYPE]
    assert len(events) == len(plain) + len(added)
    enters = {(r, int(c["thread"]), int(c["enter"])) for r in range(trace.size) for b in trace.calls(r) for c in b}
    assert {(int(e["rank"]), int(e["thread"]), int(e["time"])) for e in added} <= enters
    for rank, content in enumerate(ranks):
        found = []
        mine = added[added["rank"] == rank]
        for level in range(1, LEVELS + 1):
            functions = mine[mine["type"] == FUNCTION_TYPE + level]
            lines = mine[mine["type"] == LINE_TYPE + level]
            found.append(
                sorted(
                    (said(annotated, f), said(annotated, n).partition(" ")[0])
                    for f, n in zip(functions, lines, strict=True)
                )
            )
        paths = [path for table in schema.PATHS_OF for path in content[table] if path]
        for level in range(LEVELS):
            of_level = [chain(content, path)[level : level + 1] or (("_NOT_Found", 0),) for path in paths]
            assert found[level] == sorted((name, str(line)) for ((name, line),) in of_level)
    parts = [annotated.events(a, b) for a, b in pairwise(annotated.windows(3).tolist())]
    assert b"".join(part.tobytes() for part in parts) == events.tobytes()
    trace.close()


def said(trace, event):
    return trace.event_labels[int(event["type"])][1][int(event["value"])]


def test_a_trace_that_does_not_know_them_is_refused(tmp_path, capsys):
    run = write_run(tmp_path, [{"calls": [call("MPI_Init", 0, 10, comm=NONE)]}])
    assert main(["prv", "--callers", "3", str(run)]) == 1
    assert "does not say where its calls come from" in capsys.readouterr().err


@pytest.mark.parametrize("waits", [[], ["--waits"]])
def test_the_file_is_read_back(tmp_path, waits):
    paths = [(0, 0, 0), (0, schema.PATH_IN_FUNCTION | 1, 30)]
    functions = [(0, 0, b"", b""), (10, 1, b"solve", b"heat.py")]
    rank = {"calls": [call("MPI_Init", 0, 10), call("MPI_Finalize", 20, 30)], "call_paths": [1, 1]}
    run = write_run(tmp_path, [rank | {"paths": paths, "functions": functions}])
    assert main(["prv", "--callers", "2", *waits, "-q", str(run)]) == 0
    text = (tmp_path / "run.prv").read_text()
    assert text.count(":70000001:3:70000002:2:80000001:3:80000002:2") == 2
    labels = (tmp_path / "run.pcf").read_text()
    assert "3      solve\n" in labels and "3      30 (heat.py)\n" in labels
    trace = open_trace(str(tmp_path / "run.prv"))
    assert [len(block) for block in trace.calls(0)] == [2] and not trace.problems
    assert next(iter(trace.calls(0))).dtype == CALL
    trace.close()
