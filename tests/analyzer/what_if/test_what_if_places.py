"""Parts of the computation are named by where they lie."""

import json

from placed_runs import placed
from synthetic import NONE, WORLD, call, write_run

from analyzer.cli import main


def test_parts_between_calls_by_hand(tmp_path, capsys):
    """100 before line 3, twice 50 between lines 3 and 9 of two calls of work, 10 from there back to line 3."""
    at = [((("main", 20), ("work", line))) for line in (3, 9)]
    times = [(100, 110, 0), (160, 170, 1), (180, 190, 0), (240, 250, 1)]
    calls = [call("MPI_Barrier", begin, end, comm=WORLD) for begin, end, _ in times]
    run = write_run(tmp_path, [placed({"calls": calls}, [at[which] for _, _, which in times])] * 1)
    assert main(["what-if", str(run), "--json", "--machine", "ideal"]) == 0
    found = {row["parts"][0]["name"]: row["inside_s"] for row in json.loads(capsys.readouterr().out)["each_free"]}
    assert {name: round(s * 1e9) for name, s in found.items()} == {
        "computing before MPI_Barrier at work.py:3 in work": 100,
        "computing at work.py:3-9 in work before MPI_Barrier": 100,
        "computing at work.py:9 and on in work before MPI_Barrier": 10,
    }
    name = "computing at work.py:3-9 in work before MPI_Barrier"
    assert main(["what-if", str(run), "--machine", "ideal", "--region", name, "--factor", "0", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["parts"] == [{"name": name, "factor": 0.0}] and round(found["gain_s"] * 1e9) == 100


def test_calls_without_places_keep_their_names(tmp_path, capsys):
    calls = [call("MPI_Barrier", 100, 110, comm=WORLD), call("MPI_Comm_rank", 200, 210, comm=NONE)]
    run = write_run(tmp_path, [placed({"calls": calls}, [(), ()])])
    assert main(["what-if", str(run), "--json", "--machine", "ideal"]) == 0
    rows = json.loads(capsys.readouterr().out)["each_free"]
    assert {row["parts"][0]["name"] for row in rows} == {"start ... MPI_Barrier", "MPI_Barrier ... MPI_Comm_rank"}
