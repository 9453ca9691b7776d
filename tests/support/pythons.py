"""The CPythons at hand, and what of the runtime reads their frames."""

import itertools
import shutil
import subprocess
import sys
from pathlib import Path

import compiled
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
