/* Dropping columns: the subsets of a node are the prefixes of its columns, its children drop one column each. Every
   subset is met once. Dropping a column costs one Givens rotation for each column after it. What is common to all
   subsets of a node is not in its triangle, and a node whose whole set is not good enough has no subset that is. */
#include <math.h>
#include <string.h>

#include "subsets/internal/walk.h"

/* Columns of a node that its subsets may or may not have, in order; all have `fixed`. */
struct node {
    uint32_t fixed;
    int size; /* of fixed */
    int free;
    const uint8_t *columns; /* (free) */
    const double *r;        /* (free) rows of free + 1 */
    double tail;
};

static double visit(struct walk *walk, const struct node *node);

double walk_score(const struct subset_problem *problem, int size, double rss)
{
    return problem->rows * log(fmax(rss, problem->least_rss)) + problem->penalty[size];
}

double walk_rss(const struct subset_problem *problem, int size, double limit)
{
    double rss = exp((limit - problem->penalty[size]) / problem->rows) * (1 + 1e-9);
    return fmin(rss, problem->cap[size]);
}

static int hopeless(const struct walk *walk, const struct node *node)
{
    int last = node->size + node->free;
    if (last > walk->largest) last = walk->largest;
    for (int size = node->size + 1; size <= last; size++)
        if (node->tail <= walk->need[size]) return 0;
    return 1;
}

/* Rows j to the end without column j become a triangle again; returns the square of what is left of y below it. */
static double drop_column(const struct node *node, int j, double *r)
{
    int wide = node->free + 1, left = node->free - j - 1;
    const double *below = node->r + (size_t)j * wide + j + 1;
    double carried[MOST_COLUMNS + 1];
    memcpy(carried, below, (left + 1) * sizeof *carried);
    for (int i = 0; i < left; i++) {
        below += wide;
        double *row = r + (size_t)i * (left + 1);
        double a = carried[i], b = below[i], length = sqrt(a * a + b * b);
        double c = length > 0 ? a / length : 1, s = length > 0 ? b / length : 0;
        row[i] = length;
        for (int k = i + 1; k <= left; k++) {
            double first = carried[k], second = below[k];
            row[k] = c * first + s * second;
            carried[k] = c * second - s * first;
        }
    }
    return carried[left] * carried[left];
}

/* The node without column j: those before it are now in all subsets. */
static double without(struct walk *walk, const struct node *node, int j, uint32_t fixed)
{
    double r[MOST_COLUMNS * (MOST_COLUMNS + 1)];
    struct node child = {fixed, node->size + j, node->free - j - 1, node->columns + j + 1, r, 0};
    child.tail = node->tail + drop_column(node, j, r);
    return visit(walk, &child);
}

static double visit(struct walk *walk, const struct node *node)
{
    if (hopeless(walk, node)) return 0;
    const double dependent = walk->problem->dependent;
    const int wide = node->free + 1;
    double weight[MOST_COLUMNS] = {0}, rss[MOST_COLUMNS];
    double left = node->tail;
    for (int i = node->free - 1; i >= 0; i--) {
        rss[i] = left;
        left += node->r[(size_t)i * wide + node->free] * node->r[(size_t)i * wide + node->free];
    }
    uint32_t prefix = node->fixed, before[MOST_COLUMNS];
    int all = node->free, room = walk->largest - node->size;
    if (all > room) all = room;
    int i = 0;
    for (; i < all; i++) {
        before[i] = prefix;
        if (!(fabs(node->r[(size_t)i * wide + i]) > dependent)) break; /* this and all longer ones span the same */
        prefix |= 1u << node->columns[i];
        int size = node->size + i + 1;
        if (rss[i] <= walk->need[size]) weight[i] = walk->take(walk, prefix, size, rss[i]);
    }
    double sum = 0;
    if (i == all) i--;
    for (; i >= 0; i--) {
        sum += weight[i];
        if (sum > 0) walk->importance[node->columns[i]] += sum;
        if (i < node->free - 1) sum += without(walk, node, i, before[i]);
    }
    return sum;
}

double walk_all(struct walk *walk)
{
    const struct subset_problem *problem = walk->problem;
    uint8_t columns[MOST_COLUMNS];
    for (int i = 0; i < problem->columns; i++) columns[i] = (uint8_t)i;
    memset(walk->importance, 0, sizeof walk->importance);
    for (int size = 1; size <= problem->columns; size++)
        if (isfinite(problem->penalty[size])) walk->largest = size;
    struct node root = {0, 0, problem->columns, columns, problem->r, problem->tail};
    return visit(walk, &root);
}

int walk_allowed(const struct subset_problem *problem, uint32_t subset)
{
    if (!(subset & problem->positive)) return 1;
    int n = problem->columns, wide = n + 1, size = 0;
    double q[MOST_COLUMNS][MOST_COLUMNS], r[MOST_COLUMNS][MOST_COLUMNS], y[MOST_COLUMNS], c[MOST_COLUMNS];
    uint8_t columns[MOST_COLUMNS];
    for (int i = 0; i < n; i++) y[i] = problem->r[(size_t)i * wide + n];
    for (int column = 0; column < n; column++) { /* modified Gram-Schmidt */
        if (!(subset >> column & 1)) continue;
        double *new = q[size], length = 0, along = 0;
        for (int i = 0; i < n; i++) new[i] = i <= column ? problem->r[(size_t)i * wide + column] : 0;
        for (int other = 0; other < size; other++) {
            double product = 0;
            for (int i = 0; i <= column; i++) product += q[other][i] * new[i];
            for (int i = 0; i <= column; i++) new[i] -= product * q[other][i];
            r[other][size] = product;
        }
        for (int i = 0; i <= column; i++) length += new[i] * new[i];
        r[size][size] = length = sqrt(length);
        for (int i = 0; i < n; i++) new[i] /= length;
        for (int i = 0; i < n; i++) along += new[i] * y[i];
        for (int i = 0; i < n; i++) y[i] -= along * new[i];
        c[size] = along;
        columns[size++] = (uint8_t)column;
    }
    for (int i = size - 1; i >= 0; i--) {
        for (int k = i + 1; k < size; k++) c[i] -= r[i][k] * c[k];
        c[i] /= r[i][i];
        if (c[i] < 0 && problem->positive >> columns[i] & 1) return 0;
    }
    return 1;
}
