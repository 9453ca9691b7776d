/* Phases of pure computation between barriers: `phases PHASES MILLISECONDS`. Each rank notes the CPU time and the wall
 * time of its computation, in ns. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static volatile double sink;

static void work(long steps)
{
    double x = 1;
    for (long i = 0; i < steps; i++) x = x * 1.0000001 + 1e-9;
    sink = x;
}

/* Steps that take so much CPU time here. */
static long steps_of(double milliseconds)
{
    const long trial = 4000000;
    long best = 1000000000;
    for (int i = 0; i < 5; i++) {
        long begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
        work(trial);
        long spent = now_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
        if (spent < best) best = spent;
    }
    return (long)(trial * (milliseconds * 1e6 / best));
}

int main(int argc, char **argv)
{
    int rank;
    long steps = argc > 3 ? atol(argv[3]) : steps_of(atof(argv[2])), cpu = 0, wall = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = atoi(argv[1]); i > 0; i--) {
        long wall_begin = now_ns(CLOCK_MONOTONIC), cpu_begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
        work(steps);
        cpu += now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_begin;
        wall += now_ns(CLOCK_MONOTONIC) - wall_begin;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    char name[32];
    snprintf(name, sizeof name, "phases-%d", rank);
    FILE *file = fopen(name, "w");
    fprintf(file, "%ld %ld %ld\n", cpu, wall, steps);
    fclose(file);
    MPI_Finalize();
    return 0;
}
