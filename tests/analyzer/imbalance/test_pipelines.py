"""Pipelines: planted ones are found with their order and cost, and a late rank is none."""

import numpy as np
from uneven_runs import iterative, written

from analyzer.imbalance.pipelines import chain, pipelines
from analyzer.opening import open_trace
from analyzer.parallel import Team

WAITED = np.dtype([("rank", "<i8"), ("cause", "<i8"), ("time", "<i8")])


def waited(*rows):
    return np.array(list(rows), WAITED)


def found_in(tmp_path, **how):
    return pipelines(open_trace(written(tmp_path, iterative(**how))), Team())


def test_a_chain_of_a_run(tmp_path):
    """Rank r waits r times 500 us and the calls between in each of 10 iterations."""
    (found,) = found_in(tmp_path, iterations=10, ranks=4, work=lambda i, r: 100, step_us=500, rings=False)
    assert found.procedure == "MPI_Recv" and found.place == 0
    assert found.ranks == (0, 1, 2, 3) and found.depth == 3
    assert abs(found.last_ns - 10 * 3 * 500_000) <= 10 * 3 * 5000
    assert abs(found.cost_ns - 10 * 6 * 500_000) <= 10 * 6 * 5000


def test_a_chain_beside_an_exchange(tmp_path):
    """Both by MPI_Recv, whose places are not known: the tags tell them apart."""
    (found,) = found_in(tmp_path, iterations=10, ranks=4, work=lambda i, r: 3000 if i % 4 == r else 1000, step_us=500)
    assert found.ranks == (0, 1, 2, 3)


def test_a_late_rank_is_no_pipeline(tmp_path):
    """In a ring its neighbours wait for it."""
    assert found_in(tmp_path, iterations=10, ranks=6, work=lambda i, r: 5000 if r == 2 else 100) == ()


def test_an_imbalance_that_moves_is_none(tmp_path):
    assert found_in(tmp_path, iterations=24, ranks=6, work=lambda i, r: 500 if i % 6 == r else 100) == ()


def test_waiting_for_one_by_way_of_others_is_none():
    """All wait the same time."""
    assert chain(waited((1, 0, 900), (2, 1, 900), (3, 2, 900), (4, 3, 900))) is None


def test_a_circle_is_none():
    assert chain(waited((1, 0, 100), (2, 1, 200), (0, 2, 300))) is None


def test_a_wavefront_on_a_grid():
    """On 3 x 3 ranks each waits for the ranks above and to the left, in proportion to its distance from the corner."""
    rows = []
    for rank in range(1, 9):
        x, y = rank % 3, rank // 3
        causes = [rank - 1] * (x > 0) + [rank - 3] * (y > 0)
        rows += [(rank, cause, (x + y) * 100 // len(causes)) for cause in causes]
    order, depth, last, cost = chain(waited(*rows))
    assert order == (0, 1, 3, 2, 4, 6, 5, 7, 8) and depth == 4 and last == 400
    assert cost == sum(time for *_, time in rows)


def test_a_little_waiting_for_others_does_not_hide_it():
    found = chain(waited((1, 0, 100), (1, 2, 9), (2, 1, 200), (3, 2, 300), (3, 0, 20)))
    assert found == ((0, 1, 2, 3), 3, 320, 629)
