"""`analyze table`: runs and tables in, one table out; settings of runs; kinds of time without annotation."""

import json

import numpy as np
import pandas
import pytest
from marked import LABELS, begin, end
from synthetic import WORLD, call, event, label, write_run
from thread_team import by_team

from analyzer.cli import main
from analyzer.experiments.kinds import by_call, by_place, by_region
from analyzer.experiments.run_factors import RunFactor, value_of
from analyzer.experiments.table import ExperimentTableOptions, table
from analyzer.opening import open_trace
from analyzer.parallel import Team
from tracelib.schema import PARAMETER_TYPE, LabelKind

NAMED = [*LABELS, label(LabelKind.PARAMETER, 1, "n")]


def run_of(folder, name, n, times, ranks=1, **attributes):
    """Write a run whose region `solve` takes these times, ns, one after the other."""
    rows, at = [], 10
    for time in times:
        rows += [begin(at, 1), event(at, PARAMETER_TYPE, n, flags=1), end(at + time, 1)]
        at += time + 10
    rank = {"labels": NAMED, "events": rows, "calls": [call("MPI_Barrier", at, at + 5, comm=WORLD)], **attributes}
    return str(write_run(folder, [rank] * ranks, name=name))


def test_several_runs(tmp_path):
    runs = [run_of(tmp_path, "a", 100, [30, 32, 31]), run_of(tmp_path, "b", 200, [60, 61, 90], ranks=2)]
    found = table(runs)
    assert found.factors == ("region", "ranks", "threads", "nodes", "n")
    assert found.frame["n"].tolist() == [100] * 3 + [200] * 6
    assert (found.frame["time"] * 1e9).round().tolist() == [30, 32, 31, 60, 61, 90, 60, 61, 90]
    aggregated = table(runs, ExperimentTableOptions(per="run", where=("n == 200",)))
    assert aggregated.frame[["n", "ranks", "rows", "time"]].to_numpy().tolist() == [[200, 2, 6, 61e-9]]


def test_outliers_are_removed_within_runs_and_settings(tmp_path):
    runs = [run_of(tmp_path, "a", 100, [30, 32, 31, 29, 90]), run_of(tmp_path, "b", 200, [90, 91, 92, 89])]
    found = table(runs, ExperimentTableOptions(rule="median"))
    assert found.outliers == 1 and len(found.frame) == 8
    assert found.frame["time"].to_numpy()[:4] == pytest.approx([30e-9, 32e-9, 31e-9, 29e-9])


def test_a_table_and_a_run(tmp_path):
    run = run_of(tmp_path, "a", 100, [30])
    pandas.DataFrame({"region": ["solve"], "ranks": [8], "time": [1.5], "n": [7], "who": ["x"]}).to_csv(
        tmp_path / "old.csv", index=False
    )
    found = table([run, tmp_path / "old.csv"])
    assert found.frame.columns.tolist() == ["region", "ranks", "time", "n"]
    assert "who" in found.left_out and "computing" in found.left_out
    assert found.frame["time"].tolist() == [30e-9, 1.5]


COMMAND = "./app -n 500 --size=2.5 out.txt"
SETTINGS = {"n=ARG2": 500, "n=ARG:-n": 500, "s=ARG:--size": 2.5, "f=ARG-1": "out.txt", "f=ARG0": "./app"}


@pytest.mark.parametrize("text", SETTINGS)
def test_settings_of_the_command_line(tmp_path, text):
    run = run_of(tmp_path, "a", 1, [30], command=COMMAND)
    assert RunFactor.parse(text).of(open_trace(run)) == SETTINGS[text]
    frame = table([run], ExperimentTableOptions(settings=(RunFactor.parse(text.replace("n=", "m=")),))).frame
    assert SETTINGS[text] in frame.iloc[0].tolist()


def test_settings_of_the_name(tmp_path):
    run = run_of(tmp_path, "heat-p4-x16", 1, [30])
    assert RunFactor.parse(r"x=FILE:x(\d+)").of(open_trace(run)) == 16


def test_values():
    assert [value_of(text) for text in ("4", "-4", "4e3", "0x4", "a")] == [4, -4, 4000.0, "0x4", "a"]


def test_kinds_by_hand(tmp_path):
    """Rank 0 computes 10, 20 and 5 before Send, Send, Recv, rank 1 40 before Recv."""
    first = [
        call("MPI_Send", 10, 13, comm=WORLD, peer=1, sent=8),
        call("MPI_Send", 33, 37, comm=WORLD, peer=1, sent=24),
        call("MPI_Recv", 42, 50, comm=WORLD, peer=1, received=4),
    ]
    second = [call("MPI_Recv", 40, 46, comm=WORLD, peer=0, received=8)]
    paths = {
        "paths": [(0, 0, 0), (0, 1, 0x1200), (0, 1, 0x1300)],
        "modules": [(0, 0, 0, b"", b""), (0x400000, 0x400000, 0x500000, b"", b"/nowhere/app")],
    }
    ranks = [
        {"calls": first, "start": 0, "call_paths": [1, 2, 1], "labels": NAMED, **paths,
         "events": [begin(5, 1), event(5, PARAMETER_TYPE, 64, flags=1), end(45, 1)]},
        {"calls": second, "start": 0, "call_paths": [2], **paths},
    ]  # fmt: skip
    trace = open_trace(str(write_run(tmp_path, ranks)))
    columns = ["kind", "name", "in_ranks", "count", "time", "time_min", "time_max", "bytes"]

    def rows(frame):
        assert set(frame["ranks"]) == {2}
        return [[*row[:4], *(round(t * 1e9) for t in row[4:7]), row[7]] for row in frame[columns].fillna(-1).to_numpy()]

    assert rows(by_call(trace, Team())) == [
        ["burst", "MPI_Recv", 2, 1, 22, 5, 40, -1],
        ["burst", "MPI_Send", 1, 2, 30, 30, 30, -1],
        ["call", "MPI_Recv", 2, 1, 7, 6, 8, 6],
        ["call", "MPI_Send", 1, 2, 7, 7, 7, 32],
    ]
    assert rows(by_place(trace, Team())) == [
        ["burst", "MPI_Recv at app+0x1200", 1, 1, 5, 5, 5, -1],
        ["burst", "MPI_Recv at app+0x1300", 1, 1, 40, 40, 40, -1],
        ["burst", "MPI_Send at app+0x1200", 1, 1, 10, 10, 10, -1],
        ["burst", "MPI_Send at app+0x1300", 1, 1, 20, 20, 20, -1],
        ["call", "MPI_Recv at app+0x1200", 1, 1, 8, 8, 8, 4],
        ["call", "MPI_Recv at app+0x1300", 1, 1, 6, 6, 6, 8],
        ["call", "MPI_Send at app+0x1200", 1, 1, 3, 3, 3, 8],
        ["call", "MPI_Send at app+0x1300", 1, 1, 4, 4, 4, 24],
    ]
    assert rows(by_region(trace, Team())) == [
        ["region", "solve", 1, 1, 40, 40, 40, -1],
        ["region MPI", "solve", 1, 1, 10, 10, 10, -1],
        ["region computing", "solve", 1, 1, 30, 30, 30, -1],
    ]
    trace.close()
    everything = table([tmp_path / "run.h5"], ExperimentTableOptions(by=("call", "region")))
    assert set(everything.frame["n"]) == {64} and everything.factors[-1] == "n"
    assert np.sort(everything.frame["kind"].unique()).tolist() == [
        "burst",
        "call",
        "region",
        "region MPI",
        "region computing",
    ]


MODEL = {
    "format": "tracelib-loggp", "version": 1, "latency_s": 1e-6,
    "intervals": [
        {"from_bytes": 1, "to_bytes": 1000, "o_s": 2e-6, "O_s_per_byte": 3e-9, "g_s": 4e-6, "G_s_per_byte": 5e-9},
        {"from_bytes": 1001, "to_bytes": 9000, "o_s": 6e-6, "O_s_per_byte": 7e-9, "g_s": 8e-6, "G_s_per_byte": 9e-9},
    ],
}  # fmt: skip


def test_parameters_of_the_network_are_columns(tmp_path):
    run = run_of(tmp_path, "a", 100, [30])
    (tmp_path / "net.json").write_text(json.dumps(MODEL))
    names = ["net_L", "net_o", "net_O", "net_g", "net_G"]
    for size, numbers in ((1, [1e-6, 2e-6, 3e-9, 4e-6, 5e-9]), (10**6, [1e-6, 6e-6, 7e-9, 8e-6, 9e-9])):
        frame = table([run], ExperimentTableOptions(network=str(tmp_path / "net.json"), message_size=size)).frame
        assert frame[names].iloc[0].tolist() == pytest.approx(numbers)


def test_the_command_writes_all_formats(tmp_path, capsys):
    run = run_of(tmp_path, "a", 100, [30, 32, 31])
    said = []
    for name in ("t.csv", "t.xml", "t.parquet"):
        assert main(["table", run, "--column", "cells=n*n", "-o", str(tmp_path / name), "-q"]) == 0
        capsys.readouterr()
        assert main(["table", str(tmp_path / name), "--json", "--observable", "time"]) == 0
        said.append(json.loads(capsys.readouterr().out))
    assert said[0] == said[1] == said[2] and said[0]["columns"]["cells"] == [10000] * 3


def test_the_command_says_what_there_is(tmp_path, capsys):
    runs = [run_of(tmp_path, "a", 100, [30, 32, 31]), run_of(tmp_path, "b", 200, [60, 61, 90], ranks=2)]
    assert main(["table", *runs]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("9 rows, 15 columns: region, run,")
    assert [line.split() for line in lines if line.startswith("solve")] == [["solve", "9", "6e-08", "3e-08", "9e-08"]]
    assert "n       100, 200" in lines


REFUSED = {
    ("nothing.h5",): "nothing.h5: no such file",
    ("a.h5", "-o", "a.txt"): "a.txt is no name of a table",
    ("a.h5", "--network", "t.csv"): "t.csv is no model of a network",
    ("a.h5", "--ganglia", "load_one"): "no region asked Ganglia",
    ("a.h5", "--set", "n"): "'n' is not a parameter of a run",
    ("a.h5", "--set", "m=ARG9"): "does not say m in its command",
    ("a.h5", "--set", "n=ARG0"): "has a column n already",
    ("a.h5", "--set", "n=FILE:("): "is not a regular expression",
    ("a.h5", "--set", "n=FILE:a"): "needs one group",
    ("a.h5", "--column", "m"): "is not NAME=EXPRESSION",
    ("a.h5", "--where", "m > 1"): "there is no column m",
    ("a.h5", "--observable", "region"): "there is no column region of numbers",
    ("a.h5", "--parameters", "m"): "there is no column m",
    ("t.csv", "--outliers", "median"): "nothing says which rows repeat each other",
    ("t.csv", "--outliers", "median", "--parameters", "n", "--observable", "m"): "there is no column m",
    ("t.csv", "-o", "t.csv"): "is part of the trace that is read",
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_refused(words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_of(tmp_path, "a", 100, [30], command="./app")
    (tmp_path / "t.csv").write_text("n,time\n1,2\n")
    assert main(["table", *words]) != 0
    said = capsys.readouterr().err
    assert REFUSED[words] in said and len(said.splitlines()) == 1


def test_a_team_makes_the_same_table(tmp_path):
    """Members have the ranks of their share; each kind of table is put together from them."""
    path = run_of(tmp_path, "a", 100, [30, 32, 31], ranks=5)
    for wanted in (ExperimentTableOptions(), ExperimentTableOptions(by=("call", "region", "place"))):
        alone = table([path], wanted).frame
        for found in by_team(3, lambda team, wanted=wanted: table([path], wanted, team).frame):
            pandas.testing.assert_frame_equal(found, alone)


def test_what_has_no_row_says_why(tmp_path, capsys):
    run = write_run(tmp_path, [{"calls": [call("MPI_Init", 0, 10), call("MPI_Finalize", 20, 30)]}])
    assert main(["table", str(run)]) == 0
    assert "No region was marked: --by call" in capsys.readouterr().out
    (tmp_path / "t.csv").write_text("n,time\n1,2\n2,4\n3,6\n")
    assert main(["table", str(tmp_path / "t.csv"), "--where", "n > 10"]) == 0
    assert "No row is left by --where 'n > 10'." in capsys.readouterr().out
    assert main(["table", str(tmp_path / "t.csv"), "--where", "n > 'a'"]) == 1
    assert capsys.readouterr().err.endswith("\"n > 'a'\" cannot be computed: numbers and text are put together\n")


def test_an_error_leaves_no_table_behind(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("n,CLOCK\n1,2\n2,3\n")
    (tmp_path / "b.csv").write_text("n,cycles\n1,2\n2,3\n")
    assert main(["table", str(tmp_path / "a.csv"), str(tmp_path / "b.csv"), "-o", str(tmp_path / "j.csv")]) == 1
    assert capsys.readouterr().err and not (tmp_path / "j.csv").exists()


def test_clock_and_time_are_one_column(tmp_path, capsys):
    """TIA's CLOCK is our time. Tables that all have both keep both."""
    frames = {"a": "n,CLOCK\n1,2\n", "b": "n,time\n2,3\n", "both": "n,time,CLOCK\n5,6,7\n"}
    for name, text in frames.items():
        (tmp_path / f"{name}.csv").write_text(text)
    found = table([tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "both.csv"])
    assert found.frame[["n", "time"]].values.tolist() == [[1, 2], [2, 3], [5, 6]] and found.left_out == ("CLOCK",)
    assert list(table([tmp_path / "both.csv", tmp_path / "both.csv"]).frame.columns) == ["n", "time", "CLOCK"]
    assert list(table([tmp_path / "a.csv", tmp_path / "a.csv"]).frame.columns) == ["n", "CLOCK"]


def test_fit_says_what_makes_its_table(tmp_path, capsys):
    run = write_run(tmp_path, [{"calls": [call("MPI_Init", 0, 10), call("MPI_Finalize", 20, 30)]}])
    (tmp_path / "x.txt").write_text('<?xml version="1.0"?>\n<experiments/>\n')
    for file, what in ((run, "a run"), (tmp_path / "x.txt", "XML")):
        assert main(["fit", str(file), "--parameters", "n"]) == 1
        assert f"is {what}, and no table (analyze table {file} -o TABLE.csv makes one)" in capsys.readouterr().err
