"""Runs of the same name in different folders are told apart."""

import pytest
from synthetic import call, write_run

from analyzer.cli import main
from analyzer.report.words.units import file_names


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["a/run.h5"], ["run.h5"]),
        (["a/one.h5", "b/two.h5"], ["one.h5", "two.h5"]),
        (["/x/a/run.h5", "/x/b/run.h5", "/x/b/other.h5"], ["a/run.h5", "b/run.h5", "b/other.h5"]),
        (["a/x/run.h5", "b/x/run.h5"], ["a/x/run.h5", "b/x/run.h5"]),
        (["run.h5", "../run.h5"], ["run.h5", "../run.h5"]),
        (["run.h5", "./run.h5"], ["run.h5", "run.h5"]),
        ([], []),
    ],
)
def test_names(files, names):
    assert [file_names(files)[file] for file in files] == names


def test_columns_of_runs(tmp_path, capsys):
    paths = []
    for name in ("small", "large"):
        (tmp_path / name).mkdir()
        calls = [call("MPI_Init", 0, 10), call("MPI_Finalize", 20, 30)]
        paths.append(str(write_run(tmp_path / name, [{"calls": calls}])))
    assert main(["efficiency", *paths]) == 0
    assert capsys.readouterr().out.split("\n")[0].split() == ["small/run.h5", "large/run.h5"]
