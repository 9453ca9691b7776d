"""Calls as symbols, against what their definition says call by call."""

from __future__ import annotations

from math import frexp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loop_programs import program
from random_runs import runs
from synthetic import write_run

from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.structure.calls.candidates import candidates, in_context, longest_first
from analyzer.structure.calls.sequence import FEWEST_CALLS, SymbolDetail, _Columns, _kinds, sequence_of
from analyzer.structure.iterations import mean_lengths
from analyzer.structure.levels import agreed_loops
from analyzer.structure.levels.loop_tree import typical
from analyzer.structure.levels.run_structure import IterationMethod, structure
from analyzer.trace import CALL, CallPaths, Counters
from tracelib.schema.procedures import (
    ASKING_MPI,
    BY_A_ROOT,
    CLOCKS,
    FINALIZE,
    INIT,
    POLLS,
    TESTS,
    WAITS,
    base_name,
    is_local,
)


def same(numbers, of) -> bool:
    """Whether numbers are dense, and equal where what they stand for is equal."""
    pairs = set(zip(numbers, of, strict=True))
    return len(pairs) == len(set(of)) == len(set(numbers)) and set(numbers) == set(range(len(pairs)))


@given(st.lists(st.integers(1, 6), min_size=3, max_size=40))
def test_how_many_waits_some_requests_take_changes_no_sequence(waits):
    """Fewer of them return if messages come together: MEEP makes 2 to 8 in an exchange of 5."""

    def symbols(numbers):
        exchange = ["Irecv 1", "Irecv 1", "Isend 1", "Isend 1"]
        steps = [call for number in numbers for call in (*exchange, *["Waitsome"] * number)]
        return sequence_of(program(steps), 0).symbols

    assert np.array_equal(symbols(waits), symbols([1] * len(waits)))


@settings(max_examples=60)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.sampled_from([1, 2, 4, 8, 16]))
def test_numbers_of_so_many_symbols_in_a_row(symbols, context):
    rows = [tuple(symbols[max(at + 1 - context, 0) : at + 1]) for at in range(len(symbols))]
    assert same(in_context(np.array(symbols), context).tolist(), rows)


def test_a_run_of_symbols_that_hardly_ever_repeat():
    symbols = np.random.default_rng(3).permutation(30_000)
    for context in (1, 16):
        assert sorted(in_context(symbols, context).tolist()) == list(range(30_000))
    assert candidates(symbols) == []


@pytest.mark.parametrize("rows", range(2))
def test_where_slots_that_take_turns_occur(rows):
    symbols = np.array([9 - rows, *[0, 1, 2] * 40, 3])
    found = longest_first(candidates(symbols), np.arange(len(symbols)))
    first = next(one for one in found if one.context == 1)
    assert (first.slots, first.at.tolist()) == (3, list(range(1, 121, 3)))


def plain_paths(trace, rank, count):
    """The path of each call of a rank; 0 where none was recorded."""
    known = trace.extra(CallPaths)
    return np.concatenate(list(known.of(rank))).tolist() if known.known else [0] * count


def plainly(trace, rank):
    """The calls of the busiest thread of a rank: enter, exit, left, burst, clocks and what tells them apart."""
    rows = np.concatenate(list(trace.calls(rank)))
    counters = trace.extra(Counters)
    names = [counter.name for counter in counters.known]
    cpu = None
    if "CPU_NS" in names and trace.threads[rank] == 1:
        cpu = np.concatenate([counts.burst[:, names.index("CPU_NS")] for counts in counters.counts(rank)]).tolist()
    thread = np.bincount(rows["thread"]).argmax()
    mine = [(row, cpu[at] if cpu else None) for at, row in enumerate(rows) if row["thread"] == thread]
    name = [base_name(trace.procedures[row["call"]]) for row, _ in mine]
    paths = plain_paths(trace, rank, len(rows))
    aside = INIT | FINALIZE | POLLS | CLOCKS | ASKING_MPI | {"MPI_Waitsome"} | {one for one in name if is_local(one)}
    if TESTS & set(name) and sum(one not in aside | WAITS for one in name) >= FEWEST_CALLS:
        aside |= WAITS  # either may complete a request
    if sum(one not in aside for one in name) < FEWEST_CALLS:
        aside = INIT | FINALIZE
    inits = [int(row["exit"]) for (row, _), one in zip(mine, name, strict=True) if one in INIT]
    out = left = inits[0] if inits else trace.span(rank)[0]
    burst = clocks = 0
    paths = [path for path, row in zip(paths, rows, strict=True) if row["thread"] == thread]
    for (row, measured), one, path in zip(mine, name, paths, strict=True):
        burst += max(int(row["enter"]) - out if measured is None else measured, 0)
        clocks += int(row["count"]) if one in CLOCKS else 0
        if one not in aside:
            peer, size = (-1, 0) if one in WAITS else (row["peer"], max(row["sent"], row["received"]))
            what, comm = (int(row["call"]), path), int(row["comm"])
            peer = -1 if path and one in BY_A_ROOT else int(peer)
            details = (*what, comm, peer, frexp(float(size))[1]), (*what, comm, peer), (*what, 0 if path else comm)
            yield (int(row["enter"]), int(row["exit"]), left, burst, clocks), details
            burst = 0
        left, out = int(row["exit"]), int(row["enter"] + row["inside"] + row["tracer"])


@settings(max_examples=15)
@given(runs())
def test_a_sequence_call_by_call(tmp_path_factory, made):
    ranks, tsc_per_us = made
    path = write_run(tmp_path_factory.mktemp("run"), ranks, tsc_per_us=tsc_per_us)
    trace = open_trace(str(path), matched=False)
    try:
        for rank in range(trace.size):
            found, wanted = sequence_of(trace, rank), list(plainly(trace, rank))
            columns = (found.enter, found.exit, found.left, found.burst, found.clocks)
            assert list(zip(*(column.tolist() for column in columns), strict=True)) == [times for times, _ in wanted]
            for detail in SymbolDetail:
                assert same(found.symbols[detail].tolist(), [details[detail] for _, details in wanted])
    finally:
        trace.close()


def test_loops_inside_are_the_same_whether_sequences_are_kept_or_read_again(monkeypatch):
    body = ["Bcast", *["Irecv 1", "Isend 1", "Waitall", "Allreduce"] * 7, "Gather", *["Alltoall", "Scan"] * 5]
    trace = program([*body * 12, "Gather"], ranks=3, jitter=0.1)
    kept = structure(trace, Team(), IterationMethod.CALLS).loops
    monkeypatch.setattr(agreed_loops, "MOST_KEPT", 0)
    again = structure(trace, Team(), IterationMethod.CALLS).loops
    assert [part.level for part in kept] == [1, 2, 2]
    for one, other in zip(kept, again, strict=True):
        assert (one.iterations.edges == other.iterations.edges).all()
        assert (one.total, one.calls, one.iterations.body) == (other.total, other.calls, other.iterations.body)


@settings(max_examples=60)
@given(st.data(), st.integers(1, 4), st.integers(3, 12))
def test_the_typical_iteration_is_the_nearest_to_each_ranks_median(data, ranks, count):
    numbers = st.integers(1, 50)
    lengths = np.array(data.draw(st.lists(st.lists(numbers, min_size=count, max_size=count), min_size=ranks,
                                          max_size=ranks)))  # fmt: skip
    edges = np.concatenate([np.zeros((ranks, 1), int), np.cumsum(lengths, axis=1)], axis=1)
    begins = data.draw(st.lists(st.integers(0, 400), max_size=4))
    flushes = np.array([(begin, begin + data.draw(st.integers(0, 60))) for begin in begins], np.int64).reshape(-1, 2)
    off = []
    for k in range(count):
        away = [abs(row[k] / max(np.median(row), 1) - 1) for row in lengths]
        first, last = edges[:, k].min(), edges[:, k + 1].max()
        flushed = any(first < end and last > begin for begin, end in flushes.tolist())
        off.append((flushed, np.mean(away) + (k in (0, count - 1)), k))
    number = typical(edges, flushes)
    best = min(value for flushed, value, _ in off if flushed == off[number][0])
    assert off[number][1] == pytest.approx(best)
    assert off[number][0] == all(flushed for flushed, *_ in off)
    unknown = np.vstack([edges, np.full((1, count + 1), -1)])
    assert mean_lengths(unknown) == pytest.approx(lengths.mean(axis=0))


def test_where_places_are_known_neither_roots_nor_a_communicator_that_is_made_anew_tell_calls_apart():
    procedures = ("MPI_Bcast", "MPI_Send", "MPI_Type_commit")
    rows = np.zeros(9, CALL)
    rows["enter"], rows["exit"] = np.arange(9) * 10, np.arange(9) * 10 + 1
    rows["call"], rows["peer"], rows["comm"] = [0, 1, 2] * 3, [0, 1, -1, 2, 1, -1, 3, 2, -1], [0] * 6 + [1] * 3
    places = np.array([5, 6, 7] * 3)
    for paths, wanted in ((places, ([0, 1, 0, 1, 2, 3], [0, 1] * 3)), (None, ([0, 1, 2, 1, 3, 4], [0, 1, 0, 1, 2, 3]))):
        columns = _Columns(_kinds(procedures))
        columns.append(rows, paths, None, 0)
        found = columns.sequence(0, 0, np.zeros(3, np.uint8), np.zeros(3, bool), is_whole=True, has_cpu=False)
        for detail, numbers in zip((SymbolDetail.PEER, SymbolDetail.PROCEDURE), wanted, strict=True):
            assert same(found.symbols[detail].tolist(), numbers)
