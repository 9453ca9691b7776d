"""Traces whose structure is planted: nested loops, flushes, few and many iterations, none at all.

Source: the tables 3.1 to 3.7 of Casas 2009, whose times are used here.
"""

from __future__ import annotations

import json
from io import StringIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nested_runs import MS, Flushes, Loop, Planted, Start, Work
from rich.console import Console

from analyzer.cli import main
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.report.structure import print_structure
from analyzer.structure.levels.by_signals import nodes_of
from analyzer.structure.levels.parts import agreement, off_by
from analyzer.structure.levels.run_structure import DEFAULT_SIGNALS, IterationMethod, structure, structure_of_signal
from analyzer.structure.perturbations import PerturbationCause, PerturbedTime, perturbed
from analyzer.structure.signals import NAMES, RunSignal, signals

RANKS = 16
BODY = (
    Loop(6, (Work(545, "ring"),)), Work(1005, "reduction"), Loop(3, (Work(550, "skip"),)), Work(3085, "transposition"),
)  # fmt: skip
PERIOD_MS = 9010
LISO = (Start(18_020), Loop(5, BODY), Flushes(10_273), Loop(5, BODY), Flushes(11_880), Loop(3, BODY))


@pytest.fixture(scope="module")
def liso(tmp_path_factory):
    """16 ranks: an aperiodic start, 13 iterations of two loops and a gap after 5 and 10 of them in which all flush."""
    planted = Planted(RANKS).run(LISO)
    trace = open_trace(planted.written(tmp_path_factory.mktemp("liso")))
    yield trace, planted
    trace.close()


def found_in(steps, folder, ranks=4, *, names=DEFAULT_SIGNALS, **how):
    """The structure of planted steps, and what they truly are."""
    planted = Planted(ranks, **how).run(steps)
    trace = open_trace(planted.written(folder, counters=False))
    try:
        return structure(trace, Team(), IterationMethod.BOTH, names), planted
    finally:
        trace.close()


def inner(part):
    return [one.count for one in part.inside if one.iterations]


def make_up_the_whole(found):
    """Assert the published tables' invariants: parts follow without gap, parts inside make up one period."""
    edges = [(part.begin_ns, part.end_ns) for part in found.parts]
    assert [begin for begin, _ in edges] + [found.duration_ns] == [0] + [end for _, end in edges]
    for part in (one for top in found.parts for one in top.walk() if one.inside):
        number = part.representative
        assert sum(one.span_ns for one in part.inside) == np.ptp(part.iterations.span_of(number))


def test_both_levels_and_the_flushes_between(liso):
    trace, planted = liso
    found = structure(trace, Team(), IterationMethod.BOTH)
    main = found.main
    assert main.count == 13 and inner(main) == [6, 3]
    assert main.iterations.period_ns == pytest.approx(PERIOD_MS * MS, rel=0.01)
    truth = np.array(planted.edges_ns[0] + planted.edges_ns[1][1:] + planted.edges_ns[2][1:])
    assert (
        np.abs(main.iterations.edges - truth).max() < 0.01 * PERIOD_MS * MS
    )  # a gap is before an iteration's first call
    for part, length in zip((one for one in main.inside if one.iterations), (545, 550), strict=True):
        assert part.iterations.period_ns == pytest.approx(length * MS, rel=0.02)
    assert [number for number, _ in main.slow] == [11, 6]
    make_up_the_whole(found)
    flushes = [one for one in found.perturbed if one.cause is PerturbationCause.FLUSHING]
    for one, (begin, end) in zip(flushes, gaps(planted), strict=True):
        assert begin <= one.begin_ns < one.end_ns <= end and one.end_ns - one.begin_ns > 0.7 * (end - begin)


def gaps(planted):
    return [(one[-1], other[0]) for one, other in zip(planted.edges_ns, planted.edges_ns[1:], strict=False)]


def test_a_signal_alone_shows_the_loops_between_the_flushes(liso):
    """As table 3.1 has them, which was found by the calls of messages: 5, 5 and 3 iterations, in each 6 and 3."""
    trace, planted = liso
    disturbed = [one for one in perturbed(trace, Team()) if one.cause is PerturbationCause.FLUSHING]

    def sampled(begin, end, samples):
        return signals(trace, Team(), ["p2p"], samples=samples, begin_ns=begin, end_ns=end)["p2p"]

    found = nodes_of(sampled(0, trace.duration_ns, 1 << 17), sampled, disturbed, trace.size, literal=False)
    assert [node.loop.count for node in found] == [5, 5, 3]
    inside = np.array([[one.loop.count for one in node.inside] for node in found])
    assert (np.median(inside, axis=0) == [6, 3]).all() and (np.abs(inside - [6, 3]) <= 1).all()
    for node, truth in zip(found, planted.edges_ns, strict=True):
        assert np.diff(node.loop.edges[0]) == pytest.approx(np.ptp(truth) / node.loop.count, rel=0.01)
        assert abs(node.loop.begin_ns - truth[0]) < 0.15 * PERIOD_MS * MS


def test_the_table_by_signals_is_that_of_the_thesis(liso, capsys):
    """Regions of 5, 5 and 3 iterations, with flushes between them; all make up the run.

    The flushes were planted there.
    """
    trace, planted = liso
    assert main(["structure", trace.path, "--method", "signals", "--signal", "p2p", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    parts = found["parts"]
    assert [one["iterations"] for one in parts] == [1, 5, 1, 5, 1, 3]
    for one, after in zip(parts, [*parts[1:], {"begin_s": found["runtime_s"]}], strict=True):
        assert one["end_s"] == after["begin_s"]
    lasted = np.array([[end - begin for _, begin, end in planted.flushes if first <= begin < last]
                       for first, last in gaps(planted)])  # fmt: skip
    assert [one["flushing_s"] for one in parts[2:5:2]] == pytest.approx((lasted.sum(axis=1) / 1e9).tolist())
    assert not any(one["flushing_s"] for one in (*parts[:2], parts[3], parts[5]))
    flushes = [one for one in found["perturbed"] if one["cause"] == "flushing"]
    assert len(flushes) == 2
    for one, part in zip(flushes, parts[2:5:2], strict=True):
        assert part["begin_s"] <= one["begin_s"] < one["end_s"] <= part["end_s"]
    assert main(["structure", trace.path, "--method", "signals", "--signal", "p2p"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("1 between")]
    assert [row[-2:] for row in rows] == [[f"{sum(one) / 1e9:.1f}", "s"] for one in lasted]


def test_all_metrics_that_find_a_period_agree(liso):
    trace, _ = liso
    found = structure(trace, Team(), IterationMethod.BOTH, tuple(NAMES))
    off = {one.name: off_by(one, found.main) for one in found.metrics}
    known = {name: by for name, by in off.items() if by is not None}
    assert {"bursts", "computing", "p2p", "collective", "flying"} <= set(known)
    assert max(known.values()) < 0.01
    agree = agreement(found)
    assert (agree.found, agree.of) == (len(known), len(NAMES))
    assert (agree.median, agree.most) == pytest.approx((np.median(list(known.values())), max(known.values())))
    said = StringIO()
    print_structure(found, Console(file=said, width=200))
    width = -(-trace.duration_ns // (1 << 17))
    assert f"{-(-trace.duration_ns // width)} samples, {width / 1e6:.2f} ms each." in said.getvalue()
    assert f"{len(known)} of {len(NAMES)} have a period, off by {100 * agree.median:.1f} %" in said.getvalue()


def test_flushes_that_are_added_change_no_period(tmp_path):
    bare, _ = found_in([Start(400), Loop(8, BODY)], tmp_path / "bare", jitter=0.002)
    steps = [Start(400), Loop(4, BODY), Flushes(8000), Loop(4, BODY)]
    full, _ = found_in(steps, tmp_path / "full", jitter=0.002)
    assert full.main.count == bare.main.count == 8
    assert full.main.iterations.period_ns == pytest.approx(bare.main.iterations.period_ns, rel=0.01)
    known = [pair for pair in zip(full.metrics, bare.metrics, strict=True) if all(one.period_ns for one in pair)]
    assert len(known) >= 3
    for one, other in known:
        assert one.period_ns == pytest.approx(other.period_ns, rel=0.015), one.name
    assert not bare.perturbed and [one.cause for one in full.perturbed if one.cause is PerturbationCause.FLUSHING]


@pytest.mark.parametrize("count", [3, 130])
def test_few_and_many_iterations(tmp_path, count):
    """The last periodic region of Liso, and Linpack."""
    found, planted = found_in([Start(3000), Loop(count, (Work(900, "ring"), Work(230, "broadcast")))], tmp_path)
    assert found.main.count == count
    assert found.main.iterations.period_ns == pytest.approx(np.median(np.diff(planted.edges_ns[0])), rel=0.002)
    assert found.main.begin_ns == pytest.approx(planted.edges_ns[0][0], abs=12 * MS)
    assert {one.iterations for one in found.metrics if one.period_ns} == {count}
    make_up_the_whole(found)


@pytest.mark.parametrize("seed", range(2))
def test_calls_and_computing_at_random_have_no_period(tmp_path, seed):
    random = np.random.default_rng(seed)
    kinds = ("ring", "skip", "reduction", "broadcast", "gather", "transposition")
    steps = [Work(float(ms), str(random.choice(kinds))) for ms in random.gamma(2, 40, 300)]
    found, _ = found_in(steps, tmp_path, seed=seed)
    assert all(one.period_ns is None for one in found.metrics)


KINDS = ("ring", "skip", "reduction", "broadcast", "gather", "transposition")


@settings(max_examples=6)
@given(st.data())
def test_random_nested_loops(tmp_path_factory, data):
    """Iterations of one or two inner loops, each of its own calls, with more work between them."""
    kinds = data.draw(st.permutations(KINDS), "kinds")
    body, counts = [], []
    for number in range(data.draw(st.integers(1, 2), "loops")):
        ms = data.draw(st.floats(20, 80), "inner")
        counts.append(data.draw(st.integers(3, 12), "passes"))
        first, second, third = kinds[3 * number : 3 * number + 3]
        body += [Loop(counts[-1], (Work(ms, first),)), Work(5 * ms, second), Work(4 * ms, third)]
    count = data.draw(st.integers(3, 12), "iterations")
    gap = [Flushes(2000)] if data.draw(st.booleans(), "flushed") else []
    steps = [Start(500), Loop(count, tuple(body)), *gap, Loop(count, tuple(body))]
    seed = data.draw(st.integers(0, 99), "seed")
    found, planted = found_in(steps, tmp_path_factory.mktemp("nested"), seed=seed)
    assert found.main.count == 2 * count
    assert inner(found.main) == counts
    truth = np.concatenate([np.diff(edges) for edges in planted.edges_ns])
    assert found.main.iterations.period_ns == pytest.approx(np.median(truth), rel=0.01)
    make_up_the_whole(found)


def test_what_takes_longer_than_a_loop_inside_is_around_it(tmp_path):
    """It does so although some of its calls take the place of calls in a pass of that loop."""
    first = [Loop(3, (Work(20, "reduction"),)), Work(100, "skip"), Work(80, "broadcast")]
    second = [Loop(11, (Work(20, "ring"),)), Work(100, "gather"), Work(80, "transposition")]
    found, _ = found_in([Start(500), Loop(16, (*first, *second))], tmp_path)
    assert (found.main.count, inner(found.main)) == (16, [3, 11])


@pytest.mark.parametrize("repeats", [3, 4, 6])
def test_a_short_loop_in_a_signal_that_else_does_nothing(repeats):
    values = np.full(round(repeats * 200 / 0.06), 1.0)
    values[500 : 500 + repeats * 200] = np.tile(np.repeat([0.0, 4.0, 8.0, 1.0], 50), repeats)
    found = structure_of_signal(RunSignal("planted", 0, MS, values), "planted").main
    assert abs(found.count - repeats) <= 1 and found.iterations.period_ns == pytest.approx(200 * MS, rel=0.01)


def test_what_is_left_between_perturbed_times_may_be_shorter_than_a_sample():
    """From 240 samples of 1 us, half of the first is left, and all behind the 40th."""
    whole = RunSignal("planted", 0, 1000, np.tile(np.repeat([3.0, 1.0], [8, 12]), 12))
    disturbed = [PerturbedTime(PerturbationCause.FLUSHING, 500, 40_000)]
    (node,) = nodes_of(whole, lambda begin, end, samples: whole.part(begin, end), disturbed, 1, literal=False)
    assert node.loop.count == 10
    left = [PerturbedTime(PerturbationCause.FLUSHING, 500, 239_500)]
    assert nodes_of(whole, lambda begin, end, samples: whole.part(begin, end), left, 1, literal=False) == []


@pytest.mark.parametrize("piece, passes, count", [(8, 4, 12), (20, 12, 30), (13, 7, 5)])
def test_nested_signals_without_noise(piece, passes, count):
    body = [*np.tile(np.repeat([3.0, 1.0], [piece // 2, piece - piece // 2]), passes), *[5.0] * (piece * passes // 2)]
    found = structure_of_signal(RunSignal("planted", 0, MS, np.tile(body, count)), "planted")
    assert found.main.count == count


@settings(max_examples=10)
@given(st.data())
def test_random_nested_signals(data):
    """Pulses of two heights: a loop inside, then a plateau; 4 to 30 times with noise of 3 %. The first or the last one
    may be taken for what lies around the loop."""
    piece, passes = data.draw(st.integers(8, 20), "piece"), data.draw(st.integers(4, 12), "passes")
    count, seed = data.draw(st.integers(4, 30), "count"), data.draw(st.integers(0, 999), "seed")
    rest = data.draw(st.floats(0.3, 1), "rest") * piece * passes
    body = np.concatenate(
        [np.tile(np.repeat([3.0, 1.0], [piece // 2, piece - piece // 2]), passes), np.full(int(rest), 5.0)]
    )
    values = np.tile(body, count) + 0.03 * np.random.default_rng(seed).normal(size=count * len(body))
    found = structure_of_signal(RunSignal("planted", 0, MS, values), "planted")
    assert count - 1 <= found.main.count <= count
    assert found.main.iterations.period_ns == pytest.approx(len(body) * MS, rel=0.01)
    make_up_the_whole(found)


@pytest.mark.parametrize("seed", range(20))
def test_steps_of_random_heights_are_no_loop(seed):
    """Few heights, each held for 50 samples: two in a row come again three times by chance."""
    heights = np.random.default_rng(seed).integers(0, 5, 120)
    signal = RunSignal("planted", 0, MS, np.repeat(heights, 50).astype(np.float64))
    assert structure_of_signal(signal, "planted").main is None
