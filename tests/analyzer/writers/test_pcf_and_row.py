"""The .pcf and .row writers, and reading both back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from column_trace import ColumnTrace, ring
from grammar import check_pcf, check_row

from analyzer.sources.paraver.labels import read_labels, read_nodes
from analyzer.trace import EVENT, MESSAGE, STATE, Nodes
from analyzer.writers.paraver_labels import write_pcf, write_row
from analyzer.writers.prv import write_prv


def empty(size=1, **attributes) -> ColumnTrace:
    return ColumnTrace(np.zeros(0, STATE), np.zeros(0, EVENT), np.zeros(0, MESSAGE), size, **attributes)


def test_labels_keep_to_the_grammar_and_come_back(tmp_path):
    trace = empty(
        procedures=("MPI_Send", "MPI_Exscan", "MPI_Init_thread", "MPI call 50000003:200"),
        event_labels={
            40000012: ("My tracing", {1: "on"}),
            90000001: ("Cluster ID", {-1: "none", 3_000_000_000: "lost"}),
        },
    )
    write_pcf(trace, tmp_path / "x.pcf")
    assert check_pcf(tmp_path / "x.pcf") == []
    labels, problems = read_labels(tmp_path / "x.pcf")
    assert problems == []
    assert labels[50000001] == ("MPI Point-to-point", {0: "Outside MPI", 1: "MPI_Send"})
    assert labels[50000003][1] == {0: "Outside MPI", 31: "MPI_Init"}
    assert labels[50000100][1] == {0: "Outside MPI", 2: "MPI_Exscan"}
    assert labels[40000003] == ("Flushing Traces", {0: "End", 1: "Begin"})
    assert labels[40000012] == ("My tracing", {1: "on"})
    assert labels[90000001] == ("Cluster ID", {-1: "none"})
    assert 50000002 not in labels


def test_a_label_stays_on_its_line(tmp_path):
    write_pcf(empty(event_labels={5: ("two\nlines", {1: "tab\tand\r\nmore"})}), tmp_path / "x.pcf")
    assert read_labels(tmp_path / "x.pcf")[0][5] == ("two lines", {1: "tab and more"})


def test_values_apply_to_all_types_of_their_block(tmp_path):
    path = tmp_path / "x.pcf"
    path.write_text(
        "# comment\nEVENT_TYPE\n0 70000001 Level 1\n0\t70000002\tLevel 2\nVALUES\n1 main\nnot a value\n\n"
        "EVENT_TYPE\n0 5 Five\nPRECISION 3\nVALUES\n"
    )
    labels, problems = read_labels(path)
    assert labels == {70000001: ("Level 1", {1: "main"}), 70000002: ("Level 2", {1: "main"}), 5: ("Five", {})}
    assert problems == []


def test_broken_or_absent_labels(tmp_path):
    assert read_labels(tmp_path / "none.pcf") == ({}, [])
    (tmp_path / "binary.pcf").write_bytes(bytes(range(256)))
    labels, problems = read_labels(tmp_path / "binary.pcf")
    assert labels == {}
    assert "not a Paraver configuration file" in problems[0].text
    (tmp_path / "folder.pcf").mkdir()
    assert "cannot be read" in read_labels(tmp_path / "folder.pcf")[1][0].text


def test_names_have_true_counts(tmp_path):
    trace = ring(3, 2)
    trace.nodes = Nodes(("alpha", "beta"), (10, 2), np.array([0, 0, 1]))
    trace.threads = np.array([1, 2, 1], np.int32)
    write_prv(trace, tmp_path / "x.prv")
    write_row(trace, tmp_path / "x.row")
    assert check_row(tmp_path / "x.row") == []
    text = (tmp_path / "x.row").read_text()
    assert text.startswith("LEVEL CPU SIZE 12\n01.alpha\n")
    assert "\n12.beta\n\nLEVEL NODE SIZE 2\nalpha\nbeta\n\nLEVEL THREAD SIZE 4\nTHREAD 1.1.1\nTHREAD 1.2.1\n" in text
    assert read_nodes(tmp_path / "x.row", 2) == (("alpha", "beta"), [])


def test_names_without_resource_model(tmp_path):
    trace = empty(2)
    trace.nodes = replace(trace.nodes, cpus=(0,))
    write_row(trace, tmp_path / "x.row")
    assert (tmp_path / "x.row").read_text() == "LEVEL THREAD SIZE 2\nTHREAD 1.1.1\nTHREAD 1.2.1\n"


def test_names_that_do_not_fit(tmp_path):
    path = tmp_path / "x.row"
    path.write_text("LEVEL CPU SIZE 1\nb\n")
    assert read_nodes(path, 2) == (("node1", "node2"), [])
    path.write_text("LEVEL NODE SIZE 1\na\n")
    names, problems = read_nodes(path, 2)
    assert names == ("node1", "node2")
    assert "names 1 nodes of 2" in problems[0].text
