"""`analyze views` and its files: the library on runs, totals against other commands, mistakes in one line."""

import csv
import gzip
import json
import shutil

import numpy as np
import pytest
from paraver_cfg import histogram, window, write_cfg
from paths import EPOCH
from view_trace import ViewTrace

from analyzer import views
from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.opening import open_trace
from analyzer.views.view_file import LIBRARY, find_view, view_of
from benchmarks.synthetic.run import write_run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return str(write_run(tmp_path_factory.mktemp("views"), "halo", 6, 300).path)


def output(capsys, *words):
    assert main(["views", *map(str, words)]) == 0
    return capsys.readouterr().out


def as_json(capsys, *words):
    return json.loads(output(capsys, *words, "--json"))["views"]


def test_the_list_has_every_file_and_what_it_shows(capsys):
    said = output(capsys, "--list")
    known = json.loads(output(capsys, "--list", "--json"))
    assert (known.pop("schema"), known.pop("version")) == ("views", 1)
    assert len(known) == len(list(LIBRARY.glob("*.toml"))) > 20
    assert all(name in said for name in known) and all(says.endswith(".") for says in known.values())


@pytest.mark.parametrize("name", [path.stem for path in sorted(LIBRARY.glob("*.toml"))])
def test_every_view_of_the_library(name, run, capsys):
    """For a run without counters and regions, some views report this in one line."""
    lacking = {"ipc", "useful-ipc", "mips", "region", "mpi-by-region"}
    code = main(["views", run, "--view", name, "--json"])
    said = capsys.readouterr()
    if name in lacking:
        assert code == 2 and "no event type" in said.err and said.err.count("\n") <= 2 and not said.out
    else:
        (found,) = json.loads(said.out)["views"]
        assert code == 0 and len(found["rows"]) in (1, 6)


@pytest.mark.parametrize(
    ("ours", "paravers"),
    [
        (("useful", "thread", "% time"), ("Useful", "Thread", "% Time")),
        (("useful", "application", "bursts"), ("useful", "ptask", "# Bursts")),
        (("useful", "application", "average value"), ("Useful", "appl", "Average value")),
    ],
)
def test_words_of_paraver(ours, paravers, run, capsys):
    def asked(view, level, statistic):
        return output(capsys, run, "--view", view, "--level", level, "--by", view, "--statistic", statistic)

    assert asked(*ours) == asked(*paravers)


def test_functions_by_their_names_in_paraver():
    first = views.View(thread="Last Evt Val", task="Maximum", compose1="Mod+1", level="PTask")
    second = views.View(thread="last event value", task="maximum", compose1="module+1", level="application")
    assert first == second
    assert views.View(thread=("Given State", 1)).thread.name == "given state"


def test_totals_are_those_of_info(run, capsys):
    assert main(["look", "--no-files", run, "--json"]) == 0
    info = json.loads(capsys.readouterr().out)
    trace = views.ViewRun(open_trace(run))
    computing = views.measures(trace, "useful", ["integral"]).columns["integral"]
    assert computing.sum() == pytest.approx(info["useful_s"]["total"])
    assert computing.max() == pytest.approx(info["useful_s"]["max"])
    inside = views.measures(trace, views.View("in call"), ["integral"]).columns["integral"]
    assert inside.sum() == pytest.approx(info["mpi_s"]["total"])
    mean = views.measures(trace, "parallelism", ["average value"]).columns["average value"]
    assert mean[0] == pytest.approx(info["useful_s"]["total"] / info["runtime_s"])
    messages = views.measures(trace, "messages", ["sends", "bytes sent", "receives", "bytes received"]).columns
    matrix = info["messages"]
    assert messages["sends"].sum() == messages["receives"].sum() == matrix["count"]
    assert messages["bytes sent"].sum() == messages["bytes received"].sum() == matrix["bytes"]
    table = views.histogram(trace, "mpi call", "time", columns=(1, 512, 1)).filled()
    own = {name: call["time_s"] for name, call in info["calls"].items()}
    assert dict(zip(table.columns, table.values[0].sum(axis=0), strict=True)) == pytest.approx(
        {name: time for name, time in own.items() if time}
    )


@pytest.mark.skipif(not EPOCH.exists(), reason="the EPOCH traces are not there")
def test_the_published_times_of_epoch():
    """basicanalysis (paramedir's timings): Running total 23684668.07, max 5999910.80, average 5921167.02 us."""
    running = views.View(("in state", "Running"))
    found = views.measures(open_trace(EPOCH / "epoch_4proc.prv.gz"), running, ["integral"]).columns["integral"] * 1e6
    assert [found.sum(), found.max(), found.mean()] == pytest.approx([23684668.07, 5999910.80, 5921167.02], abs=0.01)


def test_a_prv_has_the_values_of_the_run_that_it_was_made_of(run, tmp_path, capsys):
    assert main(["prv", run, "-o", str(tmp_path / "again.prv"), "-q"]) == 0
    capsys.readouterr()
    for name in ("useful", "mpi-call", "bytes-in-flight", "message-queue", "send-bandwidth"):
        first, again = (as_json(capsys, file, "--view", name)[0] for file in (run, tmp_path / "again.prv"))
        assert first.keys() == again.keys()
        if name == "mpi-call":
            pairs = [dict(zip(of["columns"], np.array(of["values"], float)[0].sum(axis=0), strict=True))
                     for of in (first, again)]  # fmt: skip
            used = [{call: time for call, time in pair.items() if time} for pair in pairs]
            assert used[0] == pytest.approx(used[1])
        else:
            assert first == again


def test_csv(run, tmp_path, capsys):
    for show, name, columns in (
        ("rows", "useful", 7), ("profile", "parallelism", 7), ("histogram", "mpi-call", 5), ("bursts", "useful", 6)
    ):  # fmt: skip
        path = tmp_path / f"{show}.csv"
        output(capsys, run, "--view", name, "--show", show, "--csv", path)
        lines = list(csv.reader(path.open()))
        assert lines[0][0] == "view" and {len(line) for line in lines} == {columns}
        output(capsys, run, "--view", name, "--show", show, "--csv", path, "-q")  # its own files are replaced
    computing = sum(float(line[3]) - float(line[2]) for line in lines[1:] if line[4] == "1")
    assert computing == pytest.approx(views.measures(open_trace(run), "useful", ["integral"]).columns["integral"].sum())


@pytest.mark.parametrize(
    ("name", "ending", "more"),
    [("parallelism", "png", ()), ("mpi-call", "svg", ("--show", "profile")), ("mpi-call", "png", ()),
     ("send-bandwidth", "png", ("--from", "9ms", "--to", "10ms"))],
)  # fmt: skip
def test_pictures(name, ending, more, run, tmp_path, capsys):
    path = tmp_path / f"drawn.{ending}"
    output(capsys, run, "--view", name, "--picture", path, *more)
    assert path.read_bytes().startswith(b"\x89PNG" if ending == "png" else b"<?xml")


def test_several_views_and_what_the_command_line_changes(run, capsys):
    first, second = as_json(capsys, run, "--view", "useful", "--view", "parallelism", "--level", "task")
    assert (first["show"], second["show"]) == ("rows", "profile") and len(second["rows"]) == 6
    (found,) = as_json(capsys, run, "--view", "useful", "--by", "mpi-call", "--statistic", "time")
    assert found["show"] == "histogram" and found["columns"][0] == "outside"
    whole = as_json(capsys, run, "--view", "parallelism", "--bins", "1")[0]["mean"][0][0]
    half = as_json(capsys, run, "--view", "parallelism", "--bins", "1", "--to", "1ms")[0]["mean"][0][0]
    assert whole != half


def test_of_many_rows_the_extremes_are_said(tmp_path, capsys):
    many = write_run(tmp_path, "halo", 32, 40).path
    said = output(capsys, many, "--view", "useful")
    assert "mean" in said and "highest" in said and len(said.splitlines()) < 12
    assert "highest" in output(capsys, many, "--view", "mpi-call")
    assert "highest" in output(capsys, many, "--view", "useful", "--show", "profile", "--bins", "3")


MISTAKES = [
    (["--view", "parallel"], "there is no view 'parallel'"),
    (["--view", "absent.toml"], "cannot read absent.toml"),
    ([], "name a run and a view"),
    (["--view", "useful", "--from", "1h"], "is not a time"),
    (["--view", "useful", "--from", "9"], "nothing lies from"),
    (["--view", "useful", "--csv", "x.txt"], "must end in .csv"),
    (["--view", "useful", "--picture", "x.pdf"], "must end in .png or .svg"),
    (["--view", "useful", "--view", "state", "--csv", "x.csv"], "take one --view"),
    (["--view", "useful", "--by", "state", "--show", "rows"], "are for --show histogram"),
    (["--view", "useful", "--statistic", "sum"], "there is no statistic 'sum'"),
    (["--view", "useful-ipc", "--level", "task"], "not made of others"),
    (["--view", "parallelism", "--show", "bursts", "--by", "state"], "are for --show histogram"),
]


@pytest.mark.parametrize(("words", "said"), MISTAKES)
def test_mistakes(words, said, run, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(["views", run, *words]) != 0
    err = capsys.readouterr().err
    assert said in err and "Traceback" not in err and not list(tmp_path.iterdir())


FILES = [
    ("thread = 3", "names no function of a view"),
    ("thread = ", "not a TOML file"),
    ("threads = 'useful'", "there is no 'threads'"),
    ("thread = 'useful'\nlevel = 'rank'", "there is no level 'rank'"),
    ("thread = 'useful'\nshow = 'all'", "there is no show = 'all'"),
    ("thread = 'useful'\nlevel = 3", "level = 3 is no text"),
    ("filter = 3", "filter = 3 is no table"),
    ("filter = { sizes = 3 }", "[filter]: there is no 'sizes'"),
    ("filter = { size = 'big' }", "are no numbers"),
    ("filter = { size = {} }", "are no numbers"),
    ("filter = { size = [[1]] }", "are no numbers"),
    ("filter = { types = 1.5 }", "is no event type"),
    ("filter = { calls = 3 }", "is no procedure"),
    ("filter = { place = '(' }", "no regular expression"),
    ("filter = { region = 3 }", "is no text"),
    ("operation = 'add'\nof = 'useful'", "of = 'useful' is no list"),
    ("operation = 'add'\nof = ['useful', 3]", "is no view"),
    ("operation = 'add'\nof = ['useful', 'usefully']", "there is no view 'usefully'"),
    ("compose1 = [['divide', 'x']]", "is not a number"),
    ("bins = true", "bins = True is no whole number"),
    ("bins = 0\nshow = 'profile'", "bins"),
    ("measures = ['length']", "there is no measure 'length'"),
    ("measures = [3]", "names no function"),
    ("histogram = { columns = [0, 1] }", "columns are [minimum, maximum, width]"),
    ("histogram = { columns = [0, 1, 0] }", "width above 0"),
    ("histogram = { statistic = 'sum' }", "there is no statistic"),
    ("histogram = { control = 4 }", "is no view"),
    ("histogram = 4", "histogram = 4 is no table"),
    ("composes = { rank = 'sign' }", "there is no level 'rank'"),
    ("thread = ['in state', 'Flying']", "there is no state 'Flying'"),
    ("operation = 'add'\nof = ['my.toml', 'useful']", "is made of itself"),
]


@pytest.mark.parametrize(("text", "said"), FILES)
def test_mistakes_in_files(text, said, run, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.toml").write_text(text)
    assert main(["views", run, "--view", "my.toml"]) != 0
    err = capsys.readouterr().err
    assert said in err and "Traceback" not in err and len(err.splitlines()) <= 2


def test_a_dimemas_trace_has_no_times(run, tmp_path, capsys):
    assert main(["dim", run, "-o", str(tmp_path / "x.dim"), "-q"]) == 0
    assert main(["views", str(tmp_path / "x.dim"), "--view", "useful"]) == 1
    assert "no times" in capsys.readouterr().err


def test_a_view_of_a_file_beside_it(tmp_path):
    (tmp_path / "first.toml").write_text('thread = "task id"\n')
    (tmp_path / "both.toml").write_text('operation = "add"\nof = ["first.toml", { thread = "task id" }]\n')
    found = find_view(str(tmp_path / "both.toml")).view
    trace = ViewTrace(10, threads=(1, 1))
    assert views.measures(trace, found, ["maximum"]).columns["maximum"].tolist() == [2, 4]


def test_what_a_file_says_is_what_python_says():
    table = {
        "thread": ["in state", "Running", 3], "level": "node", "node": "maximum", "composes": {"thread": ["sign"]},
        "compose2": ["add", 1], "compose1": [["module", 3], "sign"],
        "filter": {"size": ">=64K", "types": [1, "mpi"], "calls": "MPI_Send", "iterations": "1-5"},
    }  # fmt: skip
    assert view_of(table, "mine").view == views.View(
        ("in state", "Running", 3), level="node", node="maximum", composes={"thread": "sign"}, compose2=("add", 1),
        compose1=(("module", 3), "sign"), name="mine",
        filter=views.Filter(size=">=64K", types=(1, "mpi"), calls=("MPI_Send",), iterations="1-5"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [("0-3,8", (0, 3, 8), (4, 7)), (">=64K", (65536, 1e9), (65535,)), ("!5", (4, 6), (5,)), ("<2", (1,), (2,)),
     (">2,0", (3, 0), (2, 1)), ("1.5-2K", (1.5, 2048), (1,)), ("-3", (-3,), (3,)), ("<=-1", (-1,), (0,))],
)  # fmt: skip
def test_numbers(text, inside, outside):
    numbers = views.Numbers.parse(text)
    assert numbers.matches(np.array(inside)).all() and not numbers.matches(np.array(outside)).any()


def test_no_numbers():
    for wrong in ("", "a", "1-", "1,,2", None, {}, [[1]], True):
        with pytest.raises(TracelibError, match="are no numbers"):
            views.Numbers.parse(wrong)


def test_gzip(run, tmp_path, capsys):
    """Any trace that analyze reads."""
    assert main(["prv", run, "-o", str(tmp_path / "again.prv"), "-q"]) == 0
    with (tmp_path / "again.prv").open("rb") as plain, gzip.open(tmp_path / "again.prv.gz", "wb") as packed:
        shutil.copyfileobj(plain, packed)
    (found,) = as_json(capsys, tmp_path / "again.prv.gz", "--view", "parallelism", "--bins", "1")
    assert found["mean"][0][0] > 1


def test_who_sends_to_whom(run, capsys, tmp_path):
    """The same from a file, by a word of the command line, and of the messages themselves."""
    (by_word,) = as_json(capsys, run, "--view", "messages", "--by", "partner", "--statistic", "bytes sent")
    (tmp_path / "matrix.toml").write_text(
        'thread = "messages in flight"\n[histogram]\ncontrol = "partner"\nstatistic = "bytes sent"\n'
    )
    (by_file,) = as_json(capsys, run, "--view", tmp_path / "matrix.toml")
    sent = np.zeros((6, 6))
    messages = open_trace(run).messages()
    np.add.at(sent, (messages["source"], messages["destination"]), messages["size"])
    assert by_word["values"] == by_file["values"] == [sent.tolist()] and by_file["columns"] == list("012345")
    with pytest.raises(TracelibError, match="is no number of messages"):
        views.histogram(open_trace(run), "messages", "time", by="partner")


def test_what_is_asked_for_counts_for_a_configuration_too(run, capsys, tmp_path):
    path = write_cfg(tmp_path / "a.cfg", window(1, "Useful", functions={"evt_type": "All"}), histogram(1, 1, "Time"))
    (shown,) = as_json(capsys, run, "--cfg", path, "--show", "profile", "--bins", 3, "--level", "task")
    assert (shown["show"], shown["level"], len(shown["begin_s"])) == ("profile", "task", 3)
    (shown,) = as_json(capsys, run, "--cfg", path, "--statistic", "bursts", "--by", "iteration")
    assert (shown["statistic"], shown["control"]) == ("bursts", "iteration")
