"""Point-to-point, collectives and communicators through mpi4py, counted by the program itself as truth.h does in C.

mpi4py calls the large-count forms where the MPI has them: counts are kept under the plain names. Only calls whose
number mpi4py fixes are made; run with an even number of ranks, pairs are (0,1), (2,3), ...
"""

import json
from array import array
from collections import Counter
from pathlib import Path

from mpi4py import MPI

calls: Counter[str] = Counter()
log: list[list] = []
world = MPI.COMM_WORLD
rank, size = world.rank, world.size
mate = rank ^ 1
everyone = " ".join(map(str, range(size)))


def count(name, result=None):
    """Counts a call beside making it: count("MPI_Send", world.Send(...))."""
    calls[name] += 1
    return result


def message(dest, tag, n):
    log.append(["sent", everyone, dest, tag, 4 * n])
    return array("i", [rank, tag, n, *range(n - 3)])


def empty():
    return array("i", [0] * 100)


def arrived(buffer):
    log.append(["received", everyone, buffer[0], buffer[1], 4 * buffer[2]])


def wildcards(tag):
    if rank == 0:
        for i in range(size - 1):
            buffer = empty()
            status = MPI.Status() if i else None
            count("MPI_Recv", world.Recv(buffer, MPI.ANY_SOURCE, MPI.ANY_TAG, status))
            arrived(buffer)
    else:
        count("MPI_Send", world.Send(message(0, tag, 10 + rank), 0, tag))
    count("MPI_Barrier", world.Barrier())


def both_ways(tag):
    right, left = (rank + 1) % size, (rank - 1) % size
    buffer = empty()
    count("MPI_Sendrecv", world.Sendrecv(message(right, tag, 20), right, tag, buffer, left, MPI.ANY_TAG))
    arrived(buffer)
    buffer = message(right, tag + 1, 21)
    count("MPI_Sendrecv_replace", world.Sendrecv_replace(buffer, right, tag + 1, MPI.ANY_SOURCE, tag + 1))
    arrived(buffer)


def nonblocking(tag):
    buffers = [empty() for _ in range(5)]
    receives = [count("MPI_Irecv", world.Irecv(b, MPI.ANY_SOURCE, tag + i)) for i, b in enumerate(buffers)]
    sends = [
        count("MPI_Isend", world.Isend(message(mate, tag + i, 10 + i), mate, tag + i)) for i in range(len(buffers))
    ]
    count("MPI_Wait", receives[0].Wait())
    count("MPI_Waitany", MPI.Request.Waitany(receives))
    while not count("MPI_Testall", MPI.Request.Testall(receives)):
        pass
    count("MPI_Waitall", MPI.Request.Waitall(sends))
    for buffer in buffers:
        arrived(buffer)


def persistent(tag):
    buffer, out = empty(), array("i", [0] * 30)
    receive = count("MPI_Recv_init", world.Recv_init(buffer, mate, tag))
    send = count("MPI_Send_init", world.Send_init(out, mate, tag))
    for _ in range(3):
        out[:] = message(mate, tag, 30)
        count("MPI_Startall", MPI.Prequest.Startall([receive, send]))
        count("MPI_Waitall", MPI.Request.Waitall([receive, send]))
        arrived(buffer)
    for request in (receive, send):
        count("MPI_Request_free", request.Free())


def probes(tag):
    if rank % 2 == 0:
        count("MPI_Ssend", world.Ssend(message(mate, tag, 40), mate, tag))
        count("MPI_Send", world.Send(message(mate, tag + 1, 41), mate, tag + 1))
    else:
        buffer = empty()
        matched = count("MPI_Mprobe", world.Mprobe(MPI.ANY_SOURCE, tag))
        count("MPI_Mrecv", matched.Recv(buffer))
        arrived(buffer)
        while not count("MPI_Iprobe", world.Iprobe(mate, tag + 1)):
            pass
        count("MPI_Recv", world.Recv(buffer, mate, tag + 1))
        arrived(buffer)
    count("MPI_Send", world.Send(array("i", [1]), MPI.PROC_NULL))


def collectives():
    out, result, gathered = array("i", range(20)), array("i", [0] * 20), array("i", [0] * 20 * size)
    count("MPI_Bcast", world.Bcast(out, 0))
    count("MPI_Allreduce", world.Allreduce(out, result))
    count("MPI_Allreduce", world.Allreduce(MPI.IN_PLACE, result))
    count("MPI_Reduce", world.Reduce(out, result, root=0))
    count("MPI_Allgather", world.Allgather(out, gathered))
    count("MPI_Alltoall", world.Alltoall(gathered, array("i", gathered)))
    request = count("MPI_Iallreduce", world.Iallreduce(out, result))
    count("MPI_Wait", request.Wait())


def communicators():
    for comm in (count("MPI_Comm_split", world.Split(rank % 2, rank)), count("MPI_Comm_dup", world.Dup())):
        count("MPI_Comm_set_name", comm.Set_name("of Python"))
        count("MPI_Barrier", comm.Barrier())
        count("MPI_Comm_free", comm.Free())


for repetition in range(5):
    wildcards(100 * repetition)
    both_ways(100 * repetition + 10)
    nonblocking(100 * repetition + 20)
    persistent(100 * repetition + 30)
    probes(100 * repetition + 40)
    collectives()
    communicators()
lines = [["call", name, n, 0, 0] for name, n in calls.items()] + log
Path(f"truth-{rank}.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
