"""dolfinx: heat flows out of a square, in 20 implicit steps of conjugate gradients."""

import numpy
import ufl
from dolfinx import fem, mesh
from dolfinx.fem import petsc
from mpi4py import MPI
from petsc4py import PETSc

STEP = 0.002

world = MPI.COMM_WORLD
square = mesh.create_unit_square(world, 48, 48)
space = fem.FunctionSpace(square, ("Lagrange", 1))
before, after = fem.Function(space), fem.Function(space)
before.interpolate(lambda x: numpy.sin(numpy.pi * x[0]) * numpy.sin(numpy.pi * x[1]))
edge = mesh.locate_entities_boundary(square, 1, lambda x: numpy.isclose(x[0] * (1 - x[0]) * x[1] * (1 - x[1]), 0))
cold = fem.dirichletbc(PETSc.ScalarType(0), fem.locate_dofs_topological(space, 1, edge), space)
u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
left = fem.form(u * v * ufl.dx + STEP * ufl.dot(ufl.grad(u), ufl.grad(v)) * ufl.dx)
right = fem.form(before * v * ufl.dx)
matrix = petsc.assemble_matrix(left, bcs=[cold])
matrix.assemble()
solver = PETSc.KSP().create(world)
solver.setOperators(matrix)
solver.setType("cg")
solver.getPC().setType("jacobi")
solver.setTolerances(rtol=1e-9)
iterations = 0
for _ in range(20):
    vector = petsc.assemble_vector(right)
    petsc.apply_lifting(vector, [left], [[cold]])
    vector.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
    petsc.set_bc(vector, [cold])
    solver.solve(vector, after.vector)
    after.x.scatter_forward()
    before.x.array[:] = after.x.array
    iterations += solver.getIterationNumber()
heat = world.allreduce(fem.assemble_scalar(fem.form(after * ufl.dx)))
norm = world.allreduce(fem.assemble_scalar(fem.form(after * after * ufl.dx))) ** 0.5
if world.rank == 0:
    print(f"result: heat {heat:.8f}")
    print(f"result: norm {norm:.8f}")
    print("result: iterations", iterations)
