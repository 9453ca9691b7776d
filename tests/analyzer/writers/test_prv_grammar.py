"""The grammar checkers find what is planted in good files."""

from __future__ import annotations

import pytest
from column_trace import ring
from grammar import check_dim, check_pcf, check_prv, check_row

from analyzer.writers.paraver_labels import write_pcf, write_row
from analyzer.writers.prv import write_prv


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    folder = tmp_path_factory.mktemp("good")
    trace = ring(2, 4)
    write_prv(trace, folder / "x.prv")
    write_pcf(trace, folder / "x.pcf")
    write_row(trace, folder / "x.row")
    return folder


def test_good_files_are_good(good):
    assert check_prv(good / "x.prv") == []
    assert check_pcf(good / "x.pcf") == []
    assert check_row(good / "x.row") == []


PRV_DEFECTS = {
    "header": ("#Paraver (", "#paraver (", "not a header"),
    "unit": ("_ns:", ":", "not a header"),
    "communicators announced": ("),1\n", "),2\n", "communicators announced"),
    "tasks": (":2(1:1,1:1)", ":3(1:1,1:1)", "3 tasks, 2 listed"),
    "duplicate member": ("c:1:1:2:1:2", "c:1:1:2:1:1", "2 tasks, 1 different"),
    "not the world": ("c:1:1:2:1:2", "c:1:1:1:2", "not the world"),
    "intercommunicator": ("c:1:1:2:1:2", "i:1:1:2:1:2:1", "not a record"),
    "cpu": ("\n1:1:1:1:1:0:", "\n1:9:1:1:1:0:", "CPU 9"),
    "task": ("\n1:1:1:1:1:0:", "\n1:1:1:3:1:0:", "no object 1.3.1"),
    "thread": ("\n1:1:1:1:1:0:", "\n1:1:1:1:2:0:", "no object 1.1.2"),
    "gap in states": (":900:1000:16", ":901:1000:16", "do not join"),
    "backwards state": (":900:1000:16", ":900:800:16", "ends before it begins"),
    "unknown state": (":900:1000:16", ":900:1000:99", "state 99"),
    "open call": (":1000:50000001:0\n", ":1000:42000000:0\n", "inside 50000001:41"),
    "call that is not open": (":900:50000001:41\n", ":900:42000000:1\n", "that is not open"),
    "value of another type": (":900:50000001:41\n", ":900:50000001:10\n", "is not of type"),
    "unpaired event": (":900:50000001:41\n", ":900:50000001:41:7\n", "not a record"),
    "collective pairs": (":50100003:0", "", "without its sizes"),
    "collective's communicator": (":50100004:1\n", ":50100004:5\n", "not defined"),
    "collective's root": (":50100003:0", ":50100003:2", "root 2"),
    "send outside the call": ("\n3:1:1:1:1:900:900:", "\n3:1:1:1:1:899:900:", "logical send"),
    "receive outside the call": (":2:1:2:1:901:951:", ":2:1:2:1:801:951:", "logical receive"),
    "late receive": (":2:1:2:1:901:951:", ":2:1:2:1:901:1801:", "physical receive"),
    "physical before logical": (":2:1:2:1:901:951:", ":2:1:2:1:901:900:", "before logical"),
    "after the end": (":2:1:2:1:901:951:", ":2:1:2:1:901:99999:", "after the end"),
    "CRLF": ("\n1:1:1:1:1:0:", "\r\n1:1:1:1:1:0:", "line 2"),
    "comment": ("\n1:1:1:1:1:0:", "\n# hello\n1:1:1:1:1:0:", "not a record"),
    "flush": (":900:50000001:41\n", ":900:50000001:41:40000003:1\n", "flush of (1, 1) never ends"),
    "flush end": (":900:50000001:41\n", ":900:50000001:41:40000003:0\n", "out of turn"),
}


@pytest.mark.parametrize("name", PRV_DEFECTS)
def test_prv_defects_are_found(good, tmp_path, name):
    before, after, message = PRV_DEFECTS[name]
    text = (good / "x.prv").read_text()
    assert before in text
    (tmp_path / "x.prv").write_bytes(text.replace(before, after, 1).encode())
    assert any(message in line for line in check_prv(tmp_path / "x.prv"))


def test_disorder_is_found(good, tmp_path):
    head, *lines = (good / "x.prv").read_text()[:-1].split("\n")
    lines[5], lines[6] = lines[6], lines[5]
    (tmp_path / "x.prv").write_text("\n".join([head, *lines, ""]))
    assert any("out of order" in line for line in check_prv(tmp_path / "x.prv"))
    assert not any("out of order" in line for line in check_prv(tmp_path / "x.prv", strict=False))


def test_missing_end_of_line_and_body(good, tmp_path):
    text = (good / "x.prv").read_text()
    (tmp_path / "x.prv").write_text(text[:-1])
    assert check_prv(tmp_path / "x.prv") == ["the last line has no end"]
    (tmp_path / "x.prv").write_text("\n".join(text.split("\n")[:2]) + "\n")
    assert "no body" in check_prv(tmp_path / "x.prv")


PCF_DEFECTS = {
    "option": ("YMAX_SCALE", "YMAX", "option YMAX_SCALE missing"),
    "colour": ("{0,0,255}", "{0,0}", "in section STATES_COLOR"),
    "state without colour": ("33   Stream Registration\n", "", "states and their colours differ"),
    "large value": ("41      MPI_Sendrecv", "4100000000 MPI_Sendrecv", "above 2^31"),
    "twice": ("41      MPI_Sendrecv", "0       MPI_Sendrecv", "value 0 twice"),
    "type twice": ("50000002", "50000001", "type 50000001 twice"),
    "values without type": ("EVENT_TYPE\n9    50000001    MPI Point-to-point\n", "STATES\n", "VALUES without a type"),
}


@pytest.mark.parametrize("name", PCF_DEFECTS)
def test_pcf_defects_are_found(good, tmp_path, name):
    before, after, message = PCF_DEFECTS[name]
    text = (good / "x.pcf").read_text()
    assert before in text
    (tmp_path / "x.pcf").write_text(text.replace(before, after, 1))
    assert any(message in line for line in check_pcf(tmp_path / "x.pcf"))


def test_row_defects_are_found(good, tmp_path):
    (tmp_path / "x.prv").write_bytes((good / "x.prv").read_bytes())
    text = (good / "x.row").read_text()
    for before, after, message in (
        ("THREAD 1.2.1\n", "", "has 1"),
        ("LEVEL NODE", "LEVEL HOST", "not a level"),
        ("LEVEL CPU SIZE 2\n1.node1\n", "LEVEL CPU SIZE 1\n", "1 lines of CPU, 2 in the .prv"),
    ):
        assert before in text
        (tmp_path / "x.row").write_text(text.replace(before, after, 1))
        assert any(message in line for line in check_row(tmp_path / "x.row"))


def dimemas_text() -> str:
    """Two tasks: a message with Irecv and Wait, an Allreduce, and a nonblocking one."""
    body = [
        "1:0:0:0.000000000", "2:0:0:1:100:5:1:0", "10:0:0:11:1:0:0:8:8:1", "10:0:0:11:1:0:0:8:8:0", "1:0:0:0.000000100",
        "10:0:0:11:1:0:0:8:8:2",
        "1:1:0:0.000000000", "3:1:0:0:100:5:1:1", "1:1:0:0.000001000", "3:1:0:0:100:5:1:2", "10:1:0:11:1:0:0:8:8:1",
        "20:1:0:40000001:0",
    ]  # fmt: skip
    communicators = ["d:1:1:2:0:1"]
    head = '#DIMEMAS:"x":1,{:0>6}:2(1,1),1'
    offset = len(head.format(0)) + 1 + sum(len(line) + 1 for line in communicators)
    offsets = []
    for line in body:
        if line.endswith("0.000000000"):
            offsets.append(offset)
        offset += len(line) + 1
    tail = [f"s:{task}:{first}" for task, first in enumerate(offsets)]
    return "\n".join([head.format(offset), *communicators, *body, *tail, ""])


DIM_DEFECTS = {
    "no offsets": (":1,000", ":0,000", "not a header"),
    "offset": ("s:1:", "s:1:1", "offset of 1.0"),
    "offset block": ("1:0:0:0.000000100", "1:0:0:10.000000100", "offsets begin at byte"),
    "tasks": (":2(1,1)", ":3(1,1)", "3 tasks, 2 listed"),
    "first record": ("1:0:0:0.000000000\n", "", "does not begin with a burst"),
    "burst": ("0.000000100", "0.0000001", "not a record"),
    "destination": ("2:0:0:1:", "2:0:0:7:", "no task 7"),
    "communicator": ("2:0:0:1:100:5:1:0", "2:0:0:1:100:5:9:0", "communicator 9 is not defined"),
    "collective's communicator": ("10:0:0:11:1:0:0:8:8:1", "10:0:0:11:4:0:0:8:8:1", "communicator 4 is not defined"),
    "global operation": ("10:0:0:11:1:0:0:8:8:1", "10:0:0:27:1:0:0:8:8:1", "global operation 27"),
    "wait alone": ("3:1:0:0:100:5:1:1\n", "", "a Wait without its Irecv"),
    "collective wait alone": ("10:0:0:11:1:0:0:8:8:0\n", "", "did not begin"),
    "comment": ("1:1:0:0.000001000", "# comment", "not a record"),
    "order": ("20:1:0:", "20:0:0:", "not together"),
    "missing task": ("s:1:", "s:2:", "offsets of task 1"),
    "member": ("d:1:1:2:0:1", "d:1:1:2:0:0", "line 2: communicator"),
}


def test_good_dim_is_good(tmp_path):
    (tmp_path / "x.dim").write_text(dimemas_text())
    assert check_dim(tmp_path / "x.dim") == []


@pytest.mark.parametrize("name", DIM_DEFECTS)
def test_dim_defects_are_found(tmp_path, name):
    before, after, message = DIM_DEFECTS[name]
    text = dimemas_text()
    assert before in text
    (tmp_path / "x.dim").write_text(text.replace(before, after, 1))
    assert any(message in line for line in check_dim(tmp_path / "x.dim"))
