/* Akaike weights: sums over all subsets that matter. */
#include <math.h>
#include <string.h>

#include "subsets/internal/walk.h"

struct weights {
    struct walk walk; /* first */
    double best, range;
    double *weights;
    int64_t *numbers;
    int64_t bins;
};

static double take_weight(struct walk *walk, uint32_t subset, int size, double rss)
{
    struct weights *all = (struct weights *)walk;
    double more = walk_score(walk->problem, size, rss) - all->best;
    if (more > all->range || !walk_allowed(walk->problem, subset)) return 0;
    double weight = exp(-more / 2);
    int64_t bin = more > 0 ? (int64_t)(more / all->range * (double)all->bins) : 0;
    if (bin >= all->bins) bin = all->bins - 1;
    all->weights[bin] += weight;
    all->numbers[bin]++;
    return weight;
}

double subsets_weigh(const struct subset_problem *problem, double best, double range, double *importance,
                     double *weights, int64_t *numbers, int64_t bins)
{
    struct weights all = {{.problem = problem, .take = take_weight}, best, range, weights, numbers, bins};
    memset(weights, 0, bins * sizeof *weights);
    memset(numbers, 0, bins * sizeof *numbers);
    for (int size = 1; size <= problem->columns; size++)
        all.walk.need[size] = isfinite(problem->penalty[size]) ? walk_rss(problem, size, best + range) : -1;
    double sum = walk_all(&all.walk);
    memcpy(importance, all.walk.importance, problem->columns * sizeof *importance);
    return sum;
}
