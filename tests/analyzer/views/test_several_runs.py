"""`analyze views` of several runs: one after the other as text and data, below each other on one scale as a picture."""

import csv
import json

import numpy as np
import pytest
from memory_trace import MemoryTrace

from analyzer import views
from analyzer.cli import main
from analyzer.opening import open_trace
from analyzer.report.pictures import views as pictures
from analyzer.views.over_time import ViewProfile
from analyzer.views.tabulated import Columns, together
from benchmarks.synthetic.run import write_run


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The second one has fewer ranks and is shorter."""
    every = [write_run(tmp_path_factory.mktemp(f"run{ranks}"), "halo", ranks, 50 * ranks).path for ranks in (8, 4)]
    return list(map(str, every))


def output(capsys, *words):
    assert main(["views", *map(str, words)]) == 0
    return capsys.readouterr().out


def alone(capsys, runs, *words):
    return [json.loads(output(capsys, run, *words, "--json"))["views"] for run in runs]


@pytest.mark.parametrize(
    "words", [("--view", "useful"), ("--view", "mpi call"), ("--view", "useful", "--view", "state")]
)
def test_each_is_as_it_is_alone(runs, words, capsys):
    said = json.loads(output(capsys, *runs, *words, "--json"))["runs"]
    assert [one["file"] for one in said] == runs
    assert [one["views"] for one in said] == alone(capsys, runs, *words)
    text = output(capsys, *runs, *words)
    assert text.index(runs[0]) < text.index(runs[1]) and text.count("useful:") == 2 * words.count("useful")


def test_bins_are_as_long_in_all_runs(runs, capsys):
    said = json.loads(output(capsys, *runs, "--view", "parallelism", "--bins", "9", "--json"))["runs"]
    first, second = (one["views"][0]["begin_s"] for one in said)
    lengths = [open_trace(run).duration_ns / 1e9 for run in runs]
    assert len(first) == 9 and first[1] == second[1] == pytest.approx(max(lengths) / 9, rel=1e-6)
    assert len(second) == int(-(-lengths[1] // first[1]))


def test_columns_are_those_that_all_values_fit_in(runs, capsys):
    """Each row still has all of its time."""
    words = ("--view", "useful duration", "--show", "histogram", "--statistic", "time", "--json")
    first, second = (one["views"][0] for one in json.loads(output(capsys, *runs, *words))["runs"])
    assert first["columns"] == second["columns"] and first["edges"] == second["edges"]
    for one, run in zip((first, second), runs, strict=True):
        sums = np.sum(one["values"][0], axis=1)
        assert sums == pytest.approx(open_trace(run).duration_ns / 1e9)


@pytest.mark.parametrize(("every", "expected"), [
    ([Columns(0, 3, 1), Columns(-1, 2, 1)], Columns(-1, 3, 1)),
    ([Columns(0, 19, 1), Columns(0, 2000, 100)], Columns(0, 2000, 100)),
    ([Columns(5, 7, 0.1), Columns(100, 300, 10)], Columns(0, 300, 20)),
])  # fmt: skip
def test_columns_together(every, expected):
    assert together(every) == expected


@pytest.mark.parametrize("show", ["rows", "profile", "histogram", "bursts"])
def test_csv_says_which_run(runs, show, tmp_path, capsys):
    path = tmp_path / "all.csv"
    output(capsys, *runs, "--view", "useful", "--show", show, "--csv", path)
    lines = list(csv.reader(path.open()))
    assert lines[0][:2] == ["trace", "view"] and {len(line) for line in lines} == {len(lines[0])}
    assert {line[0] for line in lines[1:]} == set(runs)  # whose files have one name
    counts = []
    for run in runs:
        output(capsys, run, "--view", "useful", "--show", show, "--csv", tmp_path / "one.csv")
        counts.append(len(list(csv.reader((tmp_path / "one.csv").open()))) - 1)
    if show in ("rows", "bursts"):
        assert [sum(line[0] == run for line in lines) for run in runs] == counts


@pytest.fixture
def figures(monkeypatch):
    """Collect the figures that would be written into pictures."""
    drawn = []
    monkeypatch.setattr(pictures, "save", lambda figure, path: drawn.append(figure))
    return drawn


def picture(runs, *words):
    assert main(["views", *runs, *words, "--picture", "drawn.png", "-q"]) == 0


def test_curves_have_one_scale(runs, figures):
    picture(runs, "--view", "parallelism")
    first, second = figures[0].axes
    assert first.get_ylim() == second.get_ylim() and first.get_xlim() == second.get_xlim()
    assert first.get_xlim() == pytest.approx((0, max(open_trace(run).duration_ns for run in runs) / 1e9), rel=1e-6)
    assert [axes.get_title(loc="left") for axes in (first, second)] == runs


def test_shades_have_one_scale(runs, figures):
    picture(runs, "--view", "useful duration", "--show", "profile")
    images = [axes.images[0] for axes in figures[0].axes[:2]]
    assert images[0].get_clim() == images[1].get_clim()
    most = max(np.nanmax(image.get_array()) for image in images)
    assert images[0].get_clim() == (0, pytest.approx(most))
    assert [image.get_array().shape[0] for image in images] == [8, 4]
    assert images[0].get_extent()[1] > images[1].get_extent()[1]


def test_names_have_the_same_colours(figures, tmp_path):
    """Though they have other numbers in the other run."""
    edges, rows = np.array([0, 10, 20]), ("0",)

    def profile(names, longest):
        values = np.array([longest], float)
        return ViewProfile("call", "", "thread", rows, edges, values, values, values, values, names)

    first, second = profile({1: "MPI_Send", 2: "MPI_Recv"}, [1, 2]), profile({1: "MPI_Recv", 2: "MPI_Send"}, [1, 2])
    pictures.draw_profiles([("a", first), ("b", second)], "both", tmp_path / "x.png")
    a, b = (axes.images[0].get_array() for axes in figures[0].axes)
    assert (a[0, 0] == b[0, 1]).all() and (a[0, 1] == b[0, 0]).all() and (a[0, 0] != a[0, 1]).any()


def test_histograms_have_one_scale_and_the_same_columns(figures, tmp_path):
    a, b = (views.histogram(MemoryTrace([calls]), "mpi call", "time") for calls in (
        [("MPI_Send", 10, 20, {}), ("MPI_Recv", 30, 50, {})], [("MPI_Barrier", 10, 20, {}), ("MPI_Recv", 30, 90, {})],
    ))  # fmt: skip
    pictures.draw_histograms([("a", a), ("b", b)], "both", tmp_path / "x.png")
    first, second = figures[0].axes[:2]
    names = [label.get_text() for label in second.get_xticklabels()]
    assert set(names) == {"outside", "MPI_Send", "MPI_Recv", "MPI_Barrier"}
    own = [np.ma.filled(np.ma.masked_invalid(axes.images[0].get_array()), 0)[0] for axes in (first, second)]
    assert [of[names.index("MPI_Recv")] for of in own] == pytest.approx([20e-9, 60e-9])
    assert own[0][names.index("MPI_Barrier")] == own[1][names.index("MPI_Send")] == 0
    assert first.images[0].get_clim() == second.images[0].get_clim()


def test_one_that_cannot_be_read_is_one_line(runs, capsys):
    assert main(["views", runs[0], "absent.h5", "--view", "useful"]) != 0
    assert "absent.h5" in capsys.readouterr().err
