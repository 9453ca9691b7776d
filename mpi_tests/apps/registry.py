"""All applications of the leg by name, in the order of the table."""

from __future__ import annotations

from apps import algebra, biology, chemistry, libraries, physics
from apps.application import Application

ALL: tuple[Application, ...] = (
    chemistry.ABINIT,
    chemistry.ESPRESSO,
    chemistry.CP2K,
    chemistry.NWCHEM,
    chemistry.MPQC,
    chemistry.GROMACS,
    chemistry.LAMMPS,
    algebra.PETSC,
    algebra.HPCC,
    algebra.SCALAPACK,
    libraries.HDF5,
    libraries.NETCDF,
    libraries.BOOST,
    libraries.MPI4PY,
    libraries.RMPI,
    physics.MEEP,
    physics.MPB,
    physics.OPENFOAM,
    physics.FREEFEM,
    physics.DOLFINX,
    chemistry.GPAW,
    chemistry.ELK,
    biology.PHYML,
    algebra.PETSC4PY,
    algebra.SLEPC4PY,
    algebra.MPI4PY_FFT,
    algebra.SCOTCH,
    algebra.MUMPS,
    libraries.H5PY,
    libraries.RUBY,
)
BY_NAME = {application.name: application for application in ALL}
