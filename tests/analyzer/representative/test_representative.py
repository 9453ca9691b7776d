"""Representative subsets of planted series, lengths and samples by hand, and what is refused.

Source: M. Casas, "Spectral analysis of executions" (2009), chapter 5; the series are like that of applu, whose period
is 51 samples of 10^7 instructions.
"""

import csv
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_trace import MemoryTrace
from nested_runs import Loop, Planted, Start, Work
from paths import EPOCH
from synthetic import WORLD, call, write_run

from analyzer.cli import main
from analyzer.report.pictures.representative import ranges
from analyzer.representative.sampling import errors_of, sweep
from analyzer.representative.series import TIME, StepMetric, series_of_run
from analyzer.representative.subset import error, lengths, representative


def column(values):
    values = np.asarray(values, float)
    return StepMetric("x", values, np.ones(len(values)))


def like_applu(periods=60, period=51, noise=0.02, seed=1):
    """CPI and misses of each sample: a third of the period is slow, another part misses the cache."""
    at = np.arange(period * periods) % period
    rng = np.random.default_rng(seed)
    cpi = 2 + 1.2 * (at < period / 3) + rng.normal(0, noise, len(at))
    misses = 1 + 0.8 * ((at > period / 5) & (at < period / 2)) + rng.normal(0, noise, len(at))
    return cpi, misses


def test_the_period_of_applu():
    cpi, misses = like_applu()
    found = representative(cpi)
    assert found.length == 51 and found.levels == (51,)
    assert error(column(cpi), found.part) < 0.01 and error(column(misses), found.part) < 0.01
    by_hand = abs(misses[found.part].mean() - misses.mean()) / misses.mean()
    assert error(column(misses), found.part) == pytest.approx(by_hand)


@settings(max_examples=30)
@given(st.integers(20, 90), st.integers(6, 40), st.integers(0, 10**6))
def test_any_planted_period(period, periods, seed):
    cpi, _ = like_applu(periods, period, 0.02, seed)
    found = representative(cpi)
    assert abs(found.levels[0] - period) <= max(0.01 * period, 0.5)
    assert found.start >= 0 and found.part.stop <= len(cpi)


@pytest.mark.parametrize("seed", range(5))
def test_noise_and_drift_have_none(seed):
    rng = np.random.default_rng(seed)
    assert representative(rng.normal(1, 0.1, 3000)) is None
    assert representative(np.cumsum(rng.normal(0, 1, 3000))) is None


@pytest.mark.parametrize("before", [0, 300, 700])
@pytest.mark.parametrize("seed", range(3))
def test_what_comes_before_the_periods_is_initialisation(before, seed):
    rng = np.random.default_rng(seed)
    start = np.repeat(rng.uniform(0.5, 4, -(-before // 37)), 37)[:before]
    cpi, _ = like_applu(40, 51, 0.02, seed)
    found = representative(np.concatenate([start + rng.normal(0, 0.02, before), cpi]))
    assert found.length == 51
    assert found.initialisation == pytest.approx(before, abs=51)


def test_a_run_as_in_table_5_3(tmp_path, capsys):
    """Initialisation, period and whole of a planted run with counters, and the errors of two metrics."""
    planted = Planted(4).run([Start(800), Loop(30, (Work(60, "ring"), Work(40, "reduction")))])
    run, (edges,) = planted.written(tmp_path), planted.edges_ns
    words = ["representative", str(run), "--metric", "PAPI_TOT_INS", "--by", "PAPI_TOT_CYC/PAPI_TOT_INS"]
    assert main([*words, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    period = np.diff(edges).mean() / 1e9
    assert data["levels"][0] * data["step_s"] == pytest.approx(period, rel=0.02)
    assert data["initialisation"] * data["step_s"] == pytest.approx(edges[0] / 1e9, abs=period)
    assert data["steps"] * data["step_s"] == pytest.approx(edges[-1] / 1e9, rel=0.01)
    assert set(data["metrics"]) == {"PAPI_TOT_INS", "PAPI_TOT_CYC/PAPI_TOT_INS"}
    for one in data["metrics"].values():
        assert one["error"] == pytest.approx(abs(one["representative"] - one["whole"]) / one["whole"])
    assert "of initialisation" in printed(capsys, *words)


def test_cycles_per_instruction_of_a_short_run(tmp_path, capsys):
    """Three iterations are too few for a period of a counter. The calls show them, and one of them is the part."""
    planted = Planted(4).run([Start(900), Loop(3, (Work(60, "ring"), Work(40, "reduction"), Work(300, "skip")))])
    run, (edges,) = planted.written(tmp_path), planted.edges_ns
    words = ["representative", str(run)]
    assert main([*words, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["metric"] == "PAPI_TOT_CYC/PAPI_TOT_INS" and data["by_calls"] and data["repetitions"] == 3
    start_ns, length_ns = (1e9 * data[name] * data["step_s"] for name in ("start", "length"))
    first = data["initialisation"] * data["step_s"] * 1e9
    period = np.diff(edges).mean()
    assert length_ns == pytest.approx(period, rel=0.02) and first == pytest.approx(edges[0], abs=period)
    assert (start_ns - first) / period == pytest.approx(round((start_ns - first) / period), abs=0.02)
    (cpi,) = data["metrics"].values()
    assert cpi["representative"] == pytest.approx(iteration_cpi((60, 1.6), (40, 1.2), (300, 0.8)), rel=0.03)
    assert "one of the 3 iterations that the calls of rank 0 show" in printed(capsys, *words)


def iteration_cpi(*parts):
    """Return the cycles per instruction of parts, each with ms of computing and instructions per cycle."""
    return sum(ms for ms, _ in parts) / sum(ms * ipc for ms, ipc in parts)


@pytest.mark.parametrize("processes", [1, 2, 4])
def test_cycles_per_instruction_of_a_real_run(capsys, processes):
    """EPOCH, four iterations. The CPI of the whole is that of the published sums of cycles and instructions."""
    if not EPOCH.is_dir():
        pytest.skip("the folder of published traces is not beside this project")
    with (EPOCH / "expected.csv").open() as file:
        published = {name: float(row[[1, 2, 4].index(processes)]) for name, *row in csv.reader(file, delimiter=";")}
    assert main(["representative", str(EPOCH / f"epoch_{processes}proc.prv.gz"), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    (cpi,) = data["metrics"].values()
    truth = published["#Useful cycles (total)"] / published["#Useful instructions (total)"]
    assert data["by_calls"] and data["repetitions"] >= 4
    assert cpi["whole"] == pytest.approx(truth, rel=0.02)  # published: with MPI_Init and what is around it
    assert cpi["representative"] == pytest.approx(truth, rel=0.03)


def printed(capsys, *words):
    assert main([*words]) == 0
    return " ".join(capsys.readouterr().out.split())


def test_an_inner_period_makes_it_shorter():
    """Each of 12 periods of 600 samples has 500 in which 25 samples repeat, and 100 of another kind."""
    at = np.arange(12 * 600) % 600
    values = np.where(at < 500, 2 + ((at % 25) < 8), 5) + np.random.default_rng(3).normal(0, 0.01, len(at))
    found = representative(values)
    assert found.levels[0] == 600 and found.length < 600
    assert found.levels[-1] == 25


def test_the_segment_is_where_a_sine_fits_best():
    """A damaged period in the middle of a sine is not chosen."""
    values = 5 + np.sin(2 * np.pi * np.arange(40 * 30) / 40)
    values[400:440] = 5
    start = representative(values).start
    assert start % 40 in (0, 1, 39) and not 360 < start < 440


def test_lengths_by_hand():
    """A period of 24 ones and 24 threes: from its begin on 50 % are ones, and 200 % are as good as 100 %."""
    values = np.tile(np.repeat([1.0, 3.0], 24), 40)
    found = representative(values)
    table = {one.share: one for one in lengths(found, (column(values),), (50, 100, 150, 200))}
    whole = values.mean()
    for share, one in table.items():
        part = values[found.start : found.start + round(48 * share / 100)]
        assert one.errors[0] == pytest.approx(abs(part.mean() - whole) / whole)
    assert table[100].errors[0] == pytest.approx(0, abs=1e-12) and table[200].sum == pytest.approx(0, abs=1e-12)
    assert table[50].errors[0] > 0.2 and table[150].errors[0] > 0.1
    assert lengths(found, (column(values),), (10_000,))[0].errors == (None,)


def test_samples_are_best_at_one_and_two_periods():
    """Among all intervals up to 2R, R and 2R have some of the smallest errors, in all three ways."""
    cpi, misses = like_applu(noise=0.01)
    found = sweep(column(cpi), column(misses), 102)
    for way in ("msp", "ssp", "lsp"):
        off = np.array([getattr(one, way) for one in found])
        assert off[50] < 0.01 and off[101] < 0.01
        assert off[[50, 101]].max() < np.median(off[:40])


def test_samples_by_hand():
    """Two kinds of intervals by misses, with CPI 1 and 3: 3 of 4 are of the first kind."""
    misses = np.array([0.0, 0.0, 9.0, 0.0] * 3)
    cpi = np.array([1.0, 1.0, 3.0, 1.0] * 3)
    found = errors_of(column(cpi), column(misses), 1, clusters=2)
    assert found.msp == pytest.approx(0)  # 0.75 x 1 + 0.25 x 3 = 1.5, the mean
    assert found.ssp == pytest.approx(0.5 / 1.5)  # nearest to 2.25 misses is 0, with CPI 1
    assert found.lsp == pytest.approx(0.5 / 1.5)  # two in a row have 0 or 4.5 misses: 0 and the first are as near
    assert errors_of(column(cpi), column(misses), 12, clusters=2).msp is None


def test_a_ratio_is_that_of_the_sums():
    metric = StepMetric("a/b", np.array([2.0, 9.0, 0.0]), np.array([1.0, 3.0, 0.0]))
    assert metric.over(slice(0, 2)) == 11 / 4
    assert metric.values().tolist() == [2, 3, 11 / 4]


def test_a_burst_is_spread_over_its_time():
    """Rank 0 computes from 0 to 10 and 20 to 40, rank 1 from 0 to 30; steps of 10."""
    calls = [[("MPI_Barrier", 10, 20, {}), ("MPI_Barrier", 40, 50, {})], [("MPI_Barrier", 30, 50, {})]]
    found = series_of_run(MemoryTrace(calls, window=13), 0, 50, 5)
    assert found.columns[TIME] == pytest.approx([20, 10, 20, 10, 0])
    assert found.step == 10


@pytest.fixture
def applu(tmp_path):
    cpi, misses = like_applu()
    path = tmp_path / "applu.csv"
    rows = np.c_[np.full(len(cpi), 1e7), cpi * 1e7, misses]
    np.savetxt(path, rows, delimiter=",", header="instructions,cycles,misses", comments="")
    return path


def test_the_command(applu, capsys):
    assert main(["representative", str(applu), "--by", "misses", "--sweep", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["metric"], data["length"], data["found"]) == ("cycles/instructions", 51, True)
    assert set(data["best_lengths"]) & {100, 200} and len(data["sweep"]) == 102
    assert main(["representative", str(applu), "--by", "misses", "--sweep"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "51 steps of 3060 steps stand for the whole" in text and "51 (R)" in text and "102 (2R)" in text
    columns = dict(zip("ab", np.loadtxt(applu, delimiter=",", skiprows=1)[:, 1:].T, strict=True))
    np.savez(applu.with_suffix(".npz"), **columns)
    assert main(["representative", str(applu.with_suffix(".npz")), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["length"] == 51


def test_a_plan_says_when_each_set_is_read(tmp_path, capsys):
    """MPI_Init ends at 1 us; 40 iterations of 10 us follow, of which the first is not taken. MPI_Finalize begins at
    401 us."""
    calls = [call("MPI_Init", 0, 1000)]
    for begin in range(1000, 401_000, 10_000):
        calls.append(call("MPI_Bcast", begin + 6000, begin + 7000, comm=WORLD, peer=0, sent=8))
        calls.append(call("MPI_Allreduce", begin + 9000, begin + 10_000, comm=WORLD, sent=8, received=8))
    calls.append(call("MPI_Finalize", 401_000, 402_000))
    run, plan = write_run(tmp_path, [{"calls": calls}]), tmp_path / "x.plan"
    assert main(["representative", str(run), "--plan", "A,B", "--plan", "C", "-o", str(plan)]) == 0
    head, first, second, *text = capsys.readouterr().out.splitlines()
    assert head.split() == ["counters", "from", "to", "for"]
    assert " ".join(first.split()) == "A,B 10.0 us 20.0 us 10.0 us"
    assert " ".join(second.split()) == "C 20.0 us 30.0 us 10.0 us"
    assert "2 sets in 30.0 us of the run after MPI_Init" in " ".join(text)
    assert text[-1] == f'TRACELIB_COUNTERS="A,B;C" TRACELIB_ROTATE=file:{plan} tracelib run -- mpirun ...'
    assert f"1/{2 * 400 / 30:.3g} of the cost" in " ".join(" ".join(text).split())


def test_no_period_is_no_error(tmp_path, capsys):
    np.savetxt(tmp_path / "x.csv", np.random.default_rng(1).normal(5, 0.1, 500), header="cpi", comments="")
    assert main(["representative", str(tmp_path / "x.csv")]) == 0
    assert "Not Found" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "is no series"),
        ("a,b\n1,2\n3\n", "is no series"),
        ("a\n1\nx\n", "is no series"),
        ("a\n1\n-2\n3\n4\n5\n", "negative or no number"),
        ("a\n1\nnan\n3\n4\n5\n", "negative or no number"),
        ("a\n1\n", "has only 1 steps"),
    ],
)
def test_bad_series(tmp_path, capsys, text, said):
    (tmp_path / "x.csv").write_text(text)
    assert main(["representative", str(tmp_path / "x.csv")]) == 1
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1


def test_wrong_columns(applu, capsys, tmp_path):
    for metric in ("gone", "cycles/gone", "cycles/misses/misses"):
        assert main(["representative", str(applu), "--metric", metric]) == 1
        assert capsys.readouterr().err.count("\n") == 1
    (tmp_path / "x.npz").write_bytes(b"no zip")
    assert main(["representative", str(tmp_path / "x.npz")]) == 1
    assert "is no series" in capsys.readouterr().err


def test_a_picture_of_the_part(tmp_path, capsys):
    """The lines of the SVG are labelled by what they show; without a period there is the metric alone."""
    cpi, misses = like_applu(periods=12)
    path, picture = tmp_path / "s.csv", tmp_path / "s.svg"
    path.write_text("cpi,misses\n" + "".join(f"{a},{b}\n" for a, b in zip(cpi, misses, strict=True)))
    words = ["representative", str(path), "--by", "misses", "--picture", str(picture)]
    assert main(words) == 0
    drawn = picture.read_text()
    assert all(f"<!-- {text} -->" in drawn for text in ("cpi", "misses", "representative", "the whole"))
    path.write_text("cpi\n" + "".join(f"{v}\n" for v in 99 + np.random.default_rng(1).normal(0, 1, 400).cumsum()))
    assert main([*words[:2], "--picture", str(picture), "-f"]) == 0
    assert "has no period" in picture.read_text() and "<!-- representative -->" not in picture.read_text()
    capsys.readouterr()
    for wrong in (["--picture", str(tmp_path / "s.pdf")], ["--picture", str(picture), "--plan", "A"]):
        assert main(["representative", str(path), *wrong]) != 0
        assert "picture" in capsys.readouterr().err


@given(st.integers(1, 5000))
@settings(max_examples=30)
def test_ranges_of_a_picture_hide_no_extreme(count):
    values = np.random.default_rng(count).normal(0, 1, count)
    low, high, at = ranges(values)
    assert (low.min(), high.max()) == (values.min(), values.max())
    assert len(at) <= 1500 and at[0] == 0 and (np.diff(at) > 0).all()
    assert count > 1500 or (low == values).all()
