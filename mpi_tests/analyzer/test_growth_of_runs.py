"""`analyze fit RUN...` of a program at 1 to 6 ranks whose parts grow by known laws."""

import json

import pytest
from building import source_of
from matrix import ROOT

from analyzer.cli import main

RANKS, ROUNDS, AT = (1, 2, 3, 4, 6), 4, 12


@pytest.mark.timed
def test_the_part_that_grows_is_named_and_predicted(openmpi, compiled, traced, tmp_path, capsys):
    program = compiled(openmpi, "growing.c", "-g", f"-I{ROOT}/tracelib/include")
    files = []
    for ranks in RANKS:
        folder = tmp_path / str(ranks)
        folder.mkdir()
        files.append(str(traced(openmpi, program, str(ROUNDS), ranks=ranks, folder=folder).run))
    assert main(["fit", *files, "--set", "rounds=ARG1", "--at", str(AT), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["runs"] == len(RANKS) and found["parameters"] == ["ranks"]
    parts = {(part["kind"], part["name"]): part for part in found["parts"]}
    serial, shared = parts["region", "serial"], parts["region", "shared"]
    now, then = (ROUNDS * 6e-3 * ranks for ranks in (max(RANKS), AT))  # sleeps are never shorter
    assert now <= serial["now_s"] < 2 * now and 0.75 * then < serial["expected"][0]["time_s"] < 2 * then
    assert shared["expected"][0]["time_s"] < shared["now_s"] < serial["now_s"]
    lines = source_of("growing.c").read_text().splitlines()
    places = [number for number, line in enumerate(lines, 1) if "MPI_Barrier(" in line]
    for line in places:
        assert ("call", f"MPI_Barrier at growing.c:{line} in main") in parts
    assert main(["fit", *files, "--at", str(AT)]) == 0
    assert "region serial" in capsys.readouterr().out
