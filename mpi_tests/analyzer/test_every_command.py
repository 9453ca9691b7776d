"""Every command that reads calls gives the same bytes under mpirun as alone, and says so where that is no faster."""

import json
import os
import sys
from pathlib import Path

import h5py
import matrix
import pytest
from conftest import ROOT
from running import run

from analyzer.commands.registry import find, names
from benchmarks.synthetic.run import write_run

pytestmark = pytest.mark.long

ONE_REPLAY = ("--jobs", "1")
DRAWN = ("--vary", "latency=1us..2us", "-n", "6")
LINES = {
    "look": ("-o", "."),
    "look without files": ("--no-files", "--json"),
    "check": ("--json",),
    "what": ("--at", "1ms", "--json"),
    "view": ("--json",),
    "views": ("--view", "parallelism", "--view", "mpi call", "--json"),
    "efficiency": (),
    "hot": ("--json",),
    "report": ("-o", "page.html"),
    "structure": ("--json",),
    "structure of runs": ("--json",),
    "structure of signals": ("--method", "thesis", "-o", "drawn.png"),
    "waits": ("--json",),
    "critical-path": ("-o", "path.prv"),
    "limits": ("--quick", "--json"),
    "diff": ("--json",),
    "speedup": ("--json",),
    "predict": ("--json", "--ranks", "64"),
    "clusters": ("--prv", "-o", "."),
    "representative": ("--json",),
    "profile": ("-o", "."),
    "replay": ("-o", "replayed.prv", "--latency", "5us"),
    "replay alone": ("--json",),
    "what-if": ("--top", "3"),
    "sensitivity": ("--factor", "latency=1us..5us", "--machine", "ideal"),
    "monte-carlo": (*DRAWN, "--json"),
    "fit-machine": (*DRAWN, "--json"),
    "validate": ("--machine", "ideal"),
    "loggp": ("--json",),
    "prv": ("--waits", "-o", "."),
    "dim": ("-o", "."),
    "export": ("-o", "."),
    "export tables": ("--to", "parquet", "-o", "."),
    "pack": ("-o", "packed.h5"),
    "cut": ("--from", "0", "--to", "0.001", "-o", "cut.h5"),
    "table": ("--by", "call", "-o", "table.csv"),
    "balance": ("--json",),
    "fit": ("--json", "--at", "64"),
}
"""Options of each command that reads calls; behind a space what tells several lines of one command apart."""
OF_ITERATIONS = {
    "hot of iterations": ("--iteration", "3-9", "--json"),
    "what of iterations": ("--iteration", "3-9", "--at", "1us", "--json"),
    "clusters of iterations": ("--iteration", "3-9", "-o", "."),
    "monte-carlo of iterations": (*DRAWN, "--iteration", "3-9", "--json"),
    "export of iterations": ("--iteration", "3-9", "-o", "."),
}
"""Command lines for the pattern that has iterations."""
ONE_PATTERN = ("look", "report", "clusters", "structure of runs", "structure of signals")
"""Command lines that take long, and share their work in the same way for every pattern."""
READS_NO_CALLS = {"ring", "machine", "schedule", "study"}


def test_no_command_is_forgotten():
    """One that opens a run needs no line here."""
    opening = {name for name in names() if find(name).spec.opens}
    assert {name.split()[0] for name in LINES} | READS_NO_CALLS | opening == set(names())


@pytest.mark.parametrize("pattern", ["halo", "workers", "irregular"])
def test_two_processes_give_the_bytes_of_one(openmpi, tmp_path, pattern):
    traced = str(write_run(tmp_path / "run", pattern, 9, 80).path)
    settle(tmp_path / "run")
    chosen = LINES | OF_ITERATIONS if pattern == "halo" else {n: o for n, o in LINES.items() if n not in ONE_PATTERN}
    written_down = {name.split()[0] for name in LINES} | READS_NO_CALLS
    chosen = chosen | {name: ("--json",) if find(name).spec.json else () for name in set(names()) - written_down}
    lines = {name: [name.split()[0], traced, *options] for name, options in chosen.items()}
    lines["validate"] += ["--against", traced]
    other = str(write_run(tmp_path / "other", pattern, 4, 80).path)
    third = str(write_run(tmp_path / "third", pattern, 6, 80).path)
    for name, others in (
        ("diff", [other]),
        ("structure of runs", [other, third]),
        ("speedup", [other]),
        ("predict", [other]),
        ("fit", [other, third]),
    ):
        if name in lines:
            lines[name][1:1] = others
    alone, two = (written(lines, tmp_path / name, ranks, openmpi) for name, ranks in (("one", 1), ("two", 2)))
    for name in lines:
        said = two[name].pop("err.0").splitlines()
        command = name.split()[0]
        of_alone = find(command).spec.remark(2)
        first = [f"analyze {command}: {of_alone}"] if of_alone else []
        assert said == [*first, *alone[name].pop("err.0").splitlines()], name
        assert two[name].pop("code.1") == alone[name]["code.0"], name
        assert not two[name].pop("out.1") and not two[name].pop("err.1"), name
        assert two[name] == alone[name], name
        assert alone[name]["code.0"] == "0" and len(alone[name]) > 1, name


def settle(folder):
    """Have the file system say how much room files take, of which pack tells."""
    for path in folder.rglob("*.h5"):
        with path.open("rb") as file:
            os.fsync(file.fileno())


def written(lines, folder, ranks, leg):
    """Return the files that each command leaves in its folder, bytes by name (text for its output)."""
    folder.mkdir()
    (folder / "lines.json").write_text(json.dumps(lines))
    words = [sys.executable, Path(__file__).parents[1] / "support" / "command_lines.py", folder]
    environment = matrix.environment(leg, python=True) | {"PYTHONPATH": str(ROOT)} if ranks > 1 else os.environ
    launcher = [leg.mpirun, "-n", str(ranks)] if ranks > 1 else []
    run([*launcher, *words], folder, dict(environment), 300).check()
    return {name: {path.name: content(path) for path in (folder / name).iterdir()} for name in lines}


def content(path):
    if path.suffix == ".h5":
        return stored(path)
    return path.read_text() if path.suffix in (".0", ".1") else path.read_bytes()


def stored(path):
    """Return the contents of an HDF5 file, which also notes when it was written."""
    found = {}

    def note(name, of):
        found[name] = of[()].tobytes() if isinstance(of, h5py.Dataset) else "", sorted(map(str, of.attrs.items()))

    with h5py.File(path) as file:
        note("/", file)
        file.visititems(note)
    return found
