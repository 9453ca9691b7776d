"""Checks .prv, .pcf, .row and .dim files against their grammar, with nothing of the writers' code in common.

Each function returns what is wrong, one line each; an empty list is a good file. Everything is kept in memory: these
are checks for tests, not for long traces.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from pathlib import Path

HEADER = re.compile(
    r"#Paraver \((\d\d/\d\d/\d{4} at \d\d:\d\d)\):(\d+)_ns:(0|\d+\(\d+(?:,\d+)*\))"
    r":(\d+):(\d+)\((\d+:\d+(?:,\d+:\d+)*)\),(\d+)"
)
COMMUNICATOR = re.compile(r"c:1:(\d+):(\d+):(\d+(?::\d+)*)")
STATE = re.compile(r"1:(\d+):(\d+):(\d+):(\d+):(\d+):(\d+):(\d+)")
EVENT = re.compile(r"2:(\d+):(\d+):(\d+):(\d+):(\d+)((?::\d+:-?\d+)+)")
COMM = re.compile(r"3:(\d+):(\d+):(\d+):(\d+):(\d+):(\d+):(\d+):(\d+):(\d+):(\d+):(\d+):(\d+):(\d+):(\d+)")


def _values(*ranges: tuple[int, int]) -> set[int]:
    return {value for low, high in ranges for value in range(low, high + 1)}


# MPI calls by event type, from Extrae's enumeration of 1 to 193
POINT_TO_POINT = _values((1, 6), (33, 42), (59, 62), (125, 126), (128, 128), (190, 193))
COLLECTIVE = _values((7, 18), (30, 30), (80, 80), (154, 171), (174, 183))
ONE_SIDED = _values((63, 75), (172, 172), (184, 189))
INPUT_OUTPUT = _values((141, 150))
OTHER = _values((1, 193)) - POINT_TO_POINT - COLLECTIVE - ONE_SIDED - INPUT_OUTPUT
OF_TYPE = {50000001: POINT_TO_POINT, 50000002: COLLECTIVE, 50000003: OTHER, 50000004: ONE_SIDED, 50000005: INPUT_OUTPUT}
BEYOND = 50000100
STARTS = {(50000003, 123), (50000003, 124)}
SENDING = {(50000001, v) for v in (1, 3, 33, 34, 35, 36, 37, 38, 41, 42)} | STARTS
RECEIVING = {(50000001, v) for v in (2, 4, 41, 42, 192, 193)} | STARTS
COMPLETING = {(50000001, v) for v in (2, 41, 42, 192, 5, 6, 59, 60, 39, 125, 126, 128)}
COLLECTIVE_PAIRS = (50100001, 50100002, 50100003, 50100004)
FLUSH = 40000003


class _Header:
    """The resource and process model of a .prv."""

    def __init__(self, match: re.Match) -> None:
        self.duration = int(match[2])
        self.cpus = [int(n) for n in re.findall(r"\d+", match[3].partition("(")[2])]
        self.threads = [int(pair.split(":")[0]) for pair in match[6].split(",")]
        self.node_of = [int(pair.split(":")[1]) for pair in match[6].split(",")]
        self.communicators = int(match[7])

    def place(self, cpu: int, application: int, task: int, thread: int) -> str:
        """Return an error message about an object, or ""."""
        if application != 1 or not 1 <= task <= len(self.threads) or not 1 <= thread <= self.threads[task - 1]:
            return f"no object {application}.{task}.{thread}"
        if cpu == 0:
            return ""
        node = self.node_of[task - 1]
        first = sum(self.cpus[: node - 1]) + 1
        if not self.cpus or not first <= cpu < first + self.cpus[node - 1]:
            return f"CPU {cpu} is not on node {node} of task {task}"
        return ""


def _header(line: str) -> tuple[_Header | None, list[str]]:
    match = HEADER.fullmatch(line)
    if not match:
        return None, [f"line 1: not a header: {line[:100]}"]
    header, wrong = _Header(match), []
    if match[3] != "0" and int(match[3].partition("(")[0]) != len(header.cpus):
        wrong.append("line 1: number of nodes")
    if match[4] != "1":
        wrong.append("line 1: not exactly one application")
    if int(match[5]) != len(header.threads):
        wrong.append(f"line 1: {match[5]} tasks, {len(header.threads)} listed")
    if 0 in header.threads:
        wrong.append("line 1: a task without threads")
    if header.cpus and not all(1 <= node <= len(header.cpus) for node in header.node_of):
        wrong.append("line 1: a task on a node that is not there")
    return header, wrong


class _Prv:
    """One pass over the lines of a .prv, and what must be remembered for the checks at its end."""

    def __init__(self, header: _Header, strict: bool) -> None:
        self.header, self.strict = header, strict
        self.wrong: list[str] = []
        self.communicators: dict[int, list[int]] = {}
        self.states_end: dict[tuple[int, int], int] = {}
        self.open_call: dict[tuple[int, int], tuple[int, int, int]] = {}
        self.open_flush: dict[tuple[int, int], int] = {}
        self.calls: dict[tuple[int, int], list[tuple[int, int, tuple[int, int]]]] = defaultdict(list)
        self.messages: list[tuple[int, list[int]]] = []
        self.previous = (0, 0, 0, 0)
        self.line = 1

    def add(self, text: str) -> None:
        self.wrong.append(f"line {self.line}: {text}")

    def read(self, text: str) -> None:
        self.line += 1
        if text.startswith("c:") and self.line <= self.header.communicators + 1:
            self.communicator(text)
        elif match := STATE.fullmatch(text):
            self.state(*map(int, match.groups()))
        elif match := EVENT.fullmatch(text):
            numbers = [int(n) for n in match[6][1:].split(":")]
            self.event(*map(int, match.groups()[:5]), list(zip(numbers[::2], numbers[1::2], strict=True)))
        elif match := COMM.fullmatch(text):
            self.message([int(n) for n in match.groups()])
        else:
            self.add(f"not a record: {text[:80]!r}")

    def communicator(self, text: str) -> None:
        match = COMMUNICATOR.fullmatch(text)
        if not match:
            return self.add("not a communicator")
        tasks = [int(task) for task in match[3].split(":")]
        if len(set(tasks)) != int(match[2]) or len(tasks) != int(match[2]):
            self.add(f"{match[2]} tasks, {len(set(tasks))} different")
        if not all(1 <= task <= len(self.header.threads) for task in tasks):
            self.add("a task that is not there")
        if int(match[1]) in self.communicators or not 0 < int(match[1]) < 2**31:
            self.add(f"communicator {match[1]} twice or out of range")
        self.communicators[int(match[1])] = tasks
        return None

    def order(self, time: int, kind: int, task: int, thread: int) -> None:
        """Time first; at one time states, events, communications; then the objects."""
        now = (time, kind, task, thread)
        if self.strict and now < self.previous:
            self.add(f"out of order: {now} after {self.previous}")
        self.previous = now

    def place(self, cpu: int, application: int, task: int, thread: int) -> None:
        if problem := self.header.place(cpu, application, task, thread):
            self.add(problem)

    def within(self, *times: int) -> None:
        if max(times) > self.header.duration:
            self.add(f"time {max(times)} after the end {self.header.duration}")

    def state(self, cpu, application, task, thread, begin, end, state) -> None:
        self.order(begin, 1, task, thread)
        self.place(cpu, application, task, thread)
        self.within(begin, end)
        if end < begin:
            self.add("state that ends before it begins")
        if not 0 <= state <= 34:  # the last one is ours
            self.add(f"state {state}")
        last = self.states_end.get((task, thread), 0)
        if begin != last:
            self.add(f"states of {task}.{thread} do not join: {begin} after {last}")
        self.states_end[task, thread] = end

    def event(self, cpu, application, task, thread, time, pairs) -> None:
        self.order(time, 2, task, thread)
        self.place(cpu, application, task, thread)
        self.within(time)
        for event_type, value in pairs:
            if event_type >= 2**31:
                self.add(f"event type {event_type}")
            if event_type in OF_TYPE or event_type == BEYOND:
                self.call(task, thread, time, event_type, value)
            elif event_type == FLUSH:
                self.flush(task, thread, value)
        if any(t == 50000002 and v for t, v in pairs):
            self.collective(pairs)

    def call(self, task, thread, time, event_type, value) -> None:
        was = self.open_call.pop((task, thread), None)
        if value:
            if was:
                self.add(f"call {event_type}:{value} inside {was[0]}:{was[1]}")
            if event_type != BEYOND and value not in OF_TYPE[event_type]:
                self.add(f"value {value} is not of type {event_type}")
            self.open_call[task, thread] = (event_type, value, time)
        elif not was or was[0] != event_type:
            self.add(f"end of a call {event_type} that is not open")
        else:
            self.calls[task, thread].append((was[2], time, was[:2]))

    def flush(self, task, thread, value) -> None:
        if value not in (0, 1) or self.open_flush.get((task, thread), 0) == value:
            self.add(f"flush event {value} out of turn")
        self.open_flush[task, thread] = value

    def collective(self, pairs) -> None:
        """As many of each of the four pairs as collectives begin in the line."""
        count = Counter(event_type for event_type, _ in pairs)
        begun = sum(event_type == 50000002 and value != 0 for event_type, value in pairs)
        needed = COLLECTIVE_PAIRS if self.strict else (50100001, 50100002, 50100004)
        if any(count[event_type] != begun for event_type in needed):
            self.add("a collective without its sizes, root and communicator")
        for event_type, value in pairs:
            if event_type == 50100003 and value not in (0, 1):
                self.add(f"root {value}")
            if event_type in (50100001, 50100002) and value < 0:
                self.add(f"size {value} of a collective")
            if event_type == 50100004 and value not in self.communicators:
                self.add(f"collective on communicator {value}, which is not defined")

    def message(self, fields: list[int]) -> None:
        logical_send, physical_send, logical_receive, physical_receive = fields[4], fields[5], fields[10], fields[11]
        self.order(logical_send, 3, fields[2], 0)
        self.place(*fields[:4])
        self.place(*fields[6:10])
        self.within(physical_send, physical_receive)
        if physical_send < logical_send or physical_receive < max(logical_receive, physical_send):
            self.add("physical times before logical ones, or received before sent")
        self.messages.append((self.line, fields))

    def inside(self, thread: tuple[int, int], time: int, kinds: set[tuple[int, int]]) -> bool:
        """Whether a call of the wanted kinds, or one of no known kind, holds the time."""
        calls = self.calls[thread]
        at = bisect_right(calls, (time, 2**63, (0, 0)))
        for enter, leave, kind in reversed(calls[:at]):
            if leave < time:
                return False
            if enter <= time <= leave and (kind in kinds or kind[0] == BEYOND):
                return True
        return False

    def finish(self) -> None:
        if len(self.communicators) != self.header.communicators:
            self.wrong.append(f"{self.header.communicators} communicators announced, {len(self.communicators)} read")
        everyone = set(range(1, len(self.header.threads) + 1))
        if self.communicators and set(self.communicators.get(1, ())) != everyone:
            self.wrong.append("communicator 1 is not the world")
        self.wrong += [f"call {t}:{v} of {o} never ends" for o, (t, v, _) in self.open_call.items()]
        self.wrong += [f"flush of {o} never ends" for o, value in self.open_flush.items() if value]
        for line, f in self.messages:
            sender, receiver = (f[2], f[3]), (f[8], f[9])
            for what, thread, time, kinds in (
                ("logical send", sender, f[4], SENDING),
                ("logical receive", receiver, f[10], RECEIVING),
                ("physical receive", receiver, f[11], COMPLETING),
            ):
                if not self.inside(thread, time, kinds):
                    self.wrong.append(f"line {line}: {what} {time} is in no call of {thread} that could do it")


def check_prv(path: str | Path, strict: bool = True) -> list[str]:
    """A .prv as we write it; `strict` off allows what Extrae does (disorder, no root where a rank is not it)."""
    with Path(path).open(newline="") as file:
        text = file.read()
    if not text.endswith("\n"):
        return ["the last line has no end"]
    first, *lines = text[:-1].split("\n")
    header, wrong = _header(first)
    if header is None:
        return wrong
    prv = _Prv(header, strict)
    for line in lines:
        prv.read(line)
    if len(lines) <= header.communicators:
        wrong.append("no body")
    prv.finish()
    return wrong + prv.wrong


OPTIONS = ("LEVEL", "UNITS", "LOOK_BACK", "SPEED", "FLAG_ICONS", "NUM_OF_STATE_COLORS", "YMAX_SCALE")


def check_pcf(path: str | Path) -> list[str]:
    """A .pcf: sections, one label and colour a state, one label a type and value, nothing above 2^31 - 1."""
    wrong, section = [], ""
    entries: dict[str, list[str]] = defaultdict(list)
    types: Counter[int] = Counter()
    values: Counter[int] = Counter()
    forms = {
        "DEFAULT_OPTIONS": r"\w+ +\w+",
        "DEFAULT_SEMANTIC": r"THREAD_FUNC +\S.*",
        "STATES": r"\d+ +\S.*",
        "STATES_COLOR": r"\d+ +\{\d+,\d+,\d+\}",
        "EVENT_TYPE": r"\d+ +\d+ +\S.*",
        "VALUES": r"-?\d+ +\S.*",
        "GRADIENT_COLOR": r"\d+ +\{\d+,\d+,\d+\}",
        "GRADIENT_NAMES": r"\d+ +\S.*",
    }
    for number, raw in enumerate(Path(path).read_text().split("\n"), start=1):
        line = raw.strip()
        if not line:
            continue
        if line in forms:
            if line == "VALUES" and section != "EVENT_TYPE":
                wrong.append(f"line {number}: VALUES without a type")
            section, values = line, Counter()
            entries[section].append("")
        elif not section or not re.fullmatch(forms[section], line):
            wrong.append(f"line {number}: {line[:60]!r} in section {section or 'none'}")
        else:
            entries[section].append(line)
            numbers = [int(n) for n in re.findall(r"-?\d+", line)[:2]] if section in ("EVENT_TYPE", "VALUES") else [0]
            if section == "EVENT_TYPE":
                types[numbers[1]] += 1
            elif section == "VALUES":
                values[numbers[0]] += 1
                if values[numbers[0]] > 1:
                    wrong.append(f"line {number}: value {numbers[0]} twice")
            if any(abs(n) >= 2**31 for n in (numbers if section == "EVENT_TYPE" else numbers[:1])):
                wrong.append(f"line {number}: a number above 2^31 - 1")
    wrong += [f"type {event_type} twice" for event_type, n in types.items() if n > 1]
    wrong += [f"option {option} missing" for option in OPTIONS if not any(
        line.split()[:1] == [option] for line in entries["DEFAULT_OPTIONS"])]  # fmt: skip
    if not entries["DEFAULT_SEMANTIC"]:
        wrong.append("no DEFAULT_SEMANTIC")
    named, coloured = ([line.split()[0] for line in entries[s] if line] for s in ("STATES", "STATES_COLOR"))
    if named != coloured or len(set(named)) != len(named) or not named:
        wrong.append("states and their colours differ")
    return wrong


def check_row(path: str | Path) -> list[str]:
    """A .row: blocks with as many lines as they say, and as many as the .prv beside it has objects."""
    path, wrong, counts = Path(path), [], {}
    for block in path.read_text().rstrip("\n").split("\n\n"):
        first, *labels = block.split("\n")
        match = re.fullmatch(r"LEVEL (WORKLOAD|APPL|TASK|THREAD|SYSTEM|NODE|CPU) SIZE (\d+)", first)
        if not match:
            wrong.append(f"not a level: {first!r}")
            continue
        if match[1] in counts:
            wrong.append(f"level {match[1]} twice")
        counts[match[1]] = int(match[2])
        if len(labels) != int(match[2]) or not all(label.strip() for label in labels):
            wrong.append(f"level {match[1]} says {match[2]} and has {len(labels)}")
    prv = path.with_suffix(".prv")
    if prv.exists():
        with prv.open() as file:
            header, _ = _header(file.readline().rstrip("\n"))
        if header:
            true = {"CPU": sum(header.cpus), "NODE": len(header.cpus), "THREAD": sum(header.threads)}
            wrong += [f"{n} lines of {level}, {true[level]} in the .prv" for level, n in counts.items()
                      if true.get(level, n) != n]  # fmt: skip
    return wrong


DIM_HEADER = re.compile(
    r'#DIMEMAS:"[^"]*":(?:1,(\d+)|0):(\d+)\((\d+(?:,\d+)*)\),(\d+)(?:,\d+(?:\([\d,]*\))?(?:,\d+(?:\([\d,]*\))?)?)?'
)
DIM_COMMUNICATOR = re.compile(r"d:1:(\d+):(\d+)((?::\d+)*)")
DIM_RECORDS = {
    "0": re.compile(r"0:(\d+):(\d+)"),
    "1": re.compile(r"1:(\d+):(\d+):(\d+\.\d{9})"),
    "2": re.compile(r"2:(\d+):(\d+):(\d+)(?::(-1|\d+))?:(\d+):(-?\d+):(\d+):([0-3])"),
    "3": re.compile(r"3:(\d+):(\d+):(-?\d+)(?::(-1|\d+))?:(\d+):(-?\d+):(\d+):([0-2])"),
    "10": re.compile(r"10:(\d+):(\d+):(\d+):(\d+):([01]):(\d+):(\d+):(\d+)(?::([0-2]))?"),
    "20": re.compile(r"20:(\d+):(\d+):(\d+):(-?\d+)"),
}
OFFSETS = re.compile(r"s:(\d+):(\d+(?::\d+)*)")


class _Dim:
    """The records of a .dim, thread by thread."""

    def __init__(self, threads: list[int], communicators: dict[int, list[int]]) -> None:
        self.threads, self.communicators = threads, communicators
        self.wrong: list[str] = []
        self.first: dict[tuple[int, int], int] = {}  # byte offset of each thread's first record
        self.at = (-1, 0)
        self.posted: Counter[tuple] = Counter()

    def read(self, number: int, offset: int, line: str) -> None:
        kind = line.partition(":")[0]
        match = DIM_RECORDS[kind].fullmatch(line) if kind in DIM_RECORDS else None
        if not match:
            self.wrong.append(f"line {number}: not a record: {line[:60]!r}")
            return
        here = (int(match[1]), int(match[2]))
        if here[0] >= len(self.threads) or here[1] >= self.threads[here[0]]:
            self.wrong.append(f"line {number}: no thread {here}")
            return
        if here != self.at:
            if here in self.first or here < self.at:
                self.wrong.append(f"line {number}: records of {here} are not together, or out of order")
            if kind != "1":
                self.wrong.append(f"line {number}: thread {here} does not begin with a burst")
            self.first.setdefault(here, offset)
            self.at = here
        problem = getattr(self, f"_kind_{kind}", lambda match, here: "")(match, here)
        if problem:
            self.wrong.append(f"line {number}: {problem}")

    def _peer(self, match: re.Match) -> str:
        if not 0 <= int(match[3]) < len(self.threads):
            return f"no task {match[3]}"
        if int(match[7]) not in self.communicators:
            return f"communicator {match[7]} is not defined"
        return "" if int(match[3]) in self.communicators[int(match[7])] else f"{match[3]} is not in the communicator"

    def _kind_2(self, match: re.Match, here: tuple[int, int]) -> str:
        return self._peer(match)

    def _kind_3(self, match: re.Match, here: tuple[int, int]) -> str:
        key = (here, match[3], match[6], match[7])
        if match[8] == "1":
            self.posted[key] += 1
        elif match[8] == "2":
            self.posted[key] -= 1
            if self.posted[key] < 0:
                return "a Wait without its Irecv"
        return self._peer(match)

    def _kind_10(self, match: re.Match, here: tuple[int, int]) -> str:
        if int(match[3]) > 15:
            return f"global operation {match[3]}"
        members = self.communicators.get(int(match[4]))
        if members is None:
            return f"communicator {match[4]} is not defined"
        key = (here, "collective", match[3], match[4])
        if match[9] == "0":
            self.posted[key] += 1
        elif match[9] == "2":
            self.posted[key] -= 1
            if self.posted[key] < 0:
                return "a wait for a collective that did not begin"
        return "" if here[0] in members else f"task {here[0]} is not in communicator {match[4]}"


def check_dim(path: str | Path) -> list[str]:
    """A .dim that Dimemas 5.5.0 simulates: header, communicators, records by thread, the block of offsets."""
    text = Path(path).read_bytes().decode("latin-1")
    if not text.endswith("\n"):
        return ["the last line has no end"]
    lines = text[:-1].split("\n")
    match = DIM_HEADER.fullmatch(lines[0])
    if not match:
        return [f"line 1: not a header: {lines[0][:100]}"]
    if match[1] is None:
        return ["line 1: no offsets: Dimemas 5.5.0 dies of it"]
    threads = [int(n) for n in match[3].split(",")]
    wrong = [] if len(threads) == int(match[2]) else [f"line 1: {match[2]} tasks, {len(threads)} listed"]
    communicators, offset = {}, len(lines[0]) + 1
    for number, line in enumerate(lines[1 : 1 + int(match[4])], start=2):
        offset += len(line) + 1
        found = DIM_COMMUNICATOR.fullmatch(line)
        tasks = [int(task) for task in found[3].split(":")[1:]] if found else []
        if not found or len(set(tasks)) != int(found[2]) or not all(task < len(threads) for task in tasks):
            wrong.append(f"line {number}: communicator")
        elif int(found[1]) in communicators:
            wrong.append(f"line {number}: communicator {found[1]} twice")
        else:
            communicators[int(found[1])] = tasks
    dim = _Dim(threads, communicators)
    tail: list[str] = []
    for number, line in enumerate(lines[1 + int(match[4]) :], start=2 + int(match[4])):
        if line.startswith("s:"):
            if not tail and offset != int(match[1]):
                wrong.append(f"line {number}: offsets begin at byte {offset}, the header says {match[1]}")
            tail.append(line)
        elif tail:
            wrong.append(f"line {number}: a record after the offsets")
        else:
            dim.read(number, offset, line)
        offset += len(line) + 1
    return wrong + dim.wrong + _check_offsets(tail, threads, dim.first)


def _check_offsets(tail: list[str], threads: list[int], first: dict[tuple[int, int], int]) -> list[str]:
    wrong = [] if len(tail) == len(threads) else [f"offsets of {len(tail)} tasks, {len(threads)} in the header"]
    for task, (line, count) in enumerate(zip(tail, threads, strict=False)):
        match = OFFSETS.fullmatch(line)
        offsets = [int(n) for n in match[2].split(":")] if match else []
        if not match or int(match[1]) != task or len(offsets) != count:
            wrong.append(f"offsets of task {task}: {line[:60]!r}")
            continue
        for thread, offset in enumerate(offsets):
            if first.get((task, thread)) != offset:
                wrong.append(f"offset of {task}.{thread} is {offset}, its records begin at {first.get((task, thread))}")
    return wrong
