// Many small calls: `steady N [END]` sends N messages round the ring and then ends as END says:
//     finalize (default), exit (without MPI_Finalize), return (from main, without it), abort (MPI_Abort)
// Prints a sum of what it received, so that a traced run can be compared with an untraced one.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000, rank, size, received;
    const char *end = argc > 2 ? argv[2] : "finalize";
    long sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < n; i++) {
        int value = rank * n + i;
        MPI_Sendrecv(&value, 1, MPI_INT, (rank + 1) % size, 0, &received, 1, MPI_INT, (rank + size - 1) % size, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += received;
        MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("%ld\n", sum);
    fflush(stdout);
    if (strcmp(end, "exit") == 0) exit(7);
    if (strcmp(end, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 9);
    if (strcmp(end, "return") == 0) return 0;
    MPI_Finalize();
    return 0;
}
