// Waits by looking at the clock, as delays and emulated computations do, and says how often it looked; asks for its
// rank again and again, as wrappers in innermost loops do.

#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static long looks;

static double now(void)
{
    looks++;
    return MPI_Wtime();
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 3; i++) {
        now();
        usleep(1000);
    }
    for (int i = 0; i < 100000; i++) now();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 1000; i++) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_rank(MPI_COMM_SELF, &rank);
    MPI_Finalize();
    printf("%ld\n", looks);
    return 0;
}
