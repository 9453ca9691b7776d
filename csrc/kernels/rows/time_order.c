/* A merge sort of rows that are nearly in order of time. */
#include "rows/inline/time_order.h"

#include <string.h>

static int times_are_ordered(const struct timed_row *rows, int64_t n)
{
    int64_t k = 1;
    while (k < n && rows[k - 1].time <= rows[k].time) k++;
    return k >= n;
}

/* Merge the neighbours [0, middle) and [middle, n). */
static void merge_timed(struct timed_row *rows, int64_t middle, int64_t n, struct timed_row *part)
{
    memcpy(part, rows, (size_t)middle * sizeof *rows);
    int64_t i = 0, j = middle, to = 0;
    while (i < middle && j < n) rows[to++] = rows[j].time < part[i].time ? rows[j++] : part[i++];
    memcpy(rows + to, part + i, (size_t)(middle - i) * sizeof *rows);
}

void time_order(struct timed_row *rows, int64_t n, struct timed_row *part)
{
    if (times_are_ordered(rows, n)) return;
    int64_t middle = n / 2;
    time_order(rows, middle, part);
    time_order(rows + middle, n - middle, part);
    merge_timed(rows, middle, n, part);
}
