// `growing ROUNDS`: in region `serial` every rank sleeps 6 ms for each rank of the run, in region `shared` 96 ms
// divided by the ranks. All meet after each.

#include <stdlib.h>
#include <time.h>

#include <mpi.h>
#include <tracelib.h>

static void sleep_ms(double ms)
{
    struct timespec left = {.tv_sec = 0, .tv_nsec = (long)(ms * 1e6)};
    nanosleep(&left, NULL);
}

int main(int argc, char **argv)
{
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = atoi(argv[1]); round > 0; round--) {
        tracelib_region_begin("serial");
        sleep_ms(6.0 * size);
        tracelib_region_end("serial");
        MPI_Barrier(MPI_COMM_WORLD);
        tracelib_region_begin("shared");
        sleep_ms(96.0 / size);
        tracelib_region_end("shared");
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
