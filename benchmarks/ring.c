// A trace of any length: `ring CALLS` makes CALLS calls on each of two ranks, half of them messages.

#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, out = 0, in;
    if (argc != 2) return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0, n = atoi(argv[1]); i < n; i += 2) {
        MPI_Sendrecv(&out, 1, MPI_INT, 1 - rank, 0, &in, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
