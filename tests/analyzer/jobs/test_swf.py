"""Logs in the Standard Workload Format: read, written back equal, bad lines named, simulated."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.errors import TracelibError
from analyzer.jobs.cluster import QueuePolicy, schedule
from analyzer.jobs.swf import JobLog, JobStatus, SwfField, read_swf, usable_jobs, with_waits, write_swf

LOG = """; Version: 2.2
; MaxNodes: 4
;
; MaxProcs: 8
    1     0     5   100   4  12.5  -1   4   200 -1 1 1 1 1 1 1 -1 -1
    2    10    -1    -1   4  -1    -1   4   200 -1 5 1 1 1 1 1 -1 -1
; in between
    3    20     0    50  -1  -1    -1   8    -1 -1 1 1 1 1 1 1 -1 -1
    4    30     0    50  16  -1    -1  16    60 -1 1 1 1 1 1 1 -1 -1
"""


def test_what_a_log_says(tmp_path):
    path = tmp_path / "log.swf"
    path.write_text(LOG)
    log = read_swf(path)
    assert log.rows.shape == (4, 18) and log.nodes == 8 and log.bad_lines == ""
    assert log.rows[0, SwfField.CPU_TIME] == 12.5 and log.comments[-1] == (2, "; in between")
    found = usable_jobs(log, 8)
    assert found.row.tolist() == [0, 2] and found.workload.nodes.tolist() == [4, 8]
    assert found.requested_s.tolist() == [200, 50] and found.asked == 1
    assert found.without == "1 without a time or processors; 1 on more than 8 processors"


def test_written_back_equal(tmp_path):
    """Without the padding, to the byte."""
    path = tmp_path / "log.swf.gz"
    path.write_bytes(gzip.compress(LOG.encode()))
    write_swf(read_swf(path), tmp_path / "again.swf")
    squeezed = [line if line.startswith(";") else " ".join(line.split()) for line in LOG.splitlines()]
    assert (tmp_path / "again.swf").read_text().splitlines() == squeezed


NUMBER = st.one_of(st.integers(-1, 2**53 - 1), st.floats(0, 1e6).map(lambda value: round(value, 3)))
COMMENT = st.text("ab ;:3é", max_size=9)


@given(
    st.lists(st.lists(NUMBER, min_size=18, max_size=18), min_size=1, max_size=6),
    st.lists(st.tuples(st.integers(0, 6), COMMENT), max_size=4),
)
@settings(max_examples=100)
def test_any_log_comes_back(tmp_path_factory, rows, comments):
    at = sorted((min(before, len(rows)), f";{text}") for before, text in comments)
    log = JobLog(np.array(rows, float), tuple(at))
    path = tmp_path_factory.mktemp("swf") / "any.swf"
    write_swf(log, path)
    again = read_swf(path)
    assert (again.rows == log.rows).all() and again.comments == log.comments and not again.bad


def test_bad_lines_are_named_and_counted(tmp_path):
    path = tmp_path / "log.swf"
    good = LOG.splitlines()[4]
    path.write_text("\n".join([good, "1 2 3", good.replace("12.5", "nan"), good.replace("12.5", "x"), good + " 1", ""]))
    log = read_swf(path)
    assert len(log.rows) == 1 and [number for number, _ in log.bad] == [2, 3, 4, 5]
    assert log.bad_lines.startswith("4 lines are no jobs of 18 numbers and left out: line 2 ('1 2 3'), line 3 (")
    assert log.bad_lines.endswith(", ...")


@pytest.mark.parametrize("data", [b"", b"; nothing\n", b"\x1f\x8b\x08broken", b"1 2 3\n", b"\xff\xfe\n"])
def test_no_log(tmp_path, data):
    (tmp_path / "log.swf").write_bytes(data)
    with pytest.raises(TracelibError):
        read_swf(tmp_path / "log.swf")


def test_simulated(tmp_path):
    """Two jobs of all processors, the second cancelled at its estimate: by hand."""
    path = tmp_path / "log.swf"
    row = "{} {} -1 {} 8 -1 -1 8 {} -1 1 1 1 1 1 1 -1 -1\n"
    path.write_text("; MaxProcs: 8\n" + row.format(1, 0, 100, 100) + row.format(2, 10, 50, 20))
    log = read_swf(path)
    found = usable_jobs(log, 8)
    outcome = schedule(found.workload, 8, QueuePolicy.FCFS, found.requested_s)
    rows = with_waits(log, found.row, outcome).rows
    assert rows[:, SwfField.WAIT].tolist() == [0, 90] and rows[:, SwfField.RUN].tolist() == [100, 20]
    assert rows[:, SwfField.STATUS].tolist() == [JobStatus.COMPLETED, JobStatus.CANCELLED]
