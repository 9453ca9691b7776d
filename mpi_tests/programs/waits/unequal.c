// Collectives of which the ranks do not see alike: `unequal KIND`.
//     hidden   rank 1 makes one by its profiling name, where no tool sees it
//     ahead    the root of an MPI_Bcast goes on before rank 1 has entered it, because that waits for a message of it
// Followed by 50 that they do; prints their sum.

#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int add(int (*allreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm))
{
    int one = 1, sum;
    allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

int main(int argc, char **argv)
{
    int rank, sum = 0, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(argv[1], "hidden") == 0) add(rank == 1 ? PMPI_Allreduce : MPI_Allreduce);
    for (int i = 0; i < 50 && strcmp(argv[1], "ahead") == 0; i++) {
        if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    }
    for (int i = 0; i < 50; i++) sum += add(MPI_Allreduce);
    if (rank == 0) printf("%d\n", sum);
    MPI_Finalize();
    return 0;
}
