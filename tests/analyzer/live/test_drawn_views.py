"""Views in the live view: values at any zoom against a count of each ns, and against what `analyze views` says."""

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_trace import MemoryTrace
from paraver_cfg import window, write_cfg
from paths import EPOCH
from uneven_runs import iterative, written

from analyzer import views
from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.live import messages
from analyzer.live.course import BurstCourse
from analyzer.live.drawn_views import MOST_COLOURS, OTHERS, DrawnTile, DrawnViews, ViewChoice
from analyzer.live.messages import MessageIndex, MessageLines
from analyzer.live.run import LiveRun
from analyzer.live.selection import DrawRequest, Viewport, read_view
from analyzer.live.tiles import BINS, STEPS
from analyzer.opening import open_trace
from analyzer.report.live.answers import LiveAnswers
from analyzer.report.live.server import LiveRuns
from analyzer.views.constant import ViewBursts
from analyzer.waits.threads import Lanes

LENGTH, RANKS, ITERATIONS = 90, 4, 12


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    work = iterative(ITERATIONS, RANKS, lambda k, rank: 1000 + 600 * (rank == k % 4), step_us=100)
    return written(tmp_path_factory.mktemp("run"), work)


@pytest.fixture(scope="module")
def trace(file):
    opened = open_trace(file)
    yield opened
    opened.close()


def drawn(trace, name, level=""):
    return DrawnViews(ViewChoice().find(name, level), views.ViewRun(trace), Lanes(trace))


@st.composite
def courses(draw):
    """Draw values of each ns of three rows, NaN where nothing is known; also each row's as its longest bursts."""
    value = st.sampled_from([np.nan, -2.5, 0.0, 1.0, 3.0, 1e9])
    every, bursts = np.full((3, LENGTH), np.nan), []
    for row in range(3):
        cuts = sorted(draw(st.sets(st.integers(1, LENGTH - 1), max_size=60)))
        for begin, end in zip([0, *cuts], [*cuts, LENGTH], strict=True):
            every[row, begin:end] = draw(value)
            if not np.isnan(every[row, begin]):
                bursts.append((row, begin, end, every[row, begin]))
    return every, bursts


@given(courses(), st.lists(st.integers(-5, LENGTH + 5), min_size=2, max_size=12), st.integers(1, 4))
def test_any_stretch_against_each_ns(drawn_course, edges, parts):
    every, bursts = drawn_course
    columns = np.array(sorted(bursts, key=lambda one: one[1])).reshape(-1, 4)
    pieces = []
    for part in np.array_split(columns, parts):
        part = part[np.argsort(part[:, 0], kind="stable")]
        row, begin, end = part[:, :3].astype(np.int64).T
        pieces.append(ViewBursts(row, begin, end, part[:, 3], np.ones(len(part), bool)))
    course, edges = BurstCourse(pieces, 3, LENGTH), np.sort(edges)
    found = course.stretches(np.array([2, 0]), edges)
    for k, row in enumerate((2, 0)):
        for j in range(len(edges) - 1):
            inside = every[row, max(edges[j], 0) : max(edges[j + 1], 0)]
            known = inside[~np.isnan(inside)]
            expected = [known.mean(), known.min(), known.max()] if len(known) else [np.nan] * 3
            assert [of[k, j] for of in found] == pytest.approx(expected, rel=1e-9, nan_ok=True)
    for time in range(LENGTH):
        value, begin, end = course.value_at(1, time)
        assert value == pytest.approx(every[1, time], nan_ok=True) and begin <= time < end
        assert np.allclose(every[1, begin:end], value, equal_nan=True)


@pytest.mark.parametrize("count", [1, 16, 17, 256, 257, 5000])
def test_extremes_of_many_bursts(count):
    """Through all levels of groups."""
    values = np.random.default_rng(count).normal(size=count)
    begins = np.arange(count)
    course = BurstCourse([ViewBursts(begins * 0, begins, begins + 1, values, begins >= 0)], 1, count)
    edges = np.unique(np.random.default_rng(1).integers(0, count + 1, 40))
    found = course.stretches(np.array([0]), edges)
    for k, (low, high) in enumerate(pairwise(edges.tolist())):
        part = values[low:high]
        assert [of[0, k] for of in found] == pytest.approx([part.mean(), part.min(), part.max()])


NUMBERS = ("useful", "parallelism", "bytes in flight", "useful duration", "messages in flight", "iteration")


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("level", [12, 16, 24])
def test_tiles_are_the_profile_of_analyze_views(trace, name, level):
    one = drawn(trace, name)
    count = (trace.duration_ns >> level) // BINS + 1
    parts = [
        np.frombuffer(one.tile(DrawnTile("", level, k, 0)), "<f4").reshape(-1, BINS, 3) for k in range(min(count, 6))
    ]
    found = np.concatenate(parts, axis=1)
    bins = max(
        min(trace.duration_ns >> level, found.shape[1]), 1
    )  # the whole ones; at the highest level one that is cut
    end = min(bins << level, trace.duration_ns)
    expected = views.profile(trace, name, bins, end_s=end / 1e9)
    assert expected.edges[-1] == end and expected.mean.shape[1] == bins
    for k, of in enumerate((expected.mean, expected.minimum, expected.maximum)):
        assert found[:, :bins, k] == pytest.approx(of, rel=1e-5, abs=1e-6, nan_ok=True)


def test_names_are_shares_of_time(trace):
    """Shares of the whole run, by tile and by number, equal the histogram's."""
    one = drawn(trace, "mpi call")
    table = views.histogram(trace, "mpi call", "time").to_pandas()
    measured = one.measured("", 0, trace.duration_ns).seconds
    assert len(one.colours) == measured.shape[1] > 2
    for k, name in enumerate(one.colours):
        assert measured[:, k] == pytest.approx(table[name].to_numpy(), abs=1e-9)
    level = 16
    count = (trace.duration_ns >> level) // BINS + 1
    tiles = [np.frombuffer(one.tile(DrawnTile("", level, k, 0)), np.uint8) for k in range(count)]
    shares = sum(tile.reshape(RANKS, BINS, -1).sum(axis=(0, 1)) for tile in tiles) / STEPS
    assert shares * (1 << level) / 1e9 == pytest.approx(measured.sum(axis=0), rel=0.05, abs=2e-4)
    assert one.overview("").sum(axis=1) / 400 * trace.duration_ns * RANKS / 1e9 == pytest.approx(measured.sum(axis=0))


def test_more_names_than_colours():
    """The rest have one together, and no time is lost."""
    names = [f"MPI_{k}" for k in range(MOST_COLOURS + 5)]
    calls = [(names[k], 100 * k + 10, 100 * k + 30 + k, {}) for k in range(len(names))]
    trace = MemoryTrace([calls])
    one = drawn(trace, "mpi call")
    assert len(one.colours) == MOST_COLOURS + 1 and one.colours[-1] == OTHERS
    assert set(one.colours[:-1]) == set(names[5:])
    seconds = one.measured("", 0, trace.duration_ns).seconds
    assert seconds.sum() == pytest.approx(sum(20 + k for k in range(len(names))) / 1e9)


def test_values_that_are_searched_for(trace):
    one, every = drawn(trace, "useful"), list(views.bursts(trace, "useful").to_pandas().itertuples())
    busy = sorted((round(burst.begin_s * 1e9), int(burst.row)) for burst in every if burst.value >= 0.5)
    hits, rows = one.hits(">=0.5"), one.chosen("").rows
    assert len(hits) == len(busy) and len(one.hits("0")) == len(every) - len(busy)
    at, found = (0, 0), []
    while (hit := hits.next(rows, *at, forward=True)) is not None:
        found.append(hit)
        at = (hit[0], hit[1] + 1)
    assert found == busy
    with pytest.raises(TracelibError, match="no numbers"):
        one.hits("much")


def test_names_that_are_searched_for(trace):
    calls = drawn(trace, "mpi call")
    assert len(calls.hits("allreduce")) == RANKS * ITERATIONS and not len(calls.hits("^none$"))
    with pytest.raises(TracelibError, match="not a regular expression"):
        calls.hits("(")


@pytest.mark.parametrize(("level", "ranks", "names"), [
    ("thread", "1-2", ("1", "2")), ("task", "3", ("3",)), ("application", "3", ("application 1",)),
])  # fmt: skip
def test_rows_of_some_ranks(trace, level, ranks, names):
    rows, numbers = drawn(trace, "useful", level).chosen(ranks)
    assert rows.names == names and len(numbers) == len(names)
    wanted = [int(rank) for rank in ranks.split("-")]
    if level != "application":
        assert [rows.of_rank[rank] for rank in range(RANKS)] == [
            rank - wanted[0] if wanted[0] <= rank <= wanted[-1] else -1 for rank in range(RANKS)
        ]


times = st.integers(0, 40)


@given(st.lists(st.tuples(times, times, times, times), max_size=20), times, times, st.sampled_from(list(MessageLines)))
def test_lines_against_each_message(four, begin, long, lines):
    """Logical ones go from call to call, whichever is first; physical ones while the data are on their way."""
    four = sorted(
        (send, max(send, leaves), posted, max(send, leaves, arrives)) for send, leaves, posted, arrives in four
    )
    trace = MemoryTrace(
        [[("MPI_Init", 0, 100, {})]] * 2, messages=[(0, 1, k, 0, m[0], m[3]) for k, m in enumerate(four)]
    )
    trace._messages["physical_send"] = [m[1] for m in four]
    trace._messages["logical_receive"] = [m[2] for m in four]
    end = begin + long + 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(messages, "_TOGETHER", 3)  # so that few messages are several groups
        found = MessageIndex(trace).between(begin, end, np.ones(2, bool), lines)
    spans = {
        MessageLines.WHOLE: lambda m: (m[0], m[3]), MessageLines.LOGICAL: lambda m: (m[0], m[2]),
        MessageLines.PHYSICAL: lambda m: (m[1], m[3]), MessageLines.BOTH: lambda m: (min(m), max(m)),
    }[lines]  # fmt: skip
    expected = {k for k, m in enumerate(four) if max(spans(m)) > begin and min(spans(m)) < end}
    assert {int(size) for size in found.arrows["size"]} == expected
    assert found.count == sum(begin <= m[0] < end for m in four)


def test_what_is_drawn_is_saved(tmp_path):
    path = tmp_path / "view.toml"
    view = Viewport(0, 10**9, draws=(DrawRequest(), DrawRequest('my "view".toml', "task"), DrawRequest("useful")))
    path.write_text(view.toml("run.h5"))
    assert read_view(path, 10**9) == view


@pytest.mark.parametrize("text", ["draws = 3", "draws = []", "[[draws]]\nviews = 'useful'", "[[draws]]\nview = 3"])
def test_bad_draws_are_one_line(tmp_path, text):
    path = tmp_path / "view.toml"
    path.write_text(text)
    with pytest.raises(TracelibError, match=r"view\.toml: draws") as caught:
        read_view(path, 10**9)
    assert "\n" not in str(caught.value)


def printed(capsys, *words):
    assert main([*map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_numbers_of_what_is_drawn_are_those_of_analyze_views(file, capsys, tmp_path):
    path = tmp_path / "part.toml"
    path.write_text('begin_s = 0.002\nend_s = 0.0123\n[[draws]]\nview = "useful"\nlevel = "task"\n')
    said = printed(capsys, "view", file, "--view", path)["views"]
    words = ("--level", "task", "--from", "0.002", "--to", "0.0123")
    columns = printed(capsys, "views", file, "--view", "useful", *words)["views"][0]["columns"]
    assert [one["name"] for one in said] == ["useful"] and said[0]["level"] == "task"
    assert said[0]["mean"] == pytest.approx(columns["average value"])
    assert said[0]["least"] == [0] * RANKS and said[0]["most"] == [1] * RANKS


def test_views_of_files_are_drawn(file, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "large.toml").write_text('thread = "call"\n[filter]\ncalls = "MPI_Send"\n')
    assert main(["view", str(file), "--draw", "states", "--draw", "large.toml", "--print"]) == 0
    text = capsys.readouterr().out
    assert "large.toml" in text and "MPI_Send" in text and "MPI_Recv" not in text


def test_a_window_shows_the_objects_that_it_selects(file, capsys, tmp_path):
    objects = "window_object task { 0, 4, { All, None, None, All } }"
    cfg = write_cfg(tmp_path / "some.cfg", window(1, "Useful", objects, name="some ranks"))
    (said,) = printed(capsys, "view", file, "--cfg", cfg)["views"]
    every = printed(capsys, "views", file, "--cfg", cfg)["views"][0]
    assert said["name"] == "some ranks" and said["rows"] == every["rows"] == ["0", "3"]
    assert said["mean"] == pytest.approx(every["columns"]["average value"])


def test_names_that_never_come(file, capsys, tmp_path):
    """They are no numbers, and nobody makes any of them up."""
    path = tmp_path / "none.toml"
    path.write_text('thread = "call"\n[filter]\ncalls = "MPI_Finalize"\niterations = "0"\n')
    (said,) = printed(capsys, "view", file, "--draw", path)["views"]
    assert said["seconds"] == {} and "mean" not in said
    assert main(["view", str(file), "--draw", str(path), "--print"]) == 0
    assert "none of its names comes" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--draw", "none"], ["--draw", "none.toml"], ["--cfg", "none.cfg"]])
def test_a_view_that_there_is_not(file, capsys, words):
    assert main(["view", str(file), "--print", *words]) in (1, 2)
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_several_runs_are_told_one_after_the_other(file, capsys):
    said = printed(capsys, "view", file, file)["runs"]
    one = printed(capsys, "view", file)
    assert (one.pop("schema"), one.pop("version")) == ("view", 1)
    assert said[0] == said[1] == one
    assert main(["view", str(file), str(file), "--print"]) == 0
    assert capsys.readouterr().out.count("rank computing") == 2


@pytest.fixture(scope="module")
def runs(file):
    from analyzer.live.session import RunSession

    every = [RunSession(lambda: open_trace(file), LiveRun(open_trace(file))) for _ in range(2)]
    yield LiveRuns([LiveAnswers(at, name) for at, name in zip(every, ("a.h5", "b.h5"), strict=True)])
    for one in every:
        one.close()


def test_requests_are_of_a_run(runs):
    assert [one["name"] for one in runs.data("runs", {})["runs"]] == ["a.h5", "b.h5"]
    assert runs.data("about", {"run": "1"})["name"] == "b.h5"
    for run in ("2", "-1", "x", ""):
        with pytest.raises(TracelibError, match="is no run"):
            runs.data("about", {"run": run})


def test_a_page_reads_no_file(runs, tmp_path):
    """A view is asked for by name; what a path names is not opened."""
    (tmp_path / "own.toml").write_text('thread = "useful"\n')
    for name in (str(tmp_path / "own.toml"), "../library/useful.toml", "/etc/passwd", ""):
        with pytest.raises(TracelibError, match="there is no view"):
            runs.data("drawn", {"draw": name})


@pytest.mark.parametrize(("name", "query"), [
    ("values", {"draw": "useful", "begin": "5", "end": "5"}), ("value", {"draw": "useful", "row": "4", "at": "0"}),
    ("value_hits", {"draw": "useful", "value": "x", "begin": "0", "end": "9", "from": "0", "to": "9", "strips": "4"}),
    ("drawn", {"draw": "useful", "each": "rank"}), ("drawn", {"draw": "useful ipc", "each": "task"}),
    ("messages", {"begin": "0", "end": "9", "from": "0", "to": "9", "strips": "4", "lines": "x"}),
])  # fmt: skip
def test_bad_requests_are_one_line(runs, name, query):
    with pytest.raises(TracelibError) as caught:
        runs.data(name, query)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(not EPOCH.exists(), reason=f"{EPOCH} is not here")
def test_a_value_at_a_moment_is_that_of_the_profile():
    opened = open_trace(EPOCH / "epoch_4proc.prv.gz")
    one, found = drawn(opened, "state"), views.profile(opened, "state", 1000)
    for k in range(0, 1000, 37):
        if found.minimum[2, k] == found.maximum[2, k]:
            value, begin, end = one.course.value_at(2, int(found.edges[k]))
            assert value == found.mean[2, k] and begin <= found.edges[k] and end >= found.edges[k + 1]
            assert one.value_name(value)
    opened.close()
