/* Heat conduction on the unit square, in rows that a plan shares out, and that a monitor can share anew.
 *
 *     heat SIZE STEPS [monitor | plan] [FACTOR]
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

#define RATIO 0.2 /* dt / h^2; stable below 0.25 */
#define PI 3.14159265358979323846

struct part {
    int size, rank, ranks;
    long long rows, first;
    int up, down; /* ranks with the rows beside these, or MPI_PROC_NULL */
    double *now, *next;
};

static double *rows_of(const struct part *p, double *field, long long row)
{
    return field + row * (p->size + 2);
}

static double *new_field(const struct part *p)
{
    double *field = calloc((size_t)(p->rows + 2) * (size_t)(p->size + 2), sizeof *field);
    if (!field) MPI_Abort(MPI_COMM_WORLD, 1);
    return field;
}

/* Give this rank its rows. */
static void place(struct part *p, const long long *counts)
{
    p->rows = counts[p->rank];
    p->first = tracelib_first(counts, p->rank);
    p->up = p->down = MPI_PROC_NULL;
    for (int i = 0; i < p->rank; i++)
        if (counts[i]) p->up = i;
    for (int i = p->ranks - 1; i > p->rank; i--)
        if (counts[i]) p->down = i;
    if (!p->rows) p->up = p->down = MPI_PROC_NULL;
}

static void begin(struct part *p)
{
    double h = 1.0 / (p->size + 1);
    p->now = new_field(p);
    p->next = new_field(p);
    for (long long i = 1; i <= p->rows; i++)
        for (int j = 1; j <= p->size; j++)
            rows_of(p, p->now, i)[j] = sin(PI * (double)(p->first + i) * h) * sin(PI * j * h);
}

static void exchange(struct part *p)
{
    int length = p->size + 2;
    MPI_Sendrecv(rows_of(p, p->now, 1), length, MPI_DOUBLE, p->up, 0, rows_of(p, p->now, p->rows + 1), length,
                 MPI_DOUBLE, p->down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(rows_of(p, p->now, p->rows), length, MPI_DOUBLE, p->down, 1, rows_of(p, p->now, 0), length, MPI_DOUBLE,
                 p->up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void compute(struct part *p)
{
    int length = p->size + 2;
    for (long long i = 1; i <= p->rows; i++) {
        const double *here = rows_of(p, p->now, i);
        double *next = rows_of(p, p->next, i);
        for (int j = 1; j <= p->size; j++)
            next[j] = here[j] + RATIO * (here[j - 1] + here[j + 1] + here[j - length] + here[j + length] - 4 * here[j]);
    }
}

/* Rows go to who has them from now on. */
static void move(struct part *p, const long long *before, const long long *after)
{
    int *sent = calloc((size_t)p->ranks * 4, sizeof *sent), *received = sent + p->ranks;
    int *from = received + p->ranks, *to = from + p->ranks;
    MPI_Datatype row;
    double *old = p->now;
    tracelib_moves(before, after, p->ranks, p->rank, sent, received);
    for (int i = 1; i < p->ranks; i++) {
        from[i] = from[i - 1] + sent[i - 1];
        to[i] = to[i - 1] + received[i - 1];
    }
    place(p, after);
    p->now = new_field(p);
    MPI_Type_contiguous(p->size + 2, MPI_DOUBLE, &row);
    MPI_Type_commit(&row);
    MPI_Alltoallv(rows_of(p, old, 1), sent, from, row, rows_of(p, p->now, 1), received, to, row, MPI_COMM_WORLD);
    MPI_Type_free(&row);
    free(old);
    free(p->next);
    p->next = new_field(p);
    free(sent);
}

/* The largest distance from the exact solution of the discrete problem. */
static double error_of(struct part *p, int steps)
{
    double h = 1.0 / (p->size + 1), decay = pow(1 - 8 * RATIO * pow(sin(PI * h / 2), 2), steps), most = 0, all;
    for (long long i = 1; i <= p->rows; i++)
        for (int j = 1; j <= p->size; j++) {
            double exact = decay * sin(PI * (double)(p->first + i) * h) * sin(PI * j * h);
            most = fmax(most, fabs(rows_of(p, p->now, i)[j] - exact));
        }
    MPI_Allreduce(&most, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    struct part p = {.size = argc > 1 ? atoi(argv[1]) : 256};
    int steps = argc > 2 ? atoi(argv[2]) : 100, watch = argc > 3 && !strcmp(argv[3], "monitor");
    int factor = argc > 4 ? atoi(argv[4]) : 1;
    struct tracelib_monitor monitor;
    double cpu = 0, slowest, error;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p.ranks);
    tracelib_monitor_start(&monitor, p.size, MPI_COMM_WORLD, 0.5, 0.1);
    place(&p, monitor.counts);
    begin(&p);
    for (int step = 0; step < steps; step++) {
        double begun, *swap;
        exchange(&p);
        begun = cpu_seconds();
        tracelib_monitor_begin(&monitor);
        tracelib_region_begin("compute");
        for (int k = 0; k < (p.rank ? 1 : factor); k++) compute(&p);
        tracelib_region_end("compute");
        tracelib_monitor_end(&monitor);
        cpu += cpu_seconds() - begun;
        swap = p.now;
        p.now = p.next;
        p.next = swap;
        if (watch && tracelib_monitor_step(&monitor)) {
            move(&p, monitor.before, monitor.counts);
            if (p.rank == 0) printf("step %d: %lld rows for rank 0\n", step + 1, p.rows);
        }
    }
    error = error_of(&p, steps);
    MPI_Reduce(&cpu, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (p.rank == 0) {
        printf("heat: error %.3g; the slowest rank computed %.4f s of CPU time; rows of rank 0: %lld\n", error, slowest,
               p.rows);
        fflush(stdout);
    }
    tracelib_monitor_finish(&monitor);
    free(p.now);
    free(p.next);
    MPI_Finalize();
    return error < 1e-9 ? 0 : 1;
}
