// What programs do to a tracer without meaning harm. The first argument says what; each ends by itself with exit code 0
// and prints what the MPI answered, so that a traced run can be compared with an untraced one.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

// Hundred thousands of operations that are complete at once: an MPI may give all of them one handle.
static void many_requests(void)
{
    enum { MANY = 100000 };
    MPI_Request *requests = malloc(MANY * sizeof *requests);
    char byte = 0;
    for (int i = 0; i < MANY; i++) MPI_Isend(&byte, 1, MPI_CHAR, MPI_PROC_NULL, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    free(requests);
}

static const struct {
    const char *name;
    void (*act)(void);
} acts[] = {
    {"many-requests", many_requests},
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++)
        if (strcmp(acts[i].name, argv[1]) == 0) acts[i].act();
    MPI_Finalize();
    return 0;
}
