/* Computes in `smooth` and, three times as long as that, in `solve`, which calls `kernel`; rank r of n does so 1 + r /
 * n times as long, and so does each of its threads. Each thread writes what its own CPU clock says of both parts to
 * hot-RANK-THREAD. With -DALONE without MPI. */
#define _GNU_SOURCE
#ifndef ALONE
#include <mpi.h>
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { STEPS = 10 };

static volatile double sink;
static int rank, size = 1;
static double step_s;

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The different text keeps compilers from merging two functions. */
#define COMPUTE(seconds, what)                                                                                         \
    do {                                                                                                               \
        double s = 0, until = cpu_s() + (seconds);                                                                     \
        while (cpu_s() < until)                                                                                        \
            for (int i = 1; i < 100000; i++) s += (what) / i;                                                          \
        sink = s;                                                                                                      \
    } while (0)

static void __attribute__((noinline)) smooth(double seconds)
{
    COMPUTE(seconds, 1.0); /* line of smooth */
}

static void __attribute__((noinline)) kernel(double seconds)
{
    COMPUTE(seconds, 3.0); /* line of kernel */
}

static void __attribute__((noinline)) solve(double seconds)
{
    kernel(seconds);
    sink = 0;
}

static void *work(void *number)
{
    double in_smooth = 0, in_solve = 0, mine = step_s * (1 + (double)rank / size);
    for (int i = 0; i < STEPS; i++) {
        double begin = cpu_s(), middle;
        smooth(mine);
        middle = cpu_s();
        solve(3 * mine);
        in_solve += cpu_s() - middle;
        in_smooth += middle - begin;
#ifndef ALONE
        if (!number) MPI_Barrier(MPI_COMM_WORLD);
#endif
    }
    char name[64];
    snprintf(name, sizeof name, "hot-%d-%d", rank, number ? *(int *)number : 0);
    FILE *file = fopen(name, "w");
    fprintf(file, "%.6f %.6f\n", in_smooth, in_solve);
    fclose(file);
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc > 2 ? atoi(argv[2]) : 0, number[16], provided = 0;
    pthread_t others[16];
    step_s = argc > 1 ? atof(argv[1]) : 0.025;
#ifndef ALONE
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
#endif
    for (int i = 0; i < threads; i++) {
        number[i] = i + 1;
        pthread_create(&others[i], NULL, work, &number[i]);
    }
    work(NULL);
    for (int i = 0; i < threads; i++) pthread_join(others[i], NULL);
#ifndef ALONE
    MPI_Finalize();
#endif
    (void)provided;
    return 0;
}
