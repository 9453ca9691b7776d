#ifndef SUBSETS_H
#define SUBSETS_H

#include <stdint.h>

/* Searches all subsets of up to 32 columns, each with the least squares of its own fit (TIA, 3.5; design.md: QR
   once, columns dropped by Givens rotations). The score of a subset of k columns is rows * log(rss) + penalty[k]. An
   rss below least_rss counts as least_rss: fits without error are ties. */
struct subset_problem {
    const double *r;       /* (columns) rows of columns + 1: upper triangle of QR, and what is left of y */
    double tail;           /* square of y that is in no column */
    const double *penalty; /* (columns + 1), by size; infinite: no model has that size */
    const double *cap;     /* (columns + 1), by size: models with a larger rss are excluded */
    double rows;
    double least_rss;
    double dependent; /* a column shorter than this, beside others, depends on them (columns are of length 1) */
    int32_t columns;
    uint32_t positive; /* columns whose coefficient must not be negative, as bits */
};

/* Find the `keep` best subsets. subsets, scores: (keep), bits of their columns, and their scores, in no order.
   of_size, rss_of_size: (columns + 1), the subset of least rss of each size, and its rss; none: 0, infinite. Returns
   the number of subsets found. */
int64_t subsets_best(const struct subset_problem *problem, int64_t keep, uint32_t *subsets, double *scores,
                     uint32_t *of_size, double *rss_of_size);

/* Return the sum of exp(-(score - best) / 2) over all subsets whose score is at most best + range. importance:
   (columns), the part of the sum from subsets with this column. weights, numbers: (bins), sum and number of subsets
   by score, from best to best + range. */
double subsets_weigh(const struct subset_problem *problem, double best, double range, double *importance,
                     double *weights, int64_t *numbers, int64_t bins);

#endif
