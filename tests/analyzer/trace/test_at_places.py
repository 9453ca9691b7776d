"""`--place`: which calls it chooses, and what each command makes of them."""

import json
import re
from pathlib import Path

import click
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pathed_runs import FUNCTIONS, chain, pathed_runs
from placed_runs import placed
from synthetic import NONE, WORLD, call, write_run

from analyzer.cli import main
from analyzer.commands.command import Chooses
from analyzer.commands.group import analyze
from analyzer.commands.registry import find, names
from analyzer.metrics.callers import CallerSums
from analyzer.metrics.profile import profile
from analyzer.metrics.sums import add_up
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.trace import CALL, CallPaths
from analyzer.trace.at_places import AtPlaces
from tracelib import schema

MAIN = ("main", 40)
FILES = {name.decode(): file.decode() for _, _, name, file in FUNCTIONS[1:]}


@settings(max_examples=40)
@given(pathed_runs(), st.sampled_from([*(name.decode() for _, _, name, _ in FUNCTIONS[1:]), r"heat\.py:1[12]"]))
def test_a_choice_and_the_rest_are_the_whole(tmp_path_factory, run, text):
    """Calls, and sums of them, against the chains as they were written."""
    ranks, tsc_per_us = run
    trace = open_trace(write_run(tmp_path_factory.mktemp("at"), ranks, tsc_per_us=tsc_per_us))
    paths = trace.extra(CallPaths)
    chosen = paths.named().matching(re.compile(text))
    some, rest = AtPlaces(trace, chosen), AtPlaces(trace, ~chosen)
    for rank, content in enumerate(ranks):
        names = [
            "\n".join(f"{name}\n{FILES[name]}:{line}" for name, line in chain(content, row))
            for table in schema.PATHS_OF
            for row in content[table]
        ]
        wanted = sum(re.search(text, name) is not None for name in names)
        assert sum(len(block) for block in some.calls(rank)) == wanted
        both = np.concatenate([np.zeros(0, CALL), *some.calls(rank), *rest.calls(rank)])
        every = np.concatenate([np.zeros(0, CALL), *trace.calls(rank)])
        assert np.sort(both, order=["enter", "thread"]).tobytes() == np.sort(every, order=["enter", "thread"]).tobytes()
        assert sum(len(rows) for rows in some.extra(CallPaths).of(rank)) == wanted
    whole = profile(trace, Team())
    parts = [profile(one, Team()) for one in (some, rest)]
    for name in whole.procedures:
        inside = [p.inside_ns[:, p.procedures.index(name)].sum() for p in (*parts, whole) if name in p.procedures]
        assert sum(inside[:-1]) == inside[-1]
    rows = [add_up(one, Team(), CallerSums(one)).rows["count"].sum() for one in (some, rest, trace)]
    assert rows[0] + rows[1] == rows[2]
    trace.close()


def exchanging(tmp_path, **more):
    """Rank 0 sends from line 7 of halo and from line 9 of other; rank 1 receives both in line 5 of halo."""
    pair = {"comm": WORLD, "tag": 3}
    ranks = [
        placed({"calls": [call("MPI_Send", 100, 110, peer=1, sent=8, **pair),
                          call("MPI_Send", 300, 310, peer=1, sent=800, **pair),
                          call("MPI_Barrier", 400, 500, comm=WORLD)]},
               [(MAIN, ("halo", 7)), (MAIN, ("other", 9)), (("main", 41),)]),
        placed({"calls": [call("MPI_Recv", 20, 120, peer=0, received=8, **pair),
                          call("MPI_Recv", 200, 320, peer=0, received=800, **pair),
                          call("MPI_Barrier", 450, 500, comm=WORLD)]},
               [(MAIN, ("halo", 5)), (MAIN, ("other", 5)), (("main", 41),)]),
    ]  # fmt: skip
    return str(write_run(tmp_path, [rank | more for rank in ranks]))


def data(capsys, *words):
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_look_at_some_calls(tmp_path, capsys):
    run = exchanging(tmp_path)
    whole, some = (data(capsys, "look", "--no-files", run, *more) for more in ((), ("--place", "halo")))
    assert (whole["place"], some["place"]) == (None, "halo")
    assert {name: found["count"] for name, found in some["calls"].items()} == {"MPI_Send": 1, "MPI_Recv": 1}
    assert [(row["place"], row["call"]) for row in some["places"]] == [
        ("halo.py:5", "MPI_Recv"),
        ("halo.py:7", "MPI_Send"),
    ]
    assert (some["messages"]["count"], some["messages"]["bytes"]) == (1, 8)
    assert not some["collectives"] and whole["collectives"]
    for of_all in ("mpi_s", "useful_s", "efficiency", "runtime_s", "waits"):
        assert some[of_all] == whole[of_all]
    assert main(["look", "--no-files", run, "--place", "halo"]) == 0
    assert "only 2 of 6 calls, through places that match halo" in capsys.readouterr().out
    assert main(["look", run, "--place", "halo", "-q"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.h5", "run.ranks"]


def test_the_path_at_some_calls(tmp_path, capsys):
    run = exchanging(tmp_path)
    whole, some = (data(capsys, "critical-path", run, *more)["places"] for more in ((), ("--place", "other")))
    assert some == [
        row for row in whole if "other" in row["name"] or (row["call"] == "MPI_Barrier" and row["kind"] != "call")
    ]
    assert main(["critical-path", run, "--place", "halo.py:5"]) == 0
    assert "Nothing at halo.py:5 is on the critical path." in capsys.readouterr().out


def test_parts_before_and_after_some_calls(tmp_path, capsys):
    run = exchanging(tmp_path)
    rows = data(capsys, "what-if", run, "--machine", "ideal", "--place", "halo")["each_free"]
    whole = data(capsys, "what-if", run, "--machine", "ideal")["each_free"]
    assert {row["parts"][0]["name"] for row in rows} == {
        "computing before MPI_Send at halo.py:7 in halo", "computing before MPI_Recv at halo.py:5 in halo",
        "computing before MPI_Send at other.py:9 in other", "computing before MPI_Recv at other.py:5 in other",
    }  # fmt: skip
    assert all(row in whole for row in rows) and len(whole) > len(rows)


def test_messages_of_some_calls(tmp_path, capsys):
    run = exchanging(tmp_path)
    (way,) = data(capsys, "loggp", run, "--place", "other.py:9")["messages"]
    assert way["messages"] == 1


def test_what_is_wrong_with_some_calls(tmp_path, capsys):
    sends = [call("MPI_Send", t, t + 5, peer=1, sent=8, comm=WORLD, tag=t) for t in (10, 20)]
    ranks = [placed({"calls": sends}, [(MAIN, ("halo", 7)), (MAIN, ("other", 9))]), {"calls": [call("MPI_Init", 0, 5)]}]
    run = str(write_run(tmp_path, ranks))
    assert main(["check", run, "--place", "other"]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert "at other.py:9 in other" in line
    assert main(["check", run, "--place", "Init|main.py:41"]) == 2
    assert main(["check", run]) == 1


@pytest.mark.parametrize("command", ["look", "check", "critical-path", "waits", "what-if", "loggp"])
def test_no_such_place(tmp_path, capsys, command):
    assert main([command, exchanging(tmp_path), "--place", "nowhere"]) == 2
    out, err = capsys.readouterr()
    assert not out and len(err.splitlines()) == 1
    assert "no call of" in err and "there are " in err and "halo.py:5 in halo" in err


def test_not_a_regular_expression(tmp_path, capsys):
    assert main(["look", "--no-files", exchanging(tmp_path), "--place", "("]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_run_without_places(tmp_path, capsys):
    run = write_run(tmp_path, [{"calls": [call("MPI_Init", 0, 10, comm=NONE)]}])
    assert main(["look", "--no-files", str(run), "--place", "halo"]) == 2
    assert "does not say where its calls come from (record it without TRACELIB_STACK=0)" in capsys.readouterr().err


@pytest.mark.parametrize("name", names())
def test_each_command_chooses_by_place_or_says_why_not(tmp_path, capsys, name):
    command = analyze.get_command(click.Context(analyze), name)
    (option,) = (param for param in command.params if "--place" in param.opts)
    page = Path(__file__).parents[3] / "docs" / "places.md"
    (table,) = re.findall(r"^\| command \| what is then.*?\n\n", page.read_text(), re.DOTALL | re.MULTILINE)
    policy = find(name).spec.place
    chooses = isinstance(policy, Chooses)
    assert (not option.hidden) == chooses == (f"| `{name}` |" in table)
    if chooses:
        assert f"| `{name}` | {policy.shown} |" in table
        assert main([name, exchanging(tmp_path), "--place", "("]) == 2
        assert "is not a regular expression" in capsys.readouterr().err
        return
    assert main([name, "--place", "halo"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.search(r": --place cannot be used here: \w.{10,}$", line)


def test_regions_are_not_divided_by_places(tmp_path, capsys):
    assert main(["what-if", exchanging(tmp_path), "--by", "regions", "--place", "halo"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "--place cannot be used here: " in line or "has no regions" in line
