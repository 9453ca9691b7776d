/* Programs in small whose iterations are known: loops NAME COUNT [TIMES]. Each is built like a well-known benchmark or
   solver. It computes TIMES as long between its calls [1]. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LEVELS = 4, PLANES = 12, INNER = 25, MOST = 8192 };

static int rank, size, left, right, times = 1;
static double here[MOST], there[MOST];
static volatile double sink;

static void compute(int amount)
{
    double sum = 0;
    for (long i = 0; i < 1000L * amount * times; i++) sum += i * 1e-9;
    sink = sum;
}

static __attribute__((noinline)) void halo(int n, int tag)
{
    MPI_Request requests[4];
    MPI_Irecv(there, n, MPI_DOUBLE, left, tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(there + n, n, MPI_DOUBLE, right, tag, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(here, n, MPI_DOUBLE, left, tag, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(here + n, n, MPI_DOUBLE, right, tag, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static double sum_of(double value)
{
    double sum;
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/* One direction of a line solver: a wave through the ranks and back. */
static __attribute__((noinline)) void line_solve(int tag)
{
    if (rank) MPI_Recv(there, 40, MPI_DOUBLE, rank - 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    compute(20);
    if (rank < size - 1) MPI_Send(here, 40, MPI_DOUBLE, rank + 1, tag, MPI_COMM_WORLD);
    if (rank < size - 1) MPI_Recv(there, 20, MPI_DOUBLE, rank + 1, tag + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    compute(10);
    if (rank) MPI_Send(here, 20, MPI_DOUBLE, rank - 1, tag + 1, MPI_COMM_WORLD);
}

static __attribute__((noinline)) void adi(void)
{
    halo(100, 1);
    compute(30);
    line_solve(10);
    line_solve(20);
    line_solve(30);
    compute(10);
}

/* As BT and SP: one pass untimed, a barrier, then the loop; norms at the end. */
static void sweeps(int count)
{
    MPI_Bcast(here, 3, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(here, 1, MPI_INT, 0, MPI_COMM_WORLD);
    compute(200);
    adi();
    compute(200);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 1; step <= count; step++) adi();
    halo(100, 1);
    sum_of(1);
    sum_of(2);
}

static __attribute__((noinline)) void conjugate_gradient(int inner)
{
    sum_of(1);
    for (int i = 0; i < inner; i++) {
        halo(300, 2);
        compute(20);
        sum_of(2);
        compute(5);
        sum_of(3);
    }
    halo(300, 2);
    sum_of(4);
}

/* As CG: conjugate gradients inside a loop of the power method. */
static void power_method(int count)
{
    compute(300);
    conjugate_gradient(INNER);
    sum_of(0);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int it = 0; it < count; it++) {
        conjugate_gradient(INNER);
        sum_of(5);
        sum_of(6);
        compute(10);
    }
    MPI_Reduce(here, there, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
}

static __attribute__((noinline)) void transform(void)
{
    compute(100);
    MPI_Alltoall(here, 64, MPI_DOUBLE, there, 64, MPI_DOUBLE, MPI_COMM_WORLD);
    compute(100);
}

/* As FT: no messages, a first pass that does more. */
static void transforms(int count)
{
    transform();
    MPI_Barrier(MPI_COMM_WORLD);
    transform();
    for (int it = 0; it < count; it++) {
        compute(50);
        transform();
        if (!it) MPI_Bcast(here, 50, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        MPI_Reduce(here, there, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    }
}

static __attribute__((noinline)) void sort_keys(int it)
{
    int counts[64], offsets[64];
    for (int i = 0; i < size; i++) counts[i] = 10 + (it * 7 + i * rank) % 50, offsets[i] = 64 * i;
    compute(150);
    MPI_Allreduce(here, there, 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int wanted[64];
    MPI_Alltoall(counts, 1, MPI_INT, wanted, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallv(here, counts, offsets, MPI_INT, there, wanted, offsets, MPI_INT, MPI_COMM_WORLD);
    compute(50);
}

/* As IS: collectives with sizes that differ, a pass before the loop, a message after it. */
static void sorting(int count)
{
    compute(100);
    sort_keys(1);
    for (int it = 1; it <= count; it++) {
        if (!rank) MPI_Wtime();
        sort_keys(it);
    }
    MPI_Reduce(here, there, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Sendrecv(here, 1, MPI_INT, right, 9, there, 1, MPI_INT, left, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* As LU: planes one after the other in a pipeline, forth and back, then a halo; norms now and then. */
static void pipelined(int count)
{
    halo(200, 3);
    sum_of(1);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 1; step <= count; step++) {
        for (int k = 0; k < PLANES; k++) {
            if (rank) MPI_Recv(there, 50, MPI_DOUBLE, rank - 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            compute(3);
            if (rank < size - 1) MPI_Send(here, 50, MPI_DOUBLE, rank + 1, 4, MPI_COMM_WORLD);
        }
        for (int k = 0; k < PLANES; k++) {
            if (rank < size - 1) MPI_Recv(there, 50, MPI_DOUBLE, rank + 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            compute(3);
            if (rank) MPI_Send(here, 50, MPI_DOUBLE, rank - 1, 5, MPI_COMM_WORLD);
        }
        compute(10);
        halo(200, 3);
        if (step % 20 == 0 || step == count) sum_of(1);
    }
    sum_of(1);
}

static __attribute__((noinline)) void v_cycle(void)
{
    for (int level = LEVELS; level > 1; level--) {
        halo(8 << 2 * level, 6);
        compute(1 << level);
    }
    halo(8, 6);
    for (int level = 2; level <= LEVELS; level++) {
        halo(8 << 2 * level, 6);
        compute(1 << level);
        halo(8 << 2 * level, 6);
        compute(1 << level);
    }
}

/* As MG: few V-cycles, one before the clock is started. */
static void multigrid(int count)
{
    halo(8 << 2 * LEVELS, 6);
    sum_of(1);
    v_cycle();
    halo(8 << 2 * LEVELS, 6);
    sum_of(1);
    MPI_Barrier(MPI_COMM_WORLD);
    halo(8 << 2 * LEVELS, 6);
    sum_of(1);
    for (int it = 0; it < count; it++) {
        v_cycle();
        halo(8 << 2 * LEVELS, 6);
        compute(20);
    }
    sum_of(1);
}

/* As EP: no loop that communicates. */
static void no_loop(int count)
{
    MPI_Barrier(MPI_COMM_WORLD);
    compute(2000 * count);
    sum_of(1);
    sum_of(2);
    MPI_Allreduce(here, there, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* As LULESH: a time step from all, three exchanges of different lengths, the clock read. */
static void hydrodynamics(int count)
{
    for (int i = 0; i < 4; i++) MPI_Bcast(here, 1 + i, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    halo(30, 7);
    for (int step = 0; step < count; step++) {
        if (step) sum_of(1);
        compute(30);
        halo(300, 8);
        MPI_Wtime();
        compute(40);
        halo(100, 9);
        compute(10);
        halo(50, 10);
    }
    MPI_Reduce(here, there, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
}

/* Solves until converged: how often differs from step to step. */
static void converging(int count)
{
    unsigned seed = 12345;
    for (int step = 0; step < count; step++) {
        compute(100);
        MPI_Bcast(here, 5, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        seed = seed * 1103515245 + 12345;
        for (unsigned inner = 0; inner < 4 + (seed >> 16) % 20; inner++) {
            halo(100, 11);
            compute(10);
            sum_of(1);
        }
        MPI_Gather(here, 1, MPI_DOUBLE, there, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
}

/* A stencil with a residual now and then, and output more seldom. */
static void stencil(int count)
{
    MPI_Scatter(here, 10, MPI_DOUBLE, there, 10, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int step = 0; step < count; step++) {
        halo(500, 12);
        compute(40);
        if (step % 10 == 0) sum_of(1);
        if (step % 50 == 49) MPI_Gather(here, 9, MPI_DOUBLE, there, 9, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
}

/* The same with 5 ms of rest after each step: it takes its time on every machine. */
static void paced(int count)
{
    const struct timespec rest = {.tv_nsec = 5000000};
    for (int step = 0; step < count; step++) {
        halo(500, 12);
        nanosleep(&rest, NULL);
    }
}

/* Two loops in one function, the inner one as often in each pass. */
static void nested(int count)
{
    for (int outer = 0; outer < count; outer++) {
        MPI_Bcast(here, 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        compute(200);
        for (int inner = 0; inner < 2 * INNER; inner++) {
            halo(100, 13);
            compute(10);
        }
        sum_of(1);
    }
}

/* Nothing but sums of one number. */
static void reductions(int count)
{
    for (int i = 0; i < count; i++) {
        compute(40);
        sum_of(1);
        compute(5);
        sum_of(2);
        compute(15);
        sum_of(3);
    }
}

/* Rounds of tasks that workers ask for. */
static void master_worker(int count)
{
    int task = 0, answer = 0;
    for (int round = 0; round < count; round++) {
        MPI_Bcast(here, 20, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (!rank) {
            MPI_Status status;
            for (int given = 0, done = 0; done < size - 1; given++) {
                MPI_Recv(&answer, 1, MPI_INT, MPI_ANY_SOURCE, 14, MPI_COMM_WORLD, &status);
                task = given < 5 * size ? given : -1;
                done += task < 0;
                MPI_Send(&task, 1, MPI_INT, status.MPI_SOURCE, 15, MPI_COMM_WORLD);
            }
        } else {
            for (task = 0; task >= 0;) {
                MPI_Send(&answer, 1, MPI_INT, 0, 14, MPI_COMM_WORLD);
                MPI_Recv(&task, 1, MPI_INT, 0, 15, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                compute(10);
            }
        }
        MPI_Reduce(here, there, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    }
}

/* Messages whose number and length change, and polling for them. */
static void particles(int count)
{
    for (int step = 0; step < count; step++) {
        int several = 1 + (step / 7 + rank) % 3, from = 1 + (step / 7 + left) % 3;
        MPI_Request requests[6];
        for (int i = 0; i < from; i++)
            MPI_Irecv(there + 600 * i, 600, MPI_DOUBLE, left, 16, MPI_COMM_WORLD, &requests[i]);
        for (int i = 0; i < several; i++)
            MPI_Isend(here, 20 + 37 * (step % 13), MPI_DOUBLE, right, 16, MPI_COMM_WORLD, &requests[from + i]);
        for (int done = 0; !done;) {
            compute(2);
            MPI_Testall(from + several, requests, &done, MPI_STATUSES_IGNORE);
        }
        compute(30);
        sum_of(1);
        if (step % 25 == 24) MPI_Alltoall(here, 8, MPI_DOUBLE, there, 8, MPI_DOUBLE, MPI_COMM_WORLD);
    }
}

static const struct {
    const char *name;
    void (*run)(int count);
} programs[] = {
    {"sweeps", sweeps},         {"power_method", power_method},
    {"transforms", transforms}, {"sorting", sorting},
    {"pipelined", pipelined},   {"multigrid", multigrid},
    {"no_loop", no_loop},       {"hydrodynamics", hydrodynamics},
    {"converging", converging}, {"stencil", stencil},
    {"nested", nested},         {"reductions", reductions},
    {"particles", particles},   {"master_worker", master_worker},
    {"paced", paced},
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size, right = (rank + 1) % size;
    if (argc > 3) times = atoi(argv[3]);
    int known = 0;
    for (unsigned i = 0; argc > 2 && i < sizeof programs / sizeof *programs; i++)
        if (!strcmp(argv[1], programs[i].name)) {
            programs[i].run(atoi(argv[2]));
            known = 1;
        }
    if (!known) fprintf(stderr, "loops NAME COUNT [TIMES]\n");
    MPI_Finalize();
    return !known;
}
