/* The best subsets: a heap of them with the worst on top. */
#include <math.h>

#include "subsets/internal/walk.h"

struct best {
    struct walk walk; /* first */
    int64_t keep, number;
    uint32_t *subsets;
    double *scores;
    uint32_t *of_size;
    double *rss_of_size;
    int64_t changes;
};

/* Number of changes of a full heap after which the needs are set anew. */
enum { LOOK_AGAIN = 64 };

static void put_subset(struct best *best, int64_t place, uint32_t subset, double score)
{
    best->subsets[place] = subset;
    best->scores[place] = score;
}

static void add_subset(struct best *best, uint32_t subset, double score)
{
    int64_t place = best->number++;
    for (; place > 0 && best->scores[(place - 1) / 2] < score; place = (place - 1) / 2)
        put_subset(best, place, best->subsets[(place - 1) / 2], best->scores[(place - 1) / 2]);
    put_subset(best, place, subset, score);
}

static void replace_worst(struct best *best, uint32_t subset, double score)
{
    int64_t place = 0;
    for (int64_t below = 1; below < best->number; below = 2 * place + 1) {
        if (below + 1 < best->number && best->scores[below + 1] > best->scores[below]) below++;
        if (best->scores[below] <= score) break;
        put_subset(best, place, best->subsets[below], best->scores[below]);
        place = below;
    }
    put_subset(best, place, subset, score);
}

/* Pass over subsets that are neither among the best nor the best of their size. */
static void set_needs(struct best *best)
{
    const struct subset_problem *problem = best->walk.problem;
    for (int size = 1; size <= problem->columns; size++) {
        double need = best->number < best->keep ? INFINITY : walk_rss(problem, size, best->scores[0]);
        if (need < best->rss_of_size[size]) need = best->rss_of_size[size];
        best->walk.need[size] = isfinite(problem->penalty[size]) ? fmin(need, problem->cap[size]) : -1;
    }
}

static double take_best(struct walk *walk, uint32_t subset, int size, double rss)
{
    struct best *best = (struct best *)walk;
    double score = walk_score(walk->problem, size, rss);
    int full = best->number == best->keep, among = !full || score < best->scores[0];
    if (!among && rss >= best->rss_of_size[size]) return 0;
    if (!walk_allowed(walk->problem, subset)) return 0;
    if (rss < best->rss_of_size[size]) {
        best->rss_of_size[size] = rss;
        best->of_size[size] = subset;
    }
    if (!full)
        add_subset(best, subset, score);
    else if (among)
        replace_worst(best, subset, score);
    if (full ? ++best->changes % LOOK_AGAIN == 0 : best->number == best->keep) set_needs(best);
    return 0;
}

int64_t subsets_best(const struct subset_problem *problem, int64_t keep, uint32_t *subsets, double *scores,
                     uint32_t *of_size, double *rss_of_size)
{
    struct best best = {{.problem = problem, .take = take_best}, keep, 0, subsets, scores, of_size, rss_of_size, 0};
    for (int size = 0; size <= problem->columns; size++) {
        of_size[size] = 0;
        rss_of_size[size] = INFINITY;
    }
    set_needs(&best);
    walk_all(&best.walk);
    return best.number;
}
