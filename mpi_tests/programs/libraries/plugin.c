// A shared library that a program opens, calls and closes again.

#include <mpi.h>

void send_some(int n)
{
    for (int i = 0; i < n; i++) MPI_Send(&i, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}
