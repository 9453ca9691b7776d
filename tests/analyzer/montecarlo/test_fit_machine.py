"""`analyze fit-machine` finds the machine that runs were replayed on, and says what they do not tell."""

import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest
from paths import ROOT
from patience import patient
from planted import exchange, predicted

from analyzer.cli import main
from analyzer.machine.read_toml import read_toml
from analyzer.montecarlo.region import ParameterKnowledge, region

THERE = "[network]\nbandwidth_mb = 200\n[node]\nlatency_us = 8\nlinks_in = 1\nlinks_out = 1\n"
BASE = "[node]\nlinks_in = 1\nlinks_out = 1\n"
WIDE = ("--vary", "latency=log:1us..100us", "--vary", "bandwidth=log:10MB/s..1GB/s")
MB = 1 << 20


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Runs on the machine THERE: of small messages, and of large ones."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "there.toml").write_text(THERE)
    (folder / "base.toml").write_text(BASE)
    for name, size in (("small", 8), ("large", 20000)):
        predicted(exchange(folder, name, 40, size), folder / "there.toml")
    return folder


def fitted(capsys, runs, names, *options):
    """The command's JSON."""
    files = [str(runs / f"{name}-there.h5") for name in names]
    assert main(["fit-machine", *files, "--machine", str(runs / "base.toml"), *map(str, options), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("design, seed", [("random", 1), ("random", 2), ("latin", 2), ("sobol", 1)])
def test_the_machine_of_two_runs_is_found(runs, capsys, design, seed):
    """Latency and bandwidth equal THERE's. The latency within nodes, which no message uses, is not known."""
    found = fitted(
        capsys, runs, ("small", "large"), *WIDE, "--vary", "intra_latency=0..5us", "--seed", seed, "--design", design
    )
    latency, bandwidth, intra = found["parameters"]
    assert latency["known"] and latency["least"] < 8e-6 < latency["most"] < 1.6 * latency["least"]
    assert bandwidth["known"] and bandwidth["least"] < 200 * MB < bandwidth["most"] < 1.6 * bandwidth["least"]
    assert not intra["known"] and intra["width"] > 0.8
    assert latency["best"] == pytest.approx(8e-6, rel=0.01)
    assert bandwidth["best"] == pytest.approx(200 * MB, rel=0.01)
    assert found["misfit"] < 1e-3 and found["near"] >= 20
    assert [run["measured_s"] for run in found["runs"]] == pytest.approx(
        [run["predicted_s"] for run in found["runs"]], rel=1e-3
    )


def test_one_run_tells_of_what_it_uses(runs, capsys):
    """Small messages do not depend on the bandwidth, large ones on both, which then make up for each other."""
    latency, bandwidth = fitted(capsys, runs, ("small",), *WIDE)["parameters"]
    assert (latency["known"], bandwidth["known"], latency["tied_to"]) == (True, False, [])
    both = fitted(capsys, runs, ("large",), *WIDE, "--samples", 300)
    assert [p["tied_to"] for p in both["parameters"]] == [["bandwidth"], ["latency"]]
    assert both["correlation"][0][1] > 0.5  # a longer latency is made up for by a higher bandwidth


def test_whole_numbers(runs, capsys, tmp_path):
    """Two pairs of ranks that send at once need two buses; more do not matter."""
    (tmp_path / "one.toml").write_text(THERE.replace("[node]", "buses = 1\n[node]"))
    run = predicted(exchange(tmp_path, "crowd", 40, 20000), tmp_path / "one.toml")
    options = ("--machine", str(tmp_path / "one.toml"), "--vary", "buses=1..6", "-n", "60", "--json")
    assert main(["fit-machine", str(run), *options]) == 0
    buses = json.loads(capsys.readouterr().out)["parameters"][0]
    assert (buses["best"], buses["least"], buses["most"]) == (1, 1, 1)


def test_weights_and_untraced_times(runs, capsys):
    """Times given by hand replace the traced ones; a compromise leans to the run with more weight."""
    seconds = [0.001, 0.1]
    for weights, leaning in (("1,100", 1), ("100,1", 0)):
        found = fitted(capsys, runs, ("small", "large"), "--vary", "latency=log:1us..1ms", "--weights", weights,
                       "--untraced-seconds", "0.001,0.1")  # fmt: skip
        assert [run["measured_s"] for run in found["runs"]] == seconds
        errors = [abs(run["error"]) for run in found["runs"]]
        assert errors.index(min(errors)) == leaning
        assert found["near"] == 0 and found["parameters"][0]["least"] is None


def test_the_fitted_machine_replays_the_run(runs, capsys, tmp_path):
    found = fitted(capsys, runs, ("small", "large"), *WIDE, "-o", tmp_path / "fitted.toml")
    assert [Path(path).name for path in found["written"]] == ["fitted.toml", "fitted.png", "fitted.samples.jsonl"]
    machine = read_toml(tmp_path / "fitted.toml")
    assert machine.node.latency_s == pytest.approx(found["parameters"][0]["best"])
    assert (machine.node.links_in, machine.node.links_out) == (1, 1)
    assert (tmp_path / "fitted.png").read_bytes().startswith(b"\x89PNG")
    assert tomllib.loads((tmp_path / "fitted.toml").read_text())["dialect"] == "standard"
    small = runs / "small-there.h5"
    assert main(["replay", str(small), "--machine", str(tmp_path / "fitted.toml"), "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert whole["predicted_s"] == pytest.approx(whole["measured_s"][0], rel=0.01)


def test_the_report_says_what_is_known(runs, capsys):
    run = str(runs / "small-there.h5")
    assert main(["fit-machine", run, "--machine", str(runs / "base.toml"), *WIDE]) == 0
    out = capsys.readouterr().out
    assert "bandwidth is not determined: all values tried fit equally well" in " ".join(out.split())
    assert "predict every run within 10 %" in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(("values", "end"), [("8.2us..16us", "lower"), ("4us..7.8us", "upper"), ("4us..16us", None)])
def test_a_best_fit_at_an_end_of_what_was_drawn_is_said(runs, capsys, values, end):
    """The latency is 8 us."""
    options = ("--machine", str(runs / "base.toml"), "--vary", f"latency={values}")
    assert main(["fit-machine", str(runs / "small-there.h5"), *options]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (f"The best latency is at the {end} end" in said) if end else ("may lie beyond" not in said)


def without_names(found):
    return {key: value for key, value in found.items() if key != "written"}


def test_a_cut_journal_goes_on_to_the_same_end(runs, capsys, tmp_path):
    """In the middle of a line: what was whole counts, the rest is done again."""
    options = (*WIDE, "-n", "20")
    whole = fitted(capsys, runs, ("small", "large"), *options, "-o", tmp_path / "whole")
    content = (tmp_path / "whole.samples.jsonl").read_bytes()
    journal = tmp_path / "cut.samples.jsonl"
    journal.write_bytes(content[: len(content) // 2])
    again = fitted(capsys, runs, ("small", "large"), *options, "-o", tmp_path / "cut")
    assert without_names(again) == without_names(whole)
    before, after = (path.read_bytes().splitlines()[1:] for path in (tmp_path / "whole.samples.jsonl", journal))
    assert sorted(json.loads(line)["values"] for line in after) == sorted(json.loads(line)["values"] for line in before)


def test_a_killed_study_goes_on(runs, capsys, tmp_path):
    """SIGKILL in the middle: each result until then counts, and the end is that of an undisturbed one."""
    run = exchange(tmp_path, "long", 400, 8)
    words = ["fit-machine", str(run), *WIDE, "-n", "40", "--jobs", "1", "--json", "--untraced-seconds", "0.03"]
    journal = tmp_path / "killed.samples.jsonl"
    root = ROOT
    victim = subprocess.Popen(
        [sys.executable, "-m", "analyzer", *words, "-o", str(tmp_path / "killed")],
        cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + patient(60)
    while not journal.exists() or journal.read_bytes().count(b"\n") < 20:
        assert victim.poll() is None and time.monotonic() < deadline
        time.sleep(0.002)
    os.kill(victim.pid, signal.SIGKILL)
    victim.wait()
    done = journal.read_bytes().count(b"\n") - 1
    assert 19 <= done < 400 and not (tmp_path / "killed.toml").exists()
    assert main([*words, "-o", str(tmp_path / "killed")]) == 0
    resumed = json.loads(capsys.readouterr().out)
    killed = [json.loads(line)["by"] for line in journal.read_bytes().splitlines()[1:]]
    assert sum(by.endswith(f":{victim.pid}") for by in killed) == done
    assert main([*words, "-o", str(tmp_path / "undisturbed")]) == 0
    assert without_names(resumed) == without_names(json.loads(capsys.readouterr().out))


@pytest.fixture(scope="module")
def answered(runs):
    """The words of a study of 5 machines a round, and its journal."""
    base = runs / "answered"
    words = ["fit-machine", str(runs / "small-there.h5"), "--seed", "1", "--vary", "latency=1us..9us", "-q"]
    assert main([*words, "-n", "5", "-o", str(base)]) == 0
    return words, base.with_name("answered.samples.jsonl").read_bytes()


def test_more_machines_of_the_same_question(answered, tmp_path):
    """Machines that are known are not replayed again; --force forgets them."""
    words, before = answered
    journal = tmp_path / "x.samples.jsonl"
    journal.write_bytes(before)
    assert main([*words, "-n", "10", "-o", str(tmp_path / "x")]) == 0
    assert journal.read_bytes().startswith(before) and len(journal.read_bytes()) > len(before)
    assert main([*words, "-n", "5", "-o", str(tmp_path / "x"), "--seed", "2", "--force"]) == 0
    assert b'"seed": 2}' in journal.read_bytes().splitlines()[0]


@pytest.mark.parametrize(
    "options, says",
    [
        (("--seed", "2"), "seed was 1, not 2"),
        (("--vary", "buses=1..4"), "vary was"),
        (("--latency", "3us"), "other machine"),
        (("--design", "sobol"), "design was random, not sobol"),
    ],
)
def test_another_question_is_refused(answered, capsys, tmp_path, options, says):
    words, before = answered
    (tmp_path / "x.samples.jsonl").write_bytes(before)
    assert main([*words, "-o", str(tmp_path / "x"), *options]) == 1
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1
    assert (tmp_path / "x.samples.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    "options, says",
    [
        ((), "nothing is varied"),
        (("--vary", "latency"), "names no parameter"),
        (("--vary", "latancy=1us..2us"), "did you mean latency"),
        (("--vary", "latency=2us..1us"), "no width"),
        (("--vary", "latency=log:0..1us"), "above 0"),
        (("--vary", "latency=poisson:1us..2us"), "not a known distribution"),
        (("--vary", "bandwidth=1MB/s..inf"), "finite"),
        (("--vary", "buses=1.5..4"), "whole number"),
        (("--vary", "latency=1us..2us", "--vary", "latency=1us..3us"), "varied twice"),
        (("--vary", "latency=1us..2us", "--weights", "1,2"), "one number above 0 for each run"),
        (("--vary", "latency=1us..2us", "--weights", "0"), "one number above 0 for each run"),
        (("--vary", "latency=1us..2us", "--untraced-seconds", "x"), "one number above 0 for each run"),
    ],
)
def test_mistakes(runs, capsys, options, says):
    assert main(["fit-machine", str(runs / "small-there.h5"), *options]) == 1
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1


def test_what_is_no_journal_is_kept(runs, capsys, tmp_path):
    (tmp_path / "x.samples.jsonl").write_text("mine\n")
    words = ["fit-machine", str(runs / "small-there.h5"), "--vary", "latency=1us..2us", "-o", str(tmp_path / "x")]
    assert main(words) == 1
    assert "no file of samples" in capsys.readouterr().err
    assert (tmp_path / "x.samples.jsonl").read_text() == "mine\n"
    (tmp_path / "y.toml").write_text(BASE)
    assert main([*words[:-1], str(tmp_path / "y")]) == 1
    assert (tmp_path / "y.toml").read_text() == BASE


def test_regions_by_property():
    """Two parameters, of which one decides which machines are near and the other has no influence."""
    random = np.random.default_rng(5)
    shares = random.random((400, 2))
    near = (shares[:, 0] > 0.3) & (shares[:, 0] < 0.45)
    found = region(shares, shares, near, np.ones(2))
    assert [r.known for r in found.ranges] == [ParameterKnowledge.YES, ParameterKnowledge.NO]
    assert 0.3 < found.ranges[0].low < found.ranges[0].high < 0.45
    few = region(shares, shares, near & (np.cumsum(near) <= 3), np.ones(2))
    assert [r.known for r in few.ranges] == [ParameterKnowledge.TOO_FEW] * 2 and np.isnan(few.correlation).all()
