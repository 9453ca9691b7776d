"""Every command line on the pages that starts a program, compiles one or asks `tracelib`: it does what the page says.

Lines of `analyze` alone have a test of their own; here they run where they read what the lines before them wrote."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import matrix
import pytest
from building import source_of
from documented import lines
from matrix import ROOT
from patience import patient

pytestmark = pytest.mark.long

PAGES = {"README": ROOT / "README.md", "examples": ROOT / "examples" / "README.md"}
PAGES |= {path.stem: path for path in sorted((ROOT / "docs").glob("*.md"))}
WHOLE = {"README", "examples", "analyze-loggp", "balance", "call"}
"""Pages whose lines of `analyze` read what their own programs write."""
SYNOPSIS = {"analyze-loggp": 2}
"""Lines at the head of a page that name what is made further down."""
ELSEWHERE = {
    "pip install .": "the test of the wheel",
    "python -m benchmarks.scheduling": "tests of the study of scheduling",
    "python -m benchmarks.scheduling --traces bt.dim cg.dim is.dim mg.dim": "tests of real traces",
    "mpirun -n 4 python -m tracelib.ngmpi --collective bcast,scatter --broadcast linear,pipeline,binary,binomial":
        "takes minutes where ranks share processors: tests of broadcasts, with 2 ranks",
    'TRACELIB_COUNTERS="PAPI_FP_OPS;PAPI_TLB_DM;PAPI_BR_MSP" TRACELIB_ROTATE=file:run.plan tracelib run -- mpirun ...':
        "needs counters of the processor: tests of plans",
}  # fmt: skip
"""Lines that are not run here, and where they are."""
LONG = {
    "tracelib.ngmpi": "tracelib.ngmpi -t 3",
    "./nbody 2000 60": "./nbody 900 30",
    "./volterra": "./volterra --steps 20",
    "--steps 200": "--steps 50",
}
"""Words of commands that take a minute or some seconds, and what stands here for them."""
PRINTS = {
    "tracelib doctor -- mpirun -n 4 ./app": "4 ranks",
    "tracelib drivers": "CLOCK",
    "analyze efficiency run.h5 run-2.h5": "Load balance",
    "mpirun -n 3 ./nbody 2000 60 monitor 3": "looks took",
}
EVERYTHING = {name: list(lines(path.read_text())) for name, path in PAGES.items()}
LINES = {name: found for name, found in EVERYTHING.items() if any(line[:8] != "analyze " for line in found)}


def wanted(name):
    """The lines of a page that are run, in their order."""
    found = LINES[name][SYNOPSIS.get(name, 0) :]
    return [line for line in found if line not in ELSEWHERE and (name in WHOLE or not line.startswith("analyze "))]


@pytest.fixture(name="environment")
def as_users_have_it(legs, tmp_path_factory):
    """Return an environment in which `mpirun`, `mpicc`, `mpifort` and `python` belong to Debian's Open MPI."""
    leg = legs["apt-openmpi"]
    if leg.missing:
        pytest.skip(leg.missing)
    names = tmp_path_factory.mktemp("bin")
    commands = {"mpirun": leg.mpirun, "mpicc": leg.compilers[".c"], "mpifort": leg.compilers[".f90"]}
    for name, command in commands.items():
        (names / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (names / name).chmod(0o755)
    folders = (names, Path(sys.executable).parent, os.environ["PATH"])
    return dict(matrix.environment(leg, python=True)) | {"PATH": os.pathsep.join(map(str, folders))}


def run(line, folder, environment):
    """Run a line in a shell, where users type it, and return its output."""
    for words, shorter in LONG.items():
        line = line.replace(words, shorter)
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", line], cwd=folder, env=environment, timeout=patient(120),
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{line}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout + done.stderr


def prepared(name, folder, environment):
    """Prepare the files that the lines of a page start and read."""
    if name in ("README", "examples"):
        (folder / "examples").symlink_to(ROOT / "examples")
        return folder if name == "README" else Path(shutil.copytree(ROOT / "examples", folder / "copied"))
    for suffix in ("c", "f90", "py"):
        shutil.copy(source_of(f"app.{suffix}"), folder)
    if (own := re.search(r"^```c\n(#include.*?int main\(.*?)^```\n", PAGES[name].read_text(), re.M | re.S)) is not None:
        (folder / "app.c").write_text(own[1])
    if name == "balance":
        compiled = "mpicc -O2 -I $(tracelib lib --include) examples/balance/nbody.c -o nbody -lm"
        run(compiled.replace("examples", str(ROOT / "examples")), folder, environment)
        (folder / "app").write_text("#!/bin/sh\nexec ./nbody 400 20 plan 3\n")
        (folder / "app").chmod(0o755)
    elif "./app" in "".join(LINES[name]) and own is None:
        run("mpicc -I $(tracelib lib --include) app.c -o app", folder, environment)
        shutil.copy(folder / "app", folder / "a.out")
    if re.search(r"\brun\.h5", "".join(wanted(name))) and own is None:
        start = "./app" if (folder / "app").exists() else sys.executable + " app.py"
        run(f"tracelib run -o run.h5 -- mpirun -n 4 {start}", folder, environment)
    return folder


@pytest.mark.parametrize("name", [name for name in LINES if wanted(name)])
def test_the_programs_of_a_page(name, tmp_path, environment):
    folder = prepared(name, tmp_path, environment)
    for line in wanted(name):
        before = set(folder.glob("*.h5"))
        printed = run(line, folder, environment)
        assert PRINTS.get(line, "") in printed, (line, printed)
        made = set(folder.glob("*.h5")) - before
        assert made or not re.match(r"tracelib run|LD_PRELOAD", line), f"{line} writes no run\n{printed}"
        for path in made if name not in WHOLE else ():  # for the next line of the page that writes it
            path.unlink()
            shutil.rmtree(path.with_suffix(".ranks"), ignore_errors=True)


def test_all_lines_are_accounted_for():
    everything = {line for found in LINES.values() for line in found}
    assert set(ELSEWHERE) | set(PRINTS) <= everything and set(LINES) >= WHOLE
    assert len(everything - set(ELSEWHERE)) > 40
