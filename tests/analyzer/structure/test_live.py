"""Looks at a run as they are taken again and again while it is written."""

from __future__ import annotations

import shutil

import pytest
from test_cuts import ITERATIONS, STEP_NS, numbers, run_of_steps

from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.structure import live
from analyzer.structure.live import Look, look, place_of


def test_a_look_at_a_run_that_has_ended(tmp_path, capsys):
    run = run_of_steps(tmp_path)
    found = look(run)
    assert (found.is_running, found.period_ns, found.shown) == (False, STEP_NS, ITERATIONS)
    data = numbers(capsys, "structure", run, "--follow", "--json")
    (loop,) = data["loops"]
    assert (loop["period_s"], loop["running"], data["looks"]) == (STEP_NS / 1e9, False, 1)
    assert main(["structure", str(run), "--follow"]) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert "iterations of 10.0 us, each: 1 exchange, 1 reduction" in first
    assert last.startswith("The run has ended. 1 look, ")


def test_only_the_last_calls_are_looked_at(tmp_path, monkeypatch):
    monkeypatch.setattr(live, "MOST_CALLS", 40)
    found = look(run_of_steps(tmp_path))
    assert found.period_ns == STEP_NS
    assert live.ENOUGH <= found.shown < ITERATIONS / 2  # 4 calls each


def test_two_looks_must_agree_and_the_run_must_have_gone_on():
    now = Look(2000, True, 100, 9, "1 exchange")
    assert now.confirms(Look(1000, True, 110, 8, "1 exchange"))
    for earlier in (None, Look(2000, True, 100, 9, "1 exchange"), Look(1000, True, 200, 8, "1 exchange"),
                    Look(1000, True, 100, 8, "1 reduction")):  # fmt: skip
        assert not now.confirms(earlier)
    assert not Look(2000, True, 0, 0, "").confirms(Look(1000, True, 0, 0, ""))


def test_ranks_are_chosen_from_all_that_have_files(tmp_path):
    folder = tmp_path / "run.ranks"
    folder.mkdir()
    for rank in range(100):
        (folder / f"{rank:06d}.h5").touch()
    chosen = live._some_ranks(tmp_path / "run.h5").of(100, "run")
    assert len(chosen) == live.MOST_RANKS and (chosen[0], chosen[-1]) == (0, 99)
    assert place_of(tmp_path / "run.h5") == folder  # rank 0 has not written run.h5 yet
    shutil.rmtree(folder)
    with pytest.raises(TracelibError):
        place_of(tmp_path / "run.h5")
    assert main(["structure", str(tmp_path / "run.h5"), "--follow"]) == 1
