"""Fields and flows: finite differences, volumes and elements; C++ below Python, Scheme and languages of their own."""

from __future__ import annotations

import shutil
from pathlib import Path

import matrix
from apps.application import Application, lines, own_results
from matrix import ROOT, Leg
from running import run

CAVITY = Path("/usr/share/doc/openfoam-examples/examples/incompressible/icoFoam/cavity/cavity")
OPENFOAM_ENVIRONMENT = {"WM_PROJECT_DIR": "/usr/share/openfoam", "FOAM_SIGFPE": "false"}
COMPILED_FORMS = ROOT / "build" / "apps" / "dolfinx-forms"


def _cavity(leg: Leg, folder: Path) -> None:
    """OpenFOAM's first tutorial on a finer mesh, in one part for each rank."""
    for part in ("0", "constant", "system"):
        shutil.copytree(CAVITY / part, folder / part, dirs_exist_ok=True)
    for name, before, after in (
        ("blockMeshDict", "(20 20 1)", "(32 32 1)"),
        ("controlDict", "endTime         0.5;", "endTime         0.2;"),
        ("controlDict", "deltaT          0.005;", "deltaT          0.002;"),
    ):
        path = folder / "system" / name
        path.write_text(path.read_text().replace(before, after))
    environment = matrix.environment(leg) | OPENFOAM_ENVIRONMENT
    for tool in ("blockMesh", "decomposePar"):
        run([tool], folder, environment).check()


MEEP = Application(
    name="meep",
    title="a pulse in a bent waveguide, 400 steps (C++ below Python, MPI_Wtime between pieces)",
    packages=("python3-meep-openmpi", "python3-matplotlib", "python3-scipy", "python3-mpi4py"),
    command=("/usr/bin/python3", "wave.py", "400"),
    result=own_results,
    iterations=400,
)

MPB = Application(
    name="mpb",
    title="bands of a diamond lattice at 4 points (Scheme)",
    packages=("mpb-mpi",),
    command=("mpb-mpi", "diamond.ctl"),
    result=lines(r"^freqs:, \d.*$"),
)

OPENFOAM = Application(
    name="openfoam",
    title="icoFoam: flow in a cavity, 32 x 32, 100 steps (libPstream opened while it runs)",
    packages=("openfoam", "openfoam-examples"),
    prepare=_cavity,
    command=("icoFoam", "-parallel"),
    result=lines(r"^.*Solving for .*$", r"^Time = .*$", r"^time step continuity .*$"),
    environment=OPENFOAM_ENVIRONMENT,
    iterations=100,
)

FREEFEM = Application(
    name="freefem",
    title="heat in strips, 10 steps (a language of its own)",
    packages=("freefem++",),
    command=("FreeFem++-mpi", "-nw", "-v", "0", "heat.edp"),
    result=own_results,
    iterations=10,
)

DOLFINX = Application(
    name="dolfinx",
    title="heat in a square, 20 steps (finite elements in Python, PETSc, a helper thread of PT-Scotch)",
    packages=("python3-dolfinx-real",),
    command=("/usr/bin/python3", "heat.py"),
    result=own_results,
    environment={"XDG_CACHE_HOME": str(COMPILED_FORMS)},
    iterations=20,
)
