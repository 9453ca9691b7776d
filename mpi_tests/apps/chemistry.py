"""Electronic structure and molecular dynamics: Fortran, C and C++, and one-sided communication in NWChem."""

from __future__ import annotations

from pathlib import Path

import matrix
from apps.application import Application, lines, own_results, unpacked
from matrix import Leg
from running import run

SILICON = Path("/usr/share/doc/quantum-espresso/examples/EPW/sic/pp/Si.pz-vbc.UPF")
WATER = Path("/usr/share/gromacs/top/spc216.gro")


def _pseudopotential(leg: Leg, folder: Path) -> None:
    (folder / "Si.UPF").write_text(unpacked(SILICON))


def _water(leg: Leg, folder: Path) -> None:
    """GROMACS's box of 216 molecules four times, and the run's input from it."""
    environment = matrix.environment(leg)
    run(["gmx", "genconf", "-f", WATER, "-nbox", "2", "2", "1", "-o", "conf.gro"], folder, environment).check()
    run(["gmx", "grompp", "-f", "md.mdp", "-c", "conf.gro", "-p", "topol.top"], folder, environment).check()


ABINIT = Application(
    name="abinit",
    title="silicon, 2 atoms, 10 k-points: energy, forces, stresses",
    packages=("abinit", "abinit-data"),
    command=("abinit", "si.abi"),
    result=lines(r"^ ETOT .*$", r"^ +sigma.*$", r"^ +etotal .*$", file="si.abo"),
)

ESPRESSO = Application(
    name="espresso",
    title="silicon, one of 2 atoms displaced, two pools of k-points",
    packages=("quantum-espresso", "quantum-espresso-data"),
    prepare=_pseudopotential,
    command=("pw.x", "-nk", "2", "-in", "si.in"),
    result=lines(r"^!? +total energy .*$", r"^ +atom .* force = .*$", r"^ .*P= .*$"),
)

CP2K = Application(
    name="cp2k",
    title="one molecule of water, 2 steps of dynamics",
    packages=("cp2k", "cp2k-data"),
    command=("cp2k.psmp", "-i", "h2o.inp"),
    result=lines(r"^ ENERGY\|.*$", r"^ +Total energy: .*$"),
    environment={"CP2K_DATA_DIR": "/usr/share/cp2k", "OMP_NUM_THREADS": "1"},
)

NWCHEM = Application(
    name="nwchem",
    title="water: Hartree-Fock and its gradient",
    packages=("nwchem-openmpi", "nwchem-mpich", "nwchem-data"),
    command=("nwchem.{mpi}", "h2o.nw"),
    result=lines(r"^ +Total SCF energy .*$", r"^ +\d+ [OH](?: +-?\d+\.\d{6}){6}$"),
    legs=("apt-openmpi", "apt-mpich"),
    environment={"ARMCI_USE_WIN_ALLOCATE": "0"},  # with it Debian's MPICH makes NWChem fail, traced or not
)

GROMACS = Application(
    name="gromacs",
    title="864 molecules of water, PME on a rank of its own, 100 steps",
    packages=("gromacs", "gromacs-data"),
    prepare=_water,
    command=("gmx_mpi", "mdrun", "-s", "topol.tpr", "-ntomp", "1", "-npme", "1", "-reprod", "-notunepme"),
    result=lines(r"^ +(?:Step|LJ|Total Energy) .*\n.*$", file="md.log"),
)

MPQC = Application(
    name="mpqc",
    title="water, Hartree-Fock: geometry (C++ with libmpi_cxx)",
    packages=("mpqc",),
    command=("mpqc", "h2o.in"),
    result=lines(r"^ +total scf energy = .*$", r"^ +Max .*$", r"^ +Value of the MolecularEnergy: .*$"),
)

GPAW = Application(
    name="gpaw",
    title="one molecule of water on a grid: energy and forces (C below Python)",
    packages=("gpaw", "gpaw-data"),
    command=("/usr/bin/python3", "water.py"),
    result=own_results,
)

ELK = Application(
    name="elk",
    title="silicon, 2 atoms, 2 threads of OpenMP a rank",
    packages=("elk-lapw",),
    command=("elk-lapw",),
    result=lines(r"^ +-\d+\.\d{4}", file="TOTENERGY.OUT"),
    environment={"OMP_NUM_THREADS": "2"},
)

LAMMPS = Application(
    name="lammps",
    title="32 000 atoms of a Lennard-Jones fluid, 100 steps",
    packages=("lammps",),
    command=("lmp", "-in", "in.lj"),
    result=lines(r"^ +\d+(?: +-?[\d.]+){5} *$"),
)
