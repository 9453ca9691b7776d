// Cost of calls that do nothing, so that what is measured is the tracer: `call send|isend BATCHES CALLS`.
// Prints one line for each batch: nanoseconds a call.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static void sends(int n)
{
    int value = 0;
    for (int i = 0; i < n; i++) MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

// Two calls each, and a request to follow from one to the other.
static void requests(int n)
{
    int value = 0;
    for (int i = 0; i < n; i += 2) {
        MPI_Request request;
        MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    if (argc != 4) return 2;
    void (*work)(int) = strcmp(argv[1], "isend") == 0 ? requests : sends;
    int batches = atoi(argv[2]), calls = atoi(argv[3]);
    double *spent = malloc(batches * sizeof *spent);
    MPI_Init(&argc, &argv);
    work(calls);
    for (int i = 0; i < batches; i++) {
        double start = now_ns();
        work(calls);
        spent[i] = (now_ns() - start) / calls;
    }
    for (int i = 0; i < batches; i++) printf("%.3f\n", spent[i]);
    free(spent);
    MPI_Finalize();
    return 0;
}
