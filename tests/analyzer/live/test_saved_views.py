"""Views as files: what is saved is read again, and gives the numbers that the server gave."""

import json
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from uneven_runs import iterative, written

from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.live.rows import RowGrouping
from analyzer.live.selection import CallSearch, Viewport, read_view
from analyzer.metrics.profile import profile
from analyzer.metrics.useful import useful
from analyzer.opening import open_trace
from analyzer.parallel import Team

DURATION = 10**13
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=9).map(lambda text: text.translate(PLAIN))
PLAIN = dict.fromkeys(map(ord, r".^$*+?{}[]\|()"), "_")
maybe = st.one_of(st.none(), st.integers(0, 2**40))


@st.composite
def views(draw):
    begin, end = sorted(draw(st.tuples(*[st.integers(0, DURATION)] * 2)))
    search = CallSearch(draw(words), draw(maybe), draw(maybe), draw(maybe), draw(words), draw(words))
    return Viewport(
        begin, end, draw(st.sampled_from(list(RowGrouping))), draw(st.sampled_from(["", "0-3,7", "5"])), search
    )


@given(views(), st.text('ab\n"\\', max_size=5))
def test_a_saved_view_is_read_again(tmp_path_factory, view, name):
    path = tmp_path_factory.mktemp("view") / "view.toml"
    path.write_text(view.toml(f"run{name!r}.h5"))
    assert read_view(path, DURATION) == view


def test_what_a_file_leaves_out_is_of_the_whole_run(tmp_path):
    path = tmp_path / "view.toml"
    path.write_text('begin_s = 1\n[search]\ncall = "MPI_Send"\n')
    assert read_view(path, 5 * 10**9) == Viewport(10**9, 5 * 10**9, search=CallSearch(call="MPI_Send"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("begin_s = ", "is no TOML"), ('format = "x"', "is no view"), ("begin = 1", "begin is unknown"),
        ("begin_s = 2\nend_s = 1", "end_s is before begin_s"), ("begin_s = -1", "is no time"),
        ("begin_s = nan", "is no time"), ("begin_s = true", "is no time"), ('rows = "lines"', "rows = 'lines'"),
        ("rows = 3", "rows = 3"), ("ranks = 3", "is no text"), ("search = 1", "search is a table"),
        ('[search]\ncall = "("', "is not a regular expression"), ("[search]\npeer = 1.5", "is no whole number"),
        ("[search]\nplaces = 1", "places is unknown"),
    ],
)  # fmt: skip
def test_a_bad_file_is_one_line(tmp_path, text, said):
    path = tmp_path / "view.toml"
    path.write_text(text)
    with pytest.raises(TracelibError, match=r"view\.toml") as caught:
        read_view(path, DURATION)
    assert said in str(caught.value) and "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    work = iterative(12, 4, lambda k, rank: 1000 + 600 * (rank == k % 4), step_us=100)
    return written(tmp_path_factory.mktemp("run"), work)


def printed(capsys, *words):
    assert main(["view", *map(str, words)]) == 0
    return json.loads(capsys.readouterr().out)


def test_numbers_of_the_whole_run_are_those_of_info(file, capsys):
    said, trace, team = printed(capsys, file, "--json"), open_trace(file), Team()
    assert said["computing_s"] == useful(trace, team).by_rank().sum() / 1e9
    assert said["waiting_s"] + said["rest_of_mpi_s"] == pytest.approx(profile(trace, team).mpi_ns().sum() / 1e9)
    assert [row["name"] for row in said["rows"]] == ["0", "1", "2", "3"]
    assert main(["look", "--no-files", str(file), "--json"]) == 0
    info = json.loads(capsys.readouterr().out)
    assert said["messages"] == info["messages"]["count"]


def test_numbers_of_a_view(file, capsys, tmp_path):
    """Parts of the run add up to it, and rows are those that are asked for."""
    whole = printed(capsys, file, "--json")
    parts = []
    for name, (begin, end) in {"first": (0, 7), "second": (7, whole["end_s"] * 1e3)}.items():
        path = tmp_path / f"{name}.toml"
        view = Viewport(round(begin * 1e6), round(end * 1e6), RowGrouping.RANKS, "1-2", CallSearch(call="send", peer=3))
        path.write_text(view.toml("run.h5"))
        parts.append(printed(capsys, file, "--view", path, "--json"))
    assert [row["name"] for row in parts[0]["rows"]] == ["1", "2"]
    for key in ("computing_s", "waiting_s", "rest_of_mpi_s"):
        assert sum(part[key] for part in parts) == pytest.approx(sum(row[key] for row in whole["rows"][1:3]))
    assert sum(part["messages"] for part in parts) == whole["messages"]
    assert sum(part["found"]["calls"] for part in parts) == 12 * 2  # in the ring, and in the chain


def test_numbers_are_printed(file, capsys, tmp_path):
    path = tmp_path / "view.toml"
    path.write_text('rows = "threads"\nranks = "2"\n[search]\ncall = "allreduce"\n')
    assert main(["view", str(file), "--view", str(path), "--print"]) == 0
    text = capsys.readouterr().out
    assert "computing" in text and "Found: 12 calls" in text and "2.0" in text


@pytest.mark.parametrize("words", [["--view", "none.toml"], ["--follow", "--view", "none.toml"]])
def test_a_view_that_is_not_there(file, capsys, words):
    assert main(["view", str(file), *words]) == 1
    said = capsys.readouterr().err
    assert said.startswith("Error: cannot read none.toml") and len(said.splitlines()) == 1


def test_all_fields_of_a_search_are_saved():
    search = CallSearch("a", 1, 2, 3, "b", "c")
    text = Viewport(0, 1, search=search).toml("run.h5")
    assert all(f"{name} = " in text for name in asdict(search))
