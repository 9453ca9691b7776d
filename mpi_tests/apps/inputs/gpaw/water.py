"""GPAW: one molecule of water on a real-space grid; energy and forces."""

from ase import Atoms
from gpaw import GPAW
from gpaw.mpi import world

water = Atoms("OHH", [(0, 0, 0.12), (0, 0.76, -0.47), (0, -0.76, -0.47)], cell=(5, 5.5, 5))
water.center()
water.calc = GPAW(mode="fd", h=0.25, xc="LDA", txt=None, convergence={"energy": 1e-4})
energy, forces = water.get_potential_energy(), water.get_forces()
if world.rank == 0:
    print(f"result: energy {energy:.5f}")
    print("result: iterations", water.calc.get_number_of_iterations())
    for symbol, force in zip(water.get_chemical_symbols(), forces, strict=True):
        print("result: force", symbol, " ".join(f"{round(part, 3) + 0.0:.3f}" for part in force))
