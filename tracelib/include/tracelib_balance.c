/* The C functions that tracelib_balance.f90 calls. Compile this file with mpicc and link it to a Fortran program. */
#include "tracelib_balance.h"

int tracelib_f_shares(long long items, MPI_Fint comm, long long *counts);
void tracelib_f_moves(const long long *before, const long long *after, int ranks, int rank, int *sent, int *received);
void *tracelib_f_monitor_start(long long items, MPI_Fint comm, double seconds, double threshold, long long *counts);
void tracelib_f_monitor_begin(void *monitor);
void tracelib_f_monitor_end(void *monitor);
int tracelib_f_monitor_step(void *monitor, long long *counts);
void tracelib_f_monitor_finish(void *monitor);

int tracelib_f_shares(long long items, MPI_Fint comm, long long *counts)
{
    return tracelib_shares(items, MPI_Comm_f2c(comm), counts);
}

void tracelib_f_moves(const long long *before, const long long *after, int ranks, int rank, int *sent, int *received)
{
    tracelib_moves(before, after, ranks, rank, sent, received);
}

static void copy_counts(const struct tracelib_monitor *m, long long *counts)
{
    memcpy(counts, m->counts, (size_t)m->ranks * sizeof *counts);
}

void *tracelib_f_monitor_start(long long items, MPI_Fint comm, double seconds, double threshold, long long *counts)
{
    struct tracelib_monitor *m = (struct tracelib_monitor *)malloc(sizeof *m);
    if (!m) return NULL;
    tracelib_monitor_start(m, items, MPI_Comm_f2c(comm), seconds, threshold);
    copy_counts(m, counts);
    return m;
}

void tracelib_f_monitor_begin(void *monitor)
{
    tracelib_monitor_begin((struct tracelib_monitor *)monitor);
}

void tracelib_f_monitor_end(void *monitor)
{
    tracelib_monitor_end((struct tracelib_monitor *)monitor);
}

int tracelib_f_monitor_step(void *monitor, long long *counts)
{
    int changed = tracelib_monitor_step((struct tracelib_monitor *)monitor);
    copy_counts((struct tracelib_monitor *)monitor, counts);
    return changed;
}

void tracelib_f_monitor_finish(void *monitor)
{
    tracelib_monitor_finish((struct tracelib_monitor *)monitor);
    free(monitor);
}
