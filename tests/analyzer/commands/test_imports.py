"""Imports of commands: slow modules are imported only by commands that need them."""

import subprocess
import sys

import pytest
from synthetic import call, write_run

from analyzer.commands.registry import places

SLOW = {"numpy", "numpy.ma", "h5py", "rich", "scipy", "pandas", "matplotlib", "psutil", "importlib.metadata"}
SAID = "import sys; from analyzer.cli import main; main(); print(*sys.modules, file=sys.stderr)"


def imported(*words):
    """Return the slow modules that a command imports."""
    done = subprocess.run([sys.executable, "-c", SAID, *words], capture_output=True, text=True, check=True)
    return SLOW & set(done.stderr.split())


def test_help_needs_none():
    assert imported("--help") == set()


def test_help_of_commands_needs_nothing_that_prints_or_draws():
    """Some choices are names in modules that compute or write."""
    helps = f"from analyzer.cli import main\nfor name in {list(places())}: main([name, '--help'])"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{helps}\nprint(*sys.modules, file=sys.stderr)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert {"pandas", "matplotlib", "rich", "psutil"}.isdisjoint(done.stderr.split())


def test_the_list_of_commands_imports_no_command():
    done = subprocess.run([sys.executable, "-c", SAID, "--help"], capture_output=True, text=True, check=True)
    files = {f"analyzer.commands.{group}.{name.replace('-', '_')}" for name, group in places().items()}
    assert files.isdisjoint(done.stderr.split())


@pytest.mark.parametrize(
    "command", ["info", "check", "waits", "efficiency", "limits", "what-if", "critical-path", "speedup"]
)
def test_commands_that_draw_nothing_need_few(command, tmp_path):
    path = write_run(
        tmp_path, [{"calls": [call("MPI_Barrier", 10, 20, comm=1), call("MPI_Barrier", 50, 60, comm=1)]}] * 2
    )
    assert imported(command, str(path)) - {"numpy.ma"} <= {"numpy", "h5py", "rich"}


def test_a_check_needs_none_that_numpy_imports_late(tmp_path):
    """numpy.ma takes a tenth of the time of a small check."""
    ranks = [{"calls": [call("MPI_Barrier", 10, 20, comm=1)]}, {"calls": [call("MPI_Barrier", 15, 20, comm=1)]}]
    assert imported("check", str(write_run(tmp_path, ranks))) == {"numpy", "h5py", "rich"}


def test_the_version_is_said(capsys):
    from analyzer.cli import main

    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("analyze, version ")
