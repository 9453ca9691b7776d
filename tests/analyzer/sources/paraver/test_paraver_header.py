"""Headers: Extrae's, the two theses', and what cannot be read."""

from __future__ import annotations

from datetime import datetime

import pytest

from analyzer.sources.paraver.header import HeaderError, parse_communicator, parse_header
from analyzer.trace import Communicator


def test_extrae():
    header = parse_header("#Paraver (20/11/2026 at 15:00):10000_ns:2(2,3):1:3(1:1,2:2,1:2),3")
    assert header.date == datetime(2026, 11, 20, 15, 0)
    assert (header.nanoseconds, header.duration_ns) == (1, 10000)
    assert (header.cpus, header.applications, header.communicators) == ((2, 3), (3,), 3)
    assert header.threads.tolist() == [1, 2, 1]
    assert header.node_of.tolist() == [0, 1, 1]
    assert header.first_cpu.tolist() == [1, 3, 3]
    assert header.last_cpu.tolist() == [2, 5, 5]
    assert not header.old_states


@pytest.mark.parametrize(("unit", "factor"), [("", 1000), ("_us", 1000), ("_ns", 1), ("_ms", 1_000_000)])
def test_units(unit, factor):
    header = parse_header(f"#Paraver (20/11/2026 at 15:00):20{unit}:1(1):1:1(1:1)")
    assert header.duration_ns == 20 * factor
    assert header.nanoseconds == factor


def test_no_resource_model():
    header = parse_header("#Paraver (20/11/2026 at 15:00):20_ns:0:1:1(1:1)")
    assert (header.cpus, header.last_cpu.tolist(), header.node_of.tolist()) == ((0,), [0], [0])
    assert not header.old_states


def test_thesis_of_2003():
    """Girona 2003, Figure 8: two nodes of one CPU, two applications."""
    header = parse_header("#Paraver (01/02/03 at 04:05):500:2:2:3(4:1,1:1,3:2):2(3:1,2:2)")
    assert header.date == datetime(2003, 2, 1, 4, 5)
    assert header.duration_ns == 500_000
    assert header.cpus == (1, 1)
    assert header.applications == (3, 2)
    assert header.threads.tolist() == [4, 1, 3, 3, 2]
    assert header.node_of.tolist() == [0, 0, 1, 0, 1]
    assert header.old_states


def test_thesis_of_2003_with_the_date_as_printed():
    header = parse_header("#Paraver (dd/mm/yy at hh:mm):500:2:2:3(4:1,1:1,3:2):2(3:1,2:2)")
    assert header.date is None
    assert header.old_states


def test_thesis_of_2009():
    """Casas 2009, Figure 2.1: a blank where a comma is due; four processors and one node."""
    header = parse_header("#Paraver (10/04/2007 at 10:10):181613173713_ns:4:1:4(1:1 1:1,1:1,1:1)")
    assert header.duration_ns == 181613173713
    assert header.cpus == (4,)
    assert header.threads.tolist() == [1, 1, 1, 1]
    assert not header.old_states


def test_two_applications_of_extrae():
    for separator in (":", ","):
        header = parse_header(f"#Paraver (20/11/2026 at 15:00):20_ns:1(4):2:2(1:1,1:1){separator}1(2:1),7\r")
        assert (header.applications, header.communicators) == ((2, 1), 7)
        assert header.threads.tolist() == [1, 1, 2]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("", "not a Paraver header"),
        ("#DIMEMAS:x:1,2:2(1,1),0", "not a Paraver header"),
        ("#Paraver (20/11/2026 at 15:00):10_fortnights:1(1):1:1(1:1)", "unknown unit"),
        ("#Paraver (20/11/2026 at 15:00):10_ns:1(1):0:1(1:1)", "0 applications"),
        ("#Paraver (20/11/2026 at 15:00):10_ns:1(1):99999999999:1(1:1)", "99999999999 applications"),
        ("#Paraver (20/11/2026 at 15:00):10_ns:1(1):2:1(1:1)", "application 2 of 2 is missing"),
        ("#Paraver (20/11/2026 at 15:00):10_ns:1(1):1:3(1:1,1:1)", "says 3 tasks and lists 2"),
        ("#Paraver (20/11/2026 at 15:00):10_ns:1(1):1:0()", "says 0 tasks"),
        ("#Paraver (20/11/2026 at 15:00):10_ns:1(1):1:1(1:1:1)", "threads:node"),
        ("#Paraver (20/11/2026 at 15:00):10_ns:1(1):1:1(0:1)", "without threads"),
        ("#Paraver (20/11/2026 at 15:00):10_ns:1(1):1:1(1000000001:1)", "1000000001 threads"),
        ("#Paraver (20/11/2026 at 15:00):10_ns:1(1):1:1(1:0)", "node 0"),
        ("#Paraver (20/11/2026 at 15:00):10_ns:1(1):1:1(1:2)", "node 2 of 1"),
        ("#Paraver (20/11/2026 at 15:00):10_ns:2(1):1:1(1:1)", "2 nodes"),
        ("#Paraver (20/11/2026 at 15:00):10_ns:1(1):1:1(99999999999999999999:1)", "too large"),
        ("#Paraver (20/11/2026 at 15:00):99999999999999999999_ns:1(1):1:1(1:1)", "too large"),
        (f"#Paraver (20/11/2026 at 15:00):{'9' * 5000}_ns:1(1):1:1(1:1)", "too large"),
    ],
)
def test_what_cannot_be_read(line, reason):
    with pytest.raises(HeaderError, match=reason):
        parse_header(line)


@pytest.mark.parametrize("date", ["01/01/1970 at 00:00", "99/99/2026 at 99:99", "01/01/99999999999 at 00:00"])
def test_a_date_that_is_none(date):
    assert parse_header(f"#Paraver ({date}):10_ns:1(1):1:1(1:1)").date is None


def test_numbers_of_communicators_are_as_large_as_those_of_dimemas():
    assert parse_communicator("c:1:2147483647:1:1", (1,), []).id == 2147483647
    for line in ("c:1:2147483648:1:1", "i:1:2147483648:1:1:1:1"):
        with pytest.raises(HeaderError, match="too large"):
            parse_communicator(line, (1,), [])


def test_communicators():
    applications = (2, 3)
    first = parse_communicator("c:2:7:2:3:1\r", applications, [])
    assert first == Communicator(7, (4, 2))
    second = Communicator(8, (3,))
    assert parse_communicator("I:2:9:7:1:8:2", applications, [first, second]) == Communicator(9, (4, 2), remote=(3,))


@pytest.mark.parametrize(
    "line", ["c:1:1:3:1:2", "c:1:1:2:1:1", "c:1:1:2:1:4", "c:3:1:1:1", "c:1:x:1:1", "c:1", "i:1:9:7:1:8:2", "c:0:1:1:1"]
)
def test_communicators_that_cannot_be_read(line):
    with pytest.raises(HeaderError):
        parse_communicator(line, (2, 2), [])
