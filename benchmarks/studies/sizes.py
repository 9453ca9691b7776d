"""Programs without any annotation over their sizes and ranks: the heat solver and LAMMPS, by kinds of time."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pandas

import analyzer
from benchmarks.mpi import ROOT, WORK, Mpi
from benchmarks.studies.runs import table, traced
from benchmarks.studies.shown import Row

REPEATED = 4
OPTIONS = {"TRACELIB_CPUTIME": "on"}
"""CPU time, because other work of the machine hardly matters to it."""
HEAT_SIZES, HEAT_RANKS, HEAT_HELD_OUT = (128, 192, 256, 384, 512), (1, 2, 4), 512
LAMMPS_SIZES, LAMMPS_RANKS, LAMMPS_HELD_OUT = (4, 6, 8, 10, 12), (1, 2, 4), 12
LAMMPS_WORDS = ("-in", "in.study", "-log", "none")
LAMMPS_INPUT = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 ${n} 0 ${n} 0 ${n}
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
run 50
"""


def rows(mpi: Mpi) -> Iterator[Row]:
    """Yield the CPU time of a rank in all its bursts after MPI_Init, the least of the runs.

    The largest size is held out.
    """
    WORK.mkdir(parents=True, exist_ok=True)
    subprocess.run([mpi.mpicc, "-O2", ROOT / "examples" / "heat.c", "-o", WORK / "heat", "-lm"], check=True)
    runs = [
        traced(mpi, f"heat-{p}-{n}-{k}", p, WORK / "heat", "--size", n, "--steps", 100, options=OPTIONS)
        for n in HEAT_SIZES for p in HEAT_RANKS for k in range(REPEATED)
    ]  # fmt: skip
    yield _row("heat solver", runs, "n=ARG:--size", HEAT_HELD_OUT)
    if shutil.which("lmp"):
        (WORK / "in.study").write_text(LAMMPS_INPUT)
        runs = [
            traced(mpi, f"lammps-{p}-{n}-{k}", p, "lmp", *LAMMPS_WORDS, "-var", "n", n, options=OPTIONS)
            for n in LAMMPS_SIZES for p in LAMMPS_RANKS for k in range(REPEATED)
        ]  # fmt: skip
        yield _row("LAMMPS", runs, "n=ARG:n", LAMMPS_HELD_OUT)


def _row(name: str, runs: list[Path], parameter: str, held_out: int) -> Row:
    frame = table(runs, "--by", "call", "--set", parameter, "--where", "kind == 'burst' and name != 'MPI_Init'")
    frame["time"] = frame["cpu_time"] * frame["in_ranks"] / frame["ranks"]
    of_run: pandas.DataFrame = frame.groupby(["n", "ranks", "run"])["time"].sum().reset_index()
    least = of_run.groupby(["n", "ranks"])["time"].min().reset_index()
    fitted, held = least[least["n"] != held_out], least[least["n"] == held_out]
    model = analyzer.fit(fitted, "time", ["n", "ranks"])
    return Row(name, "CPU time", f"n = {held_out}", model, fitted, held, "time")
