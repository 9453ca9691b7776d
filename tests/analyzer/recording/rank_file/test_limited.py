"""Files that HDF5 would search for ever, and the limit that ends the command."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from patience import patient
from synthetic_net import LARGE, in_visits, write_net

from analyzer import signal_handling
from analyzer.recording.rank_file.limited import limited

_COLLECTION = b"GCOL"
_FIRST_OBJECT = 16
"""Bytes from the begin of a collection of texts: signature, version and size come first (HDF5's format, III.E)."""

_WITH_LESS_TIME = """
import sys
from analyzer.recording.rank_file import limited
limited.LIMIT_S = 0.3
from analyzer.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def endless(tmp_path):
    """A measurement whose texts begin with free space of 0 bytes, from which HDF5 goes on by 0 bytes."""
    path = write_net(tmp_path / "net.h5", in_visits(LARGE["IB+OpenMPI"], [1, 1000], visits=2), [(0, 1, "intra")])
    data = bytearray(path.read_bytes())
    at = data.find(_COLLECTION)
    while at >= 0:
        data[at + _FIRST_OBJECT : at + 2 * _FIRST_OBJECT] = bytes(16)
        at = data.find(_COLLECTION, at + 1)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("words", [("loggp",), ("look", "--no-files"), ()])
def test_a_file_that_hdf5_searches_for_ever(endless, words):
    command = [sys.executable, "-c", _WITH_LESS_TIME, *words, str(endless)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=patient(60))
    line = f"Error: {endless}: cannot be read (HDF5 does not come to an end with it: it is damaged)\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", line)


def test_temporary_files_are_removed(tmp_path):
    """Temporary files of a command that ends itself are removed; other files stay."""
    program = f"""
from analyzer import signal_handling
from analyzer.recording.rank_file import limited
from pathlib import Path
limited.LIMIT_S = 0.1
folder = Path({str(tmp_path)!r})
for name in ("one", "two"):
    signal_handling.temporary(folder / name).write_text("x")
(folder / "three").write_text("x")
with signal_handling.raised(), limited.limited(folder / "run.h5"):
    while True:
        pass
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=patient(60))
    assert done.returncode == 1 and done.stderr.startswith("Error: ")
    assert [path.name for path in tmp_path.iterdir()] == ["three"]


@contextmanager
def counting() -> Iterator[list[int]]:
    """A profiler's handler, and how often it was called."""
    found: list[int] = []
    before = signal.signal(signal.SIGPROF, lambda number, frame: found.append(number))
    try:
        yield found
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def test_who_imports_the_package_has_no_limit():
    with limited("run.h5"):
        assert signal.getitimer(signal.ITIMER_PROF)[0] == 0


def test_a_command_has_its_limit_while_it_reads_and_no_longer():
    with counting() as found, signal_handling.raised():
        with limited("run.h5"):
            assert 0 < signal.getitimer(signal.ITIMER_PROF)[0] < 11
            with limited("run.ranks/000000.h5", rows=10**9):
                pass
            assert 0 < signal.getitimer(signal.ITIMER_PROF)[0] < 11  # the outer one's
        assert signal.getitimer(signal.ITIMER_PROF)[0] == 0
        signal.raise_signal(signal.SIGPROF)
        assert found == [signal.SIGPROF]


def test_more_rows_have_more_time():
    with signal_handling.raised(), limited("run.h5", rows=10**7):
        assert 100 < signal.getitimer(signal.ITIMER_PROF)[0] < 111


def test_a_timer_that_runs_is_left_alone():
    with counting(), signal_handling.raised():
        signal.setitimer(signal.ITIMER_PROF, 1000)
        with limited("run.h5"):
            assert signal.getitimer(signal.ITIMER_PROF)[0] > 900
        assert signal.getitimer(signal.ITIMER_PROF)[0] > 900
