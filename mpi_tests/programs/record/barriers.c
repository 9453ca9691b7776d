// Barriers: `barriers N` makes one every 10 ms, N times. `barriers N on`: N, MPI_Pcontrol(1), N, as fast as they go.
// `barriers 0 regions`: ten times 30 in a region "even", 20 in "odd" inside of "outer", 5 in an "even" that ends with
// the "outer" around it, 10 outside, after a thread has ended inside of "even".

#include "tracelib.h"

#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void barriers(int n, long pause_ns)
{
    for (int i = 0; i < n; i++) {
        if (pause_ns) nanosleep(&(struct timespec){.tv_nsec = pause_ns}, NULL);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void *leave_region_open(void *nothing)
{
    tracelib_region_begin("even");
    return nothing;
}

int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    if (argc == 2) barriers(n, 10000000);
    if (argc > 2 && strcmp(argv[2], "on") == 0) {
        barriers(n, 0);
        MPI_Pcontrol(1);
        barriers(n, 0);
    }
    for (int i = 0; argc > 2 && strcmp(argv[2], "regions") == 0 && i < 10; i++) {
        tracelib_region_begin("even");
        barriers(30, 0);
        tracelib_region_end("even");
        tracelib_region_begin("outer");
        tracelib_region_begin("odd");
        barriers(20, 0);
        tracelib_region_end("odd");
        tracelib_region_begin("even");
        barriers(5, 0);
        tracelib_region_end("outer");
        tracelib_region_end("even");
        pthread_t thread;
        pthread_create(&thread, NULL, leave_region_open, NULL);
        pthread_join(thread, NULL);
        barriers(10, 0);
    }
    MPI_Finalize();
    return 0;
}
