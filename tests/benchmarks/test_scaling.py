"""The fitted growth equals the figures' growth, and quantities that cannot be measured are named."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import scaling
from benchmarks.processes import Failed, Usage, usage_of
from benchmarks.scaling import SIZES, SMALL, Measured, growth, lines

COEFFICIENTS = {
    "start_s": st.floats(0.1, 5),
    "call_us": st.floats(0.05, 10),
    "rank_ms": st.floats(0.05, 20),
    "start_mb": st.floats(20, 500),
    "rank_kb": st.floats(1, 100),
}


def measured(sizes, start_s, call_us, rank_ms, start_mb, rank_kb, noise=None):
    rows = []
    for n, (ranks, calls) in enumerate(sizes):
        seconds = start_s + call_us * calls / 1e6 + rank_ms * ranks / 1e3
        off = 1 + (noise[n] if noise else 0)
        rows.append(Measured(ranks, round(calls), Usage(seconds * off, start_mb + rank_kb * ranks / 1024)))
    return rows


@settings(max_examples=200)
@given(st.sampled_from([SIZES, SMALL]), st.fixed_dictionaries(COEFFICIENTS))
def test_known_coefficients_come_back(sizes, known):
    found = growth(measured(sizes, **known))
    for name, value in known.items():
        assert getattr(found, name) == pytest.approx(value, rel=1e-6)
    assert max(found.time_off, found.memory_off) < 1e-6


@settings(max_examples=100)
@given(st.fixed_dictionaries(COEFFICIENTS), st.lists(st.floats(-0.05, 0.05), min_size=7, max_size=7))
def test_the_fit_is_no_further_off_than_the_noise_allows(known, noise):
    """The squares of its errors are no more than the true coefficients', t / t' - 1 for t' measured."""
    rows = measured(SIZES, **known, noise=noise)
    found = growth(rows)
    assert min(found.start_s, found.call_us, found.rank_ms) >= 0
    fitted = [found.start_s + found.call_us * r.calls / 1e6 + found.rank_ms * r.ranks / 1e3 for r in rows]
    errors = np.array(fitted) / [r.usage.seconds for r in rows] - 1
    assert (errors**2).sum() <= sum((1 / (1 + off) - 1) ** 2 for off in noise) + 1e-9
    assert found.time_off == pytest.approx(np.abs(errors).max())


def test_nothing_is_negative():
    """A command that is faster with more calls costs nothing for each."""
    rows = [Measured(ranks, calls, Usage(s, 100)) for ranks, calls, s in ((10, 1000, 2), (10, 9000, 1), (90, 1000, 4))]
    assert growth(rows).call_us == 0


def test_lines_have_budgets():
    found = {f.name: f for f in lines("prv", measured(SIZES, 1, 0.25, 2, 100, 10))}
    assert found["analyze prv, time for each call"].value == pytest.approx(0.25)
    assert found["analyze prv, time for each call"].budget == 0.5
    assert found["analyze prv, time for each rank"].value == pytest.approx(2)
    assert found["analyze prv, time for each rank"].budget == 1
    assert "1 s" in found["analyze prv, time for each rank"].note
    assert found["analyze prv, memory for each rank"].value == pytest.approx(10)
    assert "100 MB" in found["analyze prv, memory for each rank"].note


def test_too_few_sizes():
    (figure,) = lines("look --no-files", measured(SIZES[:2], 1, 1, 1, 1, 1), "fails with 4096 ranks")
    assert np.isnan(figure.value)
    assert figure.note == "fails with 4096 ranks"


def test_processes_are_measured(tmp_path):
    words = [sys.executable, "-c", "x = bytearray(100 << 20); sum(range(5_000_000))"]
    mine = np.ones(40 << 20)  # 320 MB that are not the command's
    used = usage_of(words, tmp_path)
    assert 100 < used.memory_mb < mine.nbytes >> 20
    assert used.seconds > 0.02


@pytest.mark.parametrize(
    ("code", "said"),
    [("import sys; sys.exit('one\\ntwo')", "two"), ("while True: pass", "ended with -"), ("1/0", "Zero")],
)
def test_processes_that_fail(tmp_path, code, said):
    with pytest.raises(Failed, match=said):
        usage_of([sys.executable, "-c", code], tmp_path, limit_s=1)


def test_commands_are_measured(monkeypatch, tmp_path):
    """One that exists and one that does not."""
    monkeypatch.setattr(scaling, "WORK", tmp_path)
    monkeypatch.setattr(scaling, "COMMANDS", {"look --no-files": (), "no-such": ()})
    sizes = ((4, 400), (8, 400), (8, 4000))
    found = {figure.name: figure for figure in scaling.figures(None, sizes, "ring", ("look --no-files", "no-such"))}
    assert found["analyze look --no-files, time for each rank"].value >= 0
    assert "fails with 4 ranks" in found["analyze no-such, growth"].note
    assert not list(tmp_path.iterdir())


def test_every_command_measured_exists():
    from analyzer.cli import main

    for command in scaling.COMMANDS:
        if command != "look":
            assert main([*command.split(), "--help"]) == 0
