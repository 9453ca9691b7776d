"""Moving imbalances, slow iterations and drifts: planted, and in noise that has none."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.imbalance.analysis import (
    _NOT_SLOW,
    Drift,
    MovingImbalance,
    SlowIterations,
    _mostly_above,
    uneven_iterations,
)

RANKS = 4


def found_in(computing):
    """Iterations that end when the last rank has computed."""
    edges = np.concatenate([[0], np.cumsum(computing.max(axis=0))])
    return uneven_iterations(np.tile(edges, (len(computing), 1)), computing)


def even(iterations, ranks=RANKS, ns=1000):
    return np.full((ranks, iterations), ns, np.int64)


def test_an_even_run_has_nothing():
    found = found_in(even(40))
    assert found.moving is None and not found.slow and found.drift is None


def test_the_rank_that_computes_longest_moves():
    """3000 instead of 1000 on the next rank each time: 1500 of 3000 on average, and the same sum on all."""
    computing = even(40)
    for i in range(40):
        computing[i % RANKS, i] = 3000
    assert found_in(computing).moving == MovingImbalance(
        within=0.5, of_sums=1.0, cost_ns=40 * 3000 - 10 * 3000 - 30 * 1000, in_turn=True, ranks=RANKS
    )


def test_an_imbalance_that_stays_does_not_move():
    computing = even(40)
    computing[2] = 3000
    assert found_in(computing).moving is None


def test_one_in_twenty_is_slow_on_one_rank():
    computing = even(100)
    computing[1, 19::20] += 4000
    assert found_in(computing).slow == (
        SlowIterations(numbers=(20, 40, 60, 80, 100), every=20, rank=1, typical_ns=1000, mean_ns=5000, cost_ns=20_000),
    )


def test_two_reasons_are_told_apart():
    """Iteration 7 because of rank 3, 30 and 33 because of none: nobody computes longer."""
    computing = even(50)
    computing[3, 6] = 9000
    lengths = computing.max(axis=0)
    lengths[[29, 32]] = 4000
    edges = np.tile(np.concatenate([[0], np.cumsum(lengths)]), (RANKS, 1))
    first, second = uneven_iterations(edges, computing).slow
    assert (first.numbers, first.rank, first.cost_ns) == ((7,), 3, 8000)
    assert (second.numbers, second.rank, second.every, second.cost_ns) == ((30, 33), -1, 0, 6000)


@pytest.mark.parametrize("seed", range(5))
def test_regular_ones_are_found_in_noise(seed):
    """Noise makes many others as slow, but no rule."""
    noise = np.random.default_rng(seed)
    computing = even(200) + noise.exponential(300, (RANKS, 200)).astype(np.int64)
    computing[2, 9::10] += 1200
    slow = next(one for one in found_in(computing).slow if one.every)
    assert (slow.numbers, slow.every, slow.rank) == (tuple(range(10, 201, 10)), 10, 2)


def waiting_for_cpus(seed, planted):
    """200 iterations of 7 ms on ranks that often wait for a CPU, most of the time in MPI; rank 1 may take 60 ms more in
    each 20th. Edges and computing."""
    noise = np.random.default_rng(seed)
    shape = (RANKS, 200)
    computing = even(200, ns=3000) + noise.choice([0, 20_000, 40_000, 60_000], shape, p=[0.85, 0.08, 0.05, 0.02])
    computing[1, 19::20] += planted
    in_mpi = noise.choice([0, 20_000, 40_000, 80_000], 200, p=[0.4, 0.3, 0.2, 0.1]) + noise.exponential(15_000, 200)
    lengths = computing.max(axis=0) + 4000 + in_mpi.astype(np.int64)
    return np.tile(np.concatenate([[0], np.cumsum(lengths)]), (RANKS, 1)), computing


@pytest.mark.parametrize("seed", range(5))
def test_regular_ones_are_found_where_others_use_the_cpus(seed):
    slow = [one for one in uneven_iterations(*waiting_for_cpus(seed, 60_000)).slow if one.every]
    assert [(one.every, one.rank, len(one.numbers)) for one in slow] == [(20, 1, 10)]


@pytest.mark.parametrize("seed", range(5))
def test_an_imbalance_that_moves_makes_no_slow_ones_of_others(seed):
    """One in 20 is slow on rank 1, which computes longest in each fourth one as well: not one in 10."""
    computing = even(200, ns=3000) + np.random.default_rng(seed).integers(0, 100, (RANKS, 200))
    for k in range(200):
        computing[k % RANKS, k] += 4000
    computing[1, 19::20] += 60_000
    slow = [one for one in found_in(computing).slow if one.every]
    assert [(one.every, one.rank, len(one.numbers)) for one in slow] == [(20, 1, 10)]


@pytest.mark.parametrize("seed", range(5))
def test_ranks_that_wait_for_cpus_have_no_rule(seed):
    assert not any(one.every for one in uneven_iterations(*waiting_for_cpus(seed, 0)).slow)


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1), st.integers(12, 120))
def test_noise_has_no_rule(seed, iterations):
    noise = np.random.default_rng(seed)
    computing = even(iterations) + noise.exponential(500, (RANKS, iterations)).astype(np.int64)
    found = found_in(computing)
    assert not any(one.every > 1 and len(one.numbers) > 3 for one in found.slow)


def test_iterations_grow():
    """From 1000 to 1990 on all ranks; the medians of the first and last fifth are at 0..9 and 90..99."""
    computing = even(100) + np.arange(100) * 10
    assert found_in(computing).drift == Drift(
        first_ns=1095,
        last_ns=1895,
        cost_ns=sum(max(0, 1000 + 10 * i - 1095) for i in range(100)),
        rank=0,
        everybody=True,
    )


def test_one_rank_slows_down():
    computing = even(100)
    computing[3] += np.arange(100) * 10
    drift = found_in(computing).drift
    assert (drift.rank, drift.everybody) == (3, False)


def test_ranks_without_iterations_do_not_count():
    computing = even(40)
    computing[1, 19] = 50_000
    edges = np.concatenate([[0], np.cumsum(computing.max(axis=0))])
    every = np.stack([np.full(41, -1), edges, edges, edges])
    (slow,) = uneven_iterations(every, np.concatenate([np.zeros((1, 40), np.int64), computing[[0, 1, 2]]])).slow
    assert slow.rank == 2


def test_few_iterations_say_nothing():
    computing = even(4)
    computing[0, 2] = 9000
    assert found_in(computing) == uneven_iterations(np.zeros((0, 5), np.int64), np.zeros((0, 4), np.int64))


@given(st.integers(1, 12), st.integers(30, 90), st.floats(0.0, 0.9), st.integers(0, 20))
def test_none_that_the_quantile_reaches_is_left_out(apart, count, share, seed):
    """By asking for the quantile of all of them. Where none is slow, all are left out."""
    lengths = np.random.default_rng(seed).random(count)
    every = [first for first in range(apart) if np.quantile(lengths[first::apart], _NOT_SLOW) >= share]
    assert set(every) <= set(_mostly_above(lengths < share, apart))
    if count >= 4 * apart:
        assert _mostly_above(lengths < 2, apart) == []
