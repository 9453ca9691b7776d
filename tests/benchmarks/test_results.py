"""Recomputed published tables equal the thesis's statements, and parts of the page come into their places."""

import numpy as np
import pytest

from benchmarks.results import __main__ as page
from benchmarks.results import intervals, regions, runs, sampling
from benchmarks.results.published import table
from benchmarks.results.rows import Part, Row


def recomputed(part):
    """Target and what was found, of the first table of a part."""
    (_, rows), *_ = part.tables
    return {row.what: (row.target, row.found) for row in rows}


def test_statistics_of_the_periods():
    found = recomputed(runs.periods_part(runs.Campaign((), 0.0)))
    for name, (target, got) in found.items():
        if not name.startswith(("deviation", "... runs")):
            assert got == target, name
    assert float(found["deviation from the period of bursts, median"][1].split()[0]) <= 0.5
    assert found["... runs with more than 0.9 %"][1] == "4"


def test_times_of_programs_are_said_of_idle_processors_only():
    quiet, busy = (runs._periods(runs.Campaign((), load)) for load in (0.1, 2.5))
    assert [row.what for row in quiet][-1] == "deviation of signals, median"
    assert [row.found for row in busy] == ["not said: 2.5 other processes ran on each processor"]


def test_samples_of_a_period_vary_least():
    """Samples of 8 and 16 steps of a metric that repeats after 8 are alike; the others differ."""
    series = intervals.StepMetric("CPI", np.tile([9.0, 1, 1, 1, 2, 5, 1, 1], 50), np.ones(400))
    errors = intervals.sweep(series, series, 16)
    assert [one.steps for one in errors if max(one.msp, one.ssp, one.lsp) < 1e-12] == [8, 16]
    single = intervals._errors("X", 8, errors)[2:4]
    assert [row.found for row in single] == ["0.00 %, 0.00 %", "8, 16"]


def test_misprint_of_a_caption():
    assert "misprint" in intervals._printed("Swim", 26).note and not intervals._printed("Mgrid", 48).note


def test_statistics_of_lengths_and_samples():
    every = table("lengths")
    printed = every[every.benchmark == "Mean Error"].set_index("metric")
    found = every[every.benchmark != "Mean Error"].groupby("metric")[["20", "40", "100", "200"]].mean()
    for metric in found.index:
        assert found.loc[metric].to_list() == pytest.approx(printed.loc[metric, found.columns].to_list(), abs=0.011)
    subsets = table("subsets")
    errors = (subsets.l1 - subsets.l1_whole).abs() / subsets.l1_whole
    assert 100 * errors.mean() == pytest.approx(4.60, abs=0.005)


def test_invariants_of_the_regions():
    rows = regions._invariants(table("regions"))
    for row in rows:
        exact = not row.note and "period" in row.what and row.target.isdigit()
        assert not exact or row.target == row.found, row
    said = {row.what: row.found for row in rows}
    assert said["Liso: regions with flushes"] == "59310 ms, 16.6 %"
    assert said["Gadget: sum of the regions of level 1 (ms)"] == "1152460"


def test_steps_of_the_regions_are_as_long():
    one = table("regions").query("application == 'Liso'")
    body = regions.steps_of(one)[1].body
    assert [step.count for step in body if hasattr(step, "count")] == [6, 3]
    assert sum(step.count * step.body[0].ms if hasattr(step, "count") else step.ms for step in body) == pytest.approx(
        9010
    )


@pytest.mark.parametrize("name", ["Liso", "Idris", "Gadget", "Linpack"])
def test_a_signal_shows_the_planted_regions(name, tmp_path):
    """As often and as long as they are in the tables; inside a period of Idris two loops of 0.5 % of it each."""
    every = table("regions")
    rows = {row.what: row for row in regions._found(name, every[every.application == name], tmp_path)}
    loops = [row for what, row in rows.items() if what.startswith(f"{name}, region")]
    for row in loops:
        (_, *target), (_, *found) = (np.array(text.split("/"), float) for text in (row.target, row.found))
        assert found[0] == target[0] and found[1] == pytest.approx(target[1], rel=0.005), row
    assert loops and f"{name}: regions with a period" not in rows
    inside = rows.get("... inside a period")
    assert name != "Idris" or inside.found == inside.target


def test_planted_series_have_their_periods():
    cpi, _ = sampling.series_of(51, 51 * 20, 1)
    assert sampling.representative(cpi.values()).levels[0] == 51
    walk, _ = sampling.series_of(float("nan"), 1000, 1)
    assert sampling.representative(walk.values()) is None


def test_a_part_is_put_between_its_marks(tmp_path, monkeypatch):
    path = tmp_path / "results.md"
    path.write_text("head\n<!-- R1 -->\nold\n<!-- end R1 -->\n<!-- R2 -->\nkept\n<!-- end R2 -->\n")
    monkeypatch.setattr(page, "PAGE", path)
    page.put("R1", Part("R1: x", (("said", (Row("a", "1", "2"),)),)))
    text = path.read_text()
    assert "old" not in text and "kept" in text and "| a | 1 | 2 |  |" in text
    assert text.count("R1 -->") == 2
