"""Iterations by the steps of each rank's signals alone: kinds of calls and computing, no names, partners or places."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loop_programs import program

from analyzer.parallel import Team
from analyzer.structure.iterations import IterationEvidence
from analyzer.structure.levels.run_structure import IterationMethod, structure
from analyzer.structure.signals.from_calls import steps_of

US = 1000


def halo(us):
    """Return an exchange after `us` of computing; a little is computed between its calls."""
    return [("Irecv 1", us * US), ("Irecv 2", 200), ("Isend 1", 300), ("Isend 2", 200), ("Waitall", 100)]


def total(us=0.2):
    return [("Allreduce", round(us * US))]


def found_in(steps, jitter=0.02):
    return structure(program(steps, ranks=4, jitter=jitter), Team(), IterationMethod.SIGNALS)


def count_of(steps):
    main = found_in(steps).main
    return main.count if main else None


def test_calls_of_one_exchange_are_one_step():
    calls = steps_of(program(["Barrier", *halo(100) * 3, *total(50)]), 0)
    assert len(calls) == 5 and calls.together.tolist() == [True, False, False, False, True]
    assert calls.burst[1:4].tolist() == [100_800] * 3


def test_a_loop_says_what_it_was_found_by():
    main = found_in([*halo(100), *total()] * 40).main
    assert main.count == 40 and main.iterations.source is IterationEvidence.SIGNALS
    assert main.iterations.body == "1 wait for messages, 1 group communication"


@given(st.integers(5, 80), st.sampled_from([20, 150, 4000]), st.integers(0, 3))
def test_a_loop_of_exchanges_alone(count, us, set_up):
    """Calls of set-up, which compute little, are no passes."""
    assert count_of([*["Barrier"] * set_up, *halo(us) * count, *["Barrier"] * (set_up % 2)]) == count


@pytest.mark.parametrize("extra", [20, 60])
def test_first_exchange_takes_longer(extra):
    first = [(name, own + extra * US) for name, own in halo(100)]
    assert count_of([*first, *total(), *[*halo(100), *total()] * 49]) == 50


def test_computing_behind_the_last_exchange():
    """Passes begin with their exchange; a burst follows each."""
    steps = [*halo(3), *[*halo(400)] * 29, ("Barrier", 400 * US)]
    assert count_of(steps) in (30, 31)


def test_each_pass_is_longer_than_the_last_one():
    steps = [one for k in range(60) for one in (*halo(150 + 8 * k), *total())]
    assert count_of(steps) == 60


def test_stages_without_exchange():
    assert count_of([*halo(150), *halo(150), *halo(480)] * 36) == 36


def test_short_exchanges_and_one_long_computation():
    assert count_of([*halo(1500), *halo(12) * 5] * 40) == 40


def test_the_loop_inside_gets_shorter():
    assert count_of([one for k in range(26, 0, -1) for one in (*total(60), *halo(40) * k)]) == 26


@pytest.mark.parametrize("seed", range(1, 4))
def test_the_loop_inside_converges(seed):
    passes = np.random.default_rng(seed).integers(3, 15, 20).tolist()
    steps = [one for k in passes for one in (*halo(350), *[*halo(50), *total()] * k)]
    assert count_of(["Barrier", *steps]) == 20


def test_a_solver_inside_a_step():
    inner = [*halo(50), *total(), *total(20)]
    assert count_of([one for _ in range(12) for one in (*total(), *inner * 25, *halo(40), *total())]) == 12


def test_three_loops_deep():
    rng = np.random.default_rng(2)
    steps = []
    for _ in range(8):
        steps += total()
        for j in range(4):
            steps += [*halo(260 if j == 0 else 60), *halo(60) * int(rng.integers(4, 8)), *total(80)]
    assert count_of(steps) == 8


def test_what_is_done_now_and_then():
    steps = [one for k in range(120) for one in (*halo(180), *(total() if k % 10 == 9 else ()))]
    assert count_of(steps) == 120


@pytest.mark.parametrize("seed", range(6))
def test_calls_at_random_are_no_loop(seed):
    rng = np.random.default_rng(seed)
    steps = [one for _ in range(24) for one in
             (halo, total)[int(rng.integers(2))](float(40 + rng.integers(2500)))]  # fmt: skip
    assert count_of([(name, round(burst)) for name, burst in steps]) is None


def test_a_signal_that_is_named_is_looked_at_alone():
    """Then autocorrelation finds the period."""
    trace = program([*halo(100), *total()] * 100, ranks=4)
    assert structure(trace, Team(), IterationMethod.SIGNALS, ["computing"]).main.iterations.body.endswith("computing")
