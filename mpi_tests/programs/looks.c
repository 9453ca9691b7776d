/* Each rank looks at the clock of MPI until it has "computed" so many milliseconds, rounds times, between barriers:
   looks MILLISECONDS-OF-RANK-0 MILLISECONDS-OF-THE-OTHERS ROUNDS */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double lasts = atof(argv[rank == 0 ? 1 : 2]) / 1e3;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = atoi(argv[3]); round > 0; round--) {
        for (double begin = MPI_Wtime(); MPI_Wtime() - begin < lasts;) continue;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return argc != 4;
}
