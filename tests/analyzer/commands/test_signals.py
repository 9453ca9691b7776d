"""Ended by a signal at any moment: one line, the usual exit status, and nothing temporary is left."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from paths import ROOT
from patience import patient
from synthetic import call, write_run

from analyzer.cli import main
from analyzer.writers import hdf5_groups, packed

SAID = {signal.SIGINT: "interrupted\n", signal.SIGTERM: "ended by SIGTERM\n", signal.SIGHUP: "ended by SIGHUP\n"}
WRITING = ["prv", "dim", "pack", "prv --waits", "replay -o p.h5", "replay -o p.prv"]


@pytest.fixture
def run(tmp_path):
    return write_run(tmp_path, [{"calls": [call("MPI_Init", 0, 1), call("MPI_Finalize", 5, 6)]}])


@pytest.mark.parametrize("number", SAID)
def test_while_modules_are_imported(number, monkeypatch, capsys):
    class Importing:
        def find_spec(self, name, *_):
            if name == "analyzer.commands.group":
                os.kill(os.getpid(), number)

    monkeypatch.delitem(sys.modules, "analyzer.commands.group", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Importing(), *sys.meta_path])
    before = signal.getsignal(number)
    assert main(["--help"]) == 128 + number
    assert capsys.readouterr() == ("", SAID[number])
    assert signal.getsignal(number) == before


@pytest.mark.parametrize("words", WRITING)
def test_while_a_file_is_written(words, run, tmp_path, monkeypatch, capsys):
    """The last moment: the file is complete and lacks its name only."""
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr(Path, "replace", lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    command, *options = words.split()
    assert main([command, str(run), *options]) == 128 + signal.SIGTERM
    assert capsys.readouterr().err == SAID[signal.SIGTERM]
    assert sorted(tmp_path.rglob("*")) == before


class Signalling:
    """A file in whose first write a signal arrives."""

    def __init__(self, file):
        self._file, self._left = file, 1

    def __getattr__(self, name):
        return getattr(self._file, name)

    def write(self, data):
        if self._left:
            self._left -= 1
            os.kill(os.getpid(), signal.SIGINT)
        return self._file.write(data)


def test_while_hdf5_calls_us(run, tmp_path, monkeypatch, capsys):
    """It crashed where an exception came back: the signal waits until it no longer waits for us."""
    before, init = sorted(tmp_path.rglob("*")), hdf5_groups._Kept.__init__
    monkeypatch.setattr(hdf5_groups._Kept, "__init__", lambda kept, file: init(kept, Signalling(file)))
    monkeypatch.setattr(packed, "_compare", lambda *_: time.sleep(5))
    assert main(["pack", str(run), "-o", str(tmp_path / "x.h5")]) == 128 + signal.SIGINT
    assert capsys.readouterr().err == SAID[signal.SIGINT]
    assert sorted(tmp_path.rglob("*")) == before


class Dying:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)


def test_while_an_object_dies(run, tmp_path, monkeypatch, capsys):
    """Python tells of an exception there, and goes on."""
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr(packed, "_compare", lambda *_: (Dying() is None, time.sleep(5)))
    assert main(["pack", str(run), "-o", str(tmp_path / "x.h5")]) == 128 + signal.SIGTERM
    assert capsys.readouterr().err == SAID[signal.SIGTERM]
    assert sorted(tmp_path.rglob("*")) == before


def test_what_is_ignored_stays_so(run, monkeypatch):
    """As under nohup."""
    before, replace = signal.signal(signal.SIGHUP, signal.SIG_IGN), Path.replace
    monkeypatch.setattr(Path, "replace", lambda *of: (os.kill(os.getpid(), signal.SIGHUP), replace(*of))[1])
    try:
        assert main(["dim", str(run)]) == 0
    finally:
        signal.signal(signal.SIGHUP, before)


BLOCKED = """
import ctypes, os, signal, sys
from pathlib import Path
from analyzer import signal_handling
mutex, lock = ctypes.create_string_buffer(64), ctypes.CDLL(None).pthread_mutex_lock
lock(mutex)
signal.signal(signal.SIGTERM, lambda *_: lock(mutex))
signal_handling.watch()
signal_handling.temporary(Path(sys.argv[1])).mkdir()
signal_handling.temporary(Path(sys.argv[2])).write_text("half")
os.kill(os.getpid(), signal.SIGTERM)
"""


def test_in_a_call_that_does_not_return(tmp_path):
    """So one waits in MPI for others that have died: Python's exception would never come."""
    words = [sys.executable, "-c", BLOCKED, str(tmp_path / "folder"), str(tmp_path / "file")]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=patient(60))
    assert (done.returncode, done.stderr) == (128 + signal.SIGTERM, "")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("works", "end"), [(True, ""), (False, "taken apart\n")])
def test_no_thread_is_there_when_the_interpreter_ends(works, end):
    """One that is in C++ then would abort the process; the live view has one that looks for iterations."""
    program = f"""
import atexit, threading, time
from analyzer import cli
def main():
    print("done")
    threading.Thread(target=time.sleep, args=(300 * {works},), daemon={works}).start()
    return 3
cli.main = main
atexit.register(print, "taken apart")
cli.command()
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=patient(120)
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (3, f"done\n{end}", "")
