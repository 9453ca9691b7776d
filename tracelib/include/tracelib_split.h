/* Work in whole items: who gets how many, by how fast each rank is. tracelib_balance.h includes it. */
#ifndef TRACELIB_SPLIT_H
#define TRACELIB_SPLIT_H

#include <math.h>
#include <stdlib.h>

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

/* Nobody has nothing to do where there are enough items: how fast a rank is would no longer be seen. */
static inline void tracelib_one_each(long long *counts, int ranks)
{
    long long items = 0;
    for (int i = 0; i < ranks; i++) items += counts[i];
    if (items < ranks) return;
    for (int i = 0; i < ranks; i++) {
        int most = 0;
        if (counts[i]) continue;
        for (int k = 1; k < ranks; k++)
            if (counts[k] > counts[most]) most = k;
        counts[most]--;
        counts[i]++;
    }
}

#ifdef __cplusplus
}
#endif

#endif
