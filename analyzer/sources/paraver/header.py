"""Header of a Paraver trace, as Extrae writes it today, and as the theses of 2003 and 2009 show it.

Source: Paraver trace format; Girona 2003, section 4.1.1; Casas 2009, section 2.2.2.2.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from math import ceil

import numpy as np

from analyzer.trace import Communicator

NANOSECONDS = {"ns": 1, "us": 1_000, "": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_ANY_CPU = _LARGEST = np.iinfo(np.int32).max
_LATEST_NS = 2**62
_MOST_THREADS = 1 << 22
"""Largest number of threads of a task: Linux has no more on a machine (PID_MAX_LIMIT)."""
_BEGINNING = r"#Paraver\s*\((?P<date>[^)]*)\)\s*:\s*(?P<time>\d+(\.\d*)?)(_(?P<unit>\w+))?\s*"
_HEADER = re.compile(
    _BEGINNING + r":\s*(?P<nodes>\d+)\s*(?P<cpus>\([\d,\s]*\))?\s*:\s*(?P<count>\d+)\s*:(?P<rest>.*)",
    re.DOTALL,
)
_APPLICATION = re.compile(r"[\s,:]*(\d+)\s*:?\s*\(([\d:,\s]*)\)")
"""Pattern of a list of tasks: Extrae's `2(1:1,1:1)`, and `2:(1:1,1:1)` as some converters write it."""
_HUGE = re.compile(r"(?<![\d.])0*[1-9]\d{19}")
"""Pattern of a number of 20 digits or more, without leading zeros: ovni and EAR leave room for 20 digits."""
_DATE = re.compile(r"\s*(\d+)/(\d+)/(\d+)\s*(?:at)?\s*(\d+):(\d+)")


class HeaderError(ValueError):
    """Error in the header line of a trace, or in the line of a communicator."""


@dataclass(frozen=True)
class Header:
    """Contents of the header line of a .prv. Arrays by rank are int32 of shape (ranks,)."""

    date: datetime | None
    nanoseconds: int  # length of the trace's unit of time, ns
    duration_ns: int
    cpus: tuple[int, ...]  # number of CPUs by node; (0,): no resource model
    applications: tuple[int, ...]  # number of ranks by application
    threads: np.ndarray
    node_of: np.ndarray
    first_cpu: np.ndarray  # first CPU that a rank's records may name
    last_cpu: np.ndarray  # last such CPU; 0: the trace has no resource model, the CPU field has no meaning
    old_states: bool  # True if states are those of Girona 2003, Table 6
    communicators: int | None  # number of communicator lines announced

    @property
    def size(self) -> int:
        """Number of ranks of all applications."""
        return sum(self.applications)


_NO_DATE = datetime(1970, 1, 1)
"""Date in the header of traces that have no date, such as predictions of tracelib."""


def _date(text: str) -> datetime | None:
    match = _DATE.match(text)
    if not match:
        return None
    day, month, year, hour, minute = map(int, match.groups())
    if len(match[3]) <= 2:
        year += 2000 if year < 70 else 1900
    try:
        date = datetime(year, month, day, hour, minute)
        return None if date == _NO_DATE else date
    except (ValueError, OverflowError):
        return None


def _two_digit_year(text: str) -> bool:
    return re.match(r"\s*\w{1,2}/\w{1,2}/\w{2}\b", text) is not None


def _applications(text: str, count: int) -> tuple[list[int], np.ndarray, np.ndarray, str]:
    """Parse the lists of tasks.

    Returns:
        Number of ranks of each application; threads of each rank; node of each rank, from 1; the text after the lists.
    """
    sizes, pairs, at = [], [], 0
    for number in range(1, count + 1):
        match = _APPLICATION.match(text, at)
        if not match:
            raise HeaderError(f"the list of tasks of application {number} of {count} is missing")
        listed = [pair.split(":") for pair in re.split(r"[\s,]+", match[2].strip()) if pair]
        if any(len(pair) != 2 or not all(pair) for pair in listed):
            raise HeaderError(f"a task of application {number} is not written as threads:node")
        if len(listed) != int(match[1]) or not listed:
            raise HeaderError(f"application {number} says {match[1]} tasks and lists {len(listed)}")
        sizes.append(len(listed))
        pairs += listed
        at = match.end()
    if any(int(field) > _LARGEST for pair in pairs for field in pair):
        raise HeaderError("a number of threads or nodes that is too large")
    table = np.array(pairs, np.int64)
    if table[:, 0].min() < 1:
        raise HeaderError("a task without threads")
    if table[:, 0].max() > _MOST_THREADS:
        raise HeaderError(f"a task with {table[:, 0].max()} threads, more than there can be")
    return sizes, table[:, 0], table[:, 1], text[at:]


def _spread(cpus: int, nodes: int) -> tuple[int, ...]:
    """Distribute a number of CPUs over the nodes that the tasks name, at least one to each."""
    return tuple(max(1, cpus // nodes + (node < cpus % nodes)) for node in range(nodes))


def _resources(count: int, listed: str | None, nodes: np.ndarray) -> tuple[tuple[int, ...], np.ndarray, np.ndarray]:
    """Return the CPUs of each node, the node of each rank from 1, and the CPUs that a rank's records may name.

    The latter are the first and the last CPU, of shape (2, ranks).
    """
    if listed is not None:
        cpus = tuple(map(int, re.findall(r"\d+", listed)))
        if sum(cpus) > _LARGEST:
            raise HeaderError("a number of CPUs that is too large")
        if len(cpus) != count or not cpus:
            raise HeaderError(f"it says {count} nodes and lists the CPUs of {len(cpus)}")
        if nodes.min() < 1 or nodes.max() > len(cpus):
            wrong = nodes[(nodes < 1) | (nodes > len(cpus))][0]
            raise HeaderError(f"a task on node {wrong} of {len(cpus)}")
        last = np.cumsum(cpus)
        return cpus, nodes, np.stack(((last - cpus)[nodes - 1] + 1, last[nodes - 1]))
    if count == 0:  # no resource model
        return (0,), np.ones_like(nodes), np.zeros((2, len(nodes)), np.int64)
    _, index = np.unique(np.maximum(nodes, 1), return_inverse=True)
    any_cpu = np.tile([[1], [_ANY_CPU]], len(nodes))
    return _spread(min(count, _LARGEST), int(index.max()) + 1), index + 1, any_cpu


def parse_header(line: str) -> Header:
    """Parse the header line. Raises HeaderError with the fault."""
    match = _HEADER.match(line)
    if _HUGE.search(line):
        raise HeaderError("a number that is too large: 20 digits or more")
    if not match and re.match(_BEGINNING, line):
        raise HeaderError("the first line does not list nodes, applications and their tasks after the time")
    if not match:
        raise HeaderError("the first line is not a Paraver header")
    unit = (match["unit"] or "").lower()
    if unit not in NANOSECONDS:
        raise HeaderError(f"unknown unit of time {unit}")
    duration_ns = ceil(Fraction(match["time"]) * NANOSECONDS[unit])
    if duration_ns > _LATEST_NS:
        raise HeaderError("a final time that is too large")
    if not 0 < int(match["count"]) <= len(match["rest"]):
        raise HeaderError(f"it cannot have {match['count']} applications")
    sizes, threads, nodes, tail = _applications(match["rest"], int(match["count"]))
    cpus, nodes, cpu_range = _resources(int(match["nodes"]), match["cpus"], nodes)
    communicators = re.match(r"[\s,:]*(\d+)", tail)
    return Header(
        date=_date(match["date"]),
        nanoseconds=NANOSECONDS[unit],
        duration_ns=duration_ns,
        cpus=cpus,
        applications=tuple(sizes),
        threads=threads.astype(np.int32),
        node_of=(nodes - 1).astype(np.int32),
        first_cpu=cpu_range[0].astype(np.int32),
        last_cpu=cpu_range[1].astype(np.int32),
        old_states=match["cpus"] is None and int(match["nodes"]) > 0 and _two_digit_year(match["date"]),
        communicators=int(communicators[1]) if communicators else None,
    )


def parse_communicator(line: str, applications: tuple[int, ...], known: list[Communicator]) -> Communicator:
    """Parse a communicator's line, `c:` or `i:`.

    Args:
        line: The line.
        applications: Number of ranks of each application.
        known: Communicators of the lines before. An `i:` line names two of them.

    Raises:
        HeaderError: The line has a fault.
    """
    kind, *fields = line.strip().split(":")
    try:
        numbers = [int(field) for field in fields]
        application, number = numbers[:2]
        first = sum(applications[: application - 1])
        if not 1 <= application <= len(applications):
            raise HeaderError(f"a communicator is of application {application}, which is not there")
        if not 0 <= number <= _LARGEST:
            raise HeaderError(f"communicator {number}: the number is too large")
        if kind in "iI":
            groups = [next(c.members for c in known if c.id == other) for other in (numbers[2], numbers[4])]
            return Communicator(number, groups[0], groups[1])
        size, tasks = numbers[2], numbers[3:]
    except HeaderError:
        raise
    except (ValueError, IndexError, StopIteration) as error:
        raise HeaderError("communicator line not understood") from error
    if len(tasks) != size or len(set(tasks)) != size:
        raise HeaderError(f"communicator {number} says {size} tasks and lists {len(set(tasks))}")
    if any(not 1 <= task <= applications[application - 1] for task in tasks):
        raise HeaderError(f"communicator {number} names a task that is not there")
    return Communicator(number, tuple(first + task - 1 for task in tasks))
