"""`analyze replay`: the numbers it prints, the run that it writes, the mistakes that it names."""

import json

import numpy as np
import pytest
from paths import EPOCH

from analyzer.cli import main
from analyzer.metrics.useful import useful
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.replay import Machine, program_of, replay
from analyzer.trace import Leftovers

pytestmark = pytest.mark.skipif(not EPOCH.is_dir(), reason="the EPOCH traces are not here")
FOUR = EPOCH / "epoch_4proc.prv.gz"


def answer(capsys, *arguments):
    assert main(["replay", str(FOUR), *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_numbers_of_a_replay_add_up(capsys):
    """Each rank's parts sum up to its end; a faster CPU halves the computation."""
    found = answer(capsys, "--eager-limit", "32k", "--latency", "5us", "--bandwidth", "1000MB/s")
    for rank in found["ranks"]:
        parts = sum(v for k, v in rank.items() if k not in ("application", "rank", "end_s"))
        assert parts == pytest.approx(rank["end_s"], abs=1e-9)
    fast = answer(capsys, "--speed", "2", "--eager-limit", "32k", "--latency", "5us", "--bandwidth", "1GB/s")
    assert fast["parts_s"]["computing"] == pytest.approx(found["parts_s"]["computing"] / 2, rel=1e-5)
    assert found["predicted_s"] > 6.051059081 > fast["predicted_s"]
    narrow = answer(capsys, "--buses", "1", "--eager-limit", "32k", "--bandwidth", "100MB/s")
    whole = found["predicted_s"] * len(found["ranks"])
    assert found["utilisation"] == pytest.approx(found["parts_s"]["computing"] / whole)
    with_latency = found["utilisation"] + found["parts_s"]["overhead"] / whole
    assert found["utilisation_with_latency"] == pytest.approx(with_latency)
    assert 0 < found["received_late"] < found["received"] == found["messages"]
    assert found["mean_waiting"] == found["most_waiting"] == 0
    assert 0 < narrow["mean_waiting"] < 1 < narrow["most_waiting"]


def test_the_ideal_machine_is_the_default(capsys):
    assert answer(capsys, "--eager-limit", "32768")["predicted_s"] == 6.051059081


def test_the_predicted_run_is_a_run(tmp_path, capsys):
    """All calls and messages at their new times; the same computation, the predicted end, and a replay of it ends
    there again, but for the nanosecond of calls that take no time."""
    assert main(["replay", str(FOUR), "--eager-limit", "32k", "-o", str(tmp_path / "ideal.h5"), "-q"]) == 0
    measured, predicted = open_trace(FOUR), open_trace(tmp_path / "ideal.h5")
    assert predicted.duration_ns == pytest.approx(6051059081, abs=10)
    assert not predicted.problems and not predicted.extra(Leftovers).unmatched()
    for rank in range(4):
        old, new = (np.concatenate(list(t.calls(rank))) for t in (measured, predicted))
        names = [[t.procedures[c] for c in rows["call"]] for t, rows in ((measured, old), (predicted, new))]
        assert names[0] == names[1]
        for column in ("sent", "received", "tag", "count"):
            assert np.array_equal(old[column], new[column]), column
    columns = ["source", "destination", "size", "tag"]
    assert sorted(measured.messages()[columns].tolist()) == sorted(predicted.messages()[columns].tolist())
    bursts = [int(program_of(t).ops["burst"].sum()) for t in (measured, predicted)]
    assert bursts[1] == pytest.approx(bursts[0], rel=1e-6)
    assert int(useful(predicted, Team()).time_ns.sum()) == pytest.approx(bursts[0], rel=1e-3)
    again = replay(predicted, Machine.ideal(eager_limit=32768))
    assert again.end_ns == pytest.approx(6051059081, abs=5000)
    assert main(["check", str(tmp_path / "ideal.h5")]) == 0


def test_the_prediction_as_paraver(tmp_path, capsys):
    assert main(["replay", str(FOUR), "--eager-limit", "32k", "-o", str(tmp_path / "ideal.prv"), "-q"]) == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ideal.pcf", "ideal.prv", "ideal.row"]
    assert open_trace(tmp_path / "ideal.prv").duration_ns == pytest.approx(6051059081, abs=10)


def test_two_runs_share_a_machine(tmp_path, capsys):
    """Each on its own CPUs, they do not disturb each other on an ideal network; on half the CPUs they do."""
    for more in ([], ["--cpus", "1"], ["--cpus", "2"], ["--cpus", "3"]):
        two = answer(capsys, "--app", FOUR, "--eager-limit", "32k", *more)
        assert two["predicted_s"] == 6.051059081
        assert two["parts_s"]["wait_cpu"] == 0
    (tmp_path / "m.toml").write_text("[[node]]\ncount = 4\ncpus = 1\n")
    shared = answer(capsys, "--app", FOUR, "--eager-limit", "32k", "--machine", tmp_path / "m.toml")
    assert 1.9 < shared["predicted_s"] / two["predicted_s"] <= 2.1
    assert shared["parts_s"]["wait_cpu"] > 0


def test_a_closed_system_repeats(capsys):
    found = answer(capsys, "--repeat", "3", "--eager-limit", "32k")
    ends = [run["end_s"] for run in found["runs"]]
    assert ends == pytest.approx([6.051059081 * k for k in (1, 2, 3)])


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["--machine", "absent.toml"], "cannot read absent.toml"),
        (["--machine", "machine.txt"], "neither .toml nor .cfg"),
        (["--latency", "fast"], "5us"),
        (["--cpus", "0"], "cpus"),
        (["--app", "absent.h5"], "no such file"),
        (["--app", str(FOUR), "-o", "both.h5"], "only a Paraver trace can hold several runs at once"),
        (["-o", "predicted.dim"], "a prediction is written as .h5 or .prv, not as predicted.dim"),
        (["-o", "predicted.prv.gz"], "a prediction is written as .h5 or .prv, not as predicted.prv.gz"),
        (["--repeat", "2", "-o", "twice.prv"], "one file cannot hold runs that begin again"),
    ],
)
def test_mistakes(arguments, says, capsys):
    assert main(["replay", str(FOUR), *arguments]) != 0
    assert says in capsys.readouterr().err


def test_nothing_that_is_there_is_overwritten(tmp_path, capsys):
    (tmp_path / "x.h5").write_text("mine")
    assert main(["replay", str(FOUR), "-o", str(tmp_path / "x.h5")]) == 1
    assert (tmp_path / "x.h5").read_text() == "mine"
