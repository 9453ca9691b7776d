/* Ranks take turns at being late: `turns MILLISECONDS`. In each round one rank sleeps in its region "late", and then
 * all others wait for it in one of four ways. Each rank is late once for each way. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>
#include <tracelib.h>

enum { LARGE = 1 << 20, WAYS = 4 };

static char data[LARGE];
static int rank, size;

static void sleep_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    tracelib_region_begin("late");
    nanosleep(&t, NULL);
    tracelib_region_end("late");
}

/* The late rank sends to all others, which have posted their receives. */
static void late_sender(int late)
{
    MPI_Request request;
    if (rank != late) {
        MPI_Irecv(data, 8, MPI_CHAR, late, 1, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int peer = 0; rank == late && peer < size; peer++)
        if (peer != late) MPI_Send(data, 8, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
}

/* All others send the late rank what is too large to be sent before it asks for it. */
static void late_receiver(int late)
{
    if (rank != late) MPI_Send(data, LARGE, MPI_CHAR, late, 2, MPI_COMM_WORLD);
    for (int peer = 0; rank == late && peer < size; peer++)
        if (peer != late) MPI_Recv(data, LARGE, MPI_CHAR, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int sum = 1, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < WAYS * size; round++) {
        int late = round % size;
        if (rank == late) sleep_ms(atol(argv[1]));
        switch (round / size) {
        case 0:
            MPI_Allreduce(&sum, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            break;
        case 1:
            late_sender(late);
            break;
        case 2:
            late_receiver(late);
            break;
        default:
            MPI_Bcast(&sum, 1, MPI_INT, late, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
