/* How much each rank of an MPI program should compute, in C or C++, by a plan or by what was measured in the run.
 *
 *     #include <tracelib_balance.h>           mpicc -I $(tracelib lib --include) app.c -lm
 *
 *     tracelib_shares(rows, MPI_COMM_WORLD, counts);      counts[rank] rows for each rank; all of them know all
 *
 * The plan is the file that the variable TRACELIB_PLAN names (analyze balance writes one). Without it shares are equal.
 * Nothing is linked. Functions return 0, or say on stderr what is wrong. docs/balance.md says more. */
#ifndef TRACELIB_BALANCE_H
#define TRACELIB_BALANCE_H

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TRACELIB_PLANNED = 0, TRACELIB_EQUAL = 1, TRACELIB_WRONG = -1 };

struct tracelib_rank_order {
    double end;
    int rank;
};

static int tracelib_by_end(const void *left, const void *right)
{
    const struct tracelib_rank_order *a = (const struct tracelib_rank_order *)left;
    const struct tracelib_rank_order *b = (const struct tracelib_rank_order *)right;
    if (a->end != b->end) return a->end < b->end ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Whole numbers that add up to `items`, each at most 1 from items x speed / sum of speeds, so that the last is done as
 * early as possible. The same numbers as tracelib.balance.split of Python. Speeds are above 0, else it is
 * TRACELIB_WRONG. */
static inline int tracelib_split(long long items, const double *speeds, int ranks, long long *counts)
{
    double total = 0;
    long long left = items;
    struct tracelib_rank_order *order;
    if (items < 0 || items > 1LL << 50 || ranks < 1) return TRACELIB_WRONG;
    for (int i = 0; i < ranks; i++) {
        if (!(speeds[i] > 0) || isinf(speeds[i])) return TRACELIB_WRONG;
        total += speeds[i];
    }
    order = (struct tracelib_rank_order *)malloc((size_t)ranks * sizeof *order);
    if (!order || isinf(total)) {
        free(order);
        return TRACELIB_WRONG;
    }
    for (int i = 0; i < ranks; i++) left -= counts[i] = (long long)floor((double)items * (speeds[i] / total));
    while (left > 0) {
        for (int i = 0; i < ranks; i++) {
            order[i].end = (double)(counts[i] + 1) / speeds[i];
            order[i].rank = i;
        }
        qsort(order, (size_t)ranks, sizeof *order, tracelib_by_end);
        for (int i = 0; i < ranks && left > 0; i++, left--) counts[order[i].rank]++;
    }
    for (; left < 0; left++) {
        int last = 0;
        for (int i = 1; i < ranks; i++)
            if ((double)counts[i] / speeds[i] >= (double)counts[last] / speeds[last]) last = i;
        counts[last]--;
    }
    free(order);
    return TRACELIB_PLANNED;
}

/* Take the numbers of a line. How many there are; -1: one is none. */
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

/* Read the speeds of a plan at one size, line by line. The number of a line that is wrong; 0: none is. */
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

/* The same of a file; -1: it cannot be read. */
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

/* Speeds of all ranks by the plan, at this size of the problem; equal ones without a plan. Collective over comm. */
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

/* The items of each rank, counts[ranks of comm]. Collective. TRACELIB_PLANNED, TRACELIB_EQUAL without a plan, or
 * TRACELIB_WRONG: then they are equal, too. */
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

/* The first item of a rank, when ranks have theirs one after the other. */
static inline long long tracelib_first(const long long *counts, int rank)
{
    long long first = 0;
    for (int i = 0; i < rank; i++) first += counts[i];
    return first;
}

/* Where items go when shares change from `before` to `after`: how many this rank sends to each and receives from each,
 * in order of rank, as MPI_Alltoallv wants them. */
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

/* Watches a run, and shares anew when ranks no longer finish together. Steps are counted; in each the program computes
 * between tracelib_monitor_begin and _end. */
struct tracelib_monitor {
    long long items;
    MPI_Comm comm;
    int rank, ranks;
    double seconds, threshold;
    long long *counts, *before; /* of all ranks, now and before the last change */
    double *speeds, *earlier;   /* items a second, as measured at the last look and at the one before */
    double *mean, *gathered;
    double begun, computing, interval, started, looks_s, last_look_s;
    double expected_s, expected_sum_s, taken_sum_s; /* of a step since the last change, and of all such steps */
    long long step, looked, next_look, looks, plans;
    int planned;
};

/* seconds: about so long between two looks at all ranks. threshold: the part of a step's time that new shares must
 * gain, such as 0.1. The first shares are those of tracelib_shares. Collective. */
static inline int tracelib_monitor_start(struct tracelib_monitor *m, long long items, MPI_Comm comm, double seconds,
                                         double threshold)
{
    memset(m, 0, sizeof *m);
    m->items = items;
    m->comm = comm;
    m->seconds = seconds;
    m->threshold = threshold;
    m->next_look = 1;
    MPI_Comm_rank(comm, &m->rank);
    MPI_Comm_size(comm, &m->ranks);
    m->counts = (long long *)calloc((size_t)m->ranks * 2, sizeof *m->counts);
    m->speeds = (double *)calloc((size_t)m->ranks * 6, sizeof *m->speeds);
    m->started = m->interval = MPI_Wtime();
    if (!m->counts || !m->speeds) return TRACELIB_WRONG;
    m->before = m->counts + m->ranks;
    m->earlier = m->speeds + m->ranks;
    m->mean = m->earlier + m->ranks;
    m->gathered = m->mean + m->ranks;
    return m->planned = tracelib_shares(items, comm, m->counts);
}

static inline void tracelib_monitor_begin(struct tracelib_monitor *m)
{
    m->begun = MPI_Wtime();
}

static inline void tracelib_monitor_end(struct tracelib_monitor *m)
{
    m->computing += MPI_Wtime() - m->begun;
}

static inline double tracelib_slowest(const long long *counts, const double *speeds, int ranks)
{
    double most = 0;
    for (int i = 0; i < ranks; i++)
        if ((double)counts[i] / speeds[i] > most) most = (double)counts[i] / speeds[i];
    return most;
}

/* Whether new shares gain enough at these speeds. */
static inline int tracelib_gains(const struct tracelib_monitor *m, const double *speeds)
{
    double then = tracelib_slowest(m->counts, speeds, m->ranks), now = tracelib_slowest(m->before, speeds, m->ranks);
    return then < now * (1 - m->threshold);
}

/* Nobody has nothing to do where there are enough items: how fast a rank is would no longer be seen. */
static inline void tracelib_one_each(const struct tracelib_monitor *m, long long *counts)
{
    if (m->items < m->ranks) return;
    for (int i = 0; i < m->ranks; i++) {
        int most = 0;
        if (counts[i]) continue;
        for (int k = 1; k < m->ranks; k++)
            if (counts[k] > counts[most]) most = k;
        counts[most]--;
        counts[i]++;
    }
}

/* New shares from what all ranks measured in the last two intervals, if they would have gained enough in each of them:
 * a rank that was slow for a moment changes nothing. */
static inline int tracelib_replan(struct tracelib_monitor *m, long long steps)
{
    int known = 1;
    for (int i = 0; i < m->ranks; i++) {
        double computing = m->gathered[3 * i];
        m->earlier[i] = m->speeds[i];
        if (m->counts[i] > 0 && computing > 0) m->speeds[i] = (double)(m->counts[i] * steps) / computing;
        known = known && m->speeds[i] > 0 && m->earlier[i] > 0;
        if (known) m->mean[i] = 2 / (1 / m->speeds[i] + 1 / m->earlier[i]);
    }
    if (!known) return 0;
    memcpy(m->before, m->counts, (size_t)m->ranks * sizeof *m->counts);
    if (!tracelib_split(m->items, m->mean, m->ranks, m->counts)) {
        tracelib_one_each(m, m->counts);
        if (tracelib_gains(m, m->speeds) && tracelib_gains(m, m->earlier)) {
            m->expected_s = tracelib_slowest(m->counts, m->mean, m->ranks);
            m->plans++;
            return 1;
        }
    }
    memcpy(m->counts, m->before, (size_t)m->ranks * sizeof *m->counts);
    return 0;
}

/* To be called by all ranks at the end of each step. 1: m->counts has new shares, and m->before those until now. */
static inline int tracelib_monitor_step(struct tracelib_monitor *m)
{
    double mine[3], begun, least = 0, slowest = 0, longest = 0;
    long long steps;
    int changed;
    if (++m->step < m->next_look) return 0;
    begun = MPI_Wtime();
    steps = m->step - m->looked;
    mine[0] = m->computing;
    mine[1] = m->last_look_s;
    mine[2] = begun - m->interval;
    MPI_Allgather(mine, 3, MPI_DOUBLE, m->gathered, 3, MPI_DOUBLE, m->comm);
    for (int i = 0; i < m->ranks; i++) {
        const double *of = m->gathered + 3 * i;
        if (of[0] > slowest) slowest = of[0];
        if (i == 0 || of[1] < least) least = of[1]; /* who came last waited for nobody */
        if (of[2] > longest) longest = of[2];
    }
    m->looks_s += least;
    m->looks++;
    if (m->expected_s > 0) {
        m->expected_sum_s += m->expected_s * (double)steps;
        m->taken_sum_s += slowest;
    }
    m->looked = m->step;
    m->next_look = m->step + 1;
    if (longest > 0 && m->seconds > longest / (double)steps)
        m->next_look = m->step + (long long)ceil(fmin(m->seconds * (double)steps / longest, 1e12));
    changed = tracelib_replan(m, steps);
    m->computing = 0;
    m->interval = MPI_Wtime();
    m->last_look_s = m->interval - begun;
    return changed;
}

/* Rank 0 prints what the monitor did and cost, if there were steps. Frees its memory. Collective. */
static inline void tracelib_monitor_finish(struct tracelib_monitor *m)
{
    double taken = MPI_Wtime() - m->started, least = 0;
    MPI_Allreduce(&m->last_look_s, &least, 1, MPI_DOUBLE, MPI_MIN, m->comm);
    m->looks_s += least;
    if (m->rank == 0 && m->step) {
        printf("monitor: %lld steps, %lld looks, %lld new plans; looks took %.3g s of %.3g s (%.3f %%)\n", m->step,
               m->looks, m->plans, m->looks_s, taken, taken > 0 ? 100 * m->looks_s / taken : 0);
        if (m->expected_sum_s > 0)
            printf("monitor: steps under its plans were expected to compute %.3g s, and took %.3g s (%+.1f %%)\n",
                   m->expected_sum_s, m->taken_sum_s, 100 * (m->taken_sum_s / m->expected_sum_s - 1));
        fflush(stdout);
    }
    free(m->counts);
    free(m->speeds);
    memset(m, 0, sizeof *m);
}

#ifdef __cplusplus
}
#endif

#endif
