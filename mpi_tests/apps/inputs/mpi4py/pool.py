"""mpi4py: a pool of workers, objects sent by name, arrays of the standard library, and one-sided counting."""

from array import array

from mpi4py import MPI
from mpi4py.futures import MPICommExecutor

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()


def collatz(n: int) -> tuple[int, int]:
    """A number and how many steps it takes to 1."""
    start, steps = n, 0
    while n != 1:
        n, steps = (n // 2, steps + 1) if n % 2 == 0 else (3 * n + 1, steps + 1)
    return start, steps


def exchange() -> list[object]:
    """Objects around a ring, and gathered."""
    held: object = {"from": rank, "powers": [rank**k for k in range(5)]}
    for _ in range(size):
        held = world.sendrecv(held, dest=(rank + 1) % size, source=(rank - 1) % size)
    request = world.isend(held, dest=(rank + 1) % size, tag=7)
    received = world.recv(source=(rank - 1) % size, tag=7)
    request.wait()
    return world.allgather(received)


def reductions() -> tuple[list[float], list[int]]:
    """Buffers: a sum over all ranks, and a counter in a window that each rank adds to."""
    values, sums = array("d", [rank + k / 4 for k in range(6)]), array("d", [0] * 6)
    world.Allreduce(values, sums, op=MPI.SUM)
    window = MPI.Win.Allocate(MPI.INT.size, MPI.INT.size, comm=world)
    memory = window.tomemory()
    memory[:] = bytes(MPI.INT.size)
    world.Barrier()
    for target in range(size):
        window.Lock(target)
        window.Accumulate([array("i", [rank + 1]), MPI.INT], target, op=MPI.SUM)
        window.Unlock(target)
    world.Barrier()
    counted = array("i", memory.tobytes())
    window.Free()
    return list(sums), list(counted)


found = exchange()
sums, counted = reductions()
with MPICommExecutor(world, root=0) as pool:
    if pool is not None:
        longest = max(pool.map(collatz, range(1, 200), chunksize=10), key=lambda pair: pair[1])
        print("result: ring", found)
        print("result: sums", sums, counted)
        print("result: longest", longest)
