/* Chooses and orders rows of requests. They come in the order of completion, which is nearly that of posting. */
#include "requests.h"

#include <stdlib.h>
#include <string.h>

#include "records.h"

static int64_t key_of(const struct trace_request *row, int by_completed)
{
    return by_completed ? row->completed : row->posted;
}

/* How many rows from the first on are in order. */
static int64_t ordered(const struct trace_request *rows, int64_t n, int by_completed)
{
    int64_t k = 1;
    while (k < n && key_of(&rows[k - 1], by_completed) <= key_of(&rows[k], by_completed)) k++;
    return k < n ? k : n;
}

/* Merge the neighbours [0, middle) and [middle, n), the first of which `part` has room for. */
static void merge(struct trace_request *rows, int64_t middle, int64_t n, int by_completed, struct trace_request *part)
{
    memcpy(part, rows, (size_t)middle * sizeof *rows);
    int64_t i = 0, j = middle, to = 0;
    while (i < middle && j < n)
        rows[to++] = key_of(&rows[j], by_completed) < key_of(&part[i], by_completed) ? rows[j++] : part[i++];
    memcpy(rows + to, part + i, (size_t)(middle - i) * sizeof *rows);
}

static void sort(struct trace_request *rows, int64_t n, int by_completed, struct trace_request *part)
{
    if (ordered(rows, n, by_completed) == n) return;
    int64_t middle = n / 2;
    sort(rows, middle, by_completed, part);
    sort(rows + middle, n - middle, by_completed, part);
    merge(rows, middle, n, by_completed, part);
}

int64_t requests_pick(const void *rows, int64_t n, const uint8_t *wanted, int64_t least, int32_t by_completed,
                      void *out)
{
    const struct trace_request *row = rows;
    struct trace_request *to = out;
    int64_t count = 0;
    for (int64_t k = 0; k < n; k++)
        if (wanted[row[k].what] && row[k].posted >= least) to[count++] = row[k];
    if (ordered(to, count, by_completed) == count) return count;
    struct trace_request *part = malloc((size_t)(count / 2) * sizeof *part);
    if (!part) return -1;
    sort(to, count, by_completed, part);
    free(part);
    return count;
}
