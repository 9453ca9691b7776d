/* The shortest C++ program; Debian's mpicxx links libmpi_cxx to it, whose constructor calls MPI_Initialized. */
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}
