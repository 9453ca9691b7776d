/* Each rank looks at the clock of MPI until it has "computed" for a number of milliseconds, rounds times, between
   barriers, and writes how many seconds each of them took into looks-RANK.txt:

   looks MILLISECONDS-OF-RANK-0 MILLISECONDS-OF-THE-OTHERS ROUNDS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1000 };

int main(int argc, char **argv)
{
    double took[MOST] = {0};
    int rank, rounds = argc == 4 ? atoi(argv[3]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double lasts = atof(argv[rank == 0 ? 1 : 2]) / 1e3;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < rounds && round < MOST; round++) {
        double begin = MPI_Wtime();
        while ((took[round] = MPI_Wtime() - begin) < lasts) continue;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    char name[32];
    sprintf(name, "looks-%d.txt", rank);
    FILE *file = fopen(name, "w");
    for (int round = 0; round < rounds && round < MOST; round++) fprintf(file, "%.9f\n", took[round]);
    fclose(file);
    MPI_Finalize();
    return 0;
}
