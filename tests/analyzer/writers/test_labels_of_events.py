"""Every type of event in a .prv, and every state, has a label in the .pcf beside it, whatever a run has recorded."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from random_runs import runs
from synthetic import call, event, flush, write_run

from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.sources.paraver.labels import read_labels
from analyzer.writers.paraver_labels import write_pcf
from analyzer.writers.prv import write_prv
from tracelib import schema
from tracelib.schema import event_types

RECORDED = {name: value for name, value in vars(event_types).items() if name.endswith("_TYPE")}
"""All types that the tracer itself writes, by the name of the constant."""
OWN = st.integers(1, 30_000_000)
"""Types that programs give to events of their own."""


def written(folder, ranks, **options):
    """The .prv of a run, and the text and the labels of its .pcf."""
    prv, pcf = folder / "run.prv", folder / "run.pcf"
    trace = open_trace(str(write_run(folder, ranks, **options)), Team())
    write_pcf(trace, pcf, write_prv(trace, prv))
    trace.close()
    return prv.read_text().splitlines(), pcf.read_text(), read_labels(pcf)[0]


def types_in(lines):
    """The types of all events of a .prv."""
    fields = (line.split(":")[6::2] for line in lines if line.startswith("2:"))
    return {int(type_) for of_line in fields for type_ in of_line}


def states_in(lines):
    return {int(line.split(":")[7]) for line in lines if line.startswith("1:")}


def labelled_states(pcf):
    block = pcf.split("\nSTATES\n")[1].split("\n\n")[0]
    return {int(number) for number in re.findall(r"^(\d+)", block, re.MULTILINE)}


def check(lines, pcf, labels):
    assert types_in(lines) - labels.keys() == set()
    assert all(labels[type_][0].strip() for type_ in types_in(lines))
    assert states_in(lines) <= labelled_states(pcf)


def test_all_types_that_the_tracer_records_have_a_label(tmp_path):
    events = flush(100, 150)
    for name, type_ in RECORDED.items():
        at = 200 + 20 * len(events)
        if name in ("SYNC_TYPE", "PATHS_TYPE", "CPU_WAIT_TYPE"):
            events += [event(at, type_, 1), event(at + 10, type_, 0)]
        elif name != "FLUSH_TYPE":
            events.append(event(at, type_, 1))
    calls = [call("MPI_Init", 0, 10), call("MPI_Finalize", 5000, 5010)]
    lines, pcf, labels = written(tmp_path, [{"calls": calls, "events": events}])
    check(lines, pcf, labels)
    shown = {schema.OFF_CPU_TYPE, schema.RUN_DELAY_TYPE, schema.PATHS_TYPE, schema.SYNC_TYPE, schema.FLUSH_TYPE}
    assert shown <= types_in(lines)
    assert labels[schema.RUN_DELAY_TYPE][1] == {-1: "Not known"}
    assert "CPU" in labels[schema.OFF_CPU_TYPE][0]
    assert 35 in states_in(lines)


@given(runs(), st.lists(st.tuples(OWN, st.integers(0, 9)), max_size=4))
def test_all_that_random_runs_record_has_a_label(tmp_path_factory, run, own):
    """Also events of the program to which it gave no label."""
    ranks, tsc_per_us = run
    ranks[0]["events"] = [*ranks[0]["events"], *(event(2, type_, value, thread=0) for type_, value in own)]
    ranks[0]["events"].sort(key=lambda row: (row["thread"], row["time"]))
    ranks[0].pop("blocks", None)
    lines, pcf, labels = written(tmp_path_factory.mktemp("run"), ranks, tsc_per_us=tsc_per_us)
    check(lines, pcf, labels)
    assert {type_ for type_, _ in own} <= types_in(lines)
