"""slepc4py: the lowest frequencies of a string of 300 masses, by Krylov-Schur."""

import sys

import slepc4py

slepc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402 (PETSc takes its options when it is imported)
from slepc4py import SLEPc  # noqa: E402

N = 300
matrix = PETSc.Mat().createAIJ([N, N], nnz=3)
for row in range(*matrix.getOwnershipRange()):
    matrix[row, row] = 2
    if row > 0:
        matrix[row, row - 1] = -1
    if row < N - 1:
        matrix[row, row + 1] = -1
matrix.assemble()
problem = SLEPc.EPS().create()
problem.setOperators(matrix)
problem.setProblemType(SLEPc.EPS.ProblemType.HEP)
problem.setWhichEigenpairs(SLEPc.EPS.Which.LARGEST_REAL)
problem.setDimensions(4)
problem.setTolerances(tol=1e-8)
problem.solve()
for found in range(4):
    PETSc.Sys.Print(f"result: eigenvalue {problem.getEigenvalue(found).real:.8f}")
