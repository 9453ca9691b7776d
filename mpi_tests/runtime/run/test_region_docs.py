"""The code in docs/regions.md compiles and is recorded as the page says, in all three languages."""

import re
import subprocess
import sys

import matrix
import pytest
from conftest import LIBRARY
from matrix import ROOT
from running import run

from analyzer.opening import open_trace
from tracelib.launchers import INCLUDE

PAGE = (ROOT / "docs" / "regions.md").read_text()
REGION = ["User function", {0: "End", 1: "solve"}]


def shown(language: str) -> str:
    """The only block of a language."""
    (block,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return block


def labels_of(folder) -> dict:
    """Return the labels of events of the run that a program left."""
    trace = open_trace(str(folder / "run.h5"))
    assert not trace.problems
    return trace.event_labels


def traced(command, folder, spool) -> None:
    environment = matrix.environment() | {"LD_PRELOAD": str(LIBRARY), "TRACELIB_SPOOL": str(spool)}
    run(command, folder, environment, 60).check()


@pytest.mark.parametrize(("language", "compiler"), [("c", "cc"), ("c", "c++")])
def test_c(tmp_path, spool, language, compiler):
    suffix = ".c" if compiler == "cc" else ".cpp"
    (tmp_path / f"app{suffix}").write_text(shown(language) + "\nint main(void) { solve(500); return 0; }\n")
    subprocess.run([compiler, "-I", str(INCLUDE), f"app{suffix}"], cwd=tmp_path, check=True)
    traced(["./a.out"], tmp_path, spool)
    labels = labels_of(tmp_path)
    assert [*labels[60000019]] == REGION
    assert labels[49200001][0] == "Parameter n (millionths)"


def test_fortran(openmpi, tmp_path, spool):
    """Compiled as the page says; a program with an MPI that it never initialises is one rank, too."""
    (tmp_path / "app.f90").write_text(shown("fortran") + "\nprogram app\n call solve(500)\nend program\n")
    subprocess.run([openmpi.compilers[".f90"], str(INCLUDE / "tracelib.f90"), "app.f90"], cwd=tmp_path, check=True)
    traced([tmp_path / "a.out"], tmp_path, spool)
    labels = labels_of(tmp_path)
    assert [*labels[60000019]] == REGION
    assert labels[49100001][0] == "Parameter n"


def test_python(tmp_path, spool):
    (tmp_path / "app.py").write_text(shown("python"))
    traced([sys.executable, "app.py"], tmp_path, spool)
    labels = labels_of(tmp_path)
    assert [*labels[60000019]] == REGION
    assert labels[1000] == ("Phase", {1: "warm up"})
    names = {name for name, _ in labels.values()}
    assert {"Parameter n", "Parameter tolerance (millionths)", "Parameter iterations"} <= names
