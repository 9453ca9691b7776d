"""The critical path by place: by hand, and its sum is the path."""

import json

from hypothesis import given, settings
from pathed_runs import pathed_runs
from placed_runs import placed
from synthetic import WORLD, call, write_run

import analyzer
from analyzer.cli import main
from analyzer.critical.by_place import place_shares
from analyzer.critical.functions import CALL, COMPUTATION
from analyzer.critical.path import critical_path
from analyzer.critical.shares import shares

MAIN = ("main", 40)


def two_ranks(tmp_path):
    """Rank 1 waits in line 7 of halo for rank 0, which computes from line 3 to line 9 of work."""
    ranks = [
        placed(
            {"calls": [call("MPI_Init", 0, 10), call("MPI_Send", 510, 520, comm=WORLD, peer=1, tag=3, sent=8)]},
            [(MAIN, ("work", 3)), (MAIN, ("work", 9))],
        ),
        placed(
            {"calls": [call("MPI_Init", 0, 10), call("MPI_Recv", 100, 540, comm=WORLD, peer=0, tag=3, received=8)]},
            [(("main", 39),), (MAIN, ("halo", 7))],
        ),
    ]
    return write_run(tmp_path, ranks)


def test_by_hand(tmp_path, capsys):
    """The path is in rank 0 to 510, and from then on in the receive of rank 1."""
    run = two_ranks(tmp_path)
    trace = analyzer.open(run)
    found = place_shares(trace, critical_path(trace))
    assert [(share.text, share.ns) for share in found] == [
        ("computing at work.py:3-9 in work before MPI_Send", 500),
        ("MPI_Recv at halo.py:7 in halo", 30),
        ("MPI_Init at work.py:3 in work", 10),
    ]
    trace.close()
    assert main(["critical-path", str(run)]) == 0
    said = capsys.readouterr().out
    assert "On the path, by place" in said and max(map(len, said.splitlines())) <= 80
    assert "at work.py:3-9 in work before MPI_Send" in " ".join(said[said.index("Longest") :].split())
    assert main(["critical-path", "--json", str(run)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["places"][0] == {
        "place": "work.py:3-9", "function": "work", "kind": "computation", "call": "MPI_Send",
        "name": "computing at work.py:3-9 in work before MPI_Send", "path_s": 500e-9,
    }  # fmt: skip
    assert data["places"][1]["place"] == "halo.py:7" and data["places"][1]["kind"] == "call"
    assert [stay["place"] for stay in data["stays"]] == [
        "at work.py:3-9 in work before MPI_Send",
        "at halo.py:7 in halo",
    ]


def test_without_paths_it_says_nothing_of_places(tmp_path, capsys):
    run = write_run(tmp_path, [{"calls": [call("MPI_Init", 0, 10), call("MPI_Finalize", 400, 410)]}])
    assert main(["critical-path", str(run)]) == 0
    assert "by place" not in capsys.readouterr().out


@settings(max_examples=30)
@given(pathed_runs())
def test_the_sum_over_places_is_the_path(tmp_path_factory, run):
    ranks, tsc_per_us = run
    trace = analyzer.open(write_run(tmp_path_factory.mktemp("path"), ranks, tsc_per_us=tsc_per_us))
    path = critical_path(trace)
    every, by_place = shares(trace, path), place_shares(trace, path)
    for kind in (COMPUTATION, CALL):
        mine = [share for share in by_place if (share.stretch is not None) == (kind == COMPUTATION)]
        assert sum(share.ns for share in mine) == sum(s.path_ns for s in every.functions if s.function.kind == kind)
    for name in trace.procedures:
        of_call = [s.path_ns for s in every.functions if s.function.kind == CALL and s.function.name == name]
        assert sum(s.ns for s in by_place if s.stretch is None and s.procedure == name) == sum(of_call)
    trace.close()
