"""Generated workloads: their distributions, their sums, and the models of HPL."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import integrate

from analyzer.errors import TracelibError
from analyzer.jobs.application import measured_application
from analyzer.jobs.generator import HyperErlang, WorkloadDesign, generate
from analyzer.jobs.hpl import SELECTED, grids, selected_s, theoretical_s
from analyzer.jobs.study import estimates_s, smallest_k

TABLE = [  # n, nb, p, q, T_AIC, T_theo: section 8 of the TIA specification
    (6144, 8, 1, 1, 57.80, 57.28),
    (30720, 128, 4, 1, 1348.0, 1717.18),
    (30720, 128, 4, 4, 420.86, 451.59),
    (30720, 128, 4, 8, 266.33, 240.66),
    (30720, 128, 7, 8, 200.06, 160.08),
    (12288, 64, 2, 4, 58.53, 62.61),
    (6144, 256, 7, 8, 7.96, 6.81),
    (30720, 8, 1, 1, 6842.6, 6367.75),
]


@pytest.mark.parametrize("n, nb, p, q, selected, theoretical", TABLE)
def test_models_of_hpl(n, nb, p, q, selected, theoretical):
    assert selected_s(*map(float, (n, nb, p, q))) == pytest.approx(selected, rel=2e-3)
    assert theoretical_s(*map(float, (n, nb, p, q))) == pytest.approx(theoretical, rel=2e-3)


def test_grids():
    assert sum(len(grids(nodes)) for nodes in range(1, 8)) == 56
    assert (7, 8) in grids(7) and (1, 1) in grids(1) and (3, 3) in grids(2)


@given(st.floats(1e-3, 1e6), st.floats(0.2, 8))
@settings(max_examples=100)
def test_moments(mean, variation):
    found = HyperErlang.of_variation(mean, variation)
    square = variation**2
    expected = [mean, mean**2 * (1 + square), mean**3 * (1 + square) * (1 + 2 * square)]
    assert [found.moment(number) for number in (1, 2, 3)] == pytest.approx(expected, rel=1e-5)


def test_moments_by_integration():
    """Moments equal the integral over the density, which is a sum of Erlang densities."""
    found = HyperErlang(3, 0.3, (2.0, 0.5))

    def density(t):
        parts = zip((0.3, 0.7), found.stages_s, strict=True)
        return sum(p * t**2 * np.exp(-t / x) / (2 * x**3) for p, x in parts)

    for number in (0, 1, 2, 3):
        numeric, _ = integrate.quad(lambda t, number=number: t**number * density(t), 0, 200)
        assert found.moment(number) == pytest.approx(numeric, rel=1e-6)


def test_drawn():
    found = HyperErlang.of_variation(5, 1.8)
    drawn = found.draw(400_000, np.random.default_rng(3))
    assert drawn.mean() == pytest.approx(5, rel=0.02) and drawn.std() / drawn.mean() == pytest.approx(1.8, rel=0.03)
    with pytest.raises(ValueError, match="no hyper-Erlang"):
        HyperErlang.of_moments(1, 0.5, 1)


@given(st.floats(0.01, 0.9), st.integers(0, 50))
@settings(max_examples=25)
def test_shares_are_exact(share, seed):
    design = WorkloadDesign(jobs=200, application_jobs=60, load=0.8)
    work = generate(design, share, seed)
    assert work.share == pytest.approx(share) and work.application.sum() == 60 and len(work) == 200
    assume(share > 0)
    offered = work.work_s.sum() / (7 * work.span_s)
    assert 0.8 <= offered < 0.9
    assert (work.predictions_s["T_theo"][~work.application] == work.run_s[~work.application]).all()


def test_the_sums_of_the_study():
    """Section 3.7 (3): 1674 jobs, more than 3500 h where HPL has 2.2 % of the node time, about 300 h with 30 %."""
    low, high = [
        np.mean([generate(WorkloadDesign(), share, seed).run_s.sum() / 3600 for seed in range(10)])
        for share in (0.022, 0.3)
    ]
    assert low > 3500 and high == pytest.approx(300, rel=0.05)


def test_smallest_k():
    work = generate(WorkloadDesign(), 0.3, 4)
    for model, deviation in WorkloadDesign().application.deviations.items():
        k = smallest_k(work, model, deviation)
        assert not (work.run_s > estimates_s(work, model, deviation, k)).any()
        assert (work.run_s > estimates_s(work, model, deviation, k - 1)).any()


def test_own_runs(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("nodes,run_s,mine\n2,100,110\n4,50,40\n")
    own = measured_application(path)
    assert own.deviations["mine"] == pytest.approx(np.sqrt(((100 / 110 - 1) ** 2 + (50 / 40 - 1) ** 2) / 2))
    work = generate(WorkloadDesign(jobs=90, application_jobs=30, application=own), 0.2, 1)
    assert set(zip(work.nodes[work.application], work.run_s[work.application], strict=True)) == {(2, 100.0), (4, 50.0)}


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "no columns"),
        ("nodes,run_s\n1,2\n", "no columns"),
        ("nodes,run_s,m,m\n1,2,3,4\n", "no columns"),
        ("nodes,run_s,\n1,2,3\n", "no columns"),
        ("nodes,run_s,m\n1,2,2\n", "no error to allow for"),
        ("nodes,run_s,m\n1,2,3\n1,x,3\n", "line 3"),
        ("nodes,run_s,m\n1,-2,3\n", "line 2"),
        ("nodes,run_s,m\n1.5,2,3\n", "whole numbers"),
        ("nodes,run_s,m\n1e30,2,3\n", "whole numbers"),
        ("nodes,run_s,m\n1,1e300,1e-300\n", "an endless one"),
    ],
)
def test_bad_runs(tmp_path, text, said):
    (tmp_path / "runs.csv").write_text(text)
    with pytest.raises(TracelibError, match=said):
        measured_application(tmp_path / "runs.csv")


def test_bad_designs():
    with pytest.raises(TracelibError, match="5 of 5 jobs"):
        WorkloadDesign(jobs=5, application_jobs=5)
    with pytest.raises(TracelibError, match="up to 7 nodes"):
        WorkloadDesign(nodes=4)
    assert SELECTED.deviation == 0.136
