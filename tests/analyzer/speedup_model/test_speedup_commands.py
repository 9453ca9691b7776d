"""`analyze speedup` and `analyze predict` as they are typed: tables, sentences, JSON, and what they refuse."""

import json
from pathlib import Path

import numpy as np
import pytest
from phased import with_factors, write_phases

from analyzer.cli import main


@pytest.fixture
def runs(tmp_path):
    """At 4, 8 and 16 ranks; balance falls from 95 to 85 and 75 %."""
    found = []
    for ranks, balance in ((4, 0.95), (8, 0.85), (16, 0.75)):
        span = round(64e6 / ranks / balance)
        found.append(str(write_phases(tmp_path / f"p{ranks}.prv", *with_factors(ranks, span, 0.99, 0.98, balance))))
    return found


def printed(capsys, *arguments):
    assert main([*arguments]) == 0
    return " ".join(capsys.readouterr().out.split())


def document(capsys, *arguments):
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_speedup_in_words_and_numbers(capsys, runs):
    text = printed(capsys, "speedup", *runs[::-1])
    assert "4 -> 16 ranks: 3.16 times as fast, where 4 would be linear" in text
    assert "Load balance (95.0 % -> 75.0 %, factor 0.79) undermines it most" in text
    assert "Without its loss it would be 4 times" in text
    data = document(capsys, "speedup", *runs[::-1])
    assert [run["ranks"] for run in data["runs"]] == [4, 8, 16] and data["scaling"] == "strong"
    last = data["runs"][-1]
    assert last["measured"] == pytest.approx(4 * 75 / 95, rel=1e-4)
    assert last["modelled"] == pytest.approx(last["measured"], rel=1e-6)
    assert last["undermining"] == "balance" and last["factors"]["balance"]["value"] == pytest.approx(0.75)


def test_without_counters_it_says_what_is_joined(capsys, tmp_path, runs):
    """Lines without the numbers of instructions and cycles."""
    bare = []
    for path in runs[:2]:
        text = Path(path).read_text().replace(":42000050:", ":42000001:").replace(":42000059:", ":42000002:")
        bare.append(str(tmp_path / f"bare{len(bare)}.prv"))
        Path(bare[-1]).write_text(text)
    data = document(capsys, "speedup", *bare)
    assert data["factors"] == ["transfer", "dependencies", "balance", "computation"]
    assert "counted in no run" in data["notes"][0]
    assert "equals the measured one by construction" in printed(capsys, "speedup", *bare)
    assert f"not in {bare[1]}" in document(capsys, "speedup", runs[0], bare[1])["notes"][0]


def test_two_variants(capsys, tmp_path, runs):
    other = []
    for ranks, transfer in ((4, 0.99), (16, 0.8)):
        span = round(64e6 / ranks / 0.95)
        path = write_phases(tmp_path / f"other{ranks}.prv", *with_factors(ranks, span, transfer, 0.98, 0.95))
        other.append(str(path))
    text = printed(capsys, "speedup", runs[0], runs[2], "--against", other[0], "--against", other[1])
    assert "At 16 ranks, the speedups are (3.16 and 4)" in text
    assert "It gains load balance" in text and "it loses real communication" in text
    data = document(capsys, "speedup", runs[0], runs[2], "--against", other[0], "--against", other[1])
    assert [one["ranks"] for one in data["differences"]] == [4, 16]
    assert data["differences"][1]["losses"] == ["transfer"]


@pytest.mark.parametrize("asked", [["--ranks", "16", "64"], ["--ranks", "16,64"], ["--ranks", "16", "--ranks", "64"]])
def test_predict_in_words_and_numbers(capsys, runs, asked):
    data = document(capsys, "predict", *runs, *asked)
    assert [run["ranks"] for run in data["fitted"]] == [4, 8]
    first, second = data["predicted"]
    assert (first["ranks"], second["ranks"], first["observed_worst"], second["measured"]) == (16, 64, "balance", None)
    assert first["factors"]["balance"]["value"] == pytest.approx(0.75, rel=1e-4)
    assert first["errors"]["model"] < 1e-4 < first["errors"]["linear"] and first["errors"]["quadratic"] is None
    assert first["speedup_low"] is None
    text = printed(capsys, "predict", *runs, *asked)
    assert "Load balance will undermine it most (factor 0.79), as it does in the measured run" in text
    assert "name a third for intervals" in text


def test_predict_with_intervals(capsys, runs):
    text = printed(capsys, "predict", *runs, "--ranks", "64", "--form", "power")
    assert "Intervals hold 90.0 %" in text and ".." in text and "exp(" in text
    (one,) = document(capsys, "predict", *runs, "--ranks", "64")["predicted"]
    assert one["speedup_low"] <= one["speedup"] <= one["speedup_high"]
    assert one["period_low_s"] <= one["period_s"] <= one["period_high_s"]


@pytest.mark.parametrize(
    "line, said",
    [
        ("speedup {0}", "one run has no speedup"),
        ("speedup {0} {1} --ranks 1", "--ranks cannot be used here"),
        ("speedup {0} gone.prv", "no such file"),
        ("speedup {0} {1} --region solve", "has no region 'solve'"),
        ("predict {0} {1}", "Missing option '--ranks'"),
        ("predict {0} {1} --ranks many", "not a number of ranks"),
        ("predict {0} --ranks 16", "two rank counts at least"),
        ("predict --ranks 16 64", "no run to predict from"),
    ],
)
def test_what_is_refused_is_said_in_one_line(capsys, runs, line, said):
    assert main(line.format(*runs).split()) != 0
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1, err


def test_ranks_that_only_wait_are_ranks(capsys, tmp_path):
    """A rank that computes nothing at all counts for the balance."""
    durations = np.full((4, 4), 1_000_000)
    small = write_phases(tmp_path / "small.prv", durations)
    durations[:, 3] = 0
    data = document(capsys, "speedup", str(small), str(write_phases(tmp_path / "idle.prv", durations)))
    assert data["runs"][1]["factors"]["balance"]["value"] == pytest.approx(0.75)
