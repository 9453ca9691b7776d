"""The checks of `make lint` on who may use whom: they pass on what is here, and find planted violations."""

import shutil
import subprocess
import sys

import pytest
from paths import ROOT

from csrc import check_rooms, rooms


@pytest.fixture
def planted(tmp_path):
    """A copy of the C sources to which a line may be added: planted(file, line) gives what is wrong then."""
    copy = tmp_path / "csrc"
    shutil.copytree(rooms.CSRC, copy, ignore=shutil.ignore_patterns("*.py", "__pycache__"))

    def plant(file, line):
        path = copy / file
        if not path.parent.exists():  # a new room
            path.parent.mkdir()
            path.touch()
        path.write_text(f"{line}\n{path.read_text()}")
        return list(check_rooms.wrong(copy))

    return plant


def test_what_is_here():
    assert list(check_rooms.wrong()) == []


def test_another_rooms_internal_header(planted):
    found = planted("runtime/output/output.c", '#include "counters/internal/perf.h"')
    assert found == [
        "runtime/output/output.c: includes counters/internal/perf.h, which is internal to runtime/counters"
    ]


def test_a_room_above(planted):
    found = planted("kernels/rows/lane.c", '#include "operations/slots.h"')
    assert found == [
        "kernels/rows/lane.c: includes operations/slots.h, but kernels/operations stands above kernels/rows"
    ]


def test_a_room_of_the_runtime_above(planted):
    found = planted("runtime/counters/probe.c", '#include "ranks/closing_line.h"')
    assert found == [
        "runtime/counters/probe.c: includes ranks/closing_line.h, but runtime/ranks stands above runtime/counters"
    ]


def test_a_room_that_has_no_place(planted):
    found = planted("runtime/other/new.c", '#include "clock/clock.h"')
    assert found == ["runtime/other/new.c: runtime/other has no place in the order of rooms"]


def test_a_circle_of_headers(planted):
    found = planted("ngmpi/prtt.h", '#include "collective.h"') + planted("ngmpi/collective.h", '#include "prtt.h"')
    assert found == [
        "a circle: ngmpi/collective.h -> ngmpi/prtt.h -> ngmpi/collective.h",
        "a circle of units: ngmpi/collective -> ngmpi/prtt -> ngmpi/collective",
    ]


def test_a_circle_of_units(planted):
    """Two sources include each other's header: no header includes itself."""
    (found,) = planted("runtime/clock/clock.c", '#include "clock/start.h"')
    units = found.removeprefix("a circle of units: ").split(" -> ")
    assert units[0] == units[-1]  # from where it begins depends on who else includes them
    assert sorted(units[1:]) == ["runtime/clock/clock", "runtime/clock/start"]


def test_a_header_that_is_not_there(planted):
    assert planted("replay/engine/sim.c", '#include "sim.h"') == [
        "replay/engine/sim.c: includes sim.h, which is not there"
    ]


LINTED = """
import sys
from importlinter.cli import lint_imports
sys.exit(lint_imports(config_filename={config!r}, no_cache=True))
"""


@pytest.fixture
def linted(tmp_path):
    """linted(file, line): what import-linter says of a copy of the analyzer with that line, and its exit code."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "analyzer", tmp_path / "analyzer", ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)

    def lint(file=None, line=""):
        if file:
            path = tmp_path / "analyzer" / file
            path.write_text(f"{path.read_text()}\n{line}\n")
        code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})" + LINTED.format(config="pyproject.toml")
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
        return done.returncode, done.stdout

    return lint


def test_layers_of_the_analyzer(linted):
    assert linted()[0] == 0
    code, said = linted("trace/ranks.py", "from analyzer.metrics import useful")
    assert code == 1 and "analyzer.trace is not allowed to import analyzer.metrics" in said


def test_a_circle_in_a_package(linted):
    code, said = linted("waits/kinds.py", "from analyzer.waits import waits")
    assert code == 1 and "No cycles are allowed in analyzer.waits" in said
