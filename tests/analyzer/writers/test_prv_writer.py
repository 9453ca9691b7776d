"""The .prv writer: lines by hand, order, joins, header forms, teams, failures."""

from __future__ import annotations

import resource
import threading
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from column_trace import ColumnTrace, ring
from grammar import check_prv
from hypothesis import given
from hypothesis import strategies as st
from patience import patient

from analyzer.errors import TracelibError
from analyzer.parallel import Team
from analyzer.trace import EVENT, MESSAGE, STATE, Communicator
from analyzer.writers.prv import write_prv


def lines_of(trace, tmp_path: Path, team: Team | None = None) -> list[str]:
    path = tmp_path / "out.prv"
    write_prv(trace, path, team)
    text = path.read_text()
    assert text.endswith("\n")
    return text[:-1].split("\n")


def small(**attributes) -> ColumnTrace:
    """Two ranks; rank 0 sends 80 bytes to rank 1."""
    states = np.array(
        [(0, 10, 0, 0, 1, 1), (10, 20, 0, 0, 4, 1), (0, 5, 1, 0, 1, 2), (5, 30, 1, 0, 3, 2)], STATE
    )  # begin, end, rank, thread, state, cpu
    events = np.array(
        [
            (10, 1, 50000001, 0, 0, 1),  # time, value, type, rank, thread, cpu
            (20, 0, 50000001, 0, 0, 1),
            (5, 2, 50000001, 1, 0, 2),
            (30, 0, 50000001, 1, 0, 2),
            (30, -7, 42000050, 1, 0, 2),
        ],
        EVENT,
    )
    message = np.zeros(1, MESSAGE)
    message["logical_send"], message["physical_send"] = 10, 11
    message["logical_receive"], message["physical_receive"] = 5, 30
    message["size"], message["tag"], message["destination"] = 80, 9, 1
    message["source_cpu"], message["destination_cpu"] = 1, 2
    return ColumnTrace(states, events, message, 2, **attributes)


def test_lines_by_hand(tmp_path):
    assert lines_of(small(date=datetime(2026, 11, 20, 15, 0)), tmp_path) == [
        "#Paraver (20/11/2026 at 15:00):30_ns:1(2):1:2(1:1,1:1),1",
        "c:1:1:2:1:2",
        "1:1:1:1:1:0:10:1",
        "1:2:1:2:1:0:5:1",
        "1:2:1:2:1:5:30:3",
        "2:2:1:2:1:5:50000001:2",
        "1:1:1:1:1:10:20:4",
        "2:1:1:1:1:10:50000001:1",
        "3:1:1:1:1:10:11:2:1:2:1:5:30:80:9",
        "2:1:1:1:1:20:50000001:0",
        "2:2:1:2:1:30:50000001:0:42000050:-7",
    ]


def test_small_trace_keeps_to_the_grammar(tmp_path):
    lines_of(small(), tmp_path)
    assert check_prv(tmp_path / "out.prv") == []


def test_trace_without_a_date_is_written_alike_twice(tmp_path):
    assert lines_of(small(), tmp_path)[0].startswith("#Paraver (01/01/1970 at 00:00):")


def test_intercommunicator_is_left_out(tmp_path):
    communicators = (Communicator(1, (0, 1)), Communicator(2, (0,), remote=(1,)), Communicator(3, (1,)))
    lines = lines_of(small(communicators=communicators), tmp_path)
    assert lines[0].endswith(",2")
    assert lines[1:3] == ["c:1:1:2:1:2", "c:1:3:1:2"]
    assert not any(line.startswith("i") for line in lines)


def test_several_applications_number_their_tasks_from_one(tmp_path):
    communicators = (Communicator(1, (0,)), Communicator(1, (1,)))
    lines = lines_of(small(applications=(1, 1), communicators=communicators), tmp_path)
    assert lines[0].endswith(":2:1(1:1):1(1:1),2")
    assert lines[1:3] == ["c:1:1:1:1", "c:2:1:1:1"]
    assert "3:1:1:1:1:10:11:2:2:1:1:5:30:80:9" in lines


def test_no_resource_model(tmp_path):
    trace = small()
    trace.nodes = replace(trace.nodes, cpus=(0,))
    assert ":0:1:2(1:1,1:1)," in lines_of(trace, tmp_path)[0]


def test_records_do_not_depend_on_windows(tmp_path):
    one = lines_of(small(), tmp_path)
    for window in (1, 3, 7):
        assert lines_of(small(window=window), tmp_path) == one


class ThreadTeam(Team):
    """Members as threads of this process, which is all that the writer's collectives need."""

    def __init__(self, rank: int, size: int, shared: list, barrier: threading.Barrier) -> None:
        self.rank, self.size = rank, size
        self._shared, self._barrier = shared, barrier

    def allgather(self, value):
        self._shared[self.rank] = value
        self._barrier.wait(patient(30))
        values = list(self._shared)
        self._barrier.wait(patient(30))
        return values

    def bcast(self, value):
        return self.allgather(value)[0]


def write_as_team(trace, path: Path, size: int) -> list[Exception | None]:
    shared, barrier = [None] * size, threading.Barrier(size)
    errors: list[Exception | None] = [None] * size

    def member(rank: int) -> None:
        try:
            write_prv(trace, path, ThreadTeam(rank, size, shared, barrier))
        except TracelibError as error:
            errors[rank] = error

    threads = [threading.Thread(target=member, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


@pytest.mark.parametrize("size", [2, 3, 5])
def test_team_writes_the_same_bytes(tmp_path, size):
    trace = ring(3, 400)
    trace._window = 30_011
    write_prv(trace, tmp_path / "one.prv")
    assert write_as_team(trace, tmp_path / "team.prv", size) == [None] * size
    assert (tmp_path / "one.prv").read_bytes() == (tmp_path / "team.prv").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["one.prv", "team.prv"]


def test_failure_of_one_member_leaves_nothing(tmp_path):
    trace = ring(3, 400)
    trace._window = 30_011
    trace.messages_table["source"][-1] = 99  # only the last member's share holds it
    errors = write_as_team(trace, tmp_path / "team.prv", 3)
    assert all("names a rank or thread" in str(error) for error in errors)
    assert list(tmp_path.iterdir()) == []


def test_failure_keeps_what_was_there(tmp_path):
    trace = small()
    trace.states_table["thread"][-1] = 1
    path = tmp_path / "out.prv"
    path.write_text("before")
    with pytest.raises(TracelibError, match="names a rank or thread"):
        write_prv(trace, path)
    assert path.read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == ["out.prv"]


def test_missing_folder_is_one_clear_line(tmp_path):
    with pytest.raises(TracelibError, match="cannot write"):
        write_prv(small(), tmp_path / "nowhere" / "out.prv")


def test_no_room_is_one_clear_line_and_leaves_nothing(tmp_path):
    trace = ring(2, 500)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.raises(TracelibError, match="cannot write"):
            write_prv(trace, tmp_path / "out.prv")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []


def test_never_over_the_file_it_read(tmp_path):
    path = tmp_path / "out.prv"
    path.write_text("the input")
    with pytest.raises(TracelibError, match="is the file that was read"):
        write_prv(small(path=str(path)), path)


def test_more_events_at_one_time_than_a_buffer_holds(tmp_path):
    """The line of 100000 events is cut (Paraver reads both forms), and nothing of it is lost."""
    events = np.zeros(100_000, EVENT)
    events["type"], events["value"] = 42000000, np.arange(100_000)
    trace = ColumnTrace(np.zeros(0, STATE), events, np.zeros(0, MESSAGE), 1)
    records = [line.split(":") for line in lines_of(trace, tmp_path)[2:]]
    assert [int(value) for fields in records for value in fields[7::2]] == list(range(100_000))
    assert all(fields[:6] == ["2", "0", "1", "1", "1", "0"] for fields in records)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=40))
def test_every_integer_is_printed_as_python_prints_it(tmp_path_factory, values):
    events = np.zeros(len(values), EVENT)
    events["type"] = 7
    events["value"] = values
    trace = ColumnTrace(np.zeros(0, STATE), events, np.zeros(0, MESSAGE), 1)
    (line,) = lines_of(trace, tmp_path_factory.mktemp("prv"))[2:]
    assert line == "2:0:1:1:1:0:" + ":".join(f"7:{value}" for value in values)


def test_extreme_numbers_in_all_columns(tmp_path):
    big, small_ = 2**63 - 1, 2**31 - 1
    message = np.zeros(1, MESSAGE)
    for name in MESSAGE.names:
        message[name] = big if MESSAGE[name].itemsize == 8 else small_
    for name in ("source", "source_thread", "destination", "destination_thread"):
        message[name] = 0
    trace = ColumnTrace(np.zeros(0, STATE), np.zeros(0, EVENT), message, 1, window=2**61)
    trace.windows = lambda: np.array([0, 10, big])
    trace.messages = lambda begin, end: message if end == big else message[:0]
    place = f"{small_}:1:1:1"
    assert lines_of(trace, tmp_path)[2] == f"3:{place}:{big}:{big}:{place}:{big}:{big}:{big}:{big}"
