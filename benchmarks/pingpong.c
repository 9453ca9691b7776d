// Round trips of an empty message between two ranks: `pingpong BATCHES ROUND_TRIPS`.
// Rank 0 prints one line for each batch: nanoseconds a round trip.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static void round_trips(int rank, int n)
{
    for (int i = 0; i < n; i++) {
        if (rank == 0) MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(NULL, 0, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int rank;
    if (argc != 3) return 2;
    int batches = atoi(argv[1]), n = atoi(argv[2]);
    double *spent = malloc(batches * sizeof *spent);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    round_trips(rank, n);
    for (int i = 0; i < batches; i++) {
        double start = now_ns();
        round_trips(rank, n);
        spent[i] = (now_ns() - start) / n;
    }
    for (int i = 0; rank == 0 && i < batches; i++) printf("%.1f\n", spent[i]);
    free(spent);
    MPI_Finalize();
    return 0;
}
