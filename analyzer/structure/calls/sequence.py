"""The calls of one rank as a sequence of symbols. Equal symbols mean that the same call was made again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.c_arrays import pointer
from analyzer.columns.arrays import joined
from analyzer.operations.bursts import CPU_TIME, is_measured
from analyzer.structure.states import KINDS, NAMES, interruptions, makes_calls, steps_begin
from analyzer.trace import CallPaths, Counters, State, Trace
from tracelib.schema.procedures import (
    ASKING_MPI,
    BARRIERS,
    BY_A_ROOT,
    CLOCKS,
    COLLECTIVES,
    FINALIZE,
    INIT,
    POLLS,
    TABLE,
    TESTS,
    TO_A_ROOT,
    WAITS,
    base_name,
    is_local,
    is_of_files,
    of_kinds,
)

MOST_CALLS = 1 << 24
"""Largest number of calls of a rank that are examined. They take 61 bytes each; further calls are ignored."""
FEWEST_CALLS = 6
"""If a rank makes fewer calls than this, its polls are examined, too."""
WAITS_FOR_SOME = of_kinds("waitsome")
"""Procedures that wait for some of several requests."""
_STATES, _MOST = frozenset(map(int, State)), max(map(int, State)) + 1
_NOT_YET = -(1 << 63)
"""Placeholder for the time at which a thread left the call before its first one."""


class SymbolDetail(IntEnum):
    """Properties, besides procedure and path, that two calls must share to have the same symbol."""

    SIZE = 0  # communicator, partner, and length by powers of two; where the path is known, a root is no partner
    PEER = 1  # communicator and partner
    PROCEDURE = 2  # nothing more; where the path is not known, the communicator


class OutputKind(IntEnum):
    """Whether a call outputs results of the program, such as to a file or to a root."""

    NONE = 0
    BESIDE = 1  # it may be done beside such calls: a file is opened, others are waited for
    RESULTS = 2  # to a root, or to a file


@dataclass(frozen=True)
class Sequence:
    """Calls of a rank between MPI_Init and MPI_Finalize that involve other ranks, in order. Times are ns.

    Attributes:
        rank: The rank.
        symbols: Symbol of each call for each SymbolDetail, numbered from 0; int32 of shape (details, calls).
        enter: Entry of each call, int64.
        exit: Exit of each call, int64.
        left: Time at which the rank left the call before, which need not be in the sequence, int64.
        burst: Computing since the call before in the sequence, int64; CPU time if it was recorded.
        clocks: Number of times that the clock was read before each call, int32.
        call: Number of each call's procedure in Trace.procedures, int32.
        output: OutputKind of each call, uint8.
        together: Whether each call is a collective, bool.
        path: Row of each call's path in CallPaths.tables, int64. 0: not known.
        begin_ns: End of MPI_Init, or start of the process.
        end_ns: Begin of MPI_Finalize, or end of the last call.
        is_whole: Whether all calls were examined. False: there were more than MOST_CALLS.
        is_named: Whether the procedures are known. False: calls are states, or steps of signals.
    """

    rank: int
    symbols: np.ndarray  # int32 (details, calls): dense from 0 for each SymbolDetail
    enter: np.ndarray  # int64 (calls,) ns
    exit: np.ndarray
    left: np.ndarray  # int64: when the rank came out of the call before this one, whatever that was
    burst: np.ndarray  # int64: computed since the call of the sequence before, ns; CPU time where that was recorded
    clocks: np.ndarray  # int32: looks at the clock up to each call
    call: np.ndarray  # int32: index in Trace.procedures
    output: np.ndarray  # uint8: values of OutputKind
    together: np.ndarray  # bool: whether it is a collective
    path: np.ndarray  # int64: row of CallPaths.tables; 0: not known
    begin_ns: int  # end of MPI_Init, or of the process' start
    end_ns: int  # begin of MPI_Finalize, or of the last call's end
    is_whole: bool = True  # False: there were more calls than MOST_CALLS
    is_named: bool = True  # False: of its calls the kinds alone are known: they are states, or steps of signals

    def __len__(self) -> int:
        return len(self.enter)


def sequence_of(trace: Trace, rank: int, begin_ns: int = 0, end_ns: int | None = None) -> Sequence:
    """Read the sequence of calls of a rank's thread with most calls.

    Polls, reading the clock and queries of MPI do not count, because their number has nothing to do with the program's
    structure. Nor do waits for some of several requests: fewer are made if more requests complete together. In a
    program
    that tests requests, no waits count, since chance decides which call completes a request. If a rank makes only such
    calls, they count. If it hardly makes any call, its states are used instead.

    Args:
        trace: The trace.
        rank: The rank.
        begin_ns: Only calls that are entered from this time on.
        end_ns: Only calls that are entered before this time. None: no limit.
    """
    found, tests = _read(trace, rank, begin_ns, end_ns, _kinds(trace.procedures))
    if tests:
        without, _ = _read(trace, rank, begin_ns, end_ns, _kinds(trace.procedures, waiting=False))
        found = without if len(without) >= FEWEST_CALLS else found
    if len(found) >= FEWEST_CALLS:
        return found
    if not makes_calls(trace, rank):
        states = _of_states(trace, rank, begin_ns, end_ns)
        if len(states) >= FEWEST_CALLS:
            return states
    return _read(trace, rank, begin_ns, end_ns, _kinds(trace.procedures, asking=True))[0]


def names_of(trace: Trace) -> tuple[str, ...]:
    """Return the names for the numbers in Sequence.call: the procedures, followed by the states."""
    return (*trace.procedures, *(NAMES.get(State(number), "") if number in _STATES else "" for number in range(_MOST)))


def _of_states(trace: Trace, rank: int, begin_ns: int, end_ns: int | None) -> Sequence:
    """Return the states of a rank's busiest thread as its calls: whatever lies between two bursts."""
    enter, exit_, state = interruptions(trace, rank)
    first, last = trace.span(rank)
    left = np.concatenate([[first], exit_[:-1]])[: len(enter)]
    inside = (enter >= begin_ns) & (enter < (last + 1 if end_ns is None else end_ns))
    enter, exit_, left, state = enter[inside], exit_[inside], left[inside], state[inside]
    burst, kind = np.maximum(enter - left, 0), KINDS[state]
    begins = steps_begin(kind, burst)
    exit_ = exit_[np.append(begins[1:], len(state)) - 1] if len(begins) else exit_
    burst = np.add.reduceat(burst, begins) if len(begins) else burst
    enter, left, state, kind = enter[begins], left[begins], state[begins], kind[begins]
    _, symbols = np.unique(kind, return_inverse=True)
    zeros = np.zeros(len(enter), np.int64)
    return Sequence(
        rank, np.tile(symbols.astype(np.int32), (len(SymbolDetail), 1)), enter, exit_, left, burst,
        clocks=zeros.astype(np.int32), call=(len(trace.procedures) + state).astype(np.int32),
        output=zeros.astype(np.uint8), together=state == State.GROUP_COMMUNICATION, path=zeros,
        begin_ns=max(first, begin_ns), end_ns=last, is_named=False,
    )  # fmt: skip


@lru_cache(maxsize=8)
def _kinds(procedures: tuple[str, ...], *, asking: bool = False, waiting: bool = True) -> np.ndarray:
    """Return bits of enum sequence_kind by procedure, uint8.

    Args:
        procedures: Names of the procedures.
        asking: Whether procedures that only query MPI belong to a sequence, too.
        waiting: Whether waits for requests belong to a sequence.
    """
    aside = INIT | FINALIZE if asking else INIT | FINALIZE | POLLS | CLOCKS | ASKING_MPI | WAITS_FOR_SOME
    aside |= frozenset() if waiting else WAITS
    bits = (
        (WAITS, lib.SEQUENCE_WAITS),
        (CLOCKS, lib.SEQUENCE_LOOKS),
        (INIT, lib.SEQUENCE_INIT),
        (BY_A_ROOT, lib.SEQUENCE_ROOTED),
    )
    found = np.zeros(len(procedures), np.uint8)
    for number, name in enumerate(map(base_name, procedures)):
        found[number] |= 0 if name in aside or (is_local(name) and not asking) else lib.SEQUENCE_KEPT
        for names, bit in bits:
            found[number] |= bit if name in names else 0
    return found


def _read(trace: Trace, rank: int, begin_ns: int, end_ns: int | None, kinds: np.ndarray) -> tuple[Sequence, bool]:
    """Read the calls of a rank that belong to a sequence, and return whether the rank tests requests."""
    columns = _Columns(kinds)
    blocks = _Blocks(trace, rank, begin_ns, end_ns)
    thread = _busiest(trace, rank, begin_ns, end_ns)
    tests, testing = False, _testing(trace.procedures)
    for rows, paths, cpu in blocks:
        columns.append(rows, paths, cpu, thread)
        tests = tests or bool(testing[rows["call"]].any())
    start = max(trace.span(rank)[0], begin_ns)
    output = _outputs(trace.procedures)
    together = _collectives(trace.procedures)
    return columns.sequence(rank, start, output, together, is_whole=blocks.is_whole, has_cpu=blocks.has_cpu), tests


@lru_cache(maxsize=8)
def _testing(procedures: tuple[str, ...]) -> np.ndarray:
    """Return a mask of the procedures that test requests."""
    return np.array([base_name(name) in TESTS for name in procedures], bool)


@lru_cache(maxsize=8)
def _outputs(procedures: tuple[str, ...]) -> np.ndarray:
    """Return the OutputKind of each procedure, uint8."""
    return np.array([_output(base_name(name)) for name in procedures], np.uint8)


@lru_cache(maxsize=8)
def _collectives(procedures: tuple[str, ...]) -> np.ndarray:
    """Return a mask of the collectives among the procedures."""
    return np.array([base_name(name) in COLLECTIVES for name in procedures], bool)


def _output(name: str) -> OutputKind:
    if is_of_files(name):
        transfer = TABLE.find_transfer(name.removeprefix("MPI_"))
        return {"": OutputKind.BESIDE, "read": OutputKind.NONE, "write": OutputKind.RESULTS}[
            transfer.verb if transfer else ""
        ]
    return OutputKind.RESULTS if name in TO_A_ROOT else OutputKind.BESIDE if name in BARRIERS else OutputKind.NONE


def _busiest(trace: Trace, rank: int, begin_ns: int, end_ns: int | None) -> int:
    """Return the thread of a rank that makes most calls."""
    threads = int(trace.threads[rank])
    if threads <= 1:
        return 0
    counts = np.zeros(threads, np.int64)
    for rows, *_ in _Blocks(trace, rank, begin_ns, end_ns, calls_alone=True):
        counts += np.bincount(rows["thread"], minlength=threads)
    return int(counts.argmax())


Block = tuple[np.ndarray, np.ndarray | None, np.ndarray | None]


class _Blocks:
    """Calls of a rank between two times, block by block.

    A block has the calls, the row of each call's path, and the CPU time before each call (0 or less: not read; CPU time
    before polls counts for the next burst). None in place of paths or CPU times: they were not recorded.
    """

    def __init__(
        self, trace: Trace, rank: int, begin_ns: int, end_ns: int | None, *, calls_alone: bool = False
    ) -> None:
        self._trace, self._rank, self._interval, self._calls_alone = trace, rank, (begin_ns, end_ns), calls_alone
        self.is_whole = True  # False: there are more than MOST_CALLS
        self.has_cpu = not calls_alone and is_measured(trace, rank)

    def __iter__(self) -> Iterator[Block]:
        paths = self._trace.extra(CallPaths)
        has_paths = paths.known and not self._calls_alone
        of_paths = paths.of(self._rank, *self._interval) if has_paths else None
        bursts = _Rows(self._cpu_times()) if self.has_cpu else None
        count = 0
        for rows in self._trace.calls(self._rank, *self._interval):
            yield rows, next(of_paths) if of_paths else None, bursts.next(len(rows)) if bursts else None
            count += len(rows)
            if count >= MOST_CALLS:
                self.is_whole = False
                return

    def _cpu_times(self) -> Iterator[np.ndarray]:
        counters = self._trace.extra(Counters)
        column = [counter.name for counter in counters.known].index(CPU_TIME)
        return (counts.burst[:, column] for counts in counters.counts(self._rank, *self._interval))


class _Rows:
    """Rows that come in blocks of one size and are taken in blocks of another."""

    def __init__(self, blocks: Iterator[np.ndarray]) -> None:
        self._blocks, self._left = blocks, np.zeros(0, np.int64)

    def next(self, count: int) -> np.ndarray:
        """Return the next `count` rows. Missing rows are 0."""
        while len(self._left) < count and (block := next(self._blocks, None)) is not None:
            self._left = np.concatenate([self._left, block])
        found, self._left = self._left[:count], self._left[count:]
        return np.ascontiguousarray(np.pad(found, (0, count - len(found))), np.int64)


class _Columns:
    """Columns of a sequence, to which blocks of calls are appended."""

    _TIMES = ("enter", "exit", "left", "burst", "path")
    _NUMBERS = ("clocks", "call")

    def __init__(self, kinds: np.ndarray) -> None:
        self._kinds = kinds
        self._state = ffi.new("struct sequence_state *", {"left": _NOT_YET})
        self._parts: dict[str, list[np.ndarray]] = {name: [] for name in (*self._TIMES, *self._NUMBERS)}
        self._symbols: list[list[np.ndarray]] = [[] for _ in SymbolDetail]
        self._numbering = [ffi.gc(lib.numbering_new(), lib.numbering_free) for _ in SymbolDetail]
        if ffi.NULL in self._numbering:
            raise MemoryError

    def append(self, rows: np.ndarray, paths: np.ndarray | None, cpu: np.ndarray | None, thread: int) -> None:
        """Append the calls of `thread` in a block of calls."""
        rows = np.ascontiguousarray(rows)
        beside = [None if column is None else np.ascontiguousarray(column, np.int64) for column in (paths, cpu)]
        given = [ffi.NULL if column is None else pointer(column, "int64_t *") for column in beside]
        found = {name: np.empty(len(rows), np.int64) for name in self._TIMES}
        found |= {name: np.empty(len(rows), np.int32) for name in self._NUMBERS}
        keys = np.empty((len(SymbolDetail), len(rows)), np.uint64)
        to = ffi.new("struct sequence_columns *")
        for name, column in found.items():
            setattr(to, name, pointer(column, "int64_t *" if name in self._TIMES else "int32_t *"))
        to.keys = [pointer(of_detail, "uint64_t *") for of_detail in keys]
        kept = lib.sequence_calls(
            self._state, pointer(rows), *given, len(rows), thread, pointer(self._kinds, "uint8_t *"), to
        )
        for name, column in found.items():
            self._parts[name].append(column if kept == len(rows) else column[:kept].copy())
        for numbering, parts, of_detail in zip(self._numbering, self._symbols, keys, strict=True):
            parts.append(np.empty(kept, np.int32))
            if lib.numbering_feed(numbering, pointer(of_detail, "uint64_t *"), kept, pointer(parts[-1], "int32_t *")):
                raise MemoryError

    def sequence(
        self, rank: int, start: int, output: np.ndarray, together: np.ndarray, *, is_whole: bool, has_cpu: bool
    ) -> Sequence:
        """Return the sequence of all calls that were appended.

        Args:
            rank: The rank.
            start: Start of the rank, ns, in case it did not initialise MPI.
            output: OutputKind of each procedure.
            together: Whether each procedure is a collective.
            is_whole: Whether all calls were read.
            has_cpu: Whether CPU times were recorded.
        """
        state = self._state
        begin = int(state.init) if state.has_init else start
        end = int(state.last) if state.seen else start
        column = {name: self._joined(name) for name in tuple(self._parts)}
        if len(column["left"]):
            if column["left"][0] == _NOT_YET:
                column["left"][0] = begin
            if not has_cpu:
                column["burst"][0] += max(int(state.first) - begin, 0)
        symbols = np.empty((len(SymbolDetail), len(column["enter"])), np.int32)
        for detail, numbering in enumerate(self._numbering):
            place = np.empty(lib.numbering_count(numbering), np.int32)
            if lib.numbering_order(numbering, pointer(place, "int32_t *")):
                raise MemoryError
            np.take(place, joined(self._symbols[detail], np.dtype(np.int32)), out=symbols[detail], mode="clip")
            self._symbols[detail] = []
        output, together = output[column["call"]], together[column["call"]]
        return Sequence(
            rank,
            symbols,
            output=output,
            together=together,
            begin_ns=begin,
            end_ns=end,
            is_whole=is_whole,
            is_named=True,
            **column,
        )

    def _joined(self, name: str) -> np.ndarray:
        dtype = np.int64 if name in self._TIMES else np.int32
        return joined(self._parts.pop(name), np.dtype(dtype))
