// Cheap calls that share rows, with computation between them: MPI_Comm_size, MPI_Wtime ("wtime"), or calls that do
// nothing, back to back ("calls").
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static volatile double sum;

static void compute(void)
{
    for (int k = 0; k < 1000; k++) sum += k;
}

int main(int argc, char **argv)
{
    int rank, size, n = atoi(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < (rank + 1) * n; i++) {
        if (!strcmp(argv[1], "wtime")) {
            MPI_Wtime();
            compute();
        } else if (!strcmp(argv[1], "calls")) {
            MPI_Type_size(MPI_INT, &size);
            MPI_Bcast(&size, 1, MPI_INT, 0, MPI_COMM_SELF);
            MPI_Comm_rank(MPI_COMM_SELF, &size);
        } else {
            MPI_Comm_size(MPI_COMM_WORLD, &size);
            compute();
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
