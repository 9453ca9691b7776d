"""The heat solver at 1, 2, 4 and 8 ranks: the speedup model of real runs, whatever their times are on this machine."""

import json

import pytest
from matrix import ROOT

from analyzer.cli import main

RANKS = (1, 2, 4, 8)


@pytest.mark.timed  # others may wait before the loop for a rank that has no CPU; on an ideal network they do so in it
def test_the_model_of_real_runs(openmpi, compiled, traced, tmp_path, capsys):
    program = compiled(openmpi, ROOT / "examples" / "heat.c")
    files = []
    for ranks in RANKS:
        folder = tmp_path / str(ranks)
        folder.mkdir()
        files.append(str(traced(openmpi, program, "--size", "256", "--steps", "60", ranks=ranks, folder=folder).run))
    assert main(["speedup", *files, "--scaling", "strong", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [run["ranks"] for run in data["runs"]] == list(RANKS)
    for run in data["runs"]:
        values = {key: factor["value"] for key, factor in run["factors"].items()}
        assert {"transfer", "dependencies", "balance"} <= values.keys(), run["not_replayed"]
        assert all(0 < values[key] <= 1 + 1e-9 for key in ("transfer", "dependencies", "balance")), values
        assert run["measured"] == pytest.approx(run["modelled"], rel=1e-9)
        assert run["measured"] == pytest.approx(data["runs"][0]["period_s"] / run["period_s"])
    alone = data["runs"][0]["factors"]
    assert alone["balance"]["value"] == 1 and alone["dependencies"]["value"] > 0.99  # nobody to wait for
    assert main(["predict", *files, "--scaling", "strong", "--ranks", "8", "16", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["predicted"]
    assert first["measured"] == pytest.approx(data["runs"][-1]["measured"])
    assert first["speedup_low"] <= first["speedup"] <= first["speedup_high"] and second["measured"] is None
