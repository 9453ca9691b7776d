"""Libraries that others call MPI through: files in parallel, C++ objects, Python, R."""

from __future__ import annotations

from apps.application import Application, compiled, own_results

LIBRARIES = "/usr/lib/x86_64-linux-gnu"

HDF5 = Application(
    name="hdf5",
    title="datasets written together and apart, read by columns",
    packages=("libhdf5-openmpi-dev", "libhdf5-mpich-dev"),
    prepare=compiled("rows.c", "-I/usr/include/hdf5/{mpi}", f"-L{LIBRARIES}/hdf5/{{mpi}}", "-lhdf5"),
    command=("./program",),
    result=own_results,
    legs=("apt-openmpi", "apt-mpich"),
)

NETCDF = Application(
    name="netcdf",
    title="a variable that grows along time, read by columns",
    packages=("libnetcdf-mpi-dev", "libhdf5-openmpi-dev"),
    prepare=compiled("field.c", f"-I{LIBRARIES}/netcdf/mpi/include", "-lnetcdf_mpi"),
    command=("./program",),
    result=own_results,
)

BOOST = Application(
    name="boost",
    title="Boost.MPI: serialised objects around a ring (C++ with libmpi_cxx)",
    packages=("libboost-mpi-dev", "libboost-serialization-dev"),
    prepare=compiled("words.cpp", "-lboost_mpi", "-lboost_serialization"),
    command=("./program",),
    result=own_results,
)

MPI4PY = Application(
    name="mpi4py",
    title="a pool of workers, objects, a window",
    packages=("python3-mpi4py", "python3"),
    command=("/usr/bin/python3", "pool.py"),
    result=own_results,
)

RMPI = Application(
    name="rmpi",
    title="R: sums, messages around a ring, objects",
    packages=("r-cran-rmpi",),
    command=("Rscript", "objects.R"),
    result=own_results,
)

H5PY = Application(
    name="h5py",
    title="20 steps written together and apart, read by columns",
    packages=("python3-h5py-mpi", "python3-mpi4py"),
    command=("/usr/bin/python3", "steps.py"),
    result=own_results,
    iterations=20,
)

RUBY = Application(
    name="ruby",
    title="numbers around a ring, 20 sums (ruby-mpi, opened while Ruby runs)",
    packages=("ruby-mpi", "ruby"),
    command=("/usr/bin/ruby", "ring.rb"),
    result=own_results,
)
