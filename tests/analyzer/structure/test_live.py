"""Looks at a run as they are taken again and again while it is written."""

from __future__ import annotations

import shutil

import pytest
from test_cuts import ITERATIONS, STEP_NS, numbers, run_of_steps

from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.structure import live
from analyzer.structure.live import LiveIterations, look, place_of


def test_a_look_at_a_run_that_has_ended(tmp_path, capsys):
    run = run_of_steps(tmp_path)
    found = look(run)
    assert (found.is_running, found.period_ns, found.shown) == (False, STEP_NS, ITERATIONS)
    data = numbers(capsys, "structure", run, "--follow", "--json")
    (loop,) = data["loops"]
    assert (loop["period_s"], loop["running"], data["looks"]) == (STEP_NS / 1e9, False, 1)
    assert main(["structure", str(run), "--follow"]) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("Loop 1 at ")
    assert "iterations of 10.0 us, each: 1 exchange, 1 reduction" in first
    assert last.startswith("The run has ended. 1 look, ")


def test_only_the_last_calls_are_looked_at(tmp_path, monkeypatch):
    monkeypatch.setattr(live, "MOST_CALLS", 40)
    found = look(run_of_steps(tmp_path))
    assert found.period_ns == STEP_NS
    assert live.ENOUGH <= found.shown < ITERATIONS / 2  # 4 calls each


def test_two_looks_must_agree_and_the_run_must_have_gone_on():
    now = LiveIterations(2000, True, 100, 9, "1 exchange")
    assert now.confirms(LiveIterations(1000, True, 110, 8, "1 exchange"))
    for earlier in (
        None,
        LiveIterations(2000, True, 100, 9, "1 exchange"),
        LiveIterations(1000, True, 200, 8, "1 exchange"),
        LiveIterations(1000, True, 100, 8, "1 reduction"),
    ):
        assert not now.confirms(earlier)
    assert not LiveIterations(2000, True, 0, 0, "").confirms(LiveIterations(1000, True, 0, 0, ""))


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


def test_loops_of_a_run_that_has_ended_are_cut(tmp_path, capsys):
    run = run_of_steps(tmp_path)
    words = ["cut", run, "--all", "--follow", "--iterations", "3", "-o", tmp_path / "small.h5"]
    found = numbers(capsys, *words, "--json")
    (one,) = found["cuts"]
    assert (one["loop"], one["iterations"]) == (1, 3)
    assert one["end_s"] - one["begin_s"] == pytest.approx(3 * STEP_NS / 1e9)
    assert main(["check", str(tmp_path / "small-1.h5"), "-q"]) == 0
    assert main([*map(str, words), "-f"]) == 0
    assert "small-1.h5: 3 iterations, " in capsys.readouterr().out
    assert main(["cut", str(run), "--follow"]) != 0
    assert "name --all" in capsys.readouterr().err


def test_a_cut_of_a_running_program_has_what_all_ranks_have_written(tmp_path, monkeypatch):
    """One rank wrote its buffer long ago."""
    trace = open_trace(run_of_steps(tmp_path))
    whole, behind = live.sequence_of, 2000 + 23 * STEP_NS

    def written(of, rank, begin=0, end=None):
        return whole(of, rank, begin, min(end or behind, behind) if rank else end)

    monkeypatch.setattr(live, "sequence_of", written)
    found = live.last_iterations(trace, look(tmp_path / "run.h5"), Team())
    trace.close()
    assert found.count == 20 and found.known.all()  # the slow one takes as long as four
    assert found.end_ns <= behind
    assert (found.edges[0] == found.edges[1]).all()
