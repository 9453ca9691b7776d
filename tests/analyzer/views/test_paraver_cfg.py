"""Paraver's configurations: what they mean, what of them is named as not read, and published tables of real runs."""

import csv
import json

import pytest
from paraver_cfg import derived, histogram, window, write_cfg
from paths import EPOCH
from synthetic import call, write_run

from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.opening import open_trace
from analyzer.views import api
from analyzer.views.filters import Filter
from analyzer.views.paraver.cfg import read_cfg
from analyzer.views.run import ViewRun
from analyzer.views.tabulated import Columns
from analyzer.views.view import Derived, View
from analyzer.writers.paraver_labels import write_event_cfg

ALL = {"evt_type": "All"}
LOGICAL = Filter(logical=True)


def only_view(path, *sections):
    found = read_cfg(write_cfg(path / "a.cfg", *sections))
    assert found.notes == ()
    return found.files[-1].view


def of_events(number, type_):
    return window(number, "Next Evt Val", f"window_filter_module evt_type 1 {type_}")


FUNCTIONS = [
    (window(1, "Useful", functions=ALL), View("useful", filter=LOGICAL)),
    (window(1, "State As Is", functions=ALL, level="appl"), View("state as is", "application", LOGICAL)),
    (
        window(1, "In State", "window_semantic_module thread In State { 1, { 2 3.0 8.0 } }", functions=ALL),
        View(("in state", 3, 8), filter=LOGICAL),
    ),
    (
        window(1, "Last Evt Val", "window_filter_module evt_type 2 50000001 50000003", functions={"evt_type": "[x,y]"}),
        View("last event value", filter=Filter(types=(50000001, 50000002, 50000003), logical=True)),
    ),
    (
        window(
            1, "Last Evt Val", "window_filter_module evt_type 1 50000001", "window_filter_module evt_value 2 3 4",
            functions={"evt_value": "="},
        ),
        View("last event value", filter=Filter(types=(50000001,), values="3,4", logical=True)),
    ),
    (
        window(
            1, "Send BandWidth", "window_filter_module size_msg 1 65536", "window_filter_module from_obj 2 1 2",
            "window_filter_module tag_msg 1 7", functions=ALL | {"size_msg": ">", "from_obj": "=", "tag_msg": "!="},
        ),
        View("send bandwidth", filter=Filter(size=">65536", source="0,1", tag="!7", logical=True)),
    ),
    (
        window(
            1, "Useful", "window_semantic_module task Thread i { 1, { 1 2.0 } }",
            "window_semantic_module topcompose1 Select Range { 2, { 1 9.0, 1 2.0 } }", level="task",
            functions=ALL | {"task": "Thread i"}, composes={"topcompose1": "Select Range", "compose_thread": "1-Sign"},
        ),
        View(
            "useful", "task", LOGICAL, task="thread 3", composes={"thread": ["absolute", "1-sign"]},
            compose1=[("select range", 2.0, 9.0)],
        ),
    ),
    (
        window(
            1, "State Record Dur.", "window_semantic_module thread State Record Dur. { 1, { 2 1.0 3.0 } }",
            "window_semantic_module topcompose1 Is Equal { 1, { 2 5.0 7.0 } }", functions=ALL, units="Seconds",
            composes={"topcompose1": "Is Equal", "topcompose2": "Join Bursts"},
        ),
        View(
            ("state record duration", 1, 3), filter=LOGICAL, composes={"thread": [("divide", 1e6)]},
            compose2="join bursts", compose1=[("is equal", 5.0, 7.0)],
        ),
    ),
    (window(1, "State Record Dur.", functions=ALL), View(("state record duration", 1), filter=LOGICAL)),
    (
        window(
            1, "Recv BandWidth", "window_semantic_module thread Recv BandWidth { 1, { 1 1048576.0 } }",
            "window_filter_module size_msg 2 64 128", "window_filter_module to_obj 1 2", functions=ALL
            | {"size_msg": "<", "to_obj": "!="}, units="Seconds",
        ),
        View(
            "receive bandwidth", filter=Filter(size="<64", destination="!1", logical=True),
            composes={"thread": [("product", 1e6 / 1048576)]},
        ),
    ),
    (
        window(1, "Thread ID", functions=ALL | {"from_obj": "None", "tag_msg": "="}),
        View("thread number", filter=Filter(source=-1, tag=-1, logical=True)),
    ),
    (window(1, "TaskID", functions=ALL), View("task id", filter=LOGICAL)),
    (
        window(
            1, "Avg Next Evt Val", "window_semantic_module thread Avg Next Evt Val { 1, { 1 1000.0 } }",
            functions=ALL, units="Nanoseconds",
        ),
        View(("average next event value", 1.0), filter=LOGICAL),
    ),
    (
        window(1, "Int. Between Evt", functions=ALL, units="Milliseconds"),
        View("interval between events", filter=LOGICAL, composes={"thread": [("divide", 1000.0)]}),
    ),
]  # fmt: skip


FUNCTIONS += [
    (window(1, "Event Bytes", functions=ALL), View("event bytes", filter=LOGICAL)),
    (
        window(1, "Useful", level="task", functions=ALL | {"task": "Changed value"}),
        View("useful", "task", LOGICAL, task="changed value"),
    ),
    (
        window(
            1, "Last Evt Val", "window_semantic_module compose_thread In Stacked Val { 1, { 1 7.0 } }", functions=ALL,
            composes={"compose_thread": "In Stacked Val", "topcompose1": "Burst Time", "topcompose2": "Enumerate"},
            units="Seconds",
        ),
        View(
            "last event value", filter=LOGICAL, composes={"thread": ["stacked value", ("is equal", 7.0)]},
            compose2="enumerate", compose1=["interval time", ("divide", 1e6)],
        ),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("section", "expected"), FUNCTIONS)
def test_windows(tmp_path, section, expected):
    view = only_view(tmp_path, section)
    assert view == View(**{**expected.__dict__, "name": "window 1"})


def test_a_derived_window_and_a_histogram(tmp_path):
    first, second = of_events(1, 42000050), window(2, "Useful", functions=ALL)
    made = derived(3, "product", 1, 2, factors=(2, 0.5), composes={"topcompose2": "Sign"}, name="useful instructions")
    table = histogram(2, 3, "Sum bursts", (0, 100, 10))
    found = read_cfg(write_cfg(tmp_path / "a.cfg", first, second, made, table))
    instructions = View("next event value", filter=Filter(types=42000050, logical=True), name="window 1")
    useful = View("useful", filter=LOGICAL, name="window 2")
    (file,) = found.files
    assert found.windows[:2] == (instructions, useful) and found.notes == ()
    assert file.view == Derived(
        "product", (instructions, useful), (2.0, 0.5), compose2=["absolute", "sign"], name="useful instructions"
    )
    assert (file.show, file.table.control, file.table.statistic) == ("histogram", useful, "sum of bursts")
    assert file.table.columns == Columns(0, 100, 10) and file.table.plane is None


def test_without_histogram_the_windows_that_no_other_is_made_of(tmp_path):
    sections = window(1, "Useful", functions=ALL), window(2, "State Sign", functions=ALL), derived(3, "add", 1, 2)
    path = write_cfg(tmp_path / "a.cfg", *sections, window(4, "Task ID", functions=ALL))
    assert [file.view.name for file in read_cfg(path).files] == ["window 3", "window 4"]


def test_what_we_write_ourselves(tmp_path):
    write_event_cfg(tmp_path / "own.cfg", "phases", 90000001, 7)
    found = read_cfg(tmp_path / "own.cfg")
    (view,) = found.windows
    assert (view.thread.name, view.filter.types, view.name, found.notes) == (
        "last event value", (90000001,), "phases", (),
    )  # fmt: skip


UNREAD = [
    (
        window(1, "Comm Size", functions=ALL),
        "'window 1' is left out: thread function 'Comm Size' cannot be read",
    ),
    (window(1, "Useful", level="task", functions=ALL | {"task": "Mode"}), "task function 'Mode'"),
    (window(1, "Useful", functions=ALL, composes={"topcompose1": "LRU Depth"}), "topcompose1 'LRU Depth'"),
    (window(1, "Useful", functions=ALL, composes={"extratopcompose1": "Sign"}), "extratopcompose1 Sign is not read"),
    (window(1, "Useful", functions=ALL | {"new": "1"}), "function of new is not read"),
    (window(1, "Useful", "window_filter_module new 1 2", functions=ALL), "filter new is not read"),
    (window(1, "Useful", level="node", functions=ALL | {"cpu": "Activity"}), "cpu function Activity is not read"),
    (window(1, "Useful", level="system", functions=ALL, composes={"compose_cpu": "Sign"}), "compose_cpu is not read"),
    (
        window(1, "Useful", "window_filter_module from_obj 1 2", level="appl", functions=ALL | {"from_obj": "="}),
        "filter from_obj of level application",
    ),
    (
        window(
            1, "Useful", "window_comm_fromto false", "window_filter_module to_obj 1 2", functions=ALL | {"to_obj": "="}
        ),
        "window_comm_fromto false",
    ),
    (
        window(1, "Send BandWidth", "window_semantic_module thread Send BandWidth { 1, { 1 0.0 } }", functions=ALL),
        "factor 0",
    ),
    (
        window(
            1,
            "Useful",
            "window_object task { 1, { 1 } }",
            functions=ALL,
        ),
        "window 'window 1': window_object task is not read",
    ),
    (window(1, "Last Evt Val", "window_filter_module evt_type 1 5", functions={"evt_type": ">"}), "filter evt_type >"),
    (derived(1, "controlled: clear by", 2, 2), "operation 'controlled: clear by'"),
    (derived(1, "add", 2, 2, "window_shifts 0 3"), "window_shifts"),
    (derived(1, "add", 2, 9), "a window that it is made of"),
    (window(1, "Useful", "window_new_thing 3", functions=ALL), "window 'window 1': window_new_thing is not read"),
    (window(1, "Useful", "window_end_time_relative 0.5", functions=ALL), "give --from and --to"),
    (
        window(1, "Useful", "window_selected_objects task { 2, { 1, 0 } }", functions=ALL),
        "window_selected_objects is not read",
    ),
    (window(1, "Useful", functions=ALL | {"bw_msg": ">"}), "filter bw_msg"),
    (histogram(2, 2, "Magic", (0, 9, 1)), "histogram 'table' is left out: statistic 'Magic'"),
    (histogram(7, 2, "Time", (0, 9, 1)), "ControlWindow 7"),
    (histogram(2, 2, "Time", (0, 9, 1), "Fresh: 3"), "histogram 'table': Fresh is not read"),
    (histogram(2, 2, "Time", (0, 9, 1), "AnalysisLimits: Allwindow"), "its part of the time is not read"),
]


@pytest.mark.parametrize(("section", "named"), UNREAD)
def test_what_is_not_read_is_named(tmp_path, section, named):
    """One line each; the rest is read."""
    good = window(2, "Useful", functions=ALL), histogram(2, 2, "Time", name="good")
    notes = read_cfg(write_cfg(tmp_path / "a.cfg", good[0], section, good[1])).notes
    assert len(notes) == 1 and named in notes[0], notes


def test_the_level_of_a_derived_window_is_the_finest_of_what_it_is_made_of(tmp_path):
    parts = window(1, "Useful", functions=ALL), window(2, "Useful", level="task", functions=ALL)
    assert len(read_cfg(write_cfg(tmp_path / "a.cfg", *parts, derived(3, "add", 1, 2))).windows) == 3
    table = histogram(1, 1, "Time")
    made = read_cfg(write_cfg(tmp_path / "a.cfg", *parts, derived(3, "add", 1, 2, level="task"), table))
    assert len(made.windows) == 2 and "level task of a derived window" in made.notes[0]


def test_a_composition_at_the_level_of_a_derived_window(tmp_path):
    made = derived(3, "add", 1, 1, composes={"compose_thread": "1-Sign", "topcompose2": "Abs"})
    view = only_view(tmp_path, window(1, "Useful", functions=ALL), made)
    assert view.compose2 == View(compose2=["absolute", "1-sign", "absolute"]).compose2


def test_a_remark_is_made_once(tmp_path):
    """Three windows have the same setting; one line of few words where nothing can be read."""
    sections = [window(number, "Useful", "window_new 3", functions=ALL) for number in (1, 2, 3)]
    assert read_cfg(write_cfg(tmp_path / "a.cfg", *sections)).notes == ("3 windows: window_new is not read",)
    wrong = [window(number, "Magic", *["window_new 3"] * 50, functions=ALL) for number in range(1, 20)]
    with pytest.raises(TracelibError, match="thread function 'Magic' cannot be read, and 18 more") as refused:
        read_cfg(write_cfg(tmp_path / "a.cfg", *wrong))
    assert len(str(refused.value)) < 300


def test_files_of_the_earlier_version(tmp_path):
    """No first line, a description over lines, other names of compositions, and what only changes the picture."""
    text = write_cfg(tmp_path / "a.cfg", window(1, "Useful", functions=ALL)).read_text()
    text = text.replace(
        "#ParaverCFG\nConfigFile.Version: 3.4\nConfigFile.NumWindows: 1\n",
        "version 3.4\nnumber_of_windows 1\nbegin_description\nTime of things.\nend_description\n",
    )
    text = text.replace("{topcompose1, As Is}", "{compose1, Sign}").replace(
        "{compose_thread, As Is}", "{thread, 1-Sign}"
    )
    (tmp_path / "a.cfg").write_text(text + "window_pos_to_disp 85\nwindow_selected_objects task { 2, { 1, 1 } }\n")
    found = read_cfg(tmp_path / "a.cfg")
    (view,) = found.windows
    assert found.notes == () and view == View(
        "useful", filter=LOGICAL, composes={"thread": ["absolute", "1-sign"]}, compose1=["absolute", "sign"],
        name="window 1",
    )  # fmt: skip


OBJECTS = [
    ((), "0 1 2"),
    (("window_object task { 0, 3, { All, None, Some } }",), "0 2"),
    (("window_object thread { 0, 0, 1, { 0 } }", "window_object thread { 0, 2, 1, { 0 } }"), "1"),
    (("window_object task { 0, 2, { None, All } }",), "1 2"),
    (("window_object task { 0, 4, { None, None, None, All } }",), "0 1 2"),  # of a trace with more ranks
    (("window_object task { 1, 1, { None } }",), "0 1 2"),  # of another application
]


@pytest.mark.parametrize(("lines", "shown"), OBJECTS)
@pytest.mark.parametrize("show", ["rows", "profile", "histogram", "bursts"])
def test_the_objects_of_a_window_are_its_rows(tmp_path, capsys, lines, shown, show):
    """Numbers equal the ones of all rows: only the rows that are selected are there."""
    ranks = [{"calls": [call("MPI_Barrier", 10 * (rank + 1), 100)]} for rank in range(3)]
    run = write_run(tmp_path, ranks)
    every, some = (
        write_cfg(tmp_path / f"{name}.cfg", window(1, "Useful", *extra, functions=ALL), histogram(1, 1, "Time"))
        for name, extra in (("all", ()), ("some", lines))
    )

    def table(cfg):
        assert main(["views", str(run), "--cfg", str(cfg), "--show", show, "--csv", str(tmp_path / "out.csv")]) == 0
        assert capsys.readouterr().err == ""
        with (tmp_path / "out.csv").open() as file:
            return list(csv.DictReader(file))

    rows = shown.split()
    key = "row" if show == "bursts" else "thread"
    assert table(some) == [row for row in table(every) if row[key] in rows]


def test_a_window_of_no_object(tmp_path, capsys):
    run = write_run(tmp_path, [{"calls": [call("MPI_Barrier", 10, 30)]}])
    nothing = window(1, "Useful", "window_object appl { 1, { None } }", functions=ALL)
    assert main(["views", str(run), "--cfg", str(write_cfg(tmp_path / "a.cfg", nothing))]) == 1
    assert "its window selects no thread of this run" in capsys.readouterr().err


def test_planes_and_partners(tmp_path):
    """A table of three windows; numbers of messages have the partners as columns, where the control window is."""
    windows = window(1, "Useful", functions=ALL), window(2, "State As Is", functions=ALL)
    planes = ("3D_ControlWindow: 2", "3D_Minimum: 0", "3D_Maximum: 9", "3D_Delta: 3", "3D_FixedValue: 1")
    tables = [
        histogram(1, 1, "Average per Burst != 0", (0, 1, 1), *planes),
        histogram(1, 2, "# Bursts != 0", (0, 1, 1), *planes) + "\nAnalyzer3D.ComputeYScale: True",
        histogram(1, 1, "Bytes sent", (0, 1, 1)),
    ]  # fmt: skip
    found = read_cfg(write_cfg(tmp_path / "a.cfg", *windows, *tables))
    assert found.notes == ()
    first, second, third = (file.table for file in found.files)
    assert (first.plane.thread.name, first.planes, first.statistic) == (
        "state as is", Columns(0, 9, 3), "average per burst not zero",
    )  # fmt: skip
    assert (second.planes, second.statistic) == (None, "bursts not zero")
    assert [table.partners for table in (first, second, third)] == [False, False, True]
    assert not any(table.joined for table in (first, second, third))


def test_files_that_other_versions_write(tmp_path):
    """Without the first line, without numbers of windows, with the end of the time where the scale is; with names of
    a session's own."""
    path = write_cfg(tmp_path / "a.cfg", window(1, "Useful", functions=ALL), histogram(1, 1, "Time"))
    text = path.read_text().replace("#ParaverCFG\n", "").replace("window_id 1\n", "")
    text = text.replace("window_end_time_relative 1.0", "window_scale_relative 0.5")
    path.write_text(text.replace("window_name", "CFG4D_ENABLED\ncfg4d window_name|mine\nwindow_name", 1))
    found = read_cfg(path)
    assert len(found.files) == 1 and [note.rsplit(": ", 1)[1] for note in found.notes] == [
        "the part of the time that is shown (give --from and --to) is not read"
    ]


@pytest.mark.parametrize("text", ["", "hello\n", "#ParaverCFG\n", '"environment information" {}\n'])
def test_other_files(tmp_path, text):
    (tmp_path / "a.cfg").write_text(text)
    with pytest.raises(TracelibError, match=r"no Paraver configuration|nothing of it can be read"):
        read_cfg(tmp_path / "a.cfg")
    with pytest.raises(TracelibError, match="cannot read"):
        read_cfg(tmp_path / "none.cfg")


def test_numbers_that_are_none(tmp_path):
    path = write_cfg(tmp_path / "a.cfg", window(1, "Useful", functions=ALL), histogram(1, 1, "Time", (0, 9, 1)))
    path.write_text(path.read_text().replace("Analyzer2D.Delta: 1.000000", "Analyzer2D.Delta: one"))
    with pytest.raises(TracelibError, match="'one' is no number"):
        read_cfg(path)


@pytest.mark.parametrize("wrong", ["window_id one", "window_factors x 1", "window_identifiers 2 99999999999999999999"])
def test_damaged_settings(tmp_path, wrong):
    good = window(2, "Useful", functions=ALL)
    found = read_cfg(write_cfg(tmp_path / "a.cfg", good, derived(3, "add", 2, 2, wrong), histogram(2, 2, "Time")))
    assert len(found.notes) == 1 and "is left out" in found.notes[0]


def test_a_table_by_hand(tmp_path):
    """Two ranks of 100 ns: what lies in MPI_Send (value 1), in MPI_Recv (2) and outside."""
    calls = [[call("MPI_Send", 10, 30)], [call("MPI_Recv", 20, 60), call("MPI_Recv", 70, 80)]]
    mpi = window(
        1, "Last Evt Val", "window_filter_module evt_type 2 50000001 50000005", functions={"evt_type": "[x,y]"}
    )
    (file,) = read_cfg(write_cfg(tmp_path / "mpi.cfg", mpi, histogram(1, 1, "Time", (0, 5, 1)))).files
    trace = open_trace(write_run(tmp_path, [{"calls": rows} for rows in calls]))
    values = api.shown(ViewRun(trace), file).values[0][:, :3] * 1e9
    end = trace.duration_ns
    assert values.round(6).tolist() == [[end - 20, 20, 0], [end - 50, 0, 50]]


def of_counter(type_):
    useful = window(2, "Useful", functions=ALL)
    return of_events(1, type_), useful, derived(3, "product", 1, 2), histogram(3, 3, "Sum bursts", (0, 1e18, 1e18))


STATES = window(1, "State As Is", functions=ALL), histogram(1, 1, "Time", (0, 40, 1))
NOTHING = {"evt_type": "None", "evt_value": "None"}
RUNTIME = window(1, "Last Evt Val", level="appl", functions=NOTHING), histogram(1, 1, "Time")


@pytest.mark.parametrize("processes", [1, 2, 4])
def test_the_published_tables_of_epoch(tmp_path, processes):
    """Timings, instructions, cycles and runtime: what Paraver's own command line makes of the same windows."""
    if not EPOCH.is_dir():
        pytest.skip("the folder of published traces is not beside this project")
    with (EPOCH / "expected.csv").open() as file:
        published = {name: float(row[[1, 2, 4].index(processes)]) for name, *row in csv.reader(file, delimiter=";")}
    trace = open_trace(EPOCH / f"epoch_{processes}proc.prv.gz")
    run = ViewRun(trace)

    def column(name, *sections):
        found = read_cfg(write_cfg(tmp_path / "a.cfg", *sections))
        assert found.notes == ()
        return api.shown(run, found.files[0]).to_pandas()[name]

    running = column("Running", *STATES) * 1e6
    for what, found in (("total", running.sum()), ("average", running.mean()), ("maximum", running.max())):
        assert found == pytest.approx(published[f"#Useful duration ({what})"], abs=0.006)
    (counted,) = {column("0 to 1e+18", *of_counter(42000050)).sum()}
    assert counted == published["#Useful instructions (total)"]
    assert column("0 to 1e+18", *of_counter(42000059)).sum() == published["#Useful cycles (total)"]
    assert column("0", *RUNTIME).sum() * 1e6 == pytest.approx(published["#Runtime (us)"], abs=0.006)
    trace.close()


def test_from_the_command_line(tmp_path, capsys):
    """The table of a file, and a line for what of it is not read."""
    run = write_run(tmp_path, [{"calls": [call("MPI_Barrier", 10, 30)]}])
    cfg = write_cfg(tmp_path / "a.cfg", window(1, "Useful", "window_new 3", functions=ALL), histogram(1, 1, "Time"))
    assert main(["views", str(run), "--cfg", str(cfg), "--json"]) == 0
    said = capsys.readouterr()
    (view,) = json.loads(said.out)["views"]
    assert (view["view"], view["show"]) == ("window 1", "histogram")
    assert said.err.splitlines() == [f"{cfg}: window 'window 1': window_new is not read"]
    cfg.write_text("no\n")
    assert main(["views", str(run), "--cfg", str(cfg)]) != 0
    assert "is no Paraver configuration" in capsys.readouterr().err
