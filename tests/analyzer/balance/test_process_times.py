"""Times of processes under a plan, measured and predicted: by hand, over several sizes, as text and picture."""

import json

import pytest
from matplotlib.figure import Figure
from synthetic import WORLD, call, write_run

from analyzer.cli import main
from tracelib.schema.shares import read_plan

US = 1000


def run_of(folder, *computing_us):
    """Ten barriers, before each of which every rank computes as long as is said."""
    folder.mkdir()
    end = (max(computing_us) + 1) * US
    ranks = [
        {"calls": [call("MPI_Barrier", k * end + own * US, (k + 1) * end, comm=WORLD) for k in range(10)]}
        for own in computing_us
    ]
    return str(write_run(folder, ranks))


PLAN = """tracelib-plan 1
ranks 3
speeds 100 3 1 1
speeds 200 3 1 1
expect 100 0.0001 0.00009 0.000105 0.0002
expect 200 0.0002 0.00018 0.00021 0.0004
times 100 0.0001 0.0001 0.00008
times 200 0.0002 0.0002 0.0002
"""


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "a.plan").write_text(PLAN)
    return str(tmp_path / "a.plan")


@pytest.fixture
def drawn(monkeypatch):
    figures = []
    save = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda self, *a, **k: (figures.append(self), save(self, *a, **k)))
    return figures


def test_by_hand(tmp_path, plan, capsys):
    """100, 110 and 76 us where 100, 100 and 80 are expected: 0, +10 and -5 %. The interval is -10 to +5 %."""
    run = run_of(tmp_path / "a", 10, 11, 7.6)
    assert main(["balance", run, "--plan", plan, "--items", "100", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["processes"]
    assert [row["measured_s"] for row in found] == pytest.approx([100e-6, 110e-6, 76e-6])
    assert [row["predicted_s"] for row in found] == [1e-4, 1e-4, 8e-5]
    assert [row["distance"] for row in found] == pytest.approx([0, 0.1, -0.05], abs=1e-9)
    assert [row["inside"] for row in found] == [True, False, True]
    assert main(["balance", run, "--plan", plan, "--items", "100"]) == 0
    said = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "1 100 us 110 us +10.0 us +10.0 % outside" in said
    assert "The first to be done: predicted 80.0 us, measured 76.0 us" in said
    assert any(line.startswith("Farthest: rank 1, +10.0 %; mean +1.7 %; 2 of 3 processes") for line in said)


def test_several_sizes_in_one_picture(tmp_path, plan, drawn, capsys):
    """Least and largest times by size, as figures 4 and 5, and the distance of each process, as figure 6."""
    runs = [run_of(tmp_path / "b", 21, 20, 22), run_of(tmp_path / "a", 10, 11, 7.6)]
    sizes = ["--items", "200", "--items", "100"]
    picture = tmp_path / "dfpt.svg"
    assert main(["balance", *runs, "--plan", plan, *sizes, "--picture", str(picture)]) == 0
    assert picture.stat().st_size > 1000
    rows = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "200 200 us 200 us 200 us 220 us +10.0 %" in rows and "100 80.0 us 76.0 us 100 us 110 us +10.0 %" in rows
    above, below = drawn[0].axes
    lines = {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in above.lines}
    assert lines["measured, largest"] == ([100, 200], pytest.approx([110e-6, 220e-6]))
    assert lines["predicted, least"] == ([100, 200], pytest.approx([80e-6, 200e-6]))
    distances = {line.get_label(): list(line.get_ydata()) for line in below.lines}
    assert distances["size 200"] == pytest.approx([5, 0, 10], abs=1e-9)
    assert distances["size 100"] == pytest.approx([0, 10, -5], abs=1e-9)
    assert main(["balance", *runs, "--plan", plan, *sizes, "--json"]) == 0
    assert [len(run["processes"]) for run in json.loads(capsys.readouterr().out)["runs"]] == [3, 3]


def test_one_run_has_bars(tmp_path, plan, drawn):
    run = run_of(tmp_path / "a", 10, 11, 7.6)
    assert main(["balance", run, "--plan", plan, "--items", "100", "--picture", str(tmp_path / "a.png"), "-q"]) == 0
    above, _ = drawn[0].axes
    heights = [[bar.get_height() for bar in bars] for bars in above.containers]
    assert heights == [pytest.approx([1e-4, 1e-4, 8e-5]), pytest.approx([100e-6, 110e-6, 76e-6])]


def test_a_plan_from_a_run_says_what_processes_take(tmp_path, capsys):
    """Rank 0 computed 100 us of a third, rank 1 300, rank 2 300: with 3/5, 1/5 and 1/5 each takes 180."""
    run, plan = run_of(tmp_path / "a", 10, 30, 30), tmp_path / "next.plan"
    assert main(["balance", run, "--machine", "ideal", "-o", str(plan), "-q"]) == 0
    assert read_plan(plan.read_text()).times_at(0) == pytest.approx([180e-6] * 3, rel=0.01)
    assert main(["balance", run_of(tmp_path / "b", 18, 18, 18), "--plan", str(plan), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["processes"]
    assert [row["distance"] for row in found] == pytest.approx([0, 0, 0], abs=0.01)


def test_a_plan_from_models_says_what_processes_take(tmp_path):
    """Formula 14: the fraction of each, times its model; with a static plan at another size, too."""
    lines = [f"{m},{n},1,{c * n}" for m, c in (("slow", 4e-3), ("fast", 1e-3)) for n in (100, 200, 300)]
    times, models, plan = tmp_path / "times.csv", tmp_path / "m.json", tmp_path / "mix.plan"
    times.write_text("\n".join(["machine,n,p,time_s", *lines]))
    assert main(["balance", "--models", str(models), "--learn", str(times), "--degree", "1", "-q"]) == 0
    mix = ["--machines", "slow=2,fast=3", "--size", "140", "--static", "100"]
    assert main(["balance", "--models", str(models), *mix, "-o", str(plan), "-q"]) == 0
    assert read_plan(plan.read_text()).times_at(140) == pytest.approx([0.04] * 5, rel=1e-6)


def test_a_plan_without_times_of_processes(tmp_path, capsys):
    """An older plan still is compared, by its total; there is nothing to draw."""
    plan = tmp_path / "old.plan"
    plan.write_text("\n".join(line for line in PLAN.splitlines() if not line.startswith("times")))
    run = run_of(tmp_path / "a", 10, 11, 7.6)
    assert main(["balance", run, "--plan", str(plan), "--items", "100", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["processes"] is None
    assert main(["balance", run, "--plan", str(plan), "--items", "100"]) == 0
    assert "does not say what each process takes" in capsys.readouterr().out
    assert main(["balance", run, "--plan", str(plan), "--items", "100", "--picture", str(tmp_path / "a.png")]) == 1
    assert "does not say what processes take" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (["--items", "100", "--items", "200"], "2 sizes for 1 runs"),
        (["--items", "150"], "--items: it knows 100, 200"),
        (["--items", "100", "--picture", "a.jpg"], "its name ends in .png or .svg"),
        (["--items", "100", "--region", "solve"], "no region 'solve'"),
    ],
)
def test_mistakes(tmp_path, plan, more, reason, capsys):
    assert main(["balance", run_of(tmp_path / "a", 10, 11, 7.6), "--plan", plan, *more]) != 0
    said = capsys.readouterr().err
    assert reason in said and len(said.splitlines()) == 1


def test_several_runs_or_a_picture_need_a_plan(tmp_path, capsys):
    run = run_of(tmp_path / "a", 10, 11, 7.6)
    for words, reason in (([run, run], "made from one run"), ([run, "--picture", "a.png"], "beside its plan")):
        assert main(["balance", *words]) == 2
        assert reason in capsys.readouterr().err
