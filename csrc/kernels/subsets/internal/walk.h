/* Walks over all subsets, and calls a function for each that is good enough. */
#ifndef SUBSETS_WALK_H
#define SUBSETS_WALK_H

#include <stdint.h>

#include "subsets/subsets.h"

enum { MOST_COLUMNS = 32 };

struct walk {
    const struct subset_problem *problem;
    double need[MOST_COLUMNS + 1]; /* by size: subsets with a larger rss are passed over; may fall during the walk */
    int largest;                   /* size that any model has */
    /* Take a subset that is good enough; returns its weight. */
    double (*take)(struct walk *walk, uint32_t subset, int size, double rss);
    double importance[MOST_COLUMNS]; /* by column: weights of the subsets that have it */
};

/* Walk over all subsets. `need` must be set. Returns the sum of their weights. */
double walk_all(struct walk *walk);

/* Return the score of a subset: rows * log(rss) + penalty. */
double walk_score(const struct subset_problem *problem, int size, double rss);

/* Return the largest rss of this size with which a score is at most `limit`; a little more, for rounding. */
double walk_rss(const struct subset_problem *problem, int size, double limit);

/* Return true if no coefficient is negative that must not be. */
int walk_allowed(const struct subset_problem *problem, uint32_t subset);

#endif
