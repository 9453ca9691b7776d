/* Three places of calls. */
#include <mpi.h>

static int __attribute__((noinline)) meet(int n)
{
    for (int i = 0; i < n; i++) MPI_Barrier(MPI_COMM_WORLD);
    return n + 1;
}

int main(int argc, char **argv)
{
    int data = 1;
    MPI_Init(&argc, &argv);
    data += meet(3);
    MPI_Bcast(&data, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize() + !data;
}
