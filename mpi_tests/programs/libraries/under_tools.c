/* Each rank sends 3 messages to nobody, and has 5 barriers and 2 reductions. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int one = 1, sum;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 3; i++) MPI_Send(&one, 1, MPI_INT, MPI_PROC_NULL, i, MPI_COMM_WORLD);
    for (int i = 0; i < 5; i++) MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return MPI_Finalize();
}
