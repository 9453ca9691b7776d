"""Two runs of the same are told apart by mistake in at most 5 % of all cases; planted changes are found."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student
from statsmodels.stats.multitest import multipletests

from analyzer.differences.batches import batches
from analyzer.differences.compare import compare
from analyzer.differences.figures import COMPUTING, ITERATION, RUN_TIME, WAITING, Figure, FigureFamily, RunFigures
from analyzer.differences.noise import (
    DifferenceVerdict,
    SampleOrigin,
    compare_iterations,
    compare_repetitions,
    corrected,
    spread,
)
from analyzer.differences.rows import GROUPS
from analyzer.structure.iterations import IterationEvidence, Iterations

MS = 1e6
CALLS = [Figure(FigureFamily.CALL, f"MPI_{name}") for name in ("Send", "Recv", "Allreduce", "Wait", "Bcast", "Barrier")]


@settings(max_examples=20)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_many_comparisons_are_corrected_as_by_statsmodels(p):
    assert corrected(np.array(p)) == pytest.approx(multipletests(p, method="holm")[1], abs=1e-12)


def test_repetitions_are_compared_by_the_formula_of_student():
    before, after = np.array([[10.0], [11.0], [12.0]]), np.array([[14.0], [15.0]])
    # pooled variance ((1 + 0 + 1) + (0.25 + 0.25)) / 3; standard error sqrt(2.5 / 3 * (1/3 + 1/2)); difference 3.5
    error = np.sqrt(2.5 / 3 * (1 / 3 + 1 / 2))
    found = compare_repetitions(before, after)
    assert found.p[0] == pytest.approx(2 * student.sf(3.5 / error, 3))
    width = student.ppf(0.975, 3) * error
    assert (found.low[0], found.high[0]) == pytest.approx((3.5 - width, 3.5 + width))


def test_one_run_is_compared_with_three():
    found = compare_repetitions(np.array([[10.0], [11.0], [12.0]]), np.array([[11.0]]))
    assert found.p[0] == pytest.approx(1.0)
    assert compare_repetitions(np.array([[5.0], [5.0]]), np.array([[5.0], [5.0]])).p[0] == 1.0
    assert compare_repetitions(np.array([[5.0], [5.0]]), np.array([[6.0], [6.0]])).p[0] == 0.0


def test_the_interval_of_iterations_holds_the_true_difference():
    rng, held = np.random.default_rng(7), 0
    for _ in range(100):
        found = compare_iterations(rng.normal(100, 5, (32, 1)), rng.normal(110, 5, (32, 1)))
        held += found.low[0] <= 10 <= found.high[0]
    assert 85 <= held <= 100  # 95 on average; 85 is five standard deviations away


def iterations_of(lengths):
    edges = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Iterations(1, edges[None, :], int(lengths[0]), "1 reduction", IterationEvidence.CALLS)


def test_batches_are_means_of_neighbours_and_longer_where_neighbours_are_alike():
    rng = np.random.default_rng(3)
    independent = rng.normal(1000, 50, 320)
    found = batches(iterations_of(independent))
    lengths = np.diff(np.concatenate([[0], np.cumsum(independent)]).astype(np.int64))
    assert len(found) == 32 and (found.iterations == 10).all()
    assert found.lengths_ns == pytest.approx(lengths.reshape(32, 10).mean(axis=1))
    drift = np.linspace(1000, 1200, 320)
    assert len(batches(iterations_of(drift))) == 8
    assert batches(iterations_of(independent[:7])) is None


def test_a_time_belongs_to_the_batch_around_it():
    found = batches(iterations_of(np.full(8, 100)))
    rank, time = np.zeros(6, np.int64), np.array([0, 99, 100, 799, 800, 5000])
    assert found.batch_numbers(rank, time).tolist() == [0, 0, 1, 7, 8, 8]


def test_iterations_that_follow_each_other_are_no_alarm():
    """Each is 0.7 times like the one before: 320 of them say less than 320 independent ones."""
    rng, wrong = np.random.default_rng(19), 0
    for _ in range(100):
        sides = []
        for _ in range(2):
            noise, lengths = rng.normal(0, 50, 320), np.zeros(320)
            for k in range(320):
                lengths[k] = 0.7 * lengths[k - 1] + noise[k]
            sides.append(batches(iterations_of(10_000 + lengths)).lengths_ns[:, None])
        wrong += compare_iterations(*sides, intervals=False).p[0] < 0.05 / GROUPS
    assert wrong <= 5


def run(rng, *, iterations=64, ranks=4, scale=1.0, slow_rank=None, slow_call=None, between=0.0, spread=0.05):
    """A run of which every figure is drawn: gamma-distributed times, so that some are far above the mean. `between`: by
    how much runs differ in all their iterations."""
    own = scale * (1 + between * rng.normal())

    def drawn(mean, *shape):
        return own * rng.gamma(1 / spread**2, mean * spread**2, shape)

    rank_samples = drawn(8 * MS, 32, ranks)
    if slow_rank is not None:
        rank_samples[:, slow_rank] *= 1.1
    samples = {figure: drawn(MS, 32) for figure in CALLS}
    if slow_call is not None:
        samples[CALLS[slow_call]] *= 1.1
    samples[WAITING] = drawn(2 * MS, 32)
    samples[COMPUTING] = rank_samples.mean(axis=1)
    inside = sum(samples[figure] for figure in CALLS)
    samples[RUN_TIME] = samples[ITERATION] = samples[COMPUTING] + inside
    values = {figure: float(of.mean()) * iterations for figure, of in samples.items()}
    values[ITERATION] /= iterations
    by_rank = rank_samples.mean(axis=0) * iterations
    return RunFigures(
        "run.h5", "./app", ranks, ranks, values, by_rank, samples, rank_samples, iterations, "1 reduction"
    )


def flagged(difference):
    return any(row.verdict is DifferenceVerdict.MORE for row in difference.rows)


def test_no_false_alarms_from_iterations():
    rng = np.random.default_rng(11)
    wrong = sum(flagged(compare([run(rng, spread=0.3)], [run(rng, spread=0.3)])) for _ in range(40))
    assert wrong <= 2  # 5 %


def test_runs_that_differ_a_little_in_all_their_iterations_are_no_alarm():
    rng = np.random.default_rng(12)
    pairs = [compare([run(rng, scale=1.03, spread=0.01)], [run(rng, spread=0.01)]) for _ in range(20)]
    assert not any(flagged(pair) for pair in pairs)
    assert all(
        pair.run_time.verdict is DifferenceVerdict.UNKNOWN and "less than 5%" in pair.run_time.why for pair in pairs
    )


def test_no_false_alarms_from_repetitions():
    rng, wrong = np.random.default_rng(13), 0
    for _ in range(60):
        sides = [[run(rng, between=0.03) for _ in range(number)] for number in (3, 3)]
        found = compare(*sides)
        assert found.basis is SampleOrigin.REPETITIONS
        wrong += flagged(found)
    assert wrong <= 3


@pytest.mark.parametrize("number", [1, 4])
def test_a_rank_that_computes_a_tenth_longer_is_found_alone(number):
    rng = np.random.default_rng(14)
    sides = [[run(rng, slow_rank=slow, between=0.004, spread=0.03) for _ in range(number)] for slow in (None, 2)]
    found = compare(*sides)
    assert [
        row.figure.name for row in found.family_rows(FigureFamily.RANK) if row.verdict is DifferenceVerdict.MORE
    ] == ["rank 2"]
    assert found.family_rows(FigureFamily.RANK)[0].relative == pytest.approx(0.1, abs=0.03)


@pytest.mark.parametrize("number", [1, 4])
def test_a_procedure_that_takes_a_tenth_longer_is_found_alone(number):
    rng = np.random.default_rng(15)
    sides = [[run(rng, slow_call=slow, between=0.002, spread=0.02) for _ in range(number)] for slow in (None, 3)]
    found = compare(*sides)
    assert [row.figure for row in found.family_rows(FigureFamily.CALL) if row.verdict is DifferenceVerdict.MORE] == [
        CALLS[3]
    ]


def test_what_single_batches_vary_by_is_not_told_from_one_run_each():
    """A third more in all iterations, of which each varies by a quarter: other programs may be at work."""
    rng = np.random.default_rng(22)
    found = compare([run(rng, spread=0.25)], [run(rng, spread=0.25, scale=1.35)])
    unsure = [row for row in found.family_rows(FigureFamily.CALL) if row.p <= 0.05]
    assert unsure and {row.verdict for row in unsure} == {DifferenceVerdict.UNKNOWN}
    assert all("single batches" in row.why for row in unsure)
    assert spread(np.array([1.0, 2, 3, 4, 5, 1000])) == pytest.approx(1.5 / 0.6744897501960817)


def test_without_samples_nothing_is_told():
    rng = np.random.default_rng(16)
    bare = [run(rng, scale=scale) for scale in (1.0, 2.0)]
    bare = [RunFigures(one.file, one.command, 4, 4, one.values, one.by_rank) for one in bare]
    found = compare(bare[:1], bare[1:])
    assert found.basis is SampleOrigin.NONE
    assert {row.verdict for row in found.rows} == {DifferenceVerdict.UNKNOWN}


def test_other_iterations_are_no_samples_of_the_same():
    rng = np.random.default_rng(17)
    one, other = run(rng), run(rng, scale=2)
    found = compare([one], [RunFigures(**{**vars(other), "body": "2 exchanges"})])
    assert found.basis is SampleOrigin.NONE and "2 exchanges" in found.notes[0]


def test_iterations_of_ranks_that_share_cpus_are_no_samples():
    rng = np.random.default_rng(20)
    crowded = RunFigures(**{**vars(run(rng, scale=2)), "shares_cpus": True})
    found = compare([run(rng)], [crowded])
    assert found.basis is SampleOrigin.NONE and "share CPUs" in found.notes[0]
    assert compare([run(rng)] * 2, [crowded, run(rng, scale=2)]).basis is SampleOrigin.REPETITIONS


def test_more_iterations_of_the_same_are_no_noise_and_no_slower_iteration():
    rng = np.random.default_rng(21)
    found = compare([run(rng, iterations=64)], [run(rng, iterations=192)])
    assert found.run_time.verdict is DifferenceVerdict.MORE and found.run_time.why == "192 iterations instead of 64"
    assert found.run_time.p is None
    assert found.row(ITERATION).verdict is DifferenceVerdict.WITHIN
    nearly = compare([run(rng, iterations=64)], [run(rng, iterations=65)])
    assert not flagged(nearly)


def test_other_rank_counts_are_not_compared_rank_by_rank():
    rng = np.random.default_rng(18)
    found = compare([run(rng, ranks=4)], [run(rng, ranks=8)])
    assert not found.family_rows(FigureFamily.RANK) and "4 and 8 ranks" in found.notes[0]
