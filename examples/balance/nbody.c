/* Bodies that attract each other, all pairs, with a master: at each step rank 0 sends all positions to all ranks, each
 * rank returns the accelerations of its share, which a plan or a monitor gives it, and rank 0 moves the bodies.
 *
 *     nbody BODIES STEPS [monitor | plan] [FACTOR]
 *
 * FACTOR: rank 0 computes everything so many times, as if its CPU were that much slower. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tracelib.h>
#include <tracelib_balance.h>

#define STEP 1e-3
#define SOFT 1e-2 /* keeps bodies that meet from being thrown out */

struct vector {
    double x, y, z;
};

/* Accelerations of the bodies first to first + count - 1, of equal masses that add up to 1. */
static void attract(const struct vector *at, int bodies, long long first, long long count, struct vector *found)
{
    for (long long i = 0; i < count; i++) {
        struct vector sum = {0, 0, 0}, here = at[first + i];
        for (int j = 0; j < bodies; j++) {
            double x = at[j].x - here.x, y = at[j].y - here.y, z = at[j].z - here.z;
            double squared = x * x + y * y + z * z + SOFT, pull = 1 / (squared * sqrt(squared) * bodies);
            sum.x += x * pull;
            sum.y += y * pull;
            sum.z += z * pull;
        }
        found[i] = sum;
    }
}

/* A spiral of bodies at rest: the same for all ranks and languages. */
static void begin(struct vector *at, int bodies)
{
    for (int i = 0; i < bodies; i++) {
        double part = (i + 0.5) / bodies, turn = 2.399963229728653 * i;
        at[i] = (struct vector){part * cos(turn), part * sin(turn), 2 * part - 1};
    }
}

static void move(struct vector *at, struct vector *speed, const struct vector *pull, int bodies)
{
    for (int i = 0; i < bodies; i++) {
        speed[i].x += STEP * pull[i].x;
        speed[i].y += STEP * pull[i].y;
        speed[i].z += STEP * pull[i].z;
        at[i].x += STEP * speed[i].x;
        at[i].y += STEP * speed[i].y;
        at[i].z += STEP * speed[i].z;
    }
}

/* The counts and places of MPI_Gatherv, in doubles. */
static void lay_out(const long long *counts, int ranks, int *lengths, int *places)
{
    for (int i = 0, place = 0; i < ranks; place += lengths[i++]) {
        lengths[i] = 3 * (int)counts[i];
        places[i] = place;
    }
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    int bodies = argc > 1 ? atoi(argv[1]) : 1000, steps = argc > 2 ? atoi(argv[2]) : 20, rank, ranks, failed = 0;
    int watch = argc > 3 && !strcmp(argv[3], "monitor"), factor = argc > 4 ? atoi(argv[4]) : 1;
    struct vector *at = calloc((size_t)bodies, sizeof *at), *speed = calloc((size_t)bodies, sizeof *speed);
    struct vector *own = calloc((size_t)bodies, sizeof *own), *pull = calloc((size_t)bodies, sizeof *pull);
    struct tracelib_monitor monitor;
    double cpu = 0, slowest;
    int *lengths, *places;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    lengths = calloc((size_t)ranks, sizeof *lengths);
    places = calloc((size_t)ranks, sizeof *places);
    if (!at || !speed || !own || !pull || !lengths || !places) MPI_Abort(MPI_COMM_WORLD, 1);
    tracelib_monitor_start(&monitor, bodies, MPI_COMM_WORLD, 0.5, 0.1);
    begin(at, bodies);
    for (int step = 0; step < steps; step++) {
        double begun;
        MPI_Bcast(at, 3 * bodies, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        begun = cpu_seconds();
        tracelib_monitor_begin(&monitor);
        tracelib_region_begin("compute");
        for (int k = 0; k < (rank ? 1 : factor); k++)
            attract(at, bodies, tracelib_first(monitor.counts, rank), monitor.counts[rank], own);
        tracelib_region_end("compute");
        tracelib_monitor_end(&monitor);
        cpu += cpu_seconds() - begun;
        lay_out(monitor.counts, ranks, lengths, places);
        MPI_Gatherv(own, lengths[rank], MPI_DOUBLE, pull, lengths, places, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (rank == 0) move(at, speed, pull, bodies);
        if (watch) tracelib_monitor_step(&monitor);
    }
    MPI_Reduce(&cpu, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        struct vector momentum = {0, 0, 0};
        double energy = 0;
        for (int i = 0; i < bodies; i++) {
            momentum.x += speed[i].x / bodies;
            momentum.y += speed[i].y / bodies;
            momentum.z += speed[i].z / bodies;
            energy += (speed[i].x * speed[i].x + speed[i].y * speed[i].y + speed[i].z * speed[i].z) / (2 * bodies);
        }
        failed = !(fabs(momentum.x) + fabs(momentum.y) + fabs(momentum.z) < 1e-12);
        printf("nbody: energy %.9e; the slowest rank computed %.4f s of CPU time; bodies of rank 0: %lld\n", energy,
               slowest, monitor.counts[0]);
        fflush(stdout);
    }
    tracelib_monitor_finish(&monitor);
    MPI_Finalize();
    return failed;
}
