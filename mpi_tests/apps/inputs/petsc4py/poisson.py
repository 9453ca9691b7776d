"""petsc4py: Poisson's equation on 40 x 40 points by conjugate gradients, solved 10 times."""

import sys

import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402 (PETSc takes its options when it is imported)

N = 40
matrix = PETSc.Mat().createAIJ([N * N, N * N], nnz=5)
for row in range(*matrix.getOwnershipRange()):
    i, j = divmod(row, N)
    matrix[row, row] = 4
    for neighbour, inside in ((row - N, i > 0), (row + N, i < N - 1), (row - 1, j > 0), (row + 1, j < N - 1)):
        if inside:
            matrix[row, neighbour] = -1
matrix.assemble()
solution, right = matrix.createVecs()
solver = PETSc.KSP().create()
solver.setOperators(matrix)
solver.setType("cg")
solver.getPC().setType("jacobi")
solver.setTolerances(rtol=1e-8)
for solve in range(10):
    right.set(1 + solve)
    solver.solve(right, solution)
    PETSc.Sys.Print(f"result: solve {solve} iterations {solver.getIterationNumber()} norm {solution.norm():.8e}")
