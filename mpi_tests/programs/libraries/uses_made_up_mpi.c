/* A program of the made-up MPI; prints what it was told. */
#include "made_up_mpi.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    int rank = -1, size = -1, bytes = -1, sent[2] = {6, 7}, received[2] = {0, 0};
    MPI_Status status;
    if (MPI_Init(&argc, &argv)) return 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_size(MPI_INT, &bytes);
    if (MPI_Sendrecv(sent, 2, MPI_INT, rank, 5, received, 2, MPI_INT, rank, 5, MPI_COMM_WORLD, &status)) return 2;
    printf("%d of %d, %d bytes, %d from %d with %d in %g bytes at %g\n", rank, size, bytes, received[0] * received[1],
           status.MPI_SOURCE, status.MPI_TAG, status.bytes, MPI_Wtime());
    return MPI_Finalize();
}
