// Notes the true clocks of a run: `clocks ITERATIONS MICROSECONDS`. In each iteration every
// rank computes for this time, joins an MPI_Allreduce and passes a message round the ring. Before and after each
// MPI_Allreduce it reads the time stamp counter, which no namespace shifts: into clocks-RANK.bin go, as u64, the least
// ticks from a message's send to its receipt, the counter's ticks in a second, and then the pairs.

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

static int64_t raw_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void compute(long microseconds)
{
    for (int64_t end = raw_ns() + microseconds * 1000; raw_ns() < end;) {
    }
}

int main(int argc, char **argv)
{
    int rank, size, one = 1, sum;
    long iterations = atol(argv[1]), microseconds = atol(argv[2]);
    uint64_t *noted = malloc((2 + 2 * iterations) * sizeof *noted);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    uint64_t first_ticks = __rdtsc(), sent;
    int64_t first_ns = raw_ns();
    noted[0] = UINT64_MAX;
    for (long i = 0; i < iterations; i++) {
        compute(microseconds);
        noted[2 + 2 * i] = __rdtsc();
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        noted[3 + 2 * i] = __rdtsc();
        for (int turn = 0; turn < size; turn++) {
            uint64_t now = __rdtsc();
            if (rank == turn) MPI_Send(&now, sizeof now, MPI_BYTE, (turn + 1) % size, 0, MPI_COMM_WORLD);
            if (rank == (turn + 1) % size) {
                MPI_Recv(&sent, sizeof sent, MPI_BYTE, turn, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                now = __rdtsc();
                if (now - sent < noted[0]) noted[0] = now - sent;
            }
        }
    }
    noted[1] = (uint64_t)((__rdtsc() - first_ticks) * 1e9 / (raw_ns() - first_ns));
    char name[32];
    sprintf(name, "clocks-%d.bin", rank);
    FILE *file = fopen(name, "wb");
    fwrite(noted, sizeof *noted, 2 + 2 * iterations, file);
    fclose(file);
    MPI_Finalize();
    return 0;
}
