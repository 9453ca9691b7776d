"""The solver of heat.c in Python: same grid, same exchange, same result, with mpi4py and numpy.

mpirun -n 4 python heat.py --size 256 --steps 100
"""

import argparse
import sys

import numpy as np
from mpi4py import MPI

RATIO = 0.2  # dt / h^2; stable below 0.25


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Heat conduction on the unit square.")
    parser.add_argument("--size", type=int, default=256, help="interior points in each direction")
    parser.add_argument("--steps", type=int, default=100, help="time steps")
    parser.add_argument("--every", type=int, default=10, help="steps between two residuals")
    return parser.parse_args()


def part(size: int, place: int, parts: int) -> np.ndarray:
    """The points (from 1) that one of `parts` ranks in a row holds."""
    return np.arange(1 + size * place // parts, 1 + size * (place + 1) // parts)


def exchange_halo(grid: MPI.Cartcomm, field: np.ndarray) -> None:
    """Fill the layer round the block with the neighbours' edges. Columns are copied: they are not contiguous."""
    (up, down), (left, right) = grid.Shift(0, 1), grid.Shift(1, 1)
    from_left, from_right = np.zeros(len(field) - 2), np.zeros(len(field) - 2)
    to_left, to_right = field[1:-1, 1].copy(), field[1:-1, -2].copy()
    MPI.Request.Waitall(
        [
            grid.Irecv(field[0, 1:-1], up, 0),
            grid.Irecv(field[-1, 1:-1], down, 1),
            grid.Irecv(from_left, left, 2),
            grid.Irecv(from_right, right, 3),
            grid.Isend(field[-2, 1:-1], down, 0),
            grid.Isend(field[1, 1:-1], up, 1),
            grid.Isend(to_right, right, 2),
            grid.Isend(to_left, left, 3),
        ]
    )
    field[1:-1, 0], field[1:-1, -1] = from_left, from_right


def advance(field: np.ndarray) -> float:
    """One time step in place; returns the sum of the squared changes."""
    here = field[1:-1, 1:-1]
    delta = RATIO * (field[:-2, 1:-1] + field[2:, 1:-1] + field[1:-1, :-2] + field[1:-1, 2:] - 4 * here)
    here += delta
    return float((delta**2).sum())


def main() -> int:
    options = parse()
    dims = MPI.Compute_dims(MPI.COMM_WORLD.size, 2)
    grid = MPI.COMM_WORLD.Create_cart(dims, reorder=True)
    place = grid.coords
    h = np.pi / (options.size + 1)
    rows, columns = (part(options.size, place[i], dims[i]) for i in (0, 1))
    start = np.outer(np.sin(h * rows), np.sin(h * columns))
    field = np.zeros((len(rows) + 2, len(columns) + 2))
    field[1:-1, 1:-1] = start

    residual = 0.0
    for step in range(1, options.steps + 1):
        exchange_halo(grid, field)
        change = advance(field)
        if step % options.every == 0 or step == options.steps:
            residual = grid.allreduce(change)

    decay = (1 - 8 * RATIO * np.sin(h / 2) ** 2) ** options.steps
    error = grid.allreduce(float(abs(field[1:-1, 1:-1] - decay * start).max(initial=0.0)), MPI.MAX)
    checksum = grid.reduce(float(field[1:-1, 1:-1].sum()), MPI.SUM, 0)
    if grid.rank == 0:
        print(
            f"{options.size} x {options.size} points, {options.steps} steps: "
            f"checksum {checksum:.6f}, residual {residual**0.5:.3e}, error {error:.1e}"
        )
    grid.Free()
    return 0 if error < 1e-10 else 1


if __name__ == "__main__":
    sys.exit(main())
