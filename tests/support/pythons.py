"""The CPythons at hand, and what of the runtime reads their frames."""

import itertools
import json
import shutil
import subprocess
import sys
from pathlib import Path

import compiled
import pytest
from paths import ROOT

SUPPORT = ROOT / "tests" / "support"
SOURCES = (
    "mpi/symbols.c",
    "places/readable.c",
    *(f"places/{path.name}" for path in sorted((compiled.RUNTIME / "places").glob("python_*.c"))),
)
"""Files of the runtime."""


def pythons() -> dict[str, tuple[str, int]]:
    """Command and minor version of this Python, and of others on the PATH that start."""
    this = f"python3.{sys.version_info[1]}"
    found = {this: (sys.executable, sys.version_info[1])}
    for minor, build in itertools.product(range(9, 16), ("", "t")):
        name = f"python3.{minor}{build}"
        path = shutil.which(name)
        if path and name != this and subprocess.run([path, "-c", "import ctypes"], capture_output=True).returncode == 0:
            found[name] = path, minor
    return found


PYTHONS = pythons()

_WHERE = """
import sys, sysconfig
print(sys.base_prefix, sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("INSTSONAME"), sep="\\n")
"""


def shared_libraries() -> dict[str, tuple[Path, str]]:
    """By name, libpython and where its modules are, of the Pythons that have it as a library."""
    found = {}
    for name, (command, _) in PYTHONS.items():
        said = subprocess.run([command, "-c", _WHERE], check=True, capture_output=True, text=True).stdout
        home, folder, library = said.splitlines()
        if ".so" in library and (Path(folder) / library).exists():
            found[name] = Path(folder) / library, home
    return found


class Python:
    """A Python that runs sources and says where C's answers differ from its own."""

    def __init__(self, command: str, minor: int, library: Path):
        self.minor, self.library = minor, library
        self.process = subprocess.Popen(
            [command, "-X", "faulthandler", str(SUPPORT / "python_frames.py"), str(library)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, source: str, file: str = "<program>") -> dict:
        print(json.dumps({"source": source, "file": file}), file=self.process.stdin, flush=True)
        said = self.process.stdout.readline()
        assert said, f"Python has ended: {self.process.wait()}"
        return json.loads(said)

    def looks(self, source: str, file: str = "<program>") -> int:
        """How many calls it has made; all have been answered as Python does."""
        said = self.ask(source, file)
        assert said["error"] is None, said["error"]
        assert said["wrong"] == []
        return said["looks"]


def frames_library(tmp_path_factory) -> Path:
    """Compile the reader of frames with python_frames.c as a library for other processes, once."""
    folder = tmp_path_factory.getbasetemp() / "python_frames"
    if not folder.exists():
        folder.mkdir()
        compiled.library(folder, *SOURCES, code=(SUPPORT / "python_frames.c").read_text())
    return folder / "own.so"


def python_fixture():
    """A fixture: each Python in turn, for a module that names it."""

    @pytest.fixture(scope="module", params=PYTHONS.values(), ids=PYTHONS)
    def python(request, tmp_path_factory):
        started = Python(*request.param, frames_library(tmp_path_factory))
        yield started
        started.process.stdin.close()
        assert started.process.wait() == 0

    return python
