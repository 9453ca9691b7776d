/* The program that the pages call app.c: a region with a parameter, messages round a ring, a sum. */
#include <mpi.h>
#include <stdio.h>
#include <tracelib.h>

int main(int argc, char **argv)
{
    int rank, ranks, token = 0, failed;
    double mine = 0, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    tracelib_region_begin("solve");
    tracelib_region_parameter_integer("n", 500);
    for (int step = 0; step < 100; step++) {
        for (int i = 0; i < 20000; i++) mine += 1e-6 * i;
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, &token, 1, MPI_INT, (rank + ranks - 1) % ranks, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    tracelib_region_end("solve");
    failed = token != (rank + ranks - 1) % ranks;
    MPI_Finalize();
    return failed;
}
