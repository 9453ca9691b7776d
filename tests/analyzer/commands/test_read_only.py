"""Where nothing can be written and there is no home: commands work, in memory, and do not warn."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from synthetic import WORLD, call, write_run

from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.report import matplotlib_setup
from analyzer.temporary_files import place_of_temporaries, temporary_folder, unnamed_file


@pytest.fixture
def run(tmp_path):
    calls = [[call("MPI_Send", 100 * k, 100 * k + 50, comm=WORLD, peer=1, tag=1, sent=8) for k in range(1, 9)]]
    calls += [[call("MPI_Recv", 100 * k, 100 * k + 60, comm=WORLD, peer=0, tag=1, received=8) for k in range(1, 9)]]
    return write_run(tmp_path, [{"calls": rows} for rows in calls])


@pytest.fixture
def nowhere(monkeypatch):
    """As Python finds it where TMPDIR, /tmp, /var/tmp and the working directory cannot be written."""
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", list)


@pytest.mark.parametrize("words", ["info", "waits", "structure", "critical-path", "efficiency", "replay", "check"])
def test_commands_that_write_nothing(words, run, nowhere, capsys):
    assert main([words, str(run)]) == 0
    said = capsys.readouterr()
    assert said.out and "temporary" not in said.err


def test_what_has_no_name_is_in_memory(nowhere):
    with unnamed_file() as file:
        file.write(b"12345")
        file.seek(0)
        assert file.read() == b"12345" and os.fstat(file.fileno()).st_nlink == 0


def test_what_needs_a_folder_is_in_memory_or_says_so(nowhere, monkeypatch):
    folder = temporary_folder()
    assert folder.is_relative_to("/dev/shm")
    folder.rmdir()
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(TracelibError, match="no folder for temporary files"):
        place_of_temporaries()


def test_pictures_without_a_folder_of_matplotlib(tmp_path, monkeypatch):
    """It gets one of this process, and has nothing to warn of."""
    (tmp_path / "file").touch()
    for variable in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "file"))
    monkeypatch.delenv("MPLCONFIGDIR", raising=False)
    program = "import analyzer.report.pictures.files, matplotlib, os; print(matplotlib.get_cachedir(), os.getpid())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "analyze-matplotlib-" in done.stdout and not done.stderr
    assert not Path(done.stdout.split()[0]).exists()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    matplotlib_setup.prepare()
    assert "MPLCONFIGDIR" not in os.environ


def test_no_home(monkeypatch):
    from analyzer.places.debug_files import user_cache

    def unknown():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", unknown)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    with pytest.raises(OSError):
        (user_cache() / "tracelib").mkdir(parents=True)
