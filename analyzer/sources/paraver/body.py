"""Reads the text of a Paraver trace, block by block, into sorted tables of states, events and messages."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.columns.sorted_runs import SortedRuns
from analyzer.errors import TracelibError
from analyzer.sources.paraver.header import Header, HeaderError, parse_communicator, parse_header
from analyzer.sources.paraver.labels import preset_types
from analyzer.trace import EVENT, MESSAGE, STATE, Communicator, Problem, State
from analyzer.trace.chosen import Choice
from analyzer.trace.paraver import MPI_TYPES, EventType, are_callers
from analyzer.trace.read_sizes import DEFAULT_SIZES, ReadSizes

LONGEST_LINE = 1 << 26
CALL_VALUES = lib.PRV_CALL_VALUES
_FEW_THREADS = 1 << 16
_UNPACKED = 32
"""Largest number of bytes of text that one byte of a compressed trace is expected to hold."""
MPI_TYPE_COUNT = len(MPI_TYPES)

_REASONS = {
    lib.PRV_NO_NUMBER: "not a whole number where one is expected",
    lib.PRV_NO_RECORD: "not a record",
    lib.PRV_NO_OBJECT: "names an application, task or thread that the header does not have",
    lib.PRV_NO_CPU: "names a CPU that is not on its task's node",
    lib.PRV_BAD_TIME: "a time that is negative or too large",
    lib.PRV_BAD_PAIRS: "types and values of events do not pair up",
    lib.PRV_BAD_TYPE: "an event type that is negative or needs more than 32 bits",
    lib.PRV_BAD_END: "a state that ends before it begins",
    lib.PRV_LATE_COMMUNICATOR: "a communicator after the first record",
    lib.PRV_FULL: "too many events in one line",
    lib.PRV_BAD_SIZE: "a size that no memory holds",
}
"""Texts that describe the fault of a malformed line."""

_OLD_STATES = np.array(
    [
        State.IDLE,
        State.RUNNING,
        State.NOT_CREATED,  # stopped: no more records
        State.WAITING_MESSAGE,
        State.WAITING_LINKS,
        State.SCHEDULING,  # waiting for a CPU
        State.BLOCKED,  # waiting for a semaphore
        State.STARTUP_LATENCY,
        State.SCHEDULING,  # context switch
        24,  # send overhead
        24,  # receive overhead
        State.IO,
        State.WAIT,  # busy wait
        State.SYNCHRONIZATION,  # collective synchronisation
        State.GROUP_COMMUNICATION,
        State.IO,  # blocked by the disk
    ],
    np.int32,
)
"""Extrae's number of each state of old traces (24: overhead). Source: Girona 2003, Table 6."""


@dataclass
class TraceBody:
    """Records of a .prv, its communicators, and facts about the whole trace that were found while reading."""

    header: Header
    communicators: list[Communicator]
    communicator_keys: list[tuple[int, int]]  # (application from 0, id) of each communicator
    sizes: ReadSizes
    states: SortedRuns = field(init=False)
    events: SortedRuns = field(init=False)
    messages: SortedRuns = field(init=False)
    flushes: list[np.ndarray] = field(default_factory=list)  # EVENT: begins and ends of flushes, in order of the file
    cpu_waits: list[np.ndarray] = field(default_factory=list)  # EVENT: waits for a CPU in a prediction
    predicted: list[np.ndarray] = field(default_factory=list)  # EVENT: marks of a prediction
    clocks: list[np.ndarray] = field(default_factory=list)  # EVENT: begins and ends of measurements of clocks
    paths: list[np.ndarray] = field(default_factory=list)  # EVENT: begins and ends of searches for callers
    disabled: list[np.ndarray] = field(default_factory=list)  # STATE rows in which nothing was recorded
    origin: list[np.ndarray] = field(default_factory=list)  # EVENT: marks of a trace of tracelib
    tracer_states: bool = False  # True if it has states of the tracer
    callers: bool = False  # True if it has callers of calls
    presets: set[int] = field(default_factory=set)  # types of PAPI's presets that were counted
    inside_tasks: bool = False  # True if it has messages of a task with itself, or other arrows inside a task
    problems: list[Problem] = field(default_factory=list)
    begin: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))  # by rank: time of the first record, ns
    end: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    calls: np.ndarray = field(default_factory=lambda: np.zeros((MPI_TYPE_COUNT, CALL_VALUES), bool))  # values seen
    chosen: np.ndarray | None = None  # bool by rank: its records are kept; None: all are
    one_sided: int = 0  # messages between ranks of which only one was chosen
    last_ns: int = 0
    largest_cpu: int = 0

    def __post_init__(self) -> None:
        step = self.sizes.sorted_step
        self.states = SortedRuns(STATE, "begin", "rank", "thread", step=step)
        self.events = SortedRuns(EVENT, "time", "rank", "thread", step=step)
        self.messages = SortedRuns(MESSAGE, "logical_send", "source", step=step)


def open_text(path: Path) -> BufferedReader | gzip.GzipFile:
    """Open the trace's text. A gzip file is known by its first bytes, not by its name.

    Raises:
        TracelibError: The file cannot be opened.
    """
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        return gzip.open(path) if packed else path.open("rb")
    except OSError as error:
        raise TracelibError(f"cannot read {path}: {error.strerror}") from error


class _Lines:
    """Text of a file in blocks of whole lines. `problem` says why the text ended early; "": it did not."""

    def __init__(self, file: BufferedReader | gzip.GzipFile, block_bytes: int) -> None:
        self._file, self._block_bytes = file, block_bytes
        self._rest = b""
        self.problem = ""

    def _read(self) -> bytes:
        try:
            return self._file.read1(self._block_bytes)  # read() would lose what precedes the damage
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            self.problem = f"the compressed file is damaged ({error}): what comes after is lost"
        except OSError as error:
            self.problem = f"reading stopped ({error.strerror}): what comes after is lost"
        return b""

    def first(self) -> bytes:
        """Return the first line."""
        while b"\n" not in self._rest and len(self._rest) < LONGEST_LINE and (block := self._read()):
            self._rest += block
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def __iter__(self) -> Iterator[bytes]:
        while block := self._read():
            text = self._rest + block
            whole = text.rfind(b"\n") + 1
            if whole == 0 and len(text) > LONGEST_LINE:
                raise TracelibError("the trace has a line of more than 64 MiB", "it is not a Paraver trace, or damaged")
            self._rest = text[whole:]
            if whole:
                yield text[:whole]
        if self._rest:
            yield self._rest + b"\n"


def _peel_communicators(text: bytes, body: TraceBody, line: int) -> tuple[bytes, int, bool]:
    """Parse the lines of communicators and comments at the front of a text.

    Returns:
        The rest of the text, the number of lines parsed, and True if records follow.
    """
    at, taken = 0, 0
    while at < len(text) and text[at : at + 1] in (b"c", b"C", b"i", b"I", b"#", b"\n", b"\r"):
        end = text.index(b"\n", at)
        taken += 1
        if text[at : at + 1] in b"cCiI":
            _add_communicator(text[at:end].decode("latin-1"), body, line + taken)
        at = end + 1
    return text[at:], taken, at < len(text)


def _add_communicator(text: str, body: TraceBody, line: int) -> None:
    applications = body.header.applications
    try:
        application = int(text.split(":")[1]) - 1
        known = [c for c, (a, _) in zip(body.communicators, body.communicator_keys, strict=True) if a == application]
        communicator = parse_communicator(text, applications, known)
    except (HeaderError, ValueError, IndexError) as error:
        reason = str(error) if isinstance(error, HeaderError) else "communicator line not understood"
        body.problems.append(Problem(-1, f"line {line}: {reason}"))
        return
    body.communicators.append(communicator)
    body.communicator_keys.append((application, communicator.id))


class _Tables:
    """Tables that the kernel fills with rows. A full table is handed over to the sorted tables of the body."""

    def __init__(self, body: TraceBody) -> None:
        self._body = body
        self.most = body.sizes.sorted_rows
        self._rows = [np.empty(self.most, dtype) for dtype in (STATE, EVENT, MESSAGE)]
        self._runs = [body.states, body.events, body.messages]
        self.pointers = [ffi.from_buffer("char[]", rows.view(np.uint8)) for rows in self._rows]
        self.counts = ffi.new("int64_t[3]")

    def flush(self, more_than: int) -> None:
        """Hand over each table that has more than this number of rows."""
        for table, runs in enumerate(self._runs):
            count = self.counts[table]
            if count > more_than:
                rows = self._rows[table][:count]
                self._note_origin(rows)
                rows = self._of_chosen(rows)
                self._convert(rows)
                runs.append(rows)
                self.counts[table] = 0

    def _of_chosen(self, rows: np.ndarray) -> np.ndarray:
        """Select the rows of chosen ranks. A message stays if one of its ranks is chosen: the rank's calls need it."""
        chosen = self._body.chosen
        if chosen is None:
            return rows
        if rows.dtype != MESSAGE:
            return rows[chosen[rows["rank"]]]
        sent, received = chosen[rows["source"]], chosen[rows["destination"]]
        self._body.one_sided += int((sent != received).sum())
        return rows[sent | received]

    def _note_origin(self, rows: np.ndarray) -> None:
        """Collect the events that describe the trace's origin. One rank may record them for all ranks."""
        body = self._body
        if rows.dtype == STATE:
            body.tracer_states |= bool((rows["state"] == State.TRACER).any())
        elif rows.dtype == EVENT:
            for type_, kept in ((EventType.PREDICTED, body.predicted), (EventType.ORIGIN, body.origin)):
                _keep(rows[rows["type"] == type_], kept)

    def _convert(self, rows: np.ndarray) -> None:
        body = self._body
        if rows.dtype == STATE:
            if body.header.old_states:
                old = rows["state"] < len(_OLD_STATES)
                rows["state"][old] = _OLD_STATES[rows["state"][old]]
            _keep(rows[rows["state"] == State.TRACING_DISABLED], body.disabled)
        elif rows.dtype == EVENT:
            body.callers = body.callers or bool(are_callers(rows["type"]).any())
            body.presets |= preset_types(rows["type"])
            by_type = {
                EventType.FLUSH: body.flushes,
                EventType.CPU_WAIT: body.cpu_waits,
                EventType.CLOCKS: body.clocks,
                EventType.PATHS: body.paths,
            }
            for type_, kept in by_type.items():
                _keep(rows[rows["type"] == type_], kept)
        else:
            body.inside_tasks |= bool((rows["source"] == rows["destination"]).any())


def _keep(rows: np.ndarray, kept: list[np.ndarray]) -> None:
    if len(rows):
        kept.append(rows)


def _kernel_reader(header: Header) -> object:
    columns = [header.threads, header.first_cpu, header.last_cpu]
    reader = lib.prv_reader_new(
        len(header.applications),
        ffi.new("int32_t[]", list(header.applications)),
        *(ffi.from_buffer("int32_t[]", column) for column in columns),
        header.nanoseconds,
        header.duration_ns,
    )
    if reader == ffi.NULL:
        raise MemoryError
    return ffi.gc(reader, lib.prv_reader_free)


def _read_records(lines: _Lines, body: TraceBody) -> int:
    """Read all records into the body. Return their number."""
    reader = _kernel_reader(body.header)
    tables = _Tables(body)
    header_lines, in_records = 1, False
    for text in lines:
        if not in_records:
            text, taken, in_records = _peel_communicators(text, body, header_lines)
            header_lines += taken
        source = ffi.from_buffer("char[]", text)
        at = 0
        while at < len(text):
            at += lib.prv_read(reader, source + at, len(text) - at, *tables.pointers, tables.most, tables.counts)
            if at < len(text):
                tables.flush(tables.most // 2)
    tables.flush(0)
    _summarize(reader, body, header_lines)
    return body.states.rows + body.events.rows + body.messages.rows


def _summarize(reader: object, body: TraceBody, header_lines: int) -> None:
    size = body.header.size
    begin, last_act, last_other = (np.zeros(size, np.int64) for _ in range(3))
    last, cpu = ffi.new("int64_t *"), ffi.new("int32_t *")
    calls = np.zeros((MPI_TYPE_COUNT, CALL_VALUES), np.uint8)
    pointers = [ffi.from_buffer("int64_t[]", column) for column in (begin, last_act, last_other)]
    lib.prv_reader_summary(reader, *pointers, ffi.from_buffer("uint8_t[]", calls), last, cpu)
    body.end = np.maximum(np.where(last_act >= 0, last_act, last_other), 0)
    body.begin = np.minimum(begin, body.end)
    if body.chosen is not None:
        body.begin[~body.chosen] = body.end[~body.chosen] = 0
    body.calls = calls.astype(bool)
    body.last_ns, body.largest_cpu = last[0], cpu[0]
    body.problems += _line_problems(reader, header_lines)


def _line_problems(reader: object, header_lines: int) -> list[Problem]:
    problems: list[Problem] = []
    line = ffi.new("int64_t *")
    while reason := lib.prv_reader_problem(reader, len(problems), line):
        problems.append(Problem(-1, f"line {header_lines + line[0]}: {_REASONS[reason]}"))
    total = lib.prv_reader_problems(reader)
    if total > len(problems):
        problems.append(Problem(-1, f"{total} lines in all are malformed and left out"))
    return problems


def _check_threads(header: Header, path: Path) -> None:
    """Raise TracelibError if the header names more threads than the file can have.

    Otherwise tables of all threads would fill the memory.
    """
    threads, most = int(header.threads.sum()), max(path.stat().st_size * _UNPACKED, _FEW_THREADS)
    if threads > most:
        raise TracelibError(f"{path} is not a Paraver trace: {threads} threads in {path.stat().st_size} bytes")


def _chosen(choice: Choice | None, size: int, path: Path) -> np.ndarray | None:
    """Return a bool mask of the chosen ranks; None: all ranks are chosen."""
    ranks = choice.of(size, str(path)) if choice else range(size)
    return np.isin(np.arange(size), ranks) if len(ranks) < size else None


def read_body(path: Path, choice: Choice | None = None, sizes: ReadSizes = DEFAULT_SIZES) -> TraceBody:
    """Read header, communicators and records of a .prv or .prv.gz.

    Malformed lines are left out, and reported with their numbers.

    Args:
        path: The file.
        choice: Read only the records of these ranks. None: all.
        sizes: Amounts in which the text is read, and the records are sorted.

    Raises:
        TracelibError: The header cannot be used, no record is left, or the trace lacks a chosen rank.
    """
    with open_text(path) as file:
        lines = _Lines(file, sizes.text_bytes)
        first = lines.first()
        try:
            header = parse_header(first.decode("latin-1"))
        except ValueError as error:  # a HeaderError, or a number of thousands of digits
            reason = lines.problem or error
            raise TracelibError(
                f"{path} is not a Paraver trace: {reason}", "its first line starts '#Paraver ('"
            ) from error
        _check_threads(header, path)
        body = TraceBody(header, [], [], sizes, chosen=_chosen(choice, header.size, path))
        records = _read_records(lines, body)
        if lines.problem:
            body.problems.append(Problem(-1, lines.problem))
    announced = header.communicators
    if announced is not None and announced != len(body.communicators):
        body.problems.append(
            Problem(-1, f"the header announces {announced} communicators, {len(body.communicators)} are usable")
        )
    if not records:
        detail = f" ({body.problems[0].text})" if body.problems else ""
        raise TracelibError(f"{path} holds no record that can be read{detail}")
    return body
