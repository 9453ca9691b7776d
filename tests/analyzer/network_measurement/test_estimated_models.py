"""Parameters of a network: as near as their confidence intervals say, also beside busy processes; the model's file."""

import json
import re
import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear
from synthetic_net import KB, LARGE, LARGE_SIZES, SMALL, SMALL_SIZES, US, Network, measured, write_net

from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.experiments.external_data import network_columns
from analyzer.loggp.line_fit import CostLine, fit_line, left_out
from analyzer.loggp.model import LoOgGP, SizeInterval
from analyzer.network_measurement.estimate import estimate
from analyzer.network_measurement.options import EstimateOptions
from analyzer.network_measurement.projections import hockney, loggp, logp
from analyzer.network_measurement.repetitions import typical
from analyzer.network_measurement.roughness import roughness, standing_out
from analyzer.network_measurement.sample import SizeCurve, curves, kept, sample
from tracelib.schema.net import RowFlag


def parameters(model, interval=0):
    i = model.intervals[interval]
    return {"o": i.overhead.start, "O": i.overhead.slope, "g": i.gap.start, "G": i.gap.slope, "L": model.latency_s}


def test_without_noise_the_table_comes_out_exactly():
    """Every row of table 3.2 that no other interval continues without a step."""
    for name in ("GB+OpenMPI", "IB+OpenMPI"):
        network = LARGE[name]
        model = estimate(measured(network, LARGE_SIZES, noise=0.0, times=2)).model
        assert model.latency_s == pytest.approx(network.latency * US)
        assert [(i.from_bytes, i.to_bytes) for i in model.intervals] == [i[4:] for i in network.intervals]
        for place, (o, over, g, gap, *_) in enumerate(network.intervals):
            got = parameters(model, place)
            assert [got[k] for k in "oOgG"] == pytest.approx([o * US, over * US / KB, g * US, gap * US / KB])


def test_confidence_intervals_hold_the_truth_as_often_as_they_say():
    """95 % of 4 x 60, where two and two of one line go together: 228, and by chance 214 to 239."""
    network = SMALL["IB+OpenMPI"]
    sizes = SMALL_SIZES[::8]
    o, over, g, gap = (value * US for value in network.intervals[0][:4])
    held = 0
    for seed in range(60):
        (i,) = estimate(measured(network, sizes, seed, 0.03)).model.intervals
        pairs = [
            (i.overhead.start_ci, o),
            (i.overhead.slope_ci, over / KB),
            (i.gap.start_ci, g),
            (i.gap.slope_ci, gap / KB),
        ]
        held += sum(low <= truth <= high for (low, high), truth in pairs)
    assert 214 <= held < 240


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_a_line_is_that_of_numpy(seed):
    """Where that of numpy rises, from above 0."""
    random = np.random.default_rng(seed)
    size = np.cumsum(random.integers(1, 1000, 8))
    time_s, weight = random.random(8) + 3 + size / 100, random.random(8) + 0.1
    line = fit_line(size, time_s, weight, 1 / weight)
    slope, start = np.polyfit(size - 1, time_s, 1, w=np.sqrt(weight))
    assert (line.start, line.slope) == (pytest.approx(start), pytest.approx(slope))
    left = [(np.delete(size, k), np.delete(time_s, k), np.sqrt(np.delete(weight, k))) for k in range(8)]
    without = [np.polyval(np.polyfit(x, y, 1, w=w), size[k]) for k, (x, y, w) in enumerate(left)]
    assert left_out(size, time_s, weight) == pytest.approx(without)


@settings(max_examples=200)
@given(st.integers(0, 10**6), st.sampled_from([-3.0, 0.0, 0.2, 2.0]), st.sampled_from([0.0, 0.5, 3.0]))
def test_a_line_that_would_be_below_0_is_the_best_one_that_is_not(seed, rise, height):
    """Against scipy's bounded least squares, with the time of the smallest size and the slope as unknowns."""
    random = np.random.default_rng(seed)
    size = np.unique(np.cumsum(random.integers(1, 50, 8)))
    x = (size - size[0]) / size[-1]
    time_s = np.abs(height + rise * x + random.standard_normal(len(size)))
    weight = random.random(len(size)) + 0.1
    line = fit_line(size, time_s, weight, np.full(len(size), 1e-12))
    columns = np.stack([np.ones(len(size)), x], axis=1) * np.sqrt(weight)[:, None]
    best = lsq_linear(columns, time_s * np.sqrt(weight), bounds=(0, np.inf), tol=1e-14)
    assert line(size).min() >= 0 and line.slope >= 0

    def misfit(at):
        return float(weight @ (time_s - at) ** 2)

    if line.start == 0 or line.start_s is None or size[0] == 1:
        assert misfit(line(size)) >= misfit(best.x[0] + best.x[1] * x) - 1e-9
    else:
        assert misfit(line(size)) == pytest.approx(2 * best.cost, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("start_us", [-320.0, -4.0, 0.3])
def test_a_start_below_0_is_no_parameter(start_us, tmp_path, capsys):
    """Messages of 34 KB and more of table 3.2 (GB+MPICH): the line is right for them, and says nothing of one byte."""
    size = np.arange(34_000, 160_000, 2000)
    time_s = (start_us + 14.25 / KB * (size - 1)) * US
    noise = np.random.default_rng(1).standard_normal(len(size)) * 0.001
    line = fit_line(size, time_s * (1 + noise), 1 / time_s**2, (0.001 * time_s) ** 2)
    assert (line.start_s is None) == (start_us < -1)
    model = LoOgGP(1e-6, (0.0, 2e-6), (SizeInterval(34_000, 158_000, line, line),))
    data = model.to_json()["intervals"][0]
    assert (data["o_s"] is None) == (start_us < -1)
    model.write(tmp_path / "net.json")
    read = LoOgGP.read(tmp_path / "net.json")
    assert read.overhead(size) == pytest.approx(time_s, rel=0.005)
    found = network_columns(str(tmp_path / "net.json"), 65536)
    assert np.isnan(found["net_o"]) == (start_us < -1) and found["net_O"] == pytest.approx(14.25e-6 / KB, rel=0.01)


def test_no_printed_time_is_below_0(tmp_path, capsys):
    """Noise larger than the smallest times, as on a machine with more ranks than CPUs."""
    for seed in range(6):
        network = Network(1.0, ((0.05, 1.0, 0.05, 1.0, 1, 2000), (-3.0, 3.0, -4.0, 4.0, 2001, 1 << 16)))
        sizes = np.unique(np.geomspace(1, 1 << 16, 60).astype(int))
        write_net(tmp_path / "net.h5", measured(network, sizes, seed, 0.3))
        assert main(["loggp", str(tmp_path / "net.h5"), "-f", "-o", str(tmp_path / "net")]) == 0
        printed = capsys.readouterr().out
        assert not re.findall(r"(?<![\w.-])-\d", printed), printed
        written = json.loads(next(tmp_path.glob("net.*.json")).read_text())
        parts = [*written["intervals"], *written["ways"]]
        assert all(value is None or value >= 0 for part in parts for name, value in part.items() if "_ci" not in name)


def test_busy_processes_do_not_move_the_parameters():
    """A third of all times is longer by 0.1 to 10 ms: that of 87 % of the rows."""
    for network, sizes in ((SMALL["GB+OpenMPI"], SMALL_SIZES), (LARGE["IB+OpenMPI"], LARGE_SIZES)):
        quiet = parameters(estimate(measured(network, sizes, 0, 0.01)).model)
        busy = parameters(estimate(measured(network, sizes, 1, 0.01, disturbed=0.4)).model)
        assert busy == pytest.approx(quiet, rel=0.1)


def test_the_mean_of_the_rows_would_have_moved():
    rows = measured(SMALL["GB+OpenMPI"], SMALL_SIZES, 1, 0.01, disturbed=0.4)
    plain = curves(sample(rows, ()))
    assert np.abs(plain.gap.time_s / curves(sample(rows)).gap.time_s - 1).mean() > 1


def test_sizes_that_were_not_measured_are_predicted():
    for network, sizes in ((SMALL["GB+MPICH"], SMALL_SIZES), (LARGE["GB+OpenMPI"], LARGE_SIZES)):
        rows = measured(network, sizes, 0, 0.03)
        held_out = sizes[2::5]
        model = estimate(rows[~np.isin(rows["size"], held_out)]).model
        overhead, gap, one = network.times(held_out)
        for predicted, true in ((model.overhead, overhead), (model.gap, gap), (model.time, one / 2)):
            assert np.median(np.abs(predicted(held_out) / true - 1)) < 0.02


def test_curvature_does_not_fall_into_crumbs():
    """A gap that bends all the way, on sizes as an adaptive plan has them: the model follows it within percents."""
    size = np.unique(np.concatenate([np.geomspace(1, 4e6, 90).astype(int), 65536 + np.arange(-20, 20) * 8]))
    rows = measured(SMALL["IB+OpenMPI"], size, 0, 0.01)
    bend = 2e-9 * size**0.9
    rows["train_s"] += 31 * np.repeat(bend, 10)
    found = estimate(rows)
    assert 2 <= len(found.model.intervals) <= 8
    assert found.gap_errors.median < 0.02 and found.gap_errors.most < 0.1


def test_flagged_rows_and_warm_ups_do_not_count():
    rows = measured(SMALL["IB+OpenMPI"], SMALL_SIZES[::8], 0, 0.01)
    clean = parameters(estimate(rows).model)
    for flag, column in ((RowFlag.HIT_ONE, "one_s"), (RowFlag.HIT_TRAIN, "train_s"), (RowFlag.HIT_DELAYED, "delayed_s"),
                         (RowFlag.HIT_ZERO, "zero_s"), (RowFlag.WARM_UP, "train_s")):  # fmt: skip
        spoiled = rows.copy()
        spoiled[column][::2] *= 0.5
        spoiled["flags"][::2] = flag
        assert parameters(estimate(spoiled).model) == pytest.approx(clean, rel=0.1)


@settings(max_examples=50)
@given(st.integers(3, 40), st.integers(0, 10**6), st.floats(0, 0.45))
@example(7, 68, 0.0)
def test_typical_rows_are_the_undisturbed_ones(number, seed, share):
    random = np.random.default_rng(seed)
    size = np.repeat(np.arange(20), number)
    value = 10 + 0.1 * random.standard_normal(len(size))
    hit = np.zeros(len(size), bool)
    for s in range(20):
        hit[s * number + random.permutation(number)[: int(share * number)]] = True
    value[hit] += random.uniform(3, 100, hit.sum())
    chosen = typical(size, value)
    assert not (chosen & hit).any()
    assert np.mean(chosen[~hit]) > (0.9 if number > 4 else 0.7)  # two of three say little of how far apart they may be
    assert set(size[chosen]) == set(range(20))


def test_the_three_rules_by_hand():
    size = np.repeat([1, 2, 3], 10)
    time_s = np.tile(np.linspace(1.0, 1.1, 10), 3) * size
    time_s[4] = -1.0
    time_s[15] = 50.0
    assert np.flatnonzero(~kept(("negative",), size, time_s, 0.1)).tolist() == [4]
    assert np.flatnonzero(~kept(("deviation",), size, time_s, 0.1)).tolist() == [4, 15]
    assert 15 in np.flatnonzero(~kept(("neighbourhood",), size, time_s, 0.9))
    assert kept((), size, time_s, 0.1).all()


def test_roughness_is_what_neighbours_differ_by():
    random = np.random.default_rng(3)
    size = np.arange(1, 400) * 100
    line = 1e-5 + 1e-9 * size
    none = np.zeros(len(size))
    assert roughness(size, SizeCurve(line, none, none)) < 1e-6
    rough = SizeCurve(line * (1 + 0.02 * random.standard_normal(len(size))), none, none)
    assert roughness(size, rough) == pytest.approx(0.02, rel=0.2)


def test_a_size_that_stands_out_is_left_out_and_said():
    rows = measured(SMALL["IB+OpenMPI"], SMALL_SIZES, 0, 0.01)
    rows["train_s"][rows["size"] == 501] *= 1.5
    assert standing_out(curves(sample(rows)), 0.01).sum() == 1
    found = estimate(rows)
    assert found.standing_out.tolist() == [501] and len(found.model.intervals) == 1


def model_by_hand():
    line = CostLine(2e-6, 1e-9, (1e-6, 3e-6), (0.0, 2e-9))
    steep = CostLine(-1e-6, 3e-9, (-np.inf, np.inf), (1e-9, 5e-9))
    return LoOgGP(5e-6, (4e-6, 6e-6), (SizeInterval(1, 1000, line, steep), SizeInterval(2000, 9000, steep, line)))


def test_times_by_hand():
    model = model_by_hand()
    assert model.overhead(1001) == pytest.approx(3e-6)
    assert model.overhead([0, 1, 1500, 1501]) == pytest.approx([2e-6, 2e-6, 2e-6 + 1499e-9, -1e-6 + 4500e-9])
    assert model.overhead(1e6) == pytest.approx(-1e-6 + 3e-9 * 999999)
    assert model.gap(1) == 0.0, "never below 0"
    assert model.time(1001) == pytest.approx(5e-6 + 2e-6)
    assert isinstance(float(model.gap(7)), float) and model.gap(np.ones((2, 3))).shape == (2, 3)


def test_the_file_gives_the_same_model(tmp_path):
    model = estimate(measured(SMALL["GB+MPICH"], SMALL_SIZES, 0), about={"where": "inter"}).model
    model.write(tmp_path / "net.json")
    read = LoOgGP.read(tmp_path / "net.json")
    assert read == model and read.about["where"] == "inter"
    size = np.geomspace(1, 1e7, 50)
    assert np.array_equal(read.time(size), model.time(size))
    assert [path.name for path in tmp_path.iterdir()] == ["net.json"]


def test_a_file_written_by_hand_needs_the_parameters_only(tmp_path):
    interval = {"from_bytes": 0, "to_bytes": 100, "o_s": 1e-6, "O_s_per_byte": 0, "g_s": 2e-6, "G_s_per_byte": 1e-9}
    data = {"format": "tracelib-loggp", "version": 1, "latency_s": 3e-6, "intervals": [interval]}
    (tmp_path / "net.json").write_text(json.dumps(data))
    model = LoOgGP.read(tmp_path / "net.json")
    assert (model.overhead(5), model.gap(1001), model.time(1001)) == pytest.approx((1e-6, 3e-6, 4e-6))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format": "x"}, "is no model"),
        ({"version": 3}, "later version"),
        ({"latency_s": None}, "is no model"),
        ({"latency_s": "nan"}, "nan is no time"),
        ({"intervals": []}, "no intervals"),
        ({"intervals": [{}]}, "from_bytes is missing"),
    ],
)
def test_files_that_are_none(tmp_path, change, says):
    (tmp_path / "net.json").write_text(json.dumps(model_by_hand().to_json() | change))
    with pytest.raises(TracelibError, match=says):
        LoOgGP.read(tmp_path / "net.json")


def test_overlapping_intervals_are_none(tmp_path):
    data = model_by_hand().to_json()
    data["intervals"][1]["from_bytes"] = 1000
    (tmp_path / "net.json").write_text(json.dumps(data))
    with pytest.raises(TracelibError, match="overlap"):
        LoOgGP.read(tmp_path / "net.json")
    (tmp_path / "net.json").write_bytes(b"\xff\xfe{")
    with pytest.raises(TracelibError, match="is no model"):
        LoOgGP.read(tmp_path / "net.json")


def test_projections_of_a_network_that_is_one():
    """LogGP's own network: they agree with it and lose nothing."""
    found = estimate(measured(SMALL["IB+OpenMPI"], SMALL_SIZES, noise=0.0, times=2))
    simple, small, line = loggp(found.model, found.curves), logp(found.model), hockney(found.curves)
    assert (simple.gap_s, simple.gap_s_per_byte) == (pytest.approx(9.06e-6), pytest.approx(1.73e-6 / KB))
    assert simple.gap_error < 1e-9 and simple.overhead_s == small.overhead_s == pytest.approx(6.11e-6)
    assert (small.latency_s, small.gap_s) == (pytest.approx(5.9e-6), pytest.approx(9.06e-6))
    assert line.time(np.array([1, 1025])) == pytest.approx([5.9e-6, 5.9e-6 + 1.73e-6])


def test_too_little_is_said():
    rows = measured(SMALL["IB+OpenMPI"], SMALL_SIZES[:2], times=1)
    (i,) = estimate(rows).model.intervals
    assert not np.isfinite(i.gap.slope_ci).any()
    rows["train_s"] = rows["delayed_s"] = 0
    with pytest.raises(TracelibError, match="no message size has rows left"):
        estimate(rows, EstimateOptions(rules=("negative",)))


def test_times_of_nothing_are_no_warning():
    """A network of which half of the messages took no time at all: what is relative to nothing is not known."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = typical(np.repeat([1.0, 2.0], 20), np.tile([0.0, 0.0, 1e-6, 1.1e-6], 10))
    assert kept.any()
