/* Calls that do nothing, one after the other: `back_to_back CALLS`. What lies between them is the tracer. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = atoi(argv[1]); i > 0; i--) MPI_Send(&i, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
