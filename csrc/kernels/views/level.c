/* Rows of a view made of rows below them: steps of all children are merged by time, and a tree over the children of a
   row has the value that they have together. So a step costs the logarithm of the children, and a sum is the same
   number whenever the same values stand in it: where all are 0 again, it is 0 again. */
#include "views/level.h"
#include <stdlib.h>

struct level {
    int64_t children, rows;
    int operation;
    int64_t *begin; /* of each row in `child`; [rows + 1] */
    int64_t *child; /* all children by row */
    double *node;   /* of a row with n children 2 n from 2 begin[row]: leaves are the last n, node 1 is the root */
    double *last;   /* the value of each row that was written last */
    int64_t *heap;  /* numbers of children in their row, the next step on top */
    int64_t *at;    /* the next step of each child of the row */
};

struct level *level_new(int64_t children, const int64_t *parent, int64_t rows, int operation)
{
    struct level *l = calloc(1, sizeof *l);
    if (!l) return NULL;
    *l = (struct level){.children = children, .rows = rows, .operation = operation};
    size_t n = (size_t)children + 1;
    l->begin = calloc((size_t)rows + 2, sizeof *l->begin);
    l->child = calloc(n, sizeof *l->child);
    l->node = calloc(2 * n, sizeof *l->node);
    l->last = calloc((size_t)rows + 1, sizeof *l->last);
    l->heap = calloc(n, sizeof *l->heap);
    l->at = calloc(n, sizeof *l->at);
    if (!l->begin || !l->child || !l->node || !l->last || !l->heap || !l->at) {
        level_free(l);
        return NULL;
    }
    for (int64_t c = 0; c < children; c++) l->begin[parent[c] + 2]++;
    for (int64_t r = 0; r < rows; r++) l->begin[r + 1] += l->begin[r];
    for (int64_t c = 0; c < children; c++) l->child[l->begin[parent[c] + 1]++] = c;
    return l;
}

void level_free(struct level *l)
{
    if (!l) return;
    free(l->begin);
    free(l->child);
    free(l->node);
    free(l->last);
    free(l->heap);
    free(l->at);
    free(l);
}

static double both(int operation, double a, double b)
{
    if (operation == LEVEL_SUM) return a + b;
    return (operation == LEVEL_MAXIMUM) == (a > b) ? a : b;
}

static void put_leaf(double *node, int64_t n, int64_t leaf, double value, int operation)
{
    int64_t i = n + leaf;
    node[i] = value;
    for (i /= 2; i >= 1; i /= 2) node[i] = both(operation, node[2 * i], node[2 * i + 1]);
}

/* Puts the top of the heap where it belongs. */
static void sink_leaf(int64_t *heap, int64_t n, const int64_t *at, const int64_t *time)
{
    int64_t top = heap[0], i = 0;
    for (int64_t next; (next = 2 * i + 1) < n; i = next) {
        if (next + 1 < n && time[at[heap[next + 1]]] < time[at[heap[next]]]) next++;
        if (time[at[top]] <= time[at[heap[next]]]) break;
        heap[i] = heap[next];
    }
    heap[i] = top;
}

static void lift(int64_t *heap, int64_t i, const int64_t *at, const int64_t *time)
{
    int64_t mine = heap[i];
    for (; i && time[at[mine]] < time[at[heap[(i - 1) / 2]]]; i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
    heap[i] = mine;
}

int64_t level_feed(struct level *l, const int64_t *first, const int64_t *time, const double *value, int64_t *out_row,
                   int64_t *out_time, double *out_value)
{
    int64_t written = 0;
    for (int64_t row = 0; row < l->rows; row++) {
        int64_t n = l->begin[row + 1] - l->begin[row], waiting = 0;
        const int64_t *child = l->child + l->begin[row];
        double *node = l->node + 2 * l->begin[row];
        for (int64_t k = 0; k < n; k++) {
            l->at[k] = first[child[k]];
            if (l->at[k] == first[child[k] + 1]) continue;
            l->heap[waiting] = k;
            lift(l->heap, waiting++, l->at, time);
        }
        while (waiting) {
            int64_t now = time[l->at[l->heap[0]]];
            while (waiting && time[l->at[l->heap[0]]] == now) {
                int64_t k = l->heap[0];
                put_leaf(node, n, k, value[l->at[k]], l->operation);
                if (++l->at[k] == first[child[k] + 1]) l->heap[0] = l->heap[--waiting];
                if (waiting) sink_leaf(l->heap, waiting, l->at, time);
            }
            if (n > 1 && node[1] == l->last[row] && now) continue; /* one child: its steps are those of the row */
            out_row[written] = row;
            out_time[written] = now;
            out_value[written++] = l->last[row] = node[1];
        }
    }
    return written;
}
