// Two ranks with threads in MPI at once, each of which is busy for a given time (ms), meets its partner on the other
// rank, is busy again and meets it once more; main is busy beside them. Tells how long each was busy.
//     busy_threads MS...      of rank 0 and rank 1, before and after: four numbers a thread
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 8 };

static int rank, threads, times[MOST][2][2];
static double was[MOST][2];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

// Asleep it leaves the processors to others; to the tracer it is busy.
static double busy(int ms)
{
    double began = now();
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
    return now() - began;
}

static void *work(void *number)
{
    int t = *(int *)number, own = t, other = -1;
    was[t][0] = busy(times[t][rank][0]);
    if (rank == 0)
        MPI_Send(&own, 1, MPI_INT, 1, t, MPI_COMM_WORLD);
    else
        MPI_Recv(&other, 1, MPI_INT, 0, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    was[t][1] = busy(times[t][rank][1]);
    if (rank == 1)
        MPI_Send(&own, 1, MPI_INT, 0, 100 + t, MPI_COMM_WORLD);
    else
        MPI_Recv(&other, 1, MPI_INT, 1, 100 + t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

int main(int argc, char **argv)
{
    int level, numbers[MOST];
    pthread_t ids[MOST];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level != MPI_THREAD_MULTIPLE) return 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    threads = (argc - 1) / 4;
    for (int i = 0; i < 4 * threads; i++) times[i / 4][i / 2 % 2][i % 2] = atoi(argv[i + 1]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int t = 0; t < threads; t++) {
        numbers[t] = t;
        if (t) pthread_create(&ids[t], NULL, work, &numbers[t]);
    }
    work(&numbers[0]);
    for (int t = 1; t < threads; t++) pthread_join(ids[t], NULL);
    char line[32 * MOST + 16]; /* written at once: two ranks' output may be mixed in between */
    int length = sprintf(line, "%d", rank);
    for (int t = 0; t < threads; t++) length += sprintf(line + length, " %.6f %.6f", was[t][0], was[t][1]);
    line[length++] = '\n';
    if (write(STDOUT_FILENO, line, length) != length) return 1;
    MPI_Finalize();
    return 0;
}
