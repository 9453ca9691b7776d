// Round trips of messages between two ranks, by their size: `round_trips ROUNDS SIZE...`.
// Rank 0 prints for each round and size: bytes, and nanoseconds a round trip of one byte just before, and of that size.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WARM_UP = 4, TRIPS = 16 };

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static void there_and_back(int rank, char *buffer, int bytes, int n)
{
    for (int i = 0; i < n; i++) {
        if (rank == 0) MPI_Send(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(buffer, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) MPI_Send(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
}

static double round_trip_ns(int rank, char *buffer, int bytes)
{
    there_and_back(rank, buffer, bytes, WARM_UP);
    double begin = now_ns();
    there_and_back(rank, buffer, bytes, TRIPS);
    return (now_ns() - begin) / TRIPS;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int most = 1;
    for (int k = 2; k < argc; k++)
        if (atoi(argv[k]) > most) most = atoi(argv[k]);
    char *buffer = calloc(most, 1);
    for (int round = 0; round < atoi(argv[1]); round++)
        for (int k = 2; k < argc; k++) {
            double one = round_trip_ns(rank, buffer, 1), more = round_trip_ns(rank, buffer, atoi(argv[k]));
            if (rank == 0) printf("%s %.1f %.1f\n", argv[k], one, more);
        }
    free(buffer);
    MPI_Finalize();
    return 0;
}
