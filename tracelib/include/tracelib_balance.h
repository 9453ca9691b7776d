/* Shares of work for the ranks of an MPI program in C or C++, by a plan or by times that are measured in the run.
 *
 *     #include <tracelib_balance.h>           mpicc -I $(tracelib lib --include) app.c -lm
 *
 *     tracelib_shares(rows, MPI_COMM_WORLD, counts);      counts[rank] rows for each rank; all ranks get all counts
 *
 * The plan is the file that the variable TRACELIB_PLAN names (analyze balance writes one). Without it shares are equal.
 * There is nothing to link. A plan that is wrong is reported on stderr by rank 0, and shares are equal. No function may
 * be called by several threads at once. docs/balance.md says more. */
#ifndef TRACELIB_BALANCE_H
#define TRACELIB_BALANCE_H

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracelib_replan.h"
#include "tracelib_split.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Read the numbers of a line, which strtok changes, into numbers[most]. Returns how many there are; -1 if a word is no
 * finite number, or there are more than `most`. */
static inline int tracelib_numbers(char *text, double *numbers, int most)
{
    int n = 0;
    for (char *end, *word = strtok(text, " \t\r\n"); word; word = strtok(NULL, " \t\r\n")) {
        double number = strtod(word, &end);
        if (*end || !isfinite(number) || n == most) return -1;
        numbers[n++] = number;
    }
    return n;
}

/* Read the speeds of a plan at one size into speeds[ranks]. line[room], numbers[ranks + 6] and before[ranks] are work
 * space. Returns 0, or the number (from 1) of the first line that is wrong; the number after the last line if no line
 * has speeds. */
static inline int tracelib_read_lines(FILE *file, double size, int ranks, double *speeds, char *line, int room,
                                      double *numbers, double *before)
{
    double last = 0;
    int number = 0, sizes = 0, versions = 0, known = 0, done = 0;
    while (fgets(line, room, file)) {
        char *hash = strchr(line, '#'), word[32] = "";
        int at = 0, n;
        number++;
        if (hash) *hash = 0;
        if (sscanf(line, "%31s%n", word, &at) != 1) continue;
        n = tracelib_numbers(line + at, numbers, ranks + 5);
        if (!versions++) {
            if (strcmp(word, "tracelib-plan") || n != 1 || numbers[0] != 1) return number;
        } else if (!strcmp(word, "ranks")) {
            if (n != 1 || known++ || numbers[0] != ranks) return number;
        } else if (!strcmp(word, "expect")) {
            if (n != 5) return number;
        } else if (!strcmp(word, "times")) { /* expected times of processes, for analyze balance --plan */
            if (n != 1 + ranks || !known) return number;
            for (int i = 1; i <= ranks; i++)
                if (numbers[i] < 0) return number;
        } else if (!strcmp(word, "speeds")) {
            if (n != 1 + ranks || !known || (sizes && numbers[0] <= last)) return number;
            for (int i = 1; i <= ranks; i++)
                if (numbers[i] <= 0) return number;
            for (int i = 0; i < ranks && !done; i++) {
                double part = (size - last) / (numbers[0] - last), own = numbers[1 + i];
                speeds[i] = !sizes || numbers[0] < size ? own : before[i] + part * (own - before[i]);
            }
            done = done || numbers[0] >= size;
            memcpy(before, numbers + 1, (size_t)ranks * sizeof *before);
            last = numbers[0];
            sizes++;
        } else {
            return number;
        }
    }
    return sizes ? 0 : number + 1;
}

/* Open a plan and read its speeds at one size into speeds[ranks], as tracelib_read_lines. Returns -1 if the file cannot
 * be read or there is no memory. */
static inline int tracelib_read_plan(const char *path, double size, int ranks, double *speeds)
{
    int room = 64 + 32 * (ranks + 6), wrong = -1;
    char *line = (char *)malloc((size_t)room);
    double *numbers = (double *)calloc((size_t)ranks + 6, sizeof *numbers);
    double *before = (double *)calloc((size_t)ranks, sizeof *before);
    FILE *file = fopen(path, "r");
    if (file && line && numbers && before)
        wrong = tracelib_read_lines(file, size, ranks, speeds, line, room, numbers, before);
    if (file) fclose(file);
    free(line);
    free(numbers);
    free(before);
    return wrong;
}

/* Set speeds[ranks of comm] by the plan at this size of the problem; without a plan, or if the plan is wrong, all
 * are 1. Rank 0 reads the file and reports on stderr. Collective over comm. Returns TRACELIB_PLANNED, TRACELIB_EQUAL or
 * TRACELIB_WRONG, the same at all ranks. */
static inline int tracelib_speeds(double size, MPI_Comm comm, double *speeds)
{
    const char *path = getenv("TRACELIB_PLAN");
    int rank, ranks, found = TRACELIB_EQUAL;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (rank == 0 && path && *path) {
        int wrong = tracelib_read_plan(path, size, ranks, speeds);
        found = wrong ? TRACELIB_WRONG : TRACELIB_PLANNED;
        if (wrong < 0) fprintf(stderr, "tracelib: the plan %s cannot be read, so shares are equal\n", path);
        if (wrong > 0)
            fprintf(stderr, "tracelib: line %d of %s is wrong in a plan for %d ranks, so shares are equal\n", wrong,
                    path, ranks);
    }
    MPI_Bcast(&found, 1, MPI_INT, 0, comm);
    if (found == TRACELIB_PLANNED) {
        MPI_Bcast(speeds, ranks, MPI_DOUBLE, 0, comm);
        return found;
    }
    for (int i = 0; i < ranks; i++) speeds[i] = 1;
    return found;
}

/* Set counts[ranks of comm] to the number of items of each rank. Collective over comm.
 *
 * Returns TRACELIB_PLANNED; TRACELIB_EQUAL if there is no plan; TRACELIB_WRONG if the plan is wrong, and shares are
 * equal. Also returns TRACELIB_WRONG, with counts not set, if items are below 0 or above 2^50, or there is no memory.
 */
static inline int tracelib_shares(long long items, MPI_Comm comm, long long *counts)
{
    double *speeds;
    int ranks, found;
    MPI_Comm_size(comm, &ranks);
    speeds = (double *)malloc((size_t)ranks * sizeof *speeds);
    if (!speeds) return TRACELIB_WRONG;
    found = tracelib_speeds((double)items, comm, speeds);
    if (tracelib_split(items, speeds, ranks, counts)) found = TRACELIB_WRONG;
    free(speeds);
    return found;
}

/* Return the number of the first item of a rank, from 0, where items are dealt in order of rank. */
static inline long long tracelib_first(const long long *counts, int rank)
{
    long long first = 0;
    for (int i = 0; i < rank; i++) first += counts[i];
    return first;
}

/* Compute where items go when shares change from `before` to `after`, both [ranks]. Sets sent[ranks] and
 * received[ranks]: numbers of items that this rank sends to each rank and receives from it, as MPI_Alltoallv takes
 * them. A rank's items follow each other in order of rank. */
static inline void tracelib_moves(const long long *before, const long long *after, int ranks, int rank, int *sent,
                                  int *received)
{
    long long mine = tracelib_first(before, rank), next = tracelib_first(after, rank), was = 0, will = 0;
    for (int i = 0; i < ranks; i++) {
        long long low = mine > will ? mine : will, high = mine + before[rank];
        if (will + after[i] < high) high = will + after[i];
        sent[i] = high > low ? (int)(high - low) : 0;
        low = next > was ? next : was;
        high = next + after[rank];
        if (was + before[i] < high) high = was + before[i];
        received[i] = high > low ? (int)(high - low) : 0;
        was += before[i];
        will += after[i];
    }
}

/* A monitor of a run, which changes shares when ranks no longer finish together. Steps are counted. In each step the
 * program computes between tracelib_monitor_begin and _end. Rank 0 decides for all ranks, by tracelib_watch_look. */
struct tracelib_monitor {
    MPI_Comm comm;
    int rank, ranks, planned;
    double seconds;
    long long *counts, *before;        /* [ranks], items now and before the last change */
    double begun, computing, interval; /* time of _begin; s computed since the last look; time of that look */
    double started, looks_s, last_look_s;
    long long step, looked, next_look, looks, plans;
    int moving;                  /* the step is the first one after a change */
    struct tracelib_watch watch; /* on rank 0, as all below */
    double *gathered, *of_ranks;
    double other_s, other_steps; /* s that steps took besides computing and waiting since the last plan; their number */
    double before_sum_s, expected_sum_s, taken_sum_s; /* sums over all steps under the monitor's plans */
};

/* Start a monitor. Collective over comm. The first shares, m->counts, come from tracelib_shares; each rank has at least
 * one item, if there are enough.
 *
 * seconds: about the time between two looks at all ranks. threshold: share of a step's time that new shares must save,
 * such as 0.1. The caller owns `m`; tracelib_monitor_finish frees its memory. Returns as tracelib_shares. A rank
 * without memory returns TRACELIB_WRONG before the collective part: the program has to abort. */
static inline int tracelib_monitor_start(struct tracelib_monitor *m, long long items, MPI_Comm comm, double seconds,
                                         double threshold)
{
    int found;
    memset(m, 0, sizeof *m);
    m->comm = comm;
    m->seconds = seconds;
    m->next_look = 1;
    MPI_Comm_rank(comm, &m->rank);
    MPI_Comm_size(comm, &m->ranks);
    m->counts = (long long *)calloc((size_t)m->ranks * 2, sizeof *m->counts);
    m->started = m->interval = MPI_Wtime();
    if (!m->counts) return TRACELIB_WRONG;
    m->before = m->counts + m->ranks;
    if (m->rank == 0) {
        m->gathered = (double *)calloc((size_t)m->ranks * 4, sizeof *m->gathered);
        if (!m->gathered || tracelib_watch_start(&m->watch, items, m->ranks, threshold)) return TRACELIB_WRONG;
        m->of_ranks = m->gathered + (size_t)m->ranks * 3;
    }
    found = tracelib_shares(items, comm, m->counts);
    tracelib_one_each(m->counts, m->ranks);
    memcpy(m->before, m->counts, (size_t)m->ranks * sizeof *m->counts);
    return m->planned = found;
}

/* Note that this rank begins to compute its share of a step. */
static inline void tracelib_monitor_begin(struct tracelib_monitor *m)
{
    m->begun = MPI_Wtime();
}

/* Note that this rank ends computing since tracelib_monitor_begin. A step may have several such pairs. */
static inline void tracelib_monitor_end(struct tracelib_monitor *m)
{
    m->computing += MPI_Wtime() - m->begun;
}

/* Decide on new shares, on rank 0, by the times in m->gathered since the last look: for each rank (s computing, s of
 * the last look, s in total). Sets *changed to 1 if m->counts has new shares, else to 0, and *next_look to the step of
 * the next look. */
static inline void tracelib_monitor_decide(struct tracelib_monitor *m, long long steps, long long *next_look,
                                           long long *changed)
{
    double least = 0, slowest = 0, longest = 0, other = 0;
    struct tracelib_watch *w = &m->watch;
    for (int i = 0; i < m->ranks; i++) {
        const double *of = m->gathered + 3 * i;
        m->of_ranks[i] = of[0];
        if (of[0] > slowest) slowest = of[0];
        if (i == 0 || of[1] < least) least = of[1]; /* the rank that came last waited for no other */
        if (of[2] > longest) longest = of[2];
        if (i == 0 || of[2] - of[0] < other) other = of[2] - of[0];
    }
    m->looks_s += least;
    m->looks++;
    m->before_sum_s += w->before_s * (double)steps;
    m->expected_sum_s += w->expected_s * (double)steps;
    if (w->expected_s > 0) m->taken_sum_s += slowest;
    *next_look = m->step + 1;
    if (longest > 0 && m->seconds > longest / (double)steps)
        *next_look = m->step + (long long)ceil(fmin(m->seconds * (double)steps / longest, 2.0 * (double)steps));
    *changed = 0;
    if (m->moving) {
        tracelib_watch_moved(w, other - m->other_s / m->other_steps);
        m->other_s = m->other_steps = 0;
        return;
    }
    m->other_s += other;
    m->other_steps += (double)steps;
    *changed = tracelib_watch_look(w, m->counts, m->of_ranks, (double)steps);
    m->plans += *changed;
    if (*changed) *next_look = m->step + 1; /* that step shows what moving costs */
}

/* End a step. Collective over the monitor's communicator. Returns 1 if m->counts has new shares (m->before has the
 * shares until now, for tracelib_moves), else 0. */
static inline int tracelib_monitor_step(struct tracelib_monitor *m)
{
    double mine[3], begun;
    long long found[2] = {0, 0}; /* the next look, whether shares are new */
    if (++m->step < m->next_look) return 0;
    begun = MPI_Wtime();
    mine[0] = m->computing;
    mine[1] = m->last_look_s;
    mine[2] = begun - m->interval;
    MPI_Gather(mine, 3, MPI_DOUBLE, m->gathered, 3, MPI_DOUBLE, 0, m->comm);
    memcpy(m->before, m->counts, (size_t)m->ranks * sizeof *m->counts);
    if (m->rank == 0) tracelib_monitor_decide(m, m->step - m->looked, found, found + 1);
    MPI_Bcast(found, 2, MPI_LONG_LONG, 0, m->comm);
    if (found[1]) MPI_Bcast(m->counts, m->ranks, MPI_LONG_LONG, 0, m->comm);
    m->moving = (int)found[1];
    m->looked = m->step;
    m->next_look = found[0];
    m->computing = 0;
    m->interval = MPI_Wtime();
    m->last_look_s = m->interval - begun;
    return m->moving;
}

/* End a monitor and free its memory. Rank 0 prints what the monitor did and what it cost, if there were steps.
 * Collective. */
static inline void tracelib_monitor_finish(struct tracelib_monitor *m)
{
    double taken = MPI_Wtime() - m->started, least = 0;
    MPI_Reduce(&m->last_look_s, &least, 1, MPI_DOUBLE, MPI_MIN, 0, m->comm);
    m->looks_s += least;
    if (m->rank == 0 && m->step) {
        printf("monitor: %lld steps, %lld looks, %lld new plans; looks took %.3g s of %.3g s (%.3f %%)\n", m->step,
               m->looks, m->plans, m->looks_s, taken, taken > 0 ? 100 * m->looks_s / taken : 0);
        if (m->expected_sum_s > 0)
            printf("monitor: steps under its plans were expected to compute %.3g s, not %.3g s, and took %.3g s "
                   "(%+.1f %%)\n",
                   m->expected_sum_s, m->before_sum_s, m->taken_sum_s, 100 * (m->taken_sum_s / m->expected_sum_s - 1));
        if (m->watch.moves) printf("monitor: a change of shares took %.3g s\n", m->watch.move_s);
        fflush(stdout);
    }
    free(m->counts);
    free(m->gathered);
    tracelib_watch_end(&m->watch);
    memset(m, 0, sizeof *m);
}

#ifdef __cplusplus
}
#endif

#endif
