/* The walk over all subsets, with what is done at each of those that are good enough. */
#ifndef SUBSETS_WALK_H
#define SUBSETS_WALK_H

#include <stdint.h>

#include "subsets/subsets.h"

enum { MOST_COLUMNS = 32 };

struct walk {
    const struct subset_problem *problem;
    double need[MOST_COLUMNS + 1]; /* by size: subsets with a larger rss are passed over; may fall on the way */
    int largest;                   /* size that any model has */
    /* Takes a subset that is good enough; returns its weight. */
    double (*take)(struct walk *walk, uint32_t subset, int size, double rss);
    double importance[MOST_COLUMNS]; /* by column: weights of the subsets that have it */
};

/* All subsets; returns the sum of their weights. `need` must be set. */
double walk_all(struct walk *walk);

/* rows * log(rss) + penalty */
double walk_score(const struct subset_problem *problem, int size, double rss);

/* The largest rss of each size with which a score is at most `limit`; a little more, for rounding. */
double walk_rss(const struct subset_problem *problem, int size, double limit);

/* Whether the coefficients that must not be negative are not. */
int walk_allowed(const struct subset_problem *problem, uint32_t subset);

#endif
