"""Imports of commands: slow modules are imported only by commands that need them."""

import subprocess
import sys

import pytest
from synthetic import call, write_run

SLOW = {"numpy", "h5py", "rich", "scipy", "pandas", "matplotlib", "psutil", "importlib.metadata"}
SAID = "import sys; from analyzer.cli import main; main(); print(*sys.modules, file=sys.stderr)"


def imported(*words):
    """Return the slow modules that a command imports."""
    done = subprocess.run([sys.executable, "-c", SAID, *words], capture_output=True, text=True, check=True)
    return SLOW & set(done.stderr.split())


def test_help_needs_none():
    assert imported("--help") == set()


@pytest.mark.parametrize(
    "command", ["info", "check", "waits", "efficiency", "limits", "what-if", "critical-path", "speedup"]
)
def test_commands_that_draw_nothing_need_few(command, tmp_path):
    path = write_run(
        tmp_path, [{"calls": [call("MPI_Barrier", 10, 20, comm=1), call("MPI_Barrier", 50, 60, comm=1)]}] * 2
    )
    assert imported(command, str(path)) <= {"numpy", "h5py", "rich"}


def test_the_version_is_said(capsys):
    from analyzer.cli import main

    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("analyze, version ")
