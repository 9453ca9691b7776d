/* Functions that divide whole items of work among ranks by their speeds. tracelib_balance.h includes this file. */
#ifndef TRACELIB_SPLIT_H
#define TRACELIB_SPLIT_H

#include <math.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Shares come from a plan; shares are equal, without a plan; something is wrong. */
enum { TRACELIB_PLANNED = 0, TRACELIB_EQUAL = 1, TRACELIB_WRONG = -1 };

/* A rank, and the time at which it would end with one more item. */
struct tracelib_rank_order {
    double end;
    int rank;
};

/* Compare two ranks for qsort: the earlier end first, then the lower rank. */
static int tracelib_by_end(const void *left, const void *right)
{
    const struct tracelib_rank_order *a = (const struct tracelib_rank_order *)left;
    const struct tracelib_rank_order *b = (const struct tracelib_rank_order *)right;
    if (a->end != b->end) return a->end < b->end ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Divide items among ranks. counts[ranks] are whole numbers that add up to `items`. Each is at most 1 from items x
 * speed / sum of speeds, and the last rank ends as early as possible. Equals tracelib.balance.split of Python.
 *
 * speeds[ranks]: items per time, in any unit, above 0. Returns TRACELIB_PLANNED. Returns TRACELIB_WRONG if a speed is
 * not above 0 or infinite, items are below 0 or above 2^50, ranks are below 1, or there is no memory. */
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

/* Give each rank at least one item, if there are enough, from the ranks that have most: the speed of a rank without
 * items can no longer be measured. counts[ranks] is changed in place. */
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
