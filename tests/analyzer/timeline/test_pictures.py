"""Timelines as pictures: their pixels, their files, and --picture of every command that speaks of a moment."""

import numpy as np
import pytest
from matplotlib.image import imread
from uneven_runs import iterative, written

from analyzer.cli import main
from analyzer.opening import open_trace
from analyzer.report.pictures.timeline import COLOURS, NOTHING, picture
from analyzer.timeline import Timeline, TimelineLines


def rgb(colour):
    return tuple(int(colour[k : k + 2], 16) for k in (1, 3, 5))


def test_a_line_is_filled_from_below_by_its_shares():
    """One rank computes half of the first bin and waits for a quarter; of the second bin nothing is known."""
    lines = TimelineLines(("0",), np.zeros(1, np.int64), np.ones(1, np.int64), np.zeros(1, np.int64))
    ns = np.zeros((4, 1, 2), np.int64)
    ns[:2, 0, 0] = 50, 25
    drawn = picture(Timeline(0, 200, 100, lines, ns))
    column = [tuple(pixel) for pixel in drawn[:-1, 0].tolist()]
    pixels = len(column)
    assert column.count(rgb(COLOURS[0])) == pytest.approx(pixels / 2, abs=1)
    assert column.count(rgb(COLOURS[1])) == pytest.approx(pixels / 4, abs=1)
    assert column[-1] == rgb(COLOURS[0]) and column[0] == rgb(NOTHING)
    assert {tuple(pixel) for pixel in drawn[:, 1].tolist()} == {rgb(NOTHING)}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return str(written(tmp_path_factory.mktemp("run"), iterative(12, 4, lambda k, rank: 1000 + 400 * (rank == k % 4))))


COMMANDS = ("info", "look", "check", "waits", "critical-path", "structure")


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_draw_ranks_over_time(name, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main([name, run, "-q", "--picture", "ranks.png", *(["-o", "."] if name == "look" else [])]) == 0
    drawn = imread("ranks.png")
    colours = {tuple(c) for c in np.rint(255 * drawn[..., :3]).astype(int).reshape(-1, 3).tolist()}
    assert {rgb(COLOURS[0]), rgb(COLOURS[1])} <= colours


def test_a_moment_is_drawn(run, tmp_path, monkeypatch):
    """A picture has all ranks around the moment, with a line at it; for one rank the time of its calls in the table."""
    monkeypatch.chdir(tmp_path)
    shown = []
    monkeypatch.setattr("analyzer.report.pictures.timeline.picture", lambda of: shown.append(of) or picture(of))
    whole = open_trace(run).duration_ns
    assert main(["what", run, "-q", "--at", "5ms", "--picture", "all.png"]) == 0
    assert main(["what", run, "-q", "--at", "5ms", "--rank", "1", "--around", "1", "--picture", "one.svg"]) == 0
    every, one = shown
    assert (every.begin_ns, every.end_ns) == (5_000_000 - whole // 40, 5_000_000 + whole // 40)
    assert 0 < one.begin_ns <= 5_000_000 <= one.end_ns < whole and one.end_ns - one.begin_ns < whole / 3
    column = imread("all.png")[150, :, :3].sum(axis=1)
    assert (column < 0.1).any(), "no line is black"


def test_a_picture_may_be_svg(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):  # its own are replaced
        assert main(["look", "--no-files", run, "-q", "--picture", "ranks.svg"]) == 0
    assert "</svg>" in (tmp_path / "ranks.svg").read_text()


@pytest.mark.parametrize(
    ("name", "words"), [("ranks.jpg", ".png or .svg"), ("run.png", "not a .png"), ("no/such.png", "such")]
)
def test_what_cannot_be_drawn_is_said_in_a_line(name, words, run, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.png").write_text("mine")
    assert main(["look", "--no-files", run, "--picture", name]) != 0
    said = capsys.readouterr()
    assert words in said.err and not said.out and (tmp_path / "run.png").read_text() == "mine"
