/* Ping-pong between ranks 0 and 1 that times itself: rank 0 prints "SIZE SECONDS" for each size, half the fastest
 * round trip. Argument: round trips of each size. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static const int sizes[] = {8, 1000, 4000, 16384, 65536, 262144, 1 << 20};

static double round_trip(char *buffer, int size, int rank)
{
    double start = MPI_Wtime();
    if (rank == 0) MPI_Send(buffer, size, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(buffer, size, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(buffer, size, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    return MPI_Wtime() - start;
}

int main(int argc, char **argv)
{
    int rank, number = argc > 1 ? atoi(argv[1]) : 200;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *buffer = calloc(1, 1 << 20);
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes && rank < 2; s++) {
        double least = 1e9;
        for (int k = 0; k < number; k++) {
            double time = round_trip(buffer, sizes[s], rank);
            if (time < least) least = time;
        }
        if (rank == 0) printf("%d %.9f\n", sizes[s], least / 2);
    }
    free(buffer);
    MPI_Finalize();
    return 0;
}
