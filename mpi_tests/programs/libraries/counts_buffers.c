// A library to preload: each rank prints how many buffers it has sent 5000 bytes from or received them into.

#include <mpi.h>
#include <stdio.h>

enum { BYTES = 5000, MOST = 16 };

static const void *seen[MOST];
static int number;

static void look(const void *buffer, int count)
{
    int i = 0;
    if (count != BYTES) return;
    while (i < number && seen[i] != buffer) i++;
    if (i == number && number < MOST) seen[number++] = buffer;
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    look(buffer, count);
    return PMPI_Send(buffer, count, type, to, tag, comm);
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    look(buffer, count);
    return PMPI_Recv(buffer, count, type, from, tag, comm, status);
}

int MPI_Finalize(void)
{
    printf("buffers: %d\n", number);
    fflush(stdout);
    return PMPI_Finalize();
}
