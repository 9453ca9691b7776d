"""Whether passes are parts or multiples of what a program repeats; paths of calls are not known here."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loop_programs import program, rank_of
from memory_trace import MemoryTrace

from analyzer.parallel import Team
from analyzer.structure.calls.multiples import grouped_by_computing, with_peeled_pass
from analyzer.structure.calls.rank_loops import loop_of
from analyzer.structure.calls.sequence import sequence_of
from analyzer.structure.levels.run_structure import IterationMethod, structure

HALO = ["Irecv 1", "Irecv 2", "Isend 1", "Isend 2", "Waitall"]
START, END = ["Bcast", "Bcast"], ["Gather"]


def halo(ns):
    """Return an exchange, before which `ns` are computed."""
    first, *rest = HALO
    return [(first, ns), *((one, 10) for one in rest)]


def loops(trace):
    return structure(trace, Team(), IterationMethod.CALLS)


@pytest.mark.parametrize("jitter", [0.0, 0.1])
@pytest.mark.parametrize(
    ("stages", "count"),
    [([9000, 3000, 3000], 40), ([60_000, 200, 200, 200, 200], 45), ([40_000, *[1000] * 9], 20), ([7000, 2000], 60)],
)
def test_stages_that_only_compute_make_passes_of_several_exchanges(stages, count, jitter):
    steps = [call for ns in stages for call in halo(ns)] * count
    found = loops(program([*START, *steps, *END], ranks=3, jitter=jitter)).main
    assert found.count == count
    assert [part.count for part in found.inside if part.iterations] in ([len(stages)], [])


def test_a_step_that_computes_longer_now_and_then_makes_no_loop_around():
    """Each 20th computes three times as long, less than the others together."""
    steps = [call for number in range(200) for call in halo(9000 if number % 20 == 19 else 3000)]
    assert loops(program([*START, *steps, *END])).main.count == 200


@settings(max_examples=8)
@given(st.integers(0, 2**32 - 1), st.integers(20, 400), st.sampled_from([0.1, 0.5, 1.0]))
def test_noise_groups_no_passes(seed, count, sigma):
    """Computation that varies at random, by an even share or by factors."""
    rng = np.random.default_rng(seed)
    steps = [call for ns in rng.lognormal(8, sigma, count) for call in halo(round(ns))]
    calls = sequence_of(program([*START, *steps, *END]), 0)
    assert loop_of(calls).count in (count, count - 1, count + 1)


def test_what_computing_repeats_by_need_not_fill_the_loop():
    """41 passes: 13 groups of three that begin with the long one, and one pass before and one behind them."""
    bursts = np.array([200, *[900, 200, 200] * 13, 900], float)
    calls = sequence_of(program([*START, *(call for ns in bursts for call in halo(ns)), *END]), 0)
    plain = replace(loop_of(calls), begins=2 + 5 * np.arange(41), end=2 + 5 * 41)
    found = grouped_by_computing(plain, calls.burst)
    assert (found.count, found.begins[0], found.end) == (13, 2 + 5, 2 + 5 * 40)


@pytest.mark.parametrize("turns", [["Sendrecv 1", "Sendrecv 2"], ["Sendrecv 1", "Sendrecv 2", "Sendrecv 3"]])
@pytest.mark.parametrize("shared", [[], ["Allreduce"]])
def test_partners_that_take_turns_make_no_longer_pass(turns, shared):
    steps = [call for number in range(60) for call in ((turns[number % len(turns)], 5000), *((s, 900) for s in shared))]
    assert loops(program([*START, *steps, *END])).main.count == 60


def test_directions_of_one_pass_are_no_passes():
    """Only before the first of two exchanges is computed."""
    steps = [("Sendrecv 1", 5000), ("Sendrecv 2", 20), ("Allreduce", 900)] * 40
    assert loops(program([*START, *steps, *END])).main.count == 40


@pytest.mark.parametrize("ranks", [4, 9])
def test_roots_that_take_turns(ranks):
    steps = [(f"Bcast {number % ranks}", 5000) for number in range(6 * ranks)]
    assert loops(MemoryTrace([rank_of(["Barrier", *steps, "Gather"]) for _ in range(ranks)])).main.count == 6 * ranks


def test_a_first_pass_that_the_compiler_took_out_of_the_loop_is_one():
    calls = sequence_of(program([*START, *[*HALO, "Allreduce"] * 30, *END]), 0)
    found = loop_of(calls)
    short = replace(found, begins=found.begins[1:])
    whole = slice(0, len(calls))
    assert with_peeled_pass(calls, whole, short).count == 30
    read = replace(calls, clocks=(np.arange(len(calls)) >= short.begins[0]).astype(np.int32))
    assert with_peeled_pass(read, whole, short).count == 29  # the clock is read between them


def test_messages_that_depend_on_data_are_counted_by_collectives():
    rng = np.random.default_rng(5)
    steps = []
    for _ in range(70):
        steps += ["Alltoall", *(f"Irecv {rng.integers(1, 9)}" for _ in range(rng.integers(0, 7)))]
        steps += [*(f"Isend {rng.integers(1, 9)}" for _ in range(rng.integers(1, 7))), "Waitall"]
    assert loops(program(steps)).main.count == 70


def test_whether_a_test_or_a_wait_completes_a_request_does_not_count():
    rng = np.random.default_rng(6)
    steps = []
    for completed in rng.random(80) < 0.5:
        steps += [("Irecv 1", 3000), "Isend 2", *["Testall"] * int(rng.integers(1, 9)), *["Waitall"] * int(completed)]
    assert loops(program([*START, *steps, *END])).main.count == 80


def test_lengths_that_change_with_an_outer_loop_tell_it():
    steps = []
    for number in range(9):
        steps += [f"Send 1 {4**number}", "Recv 1"] * 80 + ["Barrier"]
    assert loops(program(steps)).main.count == 9


def test_calls_that_begin_a_loop_around():
    """A sum before the first of 26 passes, and none behind the last one; a norm behind each 26th is a step."""
    body = [*HALO, "Allreduce", "Allreduce"]
    assert loops(program(["Bcast", *["Allreduce", *body * 26] * 16, "Gather"])).main.count == 16
    found = loops(program(["Bcast", *[*body * 26, "Allreduce"] * 16, "Gather"])).main
    assert (found.count, found.every) == (16 * 26, (26,))


@pytest.mark.parametrize("tasks", [(30, 28, 32), (10, 50, 30), (7, 20, 63)])
def test_tasks_that_a_master_hands_out(tasks):
    rng = np.random.default_rng(7)
    order = rng.permutation(np.repeat(np.arange(1, 4), tasks)).tolist()
    master = [call for worker in order for call in (f"Recv {worker}", f"Send {worker}")]
    workers = [["Recv 0", ("Send 0", 4000)] * count for count in tasks]
    found = loops(MemoryTrace([rank_of(steps) for steps in (master, *workers)])).main
    assert found.count == sorted(tasks)[1]
    assert (found.tasks.fewest, found.tasks.most, found.tasks.total) == (min(tasks), max(tasks), sum(tasks))
