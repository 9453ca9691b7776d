// Preloaded: writes to the file $ELAPSED how long rank 0 was between MPI_Init and MPI_Finalize, by a clock of its own.

#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double begin;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int MPI_Init(int *argc, char ***argv)
{
    int result = PMPI_Init(argc, argv);
    begin = seconds();
    return result;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int result = PMPI_Init_thread(argc, argv, required, provided);
    begin = seconds();
    return result;
}

int MPI_Finalize(void)
{
    double end = seconds();
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FILE *file = rank == 0 ? fopen(getenv("ELAPSED"), "w") : NULL;
    if (file) {
        fprintf(file, "%.9f\n", end - begin);
        fclose(file);
    }
    return PMPI_Finalize();
}
