"""mpi4py-fft: a field in three dimensions, 20 times to its spectrum and back."""

import numpy
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray

world = MPI.COMM_WORLD
transform = PFFT(world, (24, 24, 24), dtype=float)
field = newDistArray(transform, forward_output=False)
field[:] = numpy.random.default_rng(world.rank).random(field.shape)
begin = field.copy()
spectrum = newDistArray(transform, forward_output=True)
for turn in range(20):
    transform.forward(field, spectrum)
    transform.backward(spectrum, field)
    power = world.allreduce(float(abs(spectrum.__array__()).sum()))
    if world.rank == 0 and turn % 5 == 0:
        print(f"result: turn {turn} power {power:.8e}")
error = world.allreduce(float(abs(field - begin).max()), op=MPI.MAX)
if world.rank == 0:
    print("result: the field is", "as before" if error < 1e-12 else f"off by {error}")
